/* A disk that takes its time: a node that waits for it neither hears nor answers. */
#include "nemesis/disk_shape.h"

enum { OPTION_DELAY, OPTION_CUT_LEADER };
static const struct option options[] = {
    {"delay", OPTION_DURATION, "200ms", NS_PER_MS, 3600 * NS_PER_S, NULL,
     "how much longer each fsync takes"},
    CUT_LEADER_OPTION,
    {.name = NULL},
};

/* From what a timeout hides to what makes everybody else suspect. */
static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    uint64_t timeout_ns = scale->election_timeout_ns;
    uint64_t delay_ns = random_between(random, timeout_ns / 10, 2 * timeout_ns) + NS_PER_MS;
    parameters->at[OPTION_DELAY] = delay_ns - delay_ns % NS_PER_MS;
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    const struct act trouble = {.symptom = DISK_SLOW,
                                .disk = {.fsync_delay_ns = parameters->at[OPTION_DELAY]}};
    (void)random;
    return disk_start(view, chosen, &trouble, parameters->at[OPTION_CUT_LEADER], out, ret_why);
}

const struct fault fault_slow_fsync = {
    .name = "slow-fsync",
    .summary = "let every fsync take longer",
    .group = "disk",
    .nodes_min = 2,
    .needs = FACILITY_DISK,
    .targets = disk_targets,
    .target_count = DISK_TARGETS,
    .parameters = options,
    .plan = plan,
    .start = start,
};
