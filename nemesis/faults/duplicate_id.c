/* Two processes under one id: a second one starts from a copy of the node's state folder and runs
 * beside it until the fault ends. What an operator does who restores a virtual machine whose
 * original lives, or what an orchestrator does that starts a pod anew before the old one is gone.
 * What either of them promises the other does not know of, so no election that counts ids can keep
 * its word. */
#include "nemesis/fault.h"

static const char *const reaches[] = {"both", "apart", NULL};
static const struct option options[] = {
    {"reach", OPTION_WORD, "both", 0, 0, reaches,
     "whom the other nodes reach under the id: both processes, or each node one of them"},
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    (void)scale;
    parameters->at[0] = random_below(random, 2);
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    node_set awake = chosen & view->running & ~view->paused;
    out->act = (struct act){.action = ACTION_TWIN, .apart = parameters->at[0]};
    out->targets = awake && !view->twin ? node_bit(nodes_pick(random, awake)) : 0;
    *ret_why = view->twin ? "there is room for one twin" : "the target is not running";
    return out->targets != 0;
}

static const struct target targets[] = {
    {.role = TARGET_RANDOM}, {.role = TARGET_LEADER}, {.role = TARGET_FOLLOWER}};

const struct fault fault_duplicate_id = {
    .name = "duplicate-id",
    .summary = "a second process runs under a node's id, from a copy of its state",
    .group = "identity",
    .needs = FACILITY_TWIN,
    .nodes_min = 2,
    .by_name = true,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
