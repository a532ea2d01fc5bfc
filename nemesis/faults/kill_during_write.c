/* SIGKILL while a node makes its vote durable: before the write, with the new file written but not
 * in place, or just after, before anybody was told. The node is made to stand for election, so that
 * there is something to write, stands still at the point, and is killed there. Where who stands
 * writes only once the others go along (the highest of bully leads already, and says so), the
 * leader is told to step down as well: then somebody has to open a new term. */
#include "nemesis/fault.h"

enum { OPTION_POINT, OPTION_WRITE };
static const char *const points[] = {"before", "during", "after", NULL};
static const struct option options[] = {
    {"point", OPTION_WORD, "during", 0, 0, points, "where, relative to the write"},
    {"write", OPTION_COUNT, "1", 1, 100, NULL, "which write from now on"},
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    (void)scale;
    parameters->at[OPTION_POINT] = random_below(random, 3);
}

/* A leader has voted already, and a witness never stands. */
static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    node_set able = chosen & cluster_candidates(view) & ~cluster_leads(view);
    out->act = (struct act){.action = ACTION_CRASH,
                            .point = (enum write_point)parameters->at[OPTION_POINT],
                            .write = (uint32_t)parameters->at[OPTION_WRITE]};
    out->targets = able ? node_bit(nodes_pick(random, able)) : 0;
    if (!view->stands_alone && cluster_leads(view))
        out->act.resigner = view->leader;
    *ret_why = "the target leads, cannot lead or does not run";
    return able != 0;
}

static const struct target targets[] = {{.role = TARGET_FOLLOWER}};

const struct fault fault_kill_during_write = {
    .name = "kill-during-write",
    .summary = "end the process while it makes its state durable, start it again",
    .group = "kill",
    .needs = FACILITY_STATE,
    .nodes_min = 2,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
