/* The power goes: the process and what it had not synced are gone, the write under way is torn.
 * SIGKILL alone loses nothing, for the kernel keeps what it was handed. Restarted when the fault
 * ends. */
#include "nemesis/disk_shape.h"

enum { OPTION_KEPT };
static const struct option options[] = {
    {"kept", OPTION_PROBABILITY, "0", 0, PPM_ONE, NULL,
     "how much of what was not synced the disk still took, in the order of the writes"},
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    bool some = random_chance(random, PPM_ONE / 2);
    (void)scale;
    parameters->at[OPTION_KEPT] = some ? random_between(random, 1, 99) * (PPM_ONE / 100) : 0;
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)random;
    out->act.kept_ppm = parameters->at[OPTION_KEPT];
    return disk_end(view, chosen, ACTION_POWER, out, ret_why);
}

static const struct target targets[] = {
    {.role = TARGET_RANDOM}, {.role = TARGET_LEADER}, {.role = TARGET_MINORITY}};

const struct fault fault_power_loss = {
    .name = "power-loss",
    .summary = "end the process and lose what was not synced, start it when the fault ends",
    .group = "disk",
    .nodes_min = 1,
    .needs = FACILITY_DISK,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = options,
    .plan = plan,
    .start = start,
};
