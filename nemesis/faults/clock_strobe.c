/* The wall clock jumps ahead and back, over and over, as under two time servers that disagree. */
#include "nemesis/clock_shape.h"

enum { OPTION_STEP, OPTION_PERIOD };
static const struct option options[] = {
    {"step", OPTION_DURATION, "500ms", NS_PER_MS, CLOCK_STEP_MAX_NS, NULL,
     "ahead by so much, then behind by so much"},
    {"period", OPTION_DURATION, "200ms", 20 * NS_PER_MS, 3600 * NS_PER_S, NULL,
     "half of it ahead, half of it behind"},
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    uint64_t timeout_ns = scale->election_timeout_ns;
    uint64_t shortest_ns = timeout_ns / 5 + 20 * NS_PER_MS;
    uint64_t period_ns = random_between(random, shortest_ns, shortest_ns + timeout_ns);
    parameters->at[OPTION_STEP] = clock_draw_step(random, scale);
    parameters->at[OPTION_PERIOD] = period_ns - period_ns % NS_PER_MS;
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    struct clock_bend bend = {(int64_t)parameters->at[OPTION_STEP], CLOCK_TRUE_PPM};
    (void)random;
    out->flap_ns = parameters->at[OPTION_PERIOD] / 2;
    return clock_start(view, chosen, FACILITY_WALL_CLOCK, bend, out, ret_why);
}

static const struct target targets[] = {{.role = TARGET_RANDOM}, {.role = TARGET_LEADER}};

const struct fault fault_clock_strobe = {
    .name = "clock-strobe",
    .summary = "let the wall clock jump ahead and back, over and over",
    .group = "clock",
    .nodes_min = 1,
    .needs = FACILITY_WALL_CLOCK,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
