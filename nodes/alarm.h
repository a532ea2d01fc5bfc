/* One absolute deadline on the own monotonic clock, in the uv loop. libuv counts whole milliseconds
 * and may use a coarse clock; an alarm never fires before its deadline for all that. */
#ifndef COUP_NODES_ALARM_H
#define COUP_NODES_ALARM_H

#include <stdint.h>

#include <uv.h>

typedef void (*alarm_fire)(void *context);

struct alarm {
    uv_timer_t timer;
    uint64_t deadline_ns;
    alarm_fire fire;
    void *context;
};

void alarm_init(struct alarm *alarm, uv_loop_t *loop, alarm_fire fire, void *context);
void alarm_set(struct alarm *alarm, uint64_t deadline_ns); /* replaces; UINT64_MAX: never */

#endif
