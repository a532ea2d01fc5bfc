/* Any node alone on its side: it comes back with a term of its own and unsettles the others. */
#include "nemesis/shape.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)random;
    (void)ret_why;
    out->targets = chosen;
    shape_isolate(out, chosen, view->nodes, cut_read(parameters, 0));
    return true;
}

static const struct target targets[] = {{.role = TARGET_RANDOM}, {.role = TARGET_FOLLOWER}};

const struct fault fault_isolate_one = {
    .name = "isolate-one",
    .summary = "cut every link of one node, both ways",
    .group = "partition",
    .nodes_min = 2,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = cut_options,
    .start = start,
};
