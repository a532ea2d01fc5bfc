#include "controller/fault_probe.h"

#include "controller/fuse_mount.h"
#include "controller/probe.h"

/* Every network that opens carries every link fault, and processes of ours are ours to kill. */
static int (*const tries[FACILITIES])(struct error *error, const char **ret_fix) = {
    [FACILITY_WALL_CLOCK] = probe_faketime,
    [FACILITY_CLOCK_RATE] = probe_faketime,
    [FACILITY_DISK] = fuse_probe,
};

int fault_probe(struct fault_probes *done, const struct fault *fault, struct error *error,
                const char **ret_fix)
{
    enum facility facility = fault->needs;
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
