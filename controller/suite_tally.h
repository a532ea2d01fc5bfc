/* The records of a suite added up, cell by cell, and what follows from them. Pure: it does not
 * matter in which order, in how many goes or on how many machines the runs were done. */
#ifndef COUP_CONTROLLER_SUITE_TALLY_H
#define COUP_CONTROLLER_SUITE_TALLY_H

#include "controller/suite_job.h"
#include "controller/suite_record.h"

#define SUITE_CELL_SHOWN_MAX 20u

enum suite_outcome {
    SUITE_PASSED,
    SUITE_NOT_RUN,   /* nothing of it: out of time, stopped, or in no shard so far */
    SUITE_UNDECIDED, /* what was seen is not enough, or runs are missing */
    SUITE_BROKEN,    /* coup itself failed */
    SUITE_FAILED,    /* came out otherwise than expected */
};
const char *suite_outcome_name(enum suite_outcome outcome);

struct suite_tally {
    const struct suite_job *job;
    uint32_t cell;  /* its place in the suite */
    uint64_t asked; /* runs */
    uint64_t done;  /* asked ones that are accounted for: with a verdict, left out or broken */
    uint64_t runs, valid, invalid, unknown, vacuous, met;
    uint64_t broken, left_out;
    uint64_t took_ns, simulated_ns;
    char failure[ERROR_TEXT_MAX]; /* the first of coup itself */
    uint32_t *failovers_us;       /* owned; not sorted before suite_tally_settle() */
    uint32_t failover_count, failover_capacity;
    struct suite_shown shown[SUITE_CELL_SHOWN_MAX];
    uint32_t shown_count;
};

void suite_tally_add(struct suite_tally *tally, const struct suite_record *record);
void suite_tally_settle(struct suite_tally *tally); /* after the last */
void suite_tally_release(struct suite_tally *tally);

/* How many runs must come out as expected: at-least, or of a violation one, or of valid runs 0,
 * which stands for all but those whose drawn faults never landed. */
uint64_t suite_tally_needs(const struct suite_tally *tally);
enum suite_outcome suite_tally_outcome(const struct suite_tally *tally);
/* Whatever the missing runs bring. */
bool suite_tally_lost(const struct suite_tally *tally);

/* "3 of 20 invalid, at least 10 were to be", and the like; nothing where it passed. */
void suite_tally_why(const struct suite_tally *tally, struct text *out);

/* The p-th percentile of the failovers, 0..100, by nearest rank; 0 where there is none. */
uint32_t suite_tally_failover_us(const struct suite_tally *tally, uint32_t percent);

/* Of all cells: the worst. 1 before 3 before 2. */
enum exit_code suite_exit_code(const struct suite_tally *tallies, uint32_t count);

#endif
