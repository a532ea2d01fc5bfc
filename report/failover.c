#include "report/failover.h"

#include <stdlib.h>

#include "base/units.h"

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

bool failover_after(const struct failover *failover, enum failover_phase phase, uint64_t *ret_ns)
{
    uint64_t at = reached_ns(failover, phase);
    if (at == UINT64_MAX || at < failover->lost_ns)
        return false;
    *ret_ns = at - failover->lost_ns;
    return true;
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

const char *failover_phase_title(enum failover_phase phase)
{
    static const char *const titles[FAILOVER_PHASES] = {"first suspicion", "campaign", "new leader",
                                                        "accepted write"};
    return titles[phase];
}

uint32_t failover_samples(const struct measure *measure, enum failover_phase phase, uint64_t **out)
{
    uint64_t *times = must_alloc(measure->failover_count, sizeof *times);
    uint32_t count = 0;
    for (uint32_t i = 0; i < measure->failover_count; i++)
        count += failover_after(&measure->failovers[i], phase, &times[count]);
    if (count)
        qsort(times, count, sizeof *times, by_value);
    *out = times;
    return count;
}

uint64_t quantile(const uint64_t *samples, uint32_t count, uint64_t ppm)
{
    return samples[(count * ppm + PPM_ONE - 1) / PPM_ONE - 1];
}

struct failover_times failover_times(const struct measure *measure, enum failover_phase phase)
{
    uint64_t *times;
    struct failover_times out = {.count = failover_samples(measure, phase, &times)};
    if (out.count > 0) {
        out.median_ns = quantile(times, out.count, PPM_ONE / 2);
        out.max_ns = times[out.count - 1];
    }
    free(times);
    return out;
}
