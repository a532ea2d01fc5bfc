/* SIGKILL: volatile state is gone, what was fsynced stays. Restarted when the fault ends. */
#include "nemesis/fault.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)parameters;
    (void)random;
    out->act.action = ACTION_KILL;
    out->targets = chosen & view->running;
    *ret_why = "the target is not running";
    return out->targets != 0;
}

static const struct target targets[] = {
    {.role = TARGET_RANDOM}, {.role = TARGET_LEADER},   {.role = TARGET_LEADER},
    {.role = TARGET_LEADER}, {.role = TARGET_FOLLOWER}, {.role = TARGET_MINORITY},
};

const struct fault fault_kill = {
    .name = "kill",
    .summary = "end the process with SIGKILL, start it again when the fault ends",
    .group = "kill",
    .nodes_min = 1,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .start = start,
};
