/* The machine comes back with a new disk: it has forgotten its vote and its term. No algorithm that
 * trusts its disk can keep its promises then, so this runs only when it is asked for by name. */
#include "nemesis/disk_shape.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)parameters;
    (void)random;
    return disk_end(view, chosen, ACTION_WIPE, out, ret_why);
}

static const struct target targets[] = {{.role = TARGET_RANDOM}, {.role = TARGET_LEADER}};

const struct fault fault_disk_wipe = {
    .name = "disk-wipe",
    .summary = "end the process and empty its disk, start it when the fault ends",
    .group = "disk",
    .nodes_min = 1,
    .needs = FACILITY_DISK,
    .by_name = true,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .start = start,
};
