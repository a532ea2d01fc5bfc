/* One seed of a sweep: what it stands for is drawn, run, and boiled down to what a sweep counts and
 * shows. Plain data, so that it can come from another process. */
#ifndef COUP_SIMULATOR_SWEEP_H
#define COUP_SIMULATOR_SWEEP_H

#include "simulator/swarm.h"

#define SWEEP_FAILOVERS_MAX 16u

struct sweep_outcome {
    uint64_t seed;
    enum verdict verdict;
    uint64_t invalid, unknown; /* checks, bit by place in the checks registry */
    uint64_t landed;           /* fault kinds, bit by place in the faults registry */
    uint64_t hash, happenings, events, simulated_ns;
    bool repeated, diverged; /* was it run twice; did the two differ */
    int32_t decided_by;      /* check whose reason this is, -1: none; the expected one if it is */
    uint32_t failovers_us[SWEEP_FAILOVERS_MAX]; /* from loss of a leader to the next; the first */
    uint32_t failover_count;
    char reason[400];
    char drawn[800];
};

/* Every so many seeds one is run twice, to see that it is the same run. */
#define SWEEP_REPEAT_EVERY 20u

int sweep_one(const struct swarm_request *request, uint64_t seed, struct sweep_outcome *out,
              struct error *error);

/* Unknown only because some drawn fault never landed: says nothing about the algorithm. */
bool sweep_vacuous(const struct sweep_outcome *outcome);

#endif
