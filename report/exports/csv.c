/* Failovers, a line each (RFC 4180): when the leader was lost and how long after that each phase
 * came, in nanoseconds; empty where it did not come before the next loss. */
#include <inttypes.h>
#include <stdlib.h>

#include "checker/measure.h"
#include "report/export.h"
#include "report/failover.h"

static void *begin(const struct history_header *header, struct text *out)
{
    text_add(out, "lost_ns,old_leader,new_leader");
    for (enum failover_phase phase = 0; phase < FAILOVER_PHASES; phase++)
        text_add(out, ",%s_after_ns", failover_phase_name(phase));
    text_add(out, "\r\n");
    return measurer_new(header);
}

static void step(void *state, const struct event *event, struct text *out)
{
    (void)out;
    measurer_step(state, event);
}

static void add_node(uint32_t node, struct text *out)
{
    char name[PROCESS_NAME_MAX];
    text_add(out, ",%s", node ? process_name(node, name) : "");
}

static void add_failover(const struct failover *failover, struct text *out)
{
    text_add(out, "%" PRIu64, failover->lost_ns);
    add_node(failover->old_leader, out);
    add_node(failover->new_leader, out);
    for (enum failover_phase phase = 0; phase < FAILOVER_PHASES; phase++) {
        uint64_t after_ns;
        text_add(out, ",");
        if (failover_after(failover, phase, &after_ns))
            text_add(out, "%" PRIu64, after_ns);
    }
    text_add(out, "\r\n");
}

static void end(void *state, struct text *out)
{
    struct measure measure;
    measurer_end(state, &measure);
    for (uint32_t i = 0; i < measure.failover_count; i++)
        add_failover(&measure.failovers[i], out);
    free(measure.failovers);
}

extern const struct export_form export_csv;
const struct export_form export_csv = {
    .name = "csv",
    .summary = "failovers and how long each phase took, for spreadsheets",
    .begin = begin,
    .event = step,
    .end = end,
};
