/* What a fault does once it has chosen, and the conditions all faults share. */
#include "nemesis/fault.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void injection_link(struct injection *injection, uint32_t from_node, uint32_t to_node,
                    struct impairment impairment)
{
    assert(from_node >= 1 && to_node >= 1 && from_node != to_node);
    if (injection->link_count == injection->link_capacity) {
        injection->link_capacity = injection->link_capacity ? injection->link_capacity * 2 : 16;
        injection->links =
            must_grow(injection->links, injection->link_capacity, sizeof *injection->links);
    }
    injection->links[injection->link_count++] =
        (struct link_change){from_node - 1, to_node - 1, impairment};
}

void injection_release(struct injection *injection)
{
    free(injection->links);
    *injection = (struct injection){0};
}

const char *clock_bend_format(const struct clock_bend *bend, char buffer[CLOCK_BEND_TEXT_MAX])
{
    uint64_t step_us = (uint64_t)(bend->step_ns < 0 ? -bend->step_ns : bend->step_ns) / NS_PER_US;
    (void)snprintf(buffer, CLOCK_BEND_TEXT_MAX,
                   "wall %c%" PRIu64 ".%06" PRIu64 " s, rate %" PRIu64 ".%06" PRIu64,
                   bend->step_ns < 0 ? '-' : '+', step_us / 1000000, step_us % 1000000,
                   bend->rate_ppm / CLOCK_TRUE_PPM, bend->rate_ppm % CLOCK_TRUE_PPM);
    return buffer;
}

static void add_trouble(struct text *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_trouble(struct text *out, const char *format, ...)
{
    va_list arguments;
    if (out->length)
        text_add(out, ", ");
    va_start(arguments, format);
    text_add_va(out, format, arguments);
    va_end(arguments);
}

const char *disk_trouble_format(const struct disk_trouble *trouble,
                                char buffer[DISK_TROUBLE_TEXT_MAX])
{
    struct text text = {0};
    char unit[UNIT_TEXT_MAX];
    if (trouble->fsync_delay_ns)
        add_trouble(&text, "fsync +%s", format_duration(trouble->fsync_delay_ns, unit));
    if (trouble->full)
        add_trouble(&text, "room %" PRIu64, trouble->room_bytes);
    if (trouble->error_ppm)
        add_trouble(&text, "errors %s", format_probability(trouble->error_ppm, unit));
    if (trouble->stalled)
        add_trouble(&text, "stalled");
    (void)snprintf(buffer, DISK_TROUBLE_TEXT_MAX, "%s", text.length ? text_string(&text) : "whole");
    text_release(&text);
    return buffer;
}

bool fault_takes_any(const struct fault *fault)
{
    for (uint32_t i = 0; i < fault->target_count; i++)
        if (fault->targets[i].role == TARGET_ANY)
            return true;
    return false;
}

/* A link to or from a process that is not there carries nothing that could be cut. A paused node's
 * kernel still sends and acknowledges, so paused counts as running. */
static bool reaches_somebody(const struct injection *injection, const struct cluster_view *view)
{
    for (uint32_t i = 0; i < injection->link_count; i++) {
        const struct link_change *link = &injection->links[i];
        node_set ends = node_bit(link->from + 1) | node_bit(link->to + 1);
        node_set there = view->running;
        if (view->service && view->service_running)
            there |= node_bit(view->service);
        if ((there & ends) == ends)
            return true;
    }
    return injection->link_count == 0;
}

/* The coordination service stands beside one of the nodes that the fault is about, and shares what
 * befalls the links between that and the others. So every shape reaches it without knowing of it.
 */
static void involve_service(struct injection *injection, const struct cluster_view *view,
                            struct random *random)
{
    uint32_t count = injection->link_count;
    node_set ends = 0;
    for (uint32_t i = 0; i < count; i++)
        ends |= node_bit(injection->links[i].from + 1) | node_bit(injection->links[i].to + 1);
    if (!view->service || ends & node_bit(view->service))
        return;
    uint32_t beside = nodes_pick(random, ends);
    for (uint32_t i = 0; i < count; i++) {
        const struct link_change link = injection->links[i];
        if (link.to + 1 == beside)
            injection_link(injection, link.from + 1, view->service, link.impairment);
        else if (link.from + 1 == beside)
            injection_link(injection, view->service, link.to + 1, link.impairment);
    }
}

static const char *too_small(uint32_t nodes_min)
{
    static const char *const why[] = {"", "", "needs at least 2 nodes", "needs at least 3 nodes",
                                      "needs at least 4 nodes"};
    assert(nodes_min < sizeof why / sizeof why[0]);
    return why[nodes_min];
}

const char *fault_missing(const struct fault *fault, const struct cluster_view *view)
{
    if (fault->needs == FACILITY_SERVICE && !view->service)
        return "the algorithm asks no coordination service";
    return view->missing[fault->needs];
}

bool fault_start(const struct fault *fault, const struct cluster_view *view, node_set chosen,
                 const struct option_values *parameters, struct random *random,
                 struct injection *out, const char **ret_why)
{
    struct injection made = {0};
    const char *missing = fault_missing(fault, view);
    assert(chosen != 0);
    if (view->nodes < fault->nodes_min) {
        *ret_why = too_small(fault->nodes_min);
        return false;
    }
    if (missing) {
        *ret_why = missing;
        return false;
    }
    bool started = fault->start(view, chosen, parameters, random, &made, ret_why);
    if (started && made.link_count)
        involve_service(&made, view, random);
    if (started && !reaches_somebody(&made, view)) {
        *ret_why = "no running nodes at both ends of a link";
        started = false;
    }
    if (started)
        *out = made;
    else
        injection_release(&made);
    return started;
}
