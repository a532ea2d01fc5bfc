/* The service forgets a node's sessions, with all that belongs to them, and tells nobody: what a
 * failover of the service that loses them does, or an operator. The holder goes on until it hears
 * of it, so no lease can be exclusive then; fencing is what is left. */
#include "nemesis/fault.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)parameters;
    (void)random;
    out->act.action = ACTION_SESSION;
    out->targets = chosen & view->running;
    *ret_why = view->service_running && !view->service_paused ? "the target is not running"
                                                              : "the service is not running";
    return view->service_running && !view->service_paused && out->targets != 0;
}

static const struct target targets[] = {{.role = TARGET_LEADER}, {.role = TARGET_RANDOM}};

const struct fault fault_service_session_drop = {
    .name = "service-session-drop",
    .summary = "the coordination service forgets the sessions of a node and does not tell it",
    .group = "service",
    .nodes_min = 1,
    .needs = FACILITY_SERVICE,
    .by_name = true,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .start = start,
};
