/* Did the machine run us? What a process waited for a CPU explains suspicions that no fault does;
 * the checks of liveness forgive it. The kernel keeps count (/proc/PID/schedstat); where it does
 * not, only our own lateness is known. */
#ifndef COUP_CONTROLLER_STALLS_H
#define COUP_CONTROLLER_STALLS_H

#include "controller/children.h"

#define STALLS_MAX 128u

struct stalls {
    bool counted; /* /proc shows our own processes */
    struct {
        pid_t pid;
        uint64_t waited_ns; /* for a CPU, since the process began */
    } seen[STALLS_MAX];     /* by slot of the child */
};

void stalls_init(struct stalls *stalls);

/* The longest that any child waited for a CPU since the last call. A child that was started since
 * counts from the next call on. */
uint64_t stalls_sample(struct stalls *stalls, struct children *children);

#endif
