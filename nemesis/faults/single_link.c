/* One pair that cannot reach each other while everybody else reaches both: the node that lost its
 * leader stands for election although a leader is fine (Cloudflare's etcd outage, 2020). */
#include "nemesis/shape.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    const struct scope scope = {SCOPE_ONE, SCOPE_BOTH, cut_read(parameters, 0)};
    return scope_start(&scope, view, chosen, random, out, ret_why);
}

static const struct target targets[] = {{.role = TARGET_RANDOM}, {.role = TARGET_LEADER}};

const struct fault fault_single_link = {
    .name = "single-link",
    .summary = "cut the link between two nodes, both ways",
    .group = "partition",
    .nodes_min = 2,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = cut_options,
    .start = start,
};
