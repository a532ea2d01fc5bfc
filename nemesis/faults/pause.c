/* SIGSTOP: the process stands still while its clocks run on and its kernel goes on acknowledging
 * what peers send. The classic way to a leader that does not know its time is over; at its worst
 * when it has just looked. At a point of its own code it stops itself: what has passed the question
 * "may I act?", or is on disk, comes out when it goes on, however old it is by then. */
#include "base/units.h"
#include "nemesis/fault.h"

enum point { ANYWHERE, AFTER_CHECK, BEFORE_WRITE, BEFORE_SEND };
static const char *const points[] = {"anywhere", "after-check", "before-write", "before-send",
                                     NULL};
static const enum halt_point halts[] = {[AFTER_CHECK] = HALT_AFTER_CHECK,
                                        [BEFORE_WRITE] = HALT_BEFORE_WRITE,
                                        [BEFORE_SEND] = HALT_BEFORE_SEND};
enum means { BY_SIGNAL, BY_FREEZER };
static const char *const means[] = {"signal", "freezer", NULL};
static const struct option options[] = {
    {"point", OPTION_WORD, "anywhere", 0, 0, points,
     "at any moment; where a leader has found that it may write; where its write is recorded, not "
     "sent; where a node's next word to the others is"},
    {"means", OPTION_WORD, "signal", 0, 0, means,
     "SIGSTOP, or the kernel's freezer, which stops all threads at once; at any moment only"},
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    if (random_chance(random, PPM_ONE / 2))
        return;
    parameters->at[0] = scale->on == TARGET_LEADER
                            ? AFTER_CHECK + random_below(random, BEFORE_SEND - AFTER_CHECK + 1)
                            : BEFORE_SEND;
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    enum point point = (enum point)parameters->at[0];
    bool acts = point == AFTER_CHECK || point == BEFORE_WRITE;
    node_set awake = view->running & ~view->paused;
    (void)random;
    bool freezes = point == ANYWHERE && parameters->at[1] == BY_FREEZER;
    if (freezes && view->missing[FACILITY_FREEZER]) {
        *ret_why = view->missing[FACILITY_FREEZER];
        return false;
    }
    out->act.action = freezes ? ACTION_FREEZE : point == ANYWHERE ? ACTION_PAUSE : ACTION_HALT;
    out->act.halt = halts[point];
    out->targets = chosen & (acts ? cluster_leads(view) : awake);
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
    .summary = "stop the process with SIGSTOP or the freezer, continue it when the fault ends",
    .group = "pause",
    .nodes_min = 1,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
