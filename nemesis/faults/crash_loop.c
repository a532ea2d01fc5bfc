/* Killed, started, killed again: a service whose supervisor does not give up. Each time it has just
 * long enough to vote. */
#include "nemesis/fault.h"

static const struct option options[] = {
    {"period", OPTION_DURATION, "600ms", 100 * NS_PER_MS, 3600 * NS_PER_S, NULL,
     "half of it dead, half of it alive"},
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    uint64_t timeout_ns = scale->election_timeout_ns;
    uint64_t period_ns = random_between(random, timeout_ns, 4 * timeout_ns) + 100 * NS_PER_MS;
    parameters->at[0] = period_ns - period_ns % NS_PER_MS;
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)random;
    out->act.action = ACTION_KILL;
    out->targets = chosen & view->running;
    out->flap_ns = parameters->at[0] / 2;
    *ret_why = "the target is not running";
    return out->targets != 0;
}

static const struct target targets[] = {{.role = TARGET_RANDOM}, {.role = TARGET_LEADER}};

const struct fault fault_crash_loop = {
    .name = "crash-loop",
    .summary = "kill the process and start it again, over and over",
    .group = "kill",
    .nodes_min = 1,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
