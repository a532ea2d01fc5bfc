/* Two halves and one node in both: the half without the leader hears it only through a node that
 * does not pass anything on. A leader that is the bridge itself reaches everybody, and where only
 * leaders talk the cut touches nothing; so it is chosen only when it is asked for. */
#include "nemesis/shape.h"

static uint32_t pick_bridge(const struct cluster_view *view, node_set chosen, struct random *random)
{
    node_set leader = view->leader ? node_bit(view->leader) : 0;
    node_set alive = chosen & view->running, followers = alive & ~leader;
    return nodes_pick(random, followers ? followers : alive ? alive : chosen);
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)ret_why;
    node_set bridge = node_bit(pick_bridge(view, chosen, random));
    node_set rest = nodes_all(view->nodes) & ~bridge;
    node_set side = nodes_pick_some(random, rest, nodes_count(rest) / 2);
    out->targets = bridge;
    shape_split(out, side, rest & ~side, cut_read(parameters, 0));
    return true;
}

static const struct target targets[] = {{.role = TARGET_ANY}};

const struct fault fault_bridge = {
    .name = "bridge",
    .summary = "two halves that only share one node, which reaches both",
    .group = "partition",
    .nodes_min = 3,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = cut_options,
    .start = start,
};
