#include "controller/fault_probe.h"

#include "controller/fuse_mount.h"
#include "controller/probe.h"

/* Every network that opens carries every link fault, and processes of ours are ours to kill. */
static int (*const tries[FACILITIES])(struct error *error, const char **ret_fix) = {
    [FACILITY_WALL_CLOCK] = probe_faketime,
    [FACILITY_CLOCK_RATE] = probe_faketime,
    [FACILITY_DISK] = fuse_probe,
};

/* It needs two things of which one is the algorithm's matter. */
static enum facility facility_of(const struct fault *fault)
{
    return slice_equals(slice_of(fault->name), "service-clock") ? FACILITY_WALL_CLOCK
                                                                : fault->needs;
}

int fault_probe(struct fault_probes *done, const struct fault *fault, struct error *error,
                const char **ret_fix)
{
    enum facility facility = facility_of(fault);
    *ret_fix = NULL;
    if (!tries[facility])
        return 0;
    if (!done->of[facility].tried) {
        done->of[facility].tried = true;
        done->of[facility].rc = tries[facility](&done->of[facility].error, &done->of[facility].fix);
    }
    *error = done->of[facility].error;
    *ret_fix = done->of[facility].fix;
    return done->of[facility].rc;
}
