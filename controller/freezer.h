/* The freezer of cgroup version 2 (kernel documentation, cgroup-v2, "cgroup.freeze"): a tighter
 * stop than SIGSTOP, for the kernel keeps every thread of the group from running at once, and says
 * so. A frozen process can be killed. Groups are made below our own, one a process, and removed at
 * the end; what a controller killed by SIGKILL left, which holds no process, the next one removes.
 */
#ifndef COUP_CONTROLLER_FREEZER_H
#define COUP_CONTROLLER_FREEZER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct freezer;

/* Can this machine, for us? 0, or -errno and in `ret_fix` the one command that changes it, static;
 * NULL: none is known. */
int freezer_probe(struct error *error, const char **ret_fix);

/* Remove what runs that were killed have left, here. */
void freezer_sweep(void);

/* `run` names our groups. -errno as of freezer_probe(). */
int freezer_open(uint64_t run, struct freezer **out, struct error *error);

/* Once its processes are gone. NULL is fine. */
void freezer_close(struct freezer *freezer);

/* Ask for it; freezer_holds() tells when it is so. `member` names the process' group. */
int freezer_freeze(struct freezer *freezer, uint32_t member, pid_t pid, struct error *error);
int freezer_thaw(struct freezer *freezer, uint32_t member, struct error *error);
bool freezer_holds(const struct freezer *freezer, uint32_t member);

#endif
