/* The process gets only a share of the time: stopped and continued, over and over, as on a machine
 * that is sold three times over. Its timers fire late and all at once, its answers come in bursts.
 * A quota of the kernel's does the same by the same means, a period and what is left of it. */
#include "base/units.h"
#include "nemesis/fault.h"

enum { OPTION_SHARE, OPTION_PERIOD };
static const struct option options[] = {
    {"share", OPTION_PROBABILITY, "10%", PPM_ONE / 100, PPM_ONE * 95 / 100, NULL,
     "of every period the process runs so much"},
    {"period", OPTION_DURATION, "100ms", 20 * NS_PER_MS, 3600 * NS_PER_S, NULL,
     "from one stop to the next"},
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    uint64_t timeout_ns = scale->election_timeout_ns;
    uint64_t period_ns = random_between(random, timeout_ns / 4, 2 * timeout_ns) + 20 * NS_PER_MS;
    parameters->at[OPTION_SHARE] = random_between(random, 5, 50) * (PPM_ONE / 100);
    parameters->at[OPTION_PERIOD] = period_ns - period_ns % NS_PER_MS;
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    uint64_t period_ns = parameters->at[OPTION_PERIOD];
    (void)random;
    out->act.action = ACTION_PAUSE;
    out->targets = chosen & view->running & ~view->paused;
    out->rest_ns = period_ns / PPM_ONE * parameters->at[OPTION_SHARE] +
                   period_ns % PPM_ONE * parameters->at[OPTION_SHARE] / PPM_ONE;
    out->flap_ns = period_ns - out->rest_ns;
    *ret_why =
        chosen & view->running ? "the target is already paused" : "the target is not running";
    return out->targets != 0;
}

static const struct target targets[] = {
    {.role = TARGET_LEADER}, {.role = TARGET_RANDOM}, {.role = TARGET_MINORITY}};

const struct fault fault_starve = {
    .name = "starve",
    .summary = "give the process only a share of the time",
    .group = "cpu",
    .nodes_min = 1,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
