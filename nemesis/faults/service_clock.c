/* The coordination service's wall clock is set wrong. Who grants by it lets a lease run out while
 * its holder, by its own clock, may still act; sessions that are counted by monotonic time do not
 * notice. */
#include "nemesis/clock_shape.h"

enum { OPTION_STEP, OPTION_DIRECTION };
static const struct option options[] = {
    {"step", OPTION_DURATION, "5s", NS_PER_MS, CLOCK_STEP_MAX_NS, NULL, "set wrong by so much"},
    {"direction", OPTION_WORD, "forward", 0, 0, clock_directions, "which way"},
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    parameters->at[OPTION_STEP] = clock_draw_step(random, scale);
    parameters->at[OPTION_DIRECTION] = random_below(random, 2);
}

static const char *why_not(const struct cluster_view *view)
{
    if (view->missing[FACILITY_WALL_CLOCK])
        return view->missing[FACILITY_WALL_CLOCK];
    if (view->lacking[FACILITY_WALL_CLOCK] & node_bit(view->service))
        return "a real service keeps its own clock";
    return view->service_running && !view->service_paused ? NULL : "the service is not running";
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    int64_t step_ns = (int64_t)parameters->at[OPTION_STEP];
    (void)chosen;
    (void)random;
    out->act.action = ACTION_CLOCK;
    out->act.clock =
        (struct clock_bend){parameters->at[OPTION_DIRECTION] ? -step_ns : step_ns, CLOCK_TRUE_PPM};
    out->targets = node_bit(view->service);
    *ret_why = why_not(view);
    return !*ret_why;
}

static const struct target targets[] = {{.role = TARGET_ANY}};

const struct fault fault_service_clock = {
    .name = "service-clock",
    .summary = "set the coordination service's wall clock wrong, set it right when the fault ends",
    .group = "service",
    .nodes_min = 1,
    .needs = FACILITY_SERVICE,
    .by_name = true,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
