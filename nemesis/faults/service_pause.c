/* The coordination service stands still: leases run out by their holders' clocks, and those who ask
 * wait. When it goes on it finds that every session has run out. */
#include "nemesis/fault.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)chosen;
    (void)parameters;
    (void)random;
    out->act.action = ACTION_PAUSE;
    out->targets = node_bit(view->service);
    *ret_why =
        view->service_paused ? "the service is already paused" : "the service is not running";
    return view->service_running && !view->service_paused;
}

static const struct target targets[] = {{.role = TARGET_ANY}};

const struct fault fault_service_pause = {
    .name = "service-pause",
    .summary = "stop the coordination service with SIGSTOP, let it go on when the fault ends",
    .group = "service",
    .nodes_min = 1,
    .needs = FACILITY_SERVICE,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .start = start,
};
