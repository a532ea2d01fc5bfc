/* Whether the kernel has what the netem backend needs. */
#ifndef COUP_NEMESIS_NETWORK_NETEM_PROBE_H
#define COUP_NEMESIS_NETWORK_NETEM_PROBE_H

#include "base/error.h"

/* Tried out in a child process with namespaces of its own. 0, or -errno with what is missing, and
 * in `*ret_fix` the one command (static text) that changes it. */
int netem_probe(struct error *error, const char **ret_fix);

#endif
