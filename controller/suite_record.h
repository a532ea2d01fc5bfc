/* What came of some runs of one cell of a suite: a line of its journal. Pure. */
#ifndef COUP_CONTROLLER_SUITE_RECORD_H
#define COUP_CONTROLLER_SUITE_RECORD_H

#include "checker/check.h"

#define SUITE_SHOWN_MAX 4u       /* runs described, of one record */
#define SUITE_FAILOVERS_MAX 512u /* of one record; the rest is left out */

/* A run worth telling of. */
struct suite_shown {
    uint64_t seed;
    enum verdict verdict;
    bool met; /* as expected: kept because every so manieth is */
    char check[40], reason[400];
    char history[512]; /* below the suite's folder; "": not kept */
};

/* Runs first..last of a cell, by seed, each for the `repeat`th time. Plain data. */
struct suite_record {
    uint32_t cell;
    uint64_t first, last, repeat;
    uint64_t runs; /* that have a verdict; the others were left out, or coup itself failed */
    uint64_t valid, invalid, unknown;
    uint64_t vacuous; /* of the unknown ones: only because a drawn fault never landed */
    uint64_t met;     /* as expected */
    uint64_t took_ns, simulated_ns;
    uint64_t at_ns;               /* when it was written, since the suite began, pauses left out */
    bool out_of_budget;           /* the cell's budget was used up */
    bool stopped;                 /* because the suite was; never in a journal */
    char failure[ERROR_TEXT_MAX]; /* of coup itself, after the retries; "": none */
    uint32_t failovers_us[SUITE_FAILOVERS_MAX]; /* from loss of a leader to the next one */
    uint32_t failover_count;
    struct suite_shown shown[SUITE_SHOWN_MAX];
    uint32_t shown_count;
};

/* One JSON object without newline, and back; -EINVAL: it is none. */
void suite_record_format(const struct suite_record *record, struct text *out);
int suite_record_parse(struct slice line, struct suite_record *out);

#endif
