/* SIGTERM: the process ends by itself, in good order, as when an operator or an orchestrator stops
 * a service. Started again when the fault ends. */
#include "nemesis/fault.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)parameters;
    (void)random;
    out->act.action = ACTION_TERMINATE;
    out->targets = chosen & view->running & ~view->paused;
    *ret_why =
        chosen & view->running ? "a paused process hears no signal" : "the target is not running";
    return out->targets != 0;
}

static const struct target targets[] = {{.role = TARGET_RANDOM}, {.role = TARGET_LEADER}};

const struct fault fault_term_stop = {
    .name = "term-stop",
    .summary = "let the process end by SIGTERM, start it again when the fault ends",
    .group = "kill",
    .nodes_min = 1,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .start = start,
};
