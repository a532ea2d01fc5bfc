/* The three clocks of a process, all in nanoseconds.
 * True time is read by the bare system call, out of reach of an interposed libc: it stamps events
 * and no algorithm ever sees it. The own clocks come from libc and may be bent by a fault; libuv's
 * timers follow the own monotonic clock. */
#ifndef COUP_NODES_CLOCK_H
#define COUP_NODES_CLOCK_H

#include <stdint.h>

uint64_t clock_true_ns(void); /* monotonic, comparable between all processes of one machine */
uint64_t clock_own_ns(void);  /* the process's own monotonic clock */
uint64_t clock_wall_ns(void); /* the process's own wall clock */

/* All of them at one moment, as nearly as the machine lets us. */
struct clock_reading {
    uint64_t true_ns, own_ns;
    uint64_t true_wall_ns, wall_ns;
};
void clock_read(struct clock_reading *out);

#endif
