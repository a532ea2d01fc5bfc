/* Nothing passes one way. Over TCP this soon silences both directions, because what still passes is
 * never acknowledged; one-way-data keeps the other direction alive. */
#include "nemesis/shape.h"

static const struct option options[] = {
    ONE_WAY_OPTIONS,
    CUT_OPTION,
    {.name = NULL},
};

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    return one_way_start(parameters, view, chosen, random,
                         cut_read(parameters, ONE_WAY_OPTION_COUNT), out, ret_why);
}

static const struct target targets[] = {{.role = TARGET_LEADER}, {.role = TARGET_RANDOM}};

const struct fault fault_one_way = {
    .name = "one-way",
    .summary = "cut one direction between a node and the others",
    .group = "partition",
    .nodes_min = 2,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = one_way_plan,
    .start = start,
};
