#include "nodes/alarm.h"

#include "base/units.h"
#include "nodes/clock.h"

void alarm_init(struct alarm *alarm, uv_loop_t *loop, alarm_fire fire, void *context)
{
    *alarm = (struct alarm){.deadline_ns = UINT64_MAX, .fire = fire, .context = context};
    (void)uv_timer_init(loop, &alarm->timer); /* cannot fail */
    alarm->timer.data = alarm;
}

static void on_timer(uv_timer_t *timer);

static void arm(struct alarm *alarm)
{
    uint64_t due_ms = (alarm->deadline_ns + NS_PER_MS - 1) / NS_PER_MS;
    uv_update_time(alarm->timer.loop);
    uint64_t now_ms = uv_now(alarm->timer.loop);
    /* Fails only for a closing handle or no callback. */
    (void)uv_timer_start(&alarm->timer, on_timer, due_ms > now_ms ? due_ms - now_ms : 0, 0);
}

static void on_timer(uv_timer_t *timer)
{
    struct alarm *alarm = timer->data;
    if (clock_own_ns() < alarm->deadline_ns) {
        arm(alarm);
        return;
    }
    alarm->deadline_ns = UINT64_MAX;
    alarm->fire(alarm->context);
}

void alarm_set(struct alarm *alarm, uint64_t deadline_ns)
{
    /* Far deadlines are as good as none, and cannot overflow. */
    if (deadline_ns > UINT64_MAX / 2)
        deadline_ns = UINT64_MAX;
    if (deadline_ns == alarm->deadline_ns)
        return;
    alarm->deadline_ns = deadline_ns;
    if (deadline_ns == UINT64_MAX)
        (void)uv_timer_stop(&alarm->timer);
    else
        arm(alarm);
}
