/* A dying disk: requests fail with EIO, all of them or some. */
#include "nemesis/disk_shape.h"

enum { OPTION_SHARE, OPTION_CUT_LEADER };
static const struct option options[] = {
    {"share", OPTION_PROBABILITY, "100%", 1, PPM_ONE, NULL, "of the requests that fail"},
    CUT_LEADER_OPTION,
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    bool some = random_chance(random, PPM_ONE / 2);
    (void)scale;
    parameters->at[OPTION_SHARE] =
        some ? random_between(random, 20, 80) * (PPM_ONE / 100) : PPM_ONE;
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    const struct act trouble = {.symptom = DISK_ERRORS,
                                .disk = {.error_ppm = parameters->at[OPTION_SHARE]}};
    (void)random;
    return disk_start(view, chosen, &trouble, parameters->at[OPTION_CUT_LEADER], out, ret_why);
}

const struct fault fault_io_error = {
    .name = "io-error",
    .summary = "let requests to the disk fail",
    .group = "disk",
    .nodes_min = 2,
    .needs = FACILITY_DISK,
    .targets = disk_targets,
    .target_count = DISK_TARGETS,
    .parameters = options,
    .plan = plan,
    .start = start,
};
