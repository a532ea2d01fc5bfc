/* The coordination service dies: nobody can be granted anything until it is back. Then it knows its
 * sessions and records, but not how long they had left. */
#include "nemesis/fault.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)chosen;
    (void)parameters;
    (void)random;
    out->act.action = ACTION_KILL;
    out->targets = node_bit(view->service);
    *ret_why = "the service is not running";
    return view->service_running;
}

static const struct target targets[] = {{.role = TARGET_ANY}};

const struct fault fault_service_kill = {
    .name = "service-kill",
    .summary = "end the coordination service, start it again when the fault ends",
    .group = "service",
    .nodes_min = 1,
    .needs = FACILITY_SERVICE,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .start = start,
};
