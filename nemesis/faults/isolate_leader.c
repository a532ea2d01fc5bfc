/* The leader alone on its side. Clients and the resource still reach it, so a leader that does not
 * notice shows in what it writes. */
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

static const struct target targets[] = {{.role = TARGET_LEADER}};

const struct fault fault_isolate_leader = {
    .name = "isolate-leader",
    .summary = "cut every link of the leader, both ways",
    .group = "partition",
    .nodes_min = 2,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = cut_options,
    .start = start,
};
