/* TCP segments with payload are dropped one way, acknowledgements pass: the honest one-way loss, a
 * leader that sends but cannot hear, or hears but is not heard. */
#include "nemesis/shape.h"

static const struct option options[] = {
    ONE_WAY_OPTIONS,
    {.name = NULL},
};

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    const struct impairment impairment = {.cut_data = true};
    return one_way_start(parameters, view, chosen, random, impairment, out, ret_why);
}

static const struct target targets[] = {{.role = TARGET_LEADER}, {.role = TARGET_RANDOM}};

const struct fault fault_one_way_data = {
    .name = "one-way-data",
    .summary = "drop one direction's data between a node and the others",
    .group = "partition",
    .nodes_min = 2,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = one_way_plan,
    .start = start,
};
