/* Whether a fault can be carried out on real processes of this machine. */
#ifndef COUP_CONTROLLER_FAULT_PROBE_H
#define COUP_CONTROLLER_FAULT_PROBE_H

#include "base/error.h"
#include "nemesis/fault.h"

/* What has been found out, by enum facility: each is tried once. Zeroed: nothing yet. */
struct fault_probes {
    struct {
        bool tried;
        int rc;
        const char *fix;
        struct error error;
    } of[FACILITIES];
};

/* 0, or -errno with what is missing in `error`, and in `ret_fix` the one command (static text) that
 * changes it; NULL: none is known. What an algorithm lacks is not the machine's matter. */
int fault_probe(struct fault_probes *done, const struct fault *fault, struct error *error,
                const char **ret_fix);

#endif
