/* Independent loss: TCP hides it as delay, until retransmissions take longer than the timeouts. */
#include "nemesis/shape.h"

static const struct option options[] = {
    {"loss", OPTION_PROBABILITY, "30%", 1, PPM_ONE, NULL, "share of frames dropped"},
    SCOPE_OPTIONS,
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    (void)scale;
    parameters->at[0] = random_between(random, 20, 60) * (PPM_ONE / 100);
    scope_plan(random, 1, parameters);
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    const struct impairment impairment = {.loss_ppm = (uint32_t)parameters->at[0]};
    const struct scope scope = scope_read(parameters, 1, impairment);
    return scope_start(&scope, view, chosen, random, out, ret_why);
}

static const struct target targets[] = {{.role = TARGET_LEADER}, {.role = TARGET_RANDOM}};

const struct fault fault_loss = {
    .name = "loss",
    .summary = "drop frames at random",
    .group = "link",
    .nodes_min = 2,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
