#include "simulator/clock.h"

#include <assert.h>

#define PPM 1000000

void sim_clock_init(struct sim_clock *clock, uint64_t own_ns, int64_t wall_offset_ns)
{
    *clock = (struct sim_clock){
        .own_ns = own_ns, .rate = SIM_CLOCK_EXACT, .wall_offset_ns = wall_offset_ns};
}

static void restart_at(struct sim_clock *clock, uint64_t true_ns)
{
    clock->own_ns = sim_clock_own(clock, true_ns);
    clock->true_ns = true_ns;
}

void sim_clock_rate(struct sim_clock *clock, uint64_t true_ns, int64_t ppm)
{
    assert(ppm > -PPM);
    restart_at(clock, true_ns);
    clock->rate = (uint64_t)(((__uint128_t)SIM_CLOCK_EXACT * (uint64_t)(PPM + ppm)) / PPM);
}

void sim_clock_leap(struct sim_clock *clock, uint64_t true_ns, uint64_t by_ns)
{
    restart_at(clock, true_ns);
    clock->own_ns += by_ns;
}

void sim_clock_step(struct sim_clock *clock, int64_t by_ns)
{
    clock->wall_offset_ns += by_ns;
}

uint64_t sim_clock_reaches(const struct sim_clock *clock, uint64_t true_ns, uint64_t own_ns)
{
    uint64_t shown = sim_clock_own(clock, true_ns);
    if (own_ns == UINT64_MAX)
        return UINT64_MAX;
    if (own_ns <= shown)
        return true_ns;
    if (clock->rate == SIM_CLOCK_EXACT)
        return true_ns + (own_ns - shown);
    /* Rounded up, so the clock has really reached it; counted from the last change of rate, where
     * nothing has been rounded yet. */
    __uint128_t ahead = (__uint128_t)(own_ns - clock->own_ns) << 32;
    __uint128_t past = (ahead + clock->rate - 1) / clock->rate;
    return past > UINT64_MAX - clock->true_ns ? UINT64_MAX : clock->true_ns + (uint64_t)past;
}

void sim_clock_bend(struct sim_clock *clock, uint64_t true_ns, int64_t drift_ppm,
                    struct clock_bend *now, const struct clock_bend *bend)
{
    int64_t truth = (int64_t)CLOCK_TRUE_PPM;
    int64_t rate = (truth + drift_ppm) * (int64_t)bend->rate_ppm / truth;
    sim_clock_step(clock, bend->step_ns - now->step_ns);
    sim_clock_rate(clock, true_ns, rate - truth);
    *now = *bend;
}
