#include "controller/shrink.h"

#include <stdlib.h>
#include <string.h>

#include "controller/ddmin.h"

static struct schedule copy_schedule(const struct schedule *from)
{
    struct schedule copy = {0};
    for (uint32_t i = 0; i < from->count; i++)
        schedule_add(&copy, &from->faults[i]);
    return copy;
}

static struct shape copy_shape(const struct shape *from)
{
    struct shape copy = *from;
    copy.schedule = copy_schedule(&from->schedule);
    return copy;
}

/* Takes `candidate` over. 1: it is `shape` now. */
static int try(struct shrink *shrink, struct shape *shape, struct shape *candidate,
               struct error *error)
{
    int rc =
        shrink->over(shrink->context) ? 0 : shrink->violates(shrink->context, candidate, error);
    shrink->tried++;
    if (rc == 1) {
        shrink->accepted++;
        schedule_release(&shape->schedule);
        *shape = *candidate;
    } else {
        schedule_release(&candidate->schedule);
    }
    return rc;
}

/* ---- whole faults ---- */

struct choice {
    struct shrink *shrink;
    struct shape *shape;
    struct schedule all;
};

static int holds(void *context, const uint32_t *items, uint32_t count, struct error *error)
{
    struct choice *choice = context;
    struct shape candidate = *choice->shape;
    candidate.schedule = (struct schedule){0};
    for (uint32_t i = 0; i < count; i++)
        schedule_add(&candidate.schedule, &choice->all.faults[items[i]]);
    return try(choice->shrink, choice->shape, &candidate, error);
}

static int drop_faults(struct shrink *shrink, struct shape *shape, struct error *error)
{
    struct choice choice = {shrink, shape, copy_schedule(&shape->schedule)};
    uint32_t count = choice.all.count;
    uint32_t *items = must_alloc(count, sizeof *items);
    for (uint32_t i = 0; i < count; i++)
        items[i] = i;
    int rc = ddmin(items, &count, holds, &choice, error);
    free(items);
    schedule_release(&choice.all);
    return rc;
}

/* ---- a number, as near to its least as it goes: bisection ---- */

/* How a candidate gets the value; false: it cannot have it. */
typedef bool set_value(const struct shrink *shrink, struct shape *shape, uint32_t place,
                       uint64_t value);

static int lower(struct shrink *shrink, struct shape *shape, set_value *set, uint32_t place,
                 uint64_t least, uint64_t present, uint64_t step, struct error *error)
{
    int rc = 0;
    uint64_t low = least, high = present; /* `high` violates */
    while (rc >= 0 && low < high && high - low >= step) {
        uint64_t middle = low == least ? least : low + (high - low) / 2;
        if (middle - middle % step >= low)
            middle -= middle % step; /* round numbers read better */
        struct shape candidate = copy_shape(shape);
        if (set(shrink, &candidate, place, middle))
            rc = try(shrink, shape, &candidate, error);
        else {
            schedule_release(&candidate.schedule);
            rc = 0;
        }
        if (rc == 1)
            high = middle;
        else
            low = middle + step;
    }
    return rc < 0 ? rc : 0;
}

static bool has_nodes(uint32_t nodes, const struct target *target)
{
    return target->role != TARGET_NODES || (target->nodes & ~nodes_all(nodes)) == 0;
}

static bool fits(const struct shape *shape)
{
    for (uint32_t i = 0; i < shape->schedule.count; i++) {
        const struct scheduled_fault *fault = &shape->schedule.faults[i];
        if (fault->at_ns >= shape->duration_ns || shape->nodes < scheduled_nodes_min(fault) ||
            !has_nodes(shape->nodes, &fault->target) || !has_nodes(shape->nodes, &fault->to))
            return false;
    }
    return true;
}

static bool set_nodes(const struct shrink *shrink, struct shape *shape, uint32_t place,
                      uint64_t value)
{
    (void)shrink;
    (void)place;
    shape->nodes = (uint32_t)value;
    return fits(shape);
}

static bool set_clients(const struct shrink *shrink, struct shape *shape, uint32_t place,
                        uint64_t value)
{
    (void)shrink;
    (void)place;
    shape->clients = (uint32_t)value;
    return true;
}

static bool set_duration(const struct shrink *shrink, struct shape *shape, uint32_t place,
                         uint64_t value)
{
    (void)shrink;
    (void)place;
    shape->duration_ns = value;
    return fits(shape);
}

static bool set_length(const struct shrink *shrink, struct shape *shape, uint32_t place,
                       uint64_t value)
{
    (void)shrink;
    shape->schedule.faults[place].duration_ns = value;
    return true;
}

/* The gap before a fault: everything from it on comes earlier. */
static bool set_begin(const struct shrink *shrink, struct shape *shape, uint32_t place,
                      uint64_t value)
{
    (void)shrink;
    uint64_t earlier_ns = shape->schedule.faults[place].at_ns - value;
    for (uint32_t i = place; i < shape->schedule.count; i++)
        shape->schedule.faults[i].at_ns -= earlier_ns;
    return true;
}

static int lower_times(struct shrink *shrink, struct shape *shape, struct error *error)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < shape->schedule.count; i++) {
        struct scheduled_fault *fault = &shape->schedule.faults[i];
        uint64_t before_ns = i ? shape->schedule.faults[i - 1].at_ns : 0;
        if (fault->duration_ns != UINT64_MAX)
            rc = lower(shrink, shape, set_length, i, shrink->step_ns, fault->duration_ns,
                       shrink->step_ns, error);
        fault = &shape->schedule.faults[i];
        if (rc == 0)
            rc =
                lower(shrink, shape, set_begin, i, before_ns, fault->at_ns, shrink->step_ns, error);
    }
    return rc;
}

static uint64_t last_begin_ns(const struct shape *shape)
{
    uint32_t count = shape->schedule.count;
    return count ? shape->schedule.faults[count - 1].at_ns : 0;
}

static int lower_numbers(struct shrink *shrink, struct shape *shape, struct error *error)
{
    int rc = lower(shrink, shape, set_nodes, 0, shrink->nodes_min, shape->nodes, 1, error);
    if (rc == 0)
        rc = lower(shrink, shape, set_clients, 0, 0, shape->clients, 1, error);
    if (rc == 0)
        rc = lower_times(shrink, shape, error);
    uint64_t least_ns = last_begin_ns(shape) + shrink->step_ns;
    if (least_ns < shrink->duration_min_ns)
        least_ns = shrink->duration_min_ns;
    if (rc == 0 && least_ns < shape->duration_ns)
        rc = lower(shrink, shape, set_duration, 0, least_ns, shape->duration_ns, shrink->step_ns,
                   error);
    return rc;
}

int shrink_run(struct shrink *shrink, struct shape *shape, struct error *error)
{
    uint32_t before;
    int rc;
    do { /* what is smaller in one way may now be made smaller in another */
        before = shrink->accepted;
        rc = drop_faults(shrink, shape, error);
        if (rc == 0)
            rc = lower_numbers(shrink, shape, error);
    } while (rc == 0 && shrink->accepted > before && !shrink->over(shrink->context));
    return rc;
}
