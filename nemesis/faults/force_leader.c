/* An operator promotes a node by hand, against every vote: the override of last resort that is used
 * when the others seem lost, and splits the brain when they are not. No election can stay correct
 * under it; fencing can. */
#include "nemesis/fault.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)parameters;
    node_set able = chosen & cluster_candidates(view) & ~cluster_leads(view);
    out->act = (struct act){.action = ACTION_COMMAND, .command = OPERATOR_FORCE};
    out->targets = able ? node_bit(nodes_pick(random, able)) : 0;
    *ret_why = "the target leads, cannot lead or does not run";
    return able != 0;
}

static const struct target targets[] = {{.role = TARGET_FOLLOWER}, {.role = TARGET_RANDOM}};

const struct fault fault_force_leader = {
    .name = "force-leader",
    .summary = "an operator makes a node lead without asking anybody",
    .group = "override",
    .nodes_min = 2,
    .by_name = true,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .start = start,
};
