/* Delay that varies from nothing to twice the jitter: frames overtake each other. */
#include "nemesis/shape.h"

static const struct option options[] = {
    {"jitter", OPTION_DURATION, "20ms", 1, IMPAIRMENT_DELAY_MAX_NS, NULL,
     "held back for twice so long at most"},
    SCOPE_OPTIONS,
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    parameters->at[0] =
        draw_duration(random, scale->election_timeout_ns / 20, scale->election_timeout_ns / 2);
    scope_plan(random, 1, parameters);
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    const struct impairment impairment = {.delay_ns = parameters->at[0],
                                          .jitter_ns = parameters->at[0]};
    const struct scope scope = scope_read(parameters, 1, impairment);
    return scope_start(&scope, view, chosen, random, out, ret_why);
}

static const struct target targets[] = {{.role = TARGET_LEADER}, {.role = TARGET_RANDOM}};

const struct fault fault_jitter = {
    .name = "jitter",
    .summary = "hold frames back for a random time",
    .group = "link",
    .nodes_min = 2,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
