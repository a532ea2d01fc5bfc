/* Failover times of a run, by phase, each counted from the loss of the leader. */
#ifndef COUP_REPORT_FAILOVER_H
#define COUP_REPORT_FAILOVER_H

#include "checker/measure.h"

enum failover_phase {
    PHASE_SUSPECTED, /* first follower gave up on the leader */
    PHASE_CAMPAIGN,
    PHASE_ELECTED,
    PHASE_ACCEPTED, /* first guarded write accepted under the new token */
    FAILOVER_PHASES,
};

struct failover_times {
    uint32_t count; /* losses in which the phase was reached */
    uint64_t median_ns, max_ns;
};

const char *failover_phase_name(enum failover_phase phase);

/* Median is the nearest rank: a time that was measured. Zeroed when the phase was never reached. */
struct failover_times failover_times(const struct measure *measure, enum failover_phase phase);

#endif
