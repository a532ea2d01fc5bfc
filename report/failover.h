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

const char *failover_phase_name(enum failover_phase phase); /* for machines */
const char *
failover_phase_title(enum failover_phase phase); /* for people: "from the loss to ..." */

/* How long after the loss the phase was reached; false: not before the next loss. */
bool failover_after(const struct failover *failover, enum failover_phase phase, uint64_t *ret_ns);

/* The times in which the phase was reached, sorted; owned by the caller, free(). Returns how many.
 */
uint32_t failover_samples(const struct measure *measure, enum failover_phase phase, uint64_t **out);

/* Nearest rank: always a time that was measured. `count` > 0, samples sorted, 0 < ppm <= PPM_ONE.
 */
uint64_t quantile(const uint64_t *samples, uint32_t count, uint64_t ppm);

/* Median is the nearest rank: a time that was measured. Zeroed when the phase was never reached. */
struct failover_times failover_times(const struct measure *measure, enum failover_phase phase);

#endif
