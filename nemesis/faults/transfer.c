/* An operator asks the leader to hand its leadership on: to nobody in particular, or to a node that
 * may be slow, cut off or about to die. */
#include "nemesis/fault.h"

static const char *const successors[] = {"random", "best", NULL};
static const struct option options[] = {
    {"successor", OPTION_WORD, "random", 0, 0, successors, "to whom: the leader knows the best"},
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
    node_set leader = chosen & cluster_leads(view);
    node_set others = cluster_candidates(view) & ~leader;
    out->act = (struct act){.action = ACTION_COMMAND, .command = OPERATOR_TRANSFER};
    out->targets = leader;
    if (parameters->at[0] == 0)
        out->act.successor = nodes_pick(random, others);
    *ret_why = leader ? "nobody else could lead" : "only a leader that runs can hand its reign on";
    return leader != 0 && others != 0;
}

static const struct target targets[] = {{.role = TARGET_LEADER}};

const struct fault fault_transfer = {
    .name = "transfer",
    .summary = "an operator asks the leader to hand its leadership on",
    .group = "operator",
    .nodes_min = 2,
    .needs = FACILITY_TRANSFER,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
