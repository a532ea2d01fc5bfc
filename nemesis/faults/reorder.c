/* All frames are held back, some are let through at once. */
#include "nemesis/shape.h"

static const struct option options[] = {
    {"reorder", OPTION_PROBABILITY, "25%", 1, PPM_ONE, NULL, "share of frames that overtake"},
    {"delay", OPTION_DURATION, "40ms", 1, IMPAIRMENT_DELAY_MAX_NS, NULL,
     "how long the others are held back"},
    SCOPE_OPTIONS,
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    parameters->at[0] = random_between(random, 20, 50) * (PPM_ONE / 100);
    parameters->at[1] =
        draw_duration(random, scale->election_timeout_ns / 10, scale->election_timeout_ns / 2);
    scope_plan(random, 2, parameters);
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    const struct impairment impairment = {.reorder_ppm = (uint32_t)parameters->at[0],
                                          .delay_ns = parameters->at[1]};
    const struct scope scope = scope_read(parameters, 2, impairment);
    return scope_start(&scope, view, chosen, random, out, ret_why);
}

static const struct target targets[] = {{.role = TARGET_LEADER}, {.role = TARGET_RANDOM}};

const struct fault fault_reorder = {
    .name = "reorder",
    .summary = "let some frames overtake the others",
    .group = "link",
    .nodes_min = 2,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
