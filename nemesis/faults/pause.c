/* SIGSTOP: the process stands still while its clocks run on and its kernel goes on acknowledging
 * what peers send. The classic way to a leader that does not know its time is over; at its worst
 * when it has just looked. */
#include "base/units.h"
#include "nemesis/fault.h"

static const char *const points[] = {"anywhere", "before-write", NULL};
static const struct option options[] = {
    {"point", OPTION_WORD, "anywhere", 0, 0, points,
     "before-write: a leader, between deciding that it may write and writing"},
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    parameters->at[0] = scale->on == TARGET_LEADER && random_chance(random, PPM_ONE / 2);
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    bool at_point = parameters->at[0];
    node_set awake = view->running & ~view->paused;
    (void)random;
    out->act.action = at_point ? ACTION_HALT : ACTION_PAUSE;
    out->targets = chosen & (at_point ? cluster_leads(view) : awake);
    if (!(chosen & view->running))
        *ret_why = "the target is not running";
    else
        *ret_why =
            chosen & awake ? "only a leader decides to write" : "the target is already paused";
    return out->targets != 0;
}

static const struct target targets[] = {
    {.role = TARGET_RANDOM}, {.role = TARGET_LEADER},   {.role = TARGET_LEADER},
    {.role = TARGET_LEADER}, {.role = TARGET_FOLLOWER}, {.role = TARGET_MINORITY},
};

const struct fault fault_pause = {
    .name = "pause",
    .summary = "stop the process with SIGSTOP, continue it when the fault ends",
    .group = "pause",
    .nodes_min = 1,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
