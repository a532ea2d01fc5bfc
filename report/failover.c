#include "report/failover.h"

#include <stdlib.h>

static uint64_t reached_ns(const struct failover *failover, enum failover_phase phase)
{
    switch (phase) {
    case PHASE_SUSPECTED: return failover->suspected_ns;
    case PHASE_CAMPAIGN: return failover->campaign_ns;
    case PHASE_ELECTED: return failover->elected_ns;
    case PHASE_ACCEPTED: return failover->accepted_ns;
    case FAILOVER_PHASES: break;
    }
    return UINT64_MAX;
}

static int by_value(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

const char *failover_phase_name(enum failover_phase phase)
{
    static const char *const names[FAILOVER_PHASES] = {"suspected", "campaign", "elected",
                                                       "accepted"};
    return names[phase];
}

struct failover_times failover_times(const struct measure *measure, enum failover_phase phase)
{
    struct failover_times out = {0};
    uint64_t *times = must_alloc(measure->failover_count, sizeof *times);
    for (uint32_t i = 0; i < measure->failover_count; i++) {
        const struct failover *failover = &measure->failovers[i];
        uint64_t at = reached_ns(failover, phase);
        if (at != UINT64_MAX && at >= failover->lost_ns)
            times[out.count++] = at - failover->lost_ns;
    }
    if (out.count > 0) {
        qsort(times, out.count, sizeof *times, by_value);
        out.median_ns = times[(out.count - 1) / 2];
        out.max_ns = times[out.count - 1];
    }
    free(times);
    return out;
}
