/* The smallest part of a history that still shows a violation. Leaving events out can make a
 * violation that was none (a vote without its persist): only parts in which the check names the
 * very events it named in the whole count. */
#ifndef COUP_CONTROLLER_MINIMAL_H
#define COUP_CONTROLLER_MINIMAL_H

#include "checker/checker.h"

struct minimal_result {
    const struct check *check;
    uint64_t before, after; /* events */
    bool whole;             /* false: it took too long, what is left may not be the least */
};

/* Of the first check of `names` (NULL: all owed) that is violated; what is left goes to the new
 * file `output`. A usage error when none is or the file cannot be made. */
int minimal_write(const char *path, const char *names, const char *output,
                  struct minimal_result *out, struct error *error);

#endif
