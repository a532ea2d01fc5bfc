/* What this machine can do, found out by doing it: in a child process with namespaces of its own,
 * so that nothing on the machine changes. */
#ifndef COUP_CONTROLLER_PROBE_H
#define COUP_CONTROLLER_PROBE_H

#include <stdbool.h>

#include "base/error.h"

struct probe {
    const char *name;    /* kebab-case */
    const char *purpose; /* what coup needs it for */
    bool required;       /* no run without it */
    /* 0, or -errno with what is missing in `error`, and in `ret_fix` the one command (static text)
     * that changes it; NULL: none is known. */
    int (*run)(struct error *error, const char **ret_fix);
};

int probe_faketime(struct error *error, const char **ret_fix);

extern const struct probe probes[]; /* a NULL name ends them */

#endif
