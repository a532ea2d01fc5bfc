/* An operator asks the leader to step down: for an upgrade, or to see who takes over. */
#include "nemesis/fault.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)parameters;
    (void)random;
    out->act = (struct act){.action = ACTION_COMMAND, .command = OPERATOR_RESIGN};
    out->targets = chosen & cluster_leads(view);
    *ret_why = "only a leader that runs can resign";
    return out->targets != 0;
}

static const struct target targets[] = {{.role = TARGET_LEADER}};

const struct fault fault_resign = {
    .name = "resign",
    .summary = "an operator asks the leader to step down",
    .group = "operator",
    .nodes_min = 1,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .start = start,
};
