/* No space left on the disk. What is written while there is still a little room ends in the middle,
 * as it does in life. A node that cannot keep its vote must not send it. */
#include "nemesis/disk_shape.h"

enum { OPTION_ROOM, OPTION_CUT_LEADER };
static const struct option options[] = {
    {"room", OPTION_COUNT, "0", 0, UINT64_C(1) << 40, NULL,
     "bytes that can still be written before it is full"},
    CUT_LEADER_OPTION,
    {.name = NULL},
};

/* Less than a record, so that somebody notices. */
static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    (void)scale;
    parameters->at[OPTION_ROOM] =
        random_chance(random, PPM_ONE / 2) ? random_below(random, 100) : 0;
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    const struct act trouble = {.symptom = DISK_FULL,
                                .disk = {.full = true, .room_bytes = parameters->at[OPTION_ROOM]}};
    (void)random;
    return disk_start(view, chosen, &trouble, parameters->at[OPTION_CUT_LEADER], out, ret_why);
}

const struct fault fault_disk_full = {
    .name = "disk-full",
    .summary = "refuse what is written, for want of space",
    .group = "disk",
    .nodes_min = 2,
    .needs = FACILITY_DISK,
    .targets = disk_targets,
    .target_count = DISK_TARGETS,
    .parameters = options,
    .plan = plan,
    .start = start,
};
