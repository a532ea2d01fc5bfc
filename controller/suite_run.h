/* A suite being run: spread over workers, written down record by record, resumed where it was. */
#ifndef COUP_CONTROLLER_SUITE_RUN_H
#define COUP_CONTROLLER_SUITE_RUN_H

#include "controller/suite_journal.h"
#include "controller/suite_tally.h"

struct suite_order {
    const char *file, *yaml;  /* the suite's name in errors, and its text */
    const char *shard, *only; /* "I/N"; part of a cell's name, "" for all */
    uint32_t jobs;
    uint64_t budget_ns; /* 0: the suite's own */
    bool fail_fast, quiet;
};

/* A suite with what is known of its chosen cells. Owned; must not be moved. */
struct suite_state {
    struct suite suite;
    struct suite_job *jobs; /* of the chosen cells, in the order of the suite */
    struct suite_tally *tallies;
    uint32_t *cells; /* their places in the suite */
    uint32_t count;
    uint64_t *done; /* bit per unit that is in the journal; see suite_run.c */
    struct suite_journal_head head;
    uint64_t past_ns; /* what the journal says has passed */
    bool interrupted, out_of_time, failed_fast;
    uint64_t took_ns; /* wall, all goes together */
};

/* Read the suite and choose. Usage errors: bad suite, bad shard, or nothing is chosen. */
int suite_state_open(const struct suite_order *order, struct suite_state *out, struct error *error);
void suite_state_release(struct suite_state *state);

/* Which journals may be added up. */
enum suite_kinship {
    SUITE_SAME,    /* this suite's, this shard's */
    SUITE_SHARD,   /* this suite's, any shard's */
    SUITE_EARLIER, /* any suite's, by whatever coup: cells are told by their names */
};

/* Add up what a journal says, each run once. Usage error: it is no such journal. `ret_fd` (may be
 * NULL) goes on with it. */
int suite_state_load(struct suite_state *state, const char *folder, enum suite_kinship kinship,
                     int *ret_fd, struct error *error);

/* Add up the journal of a shard of this suite, and write its records to the journal `fd`. Histories
 * stay where they are and are named from there. */
int suite_state_merge(struct suite_state *state, const char *folder, int fd, struct error *error);

void suite_state_settle(struct suite_state *state); /* after all that is to be added up */

/* Do what is not done yet; `fd` is the journal in `folder`. 0, also when it was stopped early. */
int suite_state_run(struct suite_state *state, const struct suite_order *order, const char *folder,
                    int fd, struct error *error);

#endif
