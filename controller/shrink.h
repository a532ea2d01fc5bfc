/* Delta debugging (Zeller & Hildebrandt 2002) of a run that violates a check: leave away whatever
 * can go while it still does. What a candidate does is told by a function, so this knows neither
 * processes nor the simulator. */
#ifndef COUP_CONTROLLER_SHRINK_H
#define COUP_CONTROLLER_SHRINK_H

#include "nemesis/plan.h"

/* What is made smaller. */
struct shape {
    struct schedule schedule; /* owned */
    uint64_t duration_ns;     /* of the faults phase */
    uint32_t nodes, clients;
};

struct shrink {
    void *context;
    /* 1: it still violates; 0: it does not; -errno ends all. */
    int (*violates)(void *context, const struct shape *shape, struct error *error);
    bool (*over)(void *context); /* the budget is used up */
    uint32_t nodes_min;
    uint64_t step_ns; /* times are not cut finer than this */
    uint64_t duration_min_ns;
    uint32_t tried, accepted;
};

/* Make `shape`, which violates, as small as can be. 0, also when the budget ended it: the smallest
 * so far is in `shape`. -errno. */
int shrink_run(struct shrink *shrink, struct shape *shape, struct error *error);

#endif
