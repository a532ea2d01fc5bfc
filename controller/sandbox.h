/* The walls round a run: fresh PID, mount, network, IPC and UTS namespaces, and a user namespace
 * where we are not root. The process inside is PID 1 there, so when it ends, by whatever cause, the
 * kernel removes every process, interface, mount and shared-memory file of the run; and it ends
 * when the process outside does. Nothing on the host is touched. */
#ifndef COUP_CONTROLLER_SANDBOX_H
#define COUP_CONTROLLER_SANDBOX_H

#include <stdbool.h>

#include "base/error.h"

struct sandbox_exit {
    int status;       /* exit status of the process inside, when `signal` is 0 */
    int signal;       /* what killed it; 0: nothing did */
    bool interrupted; /* SIGINT, SIGTERM or SIGHUP came and was passed on as SIGTERM */
};

/* Run `inside` in a sandbox of its own and wait for it; its return value is its exit status.
 * It is a fork without exec: `context` and every descriptor are there as before. `outside_fd` gives
 * end of file when the process outside is gone (the kernel's parent-death signal does the same,
 * but only from the moment it was asked for). SIGINT, SIGTERM and SIGHUP sent to us become SIGTERM
 * inside, which begins with it blocked: handle it, then unblock. Repeated after SANDBOX_PATIENCE_NS
 * they become SIGKILL. Signals the caller ignored stay ignored. Call without other threads.
 * -errno when the sandbox cannot be built, with the one command that changes it. */
#define SANDBOX_PATIENCE_NS UINT64_C(500000000)
int sandbox_run(int (*inside)(void *context, int outside_fd), void *context,
                struct sandbox_exit *out, struct error *error);

/* The same for something short: a signal that came meanwhile ended it, and is raised again for us
 * once it is over. */
int sandbox_try(int (*inside)(void *context, int outside_fd), void *context,
                struct sandbox_exit *out, struct error *error);

/* Can this machine build one? 0, or as sandbox_run(). */
int sandbox_probe(struct error *error);

/* The one command that lifts what forbids it here, static; NULL: none is known. */
const char *sandbox_fix(void);

#endif
