/* A slow link: from a tenth of the election timeout to somewhat beyond it. */
#include "nemesis/shape.h"

static const struct option options[] = {
    {"delay", OPTION_DURATION, "50ms", 1, IMPAIRMENT_DELAY_MAX_NS, NULL, "held back for so long"},
    SCOPE_OPTIONS,
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    parameters->at[0] =
        draw_duration(random, scale->election_timeout_ns / 10, scale->election_timeout_ns * 6 / 5);
    scope_plan(random, 1, parameters);
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    const struct impairment impairment = {.delay_ns = parameters->at[0]};
    const struct scope scope = scope_read(parameters, 1, impairment);
    return scope_start(&scope, view, chosen, random, out, ret_why);
}

static const struct target targets[] = {{.role = TARGET_LEADER}, {.role = TARGET_RANDOM}};

const struct fault fault_delay = {
    .name = "delay",
    .summary = "hold frames back for a fixed time",
    .group = "link",
    .nodes_min = 2,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
