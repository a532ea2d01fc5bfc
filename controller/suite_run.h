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

/* Add up what a journal says. Usage error: it is of another suite, or of other words in it. */
int suite_state_load(struct suite_state *state, const char *folder, bool any_shard, int *ret_fd,
                     struct error *error);

/* Do what is not done yet; `fd` is the journal in `folder`. 0, also when it was stopped early. */
int suite_state_run(struct suite_state *state, const struct suite_order *order, const char *folder,
                    int fd, struct error *error);

#endif
