/* A run as its history has it, to be run again: everything comes from the header, so that the file
 * alone is enough, wherever and by whichever version it was written. */
#ifndef COUP_CONTROLLER_RECORDED_H
#define COUP_CONTROLLER_RECORDED_H

#include "controller/run.h"
#include "histories/event.h"
#include "histories/header.h"
#include "simulator/sim.h"

struct recorded {
    const struct history_header *header; /* borrowed */
    const struct algorithm *algorithm;
    struct elector_config elector;
    const struct fault *faults[FAULTS_MAX];
    uint32_t fault_count;
    struct schedule schedule; /* owned */
    bool simulated;           /* its world */
    uint64_t faults_ns;       /* when its faults phase began */
};

/* Usage errors: what this coup does not know (an algorithm, option or fault of another version), or
 * cannot be run. */
int recorded_open(const struct history_header *header, struct recorded *out, struct error *error);
/* Told every event of the history, the schedule hits the nodes it hit then, when it did. */
void recorded_event(struct recorded *recorded, const struct event *event);
void recorded_settle(struct recorded *recorded); /* after the last of them */
void recorded_release(struct recorded *recorded);

/* The same in the one world or the other; borrow from `recorded`. What a header does not say (a
 * real run's physics, a simulated run's network) has its default, or is left for the caller. */
struct service_use;
int recorded_as_real(const struct recorded *recorded, struct run_config *out,
                     struct service_use *service, struct error *error);
int recorded_as_simulated(const struct recorded *recorded, struct sim_config *out,
                          struct error *error);

#endif
