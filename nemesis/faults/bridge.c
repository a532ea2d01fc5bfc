/* Two halves and one node in both: each half may see its own leader through the bridge. */
#include "nemesis/shape.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)parameters;
    (void)ret_why;
    node_set alive = chosen & view->running;
    node_set bridge = node_bit(nodes_pick(random, alive ? alive : chosen));
    node_set rest = nodes_all(view->nodes) & ~bridge;
    node_set side = nodes_pick_some(random, rest, nodes_count(rest) / 2);
    out->targets = bridge;
    shape_split(out, side, rest & ~side);
    return true;
}

static const struct target targets[] = {{.role = TARGET_ANY}, {.role = TARGET_LEADER}};

const struct fault fault_bridge = {
    .name = "bridge",
    .summary = "two halves that only share one node, which reaches both",
    .group = "partition",
    .nodes_min = 3,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .start = start,
};
