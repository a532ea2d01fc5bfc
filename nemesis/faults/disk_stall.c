/* The disk answers nothing until the fault ends: whoever asks it stands still, and sends and hears
 * nothing meanwhile, but his kernel goes on acknowledging. */
#include "nemesis/disk_shape.h"

enum { OPTION_CUT_LEADER };
static const struct option options[] = {
    CUT_LEADER_OPTION,
    {.name = NULL},
};

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    const struct act trouble = {.symptom = DISK_STALLED, .disk = {.stalled = true}};
    (void)random;
    return disk_start(view, chosen, &trouble, parameters->at[OPTION_CUT_LEADER], out, ret_why);
}

const struct fault fault_disk_stall = {
    .name = "disk-stall",
    .summary = "let requests to the disk hang until the fault ends",
    .group = "disk",
    .nodes_min = 2,
    .needs = FACILITY_DISK,
    .targets = disk_targets,
    .target_count = DISK_TARGETS,
    .parameters = options,
    .start = start,
};
