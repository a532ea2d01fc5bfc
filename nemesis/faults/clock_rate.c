/* An oscillator off its frequency: monotonic and wall time run fast or slow, without a jump when it
 * begins or ends, and what was gained or lost stays. Timeouts and leases are measured by it. */
#include "nemesis/clock_shape.h"

enum { OPTION_DRIFT, OPTION_DIRECTION };
static const char *const directions[] = {"fast", "slow", NULL};
static const struct option options[] = {
    {"drift", OPTION_PROBABILITY, "10%", 100, PPM_ONE, NULL,
     "how much the faster of this clock and true time gains on the other; 100%: twice as fast"},
    {"direction", OPTION_WORD, "fast", 0, 0, directions, "which way it is wrong"},
    {.name = NULL},
};

/* Within what the algorithm declares, or this fault would only show that its assumption is one. */
static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    uint64_t most = scale->clock_drift_ppm ? scale->clock_drift_ppm : PPM_ONE;
    uint64_t drift = random_between(random, most / 4, most);
    parameters->at[OPTION_DRIFT] = drift > 1000 ? drift - drift % 1000 : most;
    parameters->at[OPTION_DIRECTION] = random_below(random, 2);
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    uint64_t faster = CLOCK_TRUE_PPM + parameters->at[OPTION_DRIFT];
    bool slow = parameters->at[OPTION_DIRECTION];
    struct clock_bend bend = {0, slow ? CLOCK_TRUE_PPM * CLOCK_TRUE_PPM / faster : faster};
    (void)random;
    return clock_start(view, chosen, FACILITY_CLOCK_RATE, bend, out, ret_why);
}

static const struct target targets[] = {
    {.role = TARGET_RANDOM}, {.role = TARGET_LEADER}, {.role = TARGET_MINORITY}};

const struct fault fault_clock_rate = {
    .name = "clock-rate",
    .summary = "let monotonic and wall time run fast or slow",
    .group = "clock",
    .nodes_min = 1,
    .needs = FACILITY_CLOCK_RATE,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
