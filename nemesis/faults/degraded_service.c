/* The coordination service answers slowly: everything that depends on it slows down or stops. */
#include "nemesis/shape.h"

static const struct option options[] = {
    {"delay", OPTION_DURATION, "200ms", 1, IMPAIRMENT_DELAY_MAX_NS, NULL,
     "held back for so long, each way"},
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    parameters->at[0] =
        draw_duration(random, scale->election_timeout_ns / 10, scale->election_timeout_ns * 2);
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    const struct impairment impairment = {.delay_ns = parameters->at[0]};
    (void)chosen;
    (void)random;
    (void)ret_why;
    for (uint32_t id = 1; id <= view->nodes; id++) {
        injection_link(out, id, view->service, impairment);
        injection_link(out, view->service, id, impairment);
    }
    return true;
}

static const struct target targets[] = {{.role = TARGET_ANY}};

const struct fault fault_degraded_service = {
    .name = "degraded-service",
    .summary = "hold frames to and from the coordination service back for a fixed time",
    .group = "service",
    .nodes_min = 1,
    .needs = FACILITY_SERVICE,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
