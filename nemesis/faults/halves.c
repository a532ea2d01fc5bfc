/* Two halves; of an odd number the smaller one is the side the targets name. */
#include "nemesis/shape.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)ret_why;
    out->targets = shape_side(random, view->nodes, chosen, view->nodes / 2);
    shape_split(out, out->targets, nodes_all(view->nodes) & ~out->targets, cut_read(parameters, 0));
    return true;
}

static const struct target targets[] = {{.role = TARGET_ANY}, {.role = TARGET_LEADER}};

const struct fault fault_halves = {
    .name = "halves",
    .summary = "split the nodes into two halves that cannot reach each other",
    .group = "partition",
    .nodes_min = 2,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = cut_options,
    .start = start,
};
