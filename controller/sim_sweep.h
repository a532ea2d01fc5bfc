/* Many simulated runs: spread over processes, counted in the order of their seeds, failures kept as
 * history files and shown with the command that repeats them. */
#ifndef COUP_CONTROLLER_SIM_SWEEP_H
#define COUP_CONTROLLER_SIM_SWEEP_H

#include "controller/expectation.h"
#include "simulator/sweep.h"

struct sweep_order {
    struct swarm_request request;
    uint64_t first, last; /* seeds, both included */
    uint32_t jobs;
    bool keep_all;      /* else failing ones only */
    bool keep_going;    /* past the first failure */
    const char *folder; /* for histories; NULL: a new one below coup-runs/ when one is needed */
    const char *again;  /* the command that repeats it, but for the seeds */
    struct expectation expect;
    bool json, quiet;
};

/* Runs, prints, and returns the exit code, or -errno. */
int sweep_execute(const struct sweep_order *order, struct error *error);

#endif
