/* A link so thin that heartbeats queue up behind each other. */
#include "nemesis/shape.h"

static const struct option options[] = {
    {"rate", OPTION_BITRATE, "100kbit", 1000, 1000000000, NULL, "capacity of each link"},
    SCOPE_OPTIONS,
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    (void)scale;
    parameters->at[0] = random_between(random, 30, 300) * 1000;
    scope_plan(random, 1, parameters);
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    const struct impairment impairment = {.rate_bits_per_s = parameters->at[0]};
    const struct scope scope = scope_read(parameters, 1, impairment);
    return scope_start(&scope, view, chosen, random, out, ret_why);
}

static const struct target targets[] = {{.role = TARGET_LEADER}, {.role = TARGET_RANDOM}};

const struct fault fault_rate = {
    .name = "rate",
    .summary = "send through a thin pipe",
    .group = "link",
    .nodes_min = 2,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
