/* A machine's clocks under virtual time: the monotonic one runs at a rate of its own and may leap
 * forward, the wall clock may be stepped either way on top of it. A clock belongs to the machine,
 * so it survives the death of the process. Integer arithmetic only: the same on every machine. */
#ifndef COUP_SIMULATOR_CLOCK_H
#define COUP_SIMULATOR_CLOCK_H

#include <stdint.h>

#include "nemesis/act.h"

struct sim_clock {
    uint64_t true_ns, own_ns; /* at the last change of rate */
    uint64_t rate;            /* own per true nanosecond, times 2^32 */
    int64_t wall_offset_ns;   /* wall minus own */
};

/* `own_ns` is what the clock shows at true time 0. */
void sim_clock_init(struct sim_clock *clock, uint64_t own_ns, int64_t wall_offset_ns);

/* From `true_ns` on the clock runs fast (ppm > 0) or slow, and never stands: ppm > -1,000,000. */
void sim_clock_rate(struct sim_clock *clock, uint64_t true_ns, int64_t ppm);

/* Monotonic time jumps ahead by `by_ns`, as after a suspended machine wakes. */
void sim_clock_leap(struct sim_clock *clock, uint64_t true_ns, uint64_t by_ns);

/* Wall time is set by `by_ns`, back or forth; monotonic time does not notice. */
void sim_clock_step(struct sim_clock *clock, int64_t by_ns);

/* Bend the clock of a machine that runs fast by `drift_ppm` anyway; `now` is bent so already. */
void sim_clock_bend(struct sim_clock *clock, uint64_t true_ns, int64_t drift_ppm,
                    struct clock_bend *now, const struct clock_bend *bend);

#define SIM_CLOCK_EXACT (UINT64_C(1) << 32)

static inline uint64_t sim_clock_own(const struct sim_clock *clock, uint64_t true_ns)
{
    uint64_t past = true_ns - clock->true_ns;
    if (clock->rate == SIM_CLOCK_EXACT)
        return clock->own_ns + past;
    return clock->own_ns + (uint64_t)(((__uint128_t)past * clock->rate) >> 32);
}

static inline uint64_t sim_clock_wall(const struct sim_clock *clock, uint64_t own_ns)
{
    return own_ns + (uint64_t)clock->wall_offset_ns;
}

/* The first true time, not before `true_ns`, at which the clock shows `own_ns` or more. UINT64_MAX
 * stays UINT64_MAX. */
uint64_t sim_clock_reaches(const struct sim_clock *clock, uint64_t true_ns, uint64_t own_ns);

#endif
