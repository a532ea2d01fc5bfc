/* The wall clock is set wrong, as by an operator or a broken time server; monotonic time does not
 * notice. Who measures a lease or a timeout by the wall clock does. */
#include "nemesis/clock_shape.h"

enum { OPTION_STEP, OPTION_DIRECTION };
static const struct option options[] = {
    {"step", OPTION_DURATION, "5s", NS_PER_MS, CLOCK_STEP_MAX_NS, NULL, "set wrong by so much"},
    {"direction", OPTION_WORD, "forward", 0, 0, clock_directions, "which way"},
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    parameters->at[OPTION_STEP] = clock_draw_step(random, scale);
    parameters->at[OPTION_DIRECTION] = random_below(random, 2);
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    int64_t step_ns = (int64_t)parameters->at[OPTION_STEP];
    struct clock_bend bend = {parameters->at[OPTION_DIRECTION] ? -step_ns : step_ns,
                              CLOCK_TRUE_PPM};
    (void)random;
    return clock_start(view, chosen, FACILITY_WALL_CLOCK, bend, out, ret_why);
}

static const struct target targets[] = {
    {.role = TARGET_RANDOM}, {.role = TARGET_LEADER}, {.role = TARGET_MINORITY}};

const struct fault fault_clock_step = {
    .name = "clock-step",
    .summary = "set the wall clock wrong, set it right when the fault ends",
    .group = "clock",
    .nodes_min = 1,
    .needs = FACILITY_WALL_CLOCK,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
