/* A node whose links come and go: too short for detectors to settle, long enough to lose votes. */
#include "nemesis/shape.h"

static const struct option options[] = {
    {"period", OPTION_DURATION, "200ms", 2 * NS_PER_MS, 3600 * NS_PER_S, NULL,
     "half of it cut, half of it whole"},
    CUT_OPTION,
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    uint64_t timeout_ns = scale->election_timeout_ns;
    parameters->at[0] =
        draw_duration(random, timeout_ns / 5 + 2 * NS_PER_MS, 2 * timeout_ns + 2 * NS_PER_MS);
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)random;
    (void)ret_why;
    out->targets = chosen;
    out->flap_ns = parameters->at[0] / 2;
    shape_isolate(out, chosen, view->nodes, cut_read(parameters, 1));
    return true;
}

static const struct target targets[] = {{.role = TARGET_RANDOM}, {.role = TARGET_LEADER}};

const struct fault fault_flapping = {
    .name = "flapping",
    .summary = "cut every link of a node and mend it again, over and over",
    .group = "partition",
    .nodes_min = 2,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
