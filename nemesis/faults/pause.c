/* SIGSTOP: the process stands still while its clocks run on and its kernel goes on acknowledging
 * what peers send. The classic way to a leader that does not know its time is over. */
#include "nemesis/fault.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)parameters;
    (void)random;
    out->act.action = ACTION_PAUSE;
    out->targets = chosen & view->running & ~view->paused;
    *ret_why =
        chosen & view->running ? "the target is already paused" : "the target is not running";
    return out->targets != 0;
}

static const struct target targets[] = {
    {.role = TARGET_RANDOM}, {.role = TARGET_LEADER},   {.role = TARGET_LEADER},
    {.role = TARGET_LEADER}, {.role = TARGET_FOLLOWER}, {.role = TARGET_MINORITY},
};

const struct fault fault_pause = {
    .name = "pause",
    .summary = "stop the process with SIGSTOP, continue it when the fault ends",
    .group = "pause",
    .nodes_min = 1,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .start = start,
};
