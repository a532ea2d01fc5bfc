#include "nemesis/scenario_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "nemesis/record.h"

int resolved_read(const struct history_header *header, struct resolved *out, struct error *error)
{
    struct resolved resolved = {0};
    if (header->nodes < 1 || header->nodes > NODES_MAX)
        return error_usage(error, "%" PRIu32 " nodes: a scenario has 1 to %u", header->nodes,
                           NODES_MAX);
    int rc = schedule_read(header->schedule, header->schedule_count, header->nodes,
                           &resolved.schedule, error);
    if (rc == 0)
        *out = resolved;
    return rc;
}

/* An actor becomes a node by name, and such a fault never waits until it can take effect: it begins
 * when it did begin, and ends when it would have. */
static void pin(struct scheduled_fault *scheduled, const struct target *actor, uint64_t begin_ns)
{
    uint64_t late_ns = begin_ns > scheduled->at_ns ? begin_ns - scheduled->at_ns : 0;
    if (scheduled->target.role == TARGET_ACTOR)
        scheduled->target = *actor;
    if (scheduled->to.role == TARGET_ACTOR)
        scheduled->to = *actor;
    scheduled->at_ns += late_ns;
    if (scheduled->duration_ns == UINT64_MAX)
        return;
    uint64_t half_ns = scheduled->duration_ns / 2;
    scheduled->duration_ns -= late_ns < half_ns ? late_ns : scheduled->duration_ns - half_ns;
}

static void begin_at(const struct resolved *resolved, const struct event *event,
                     struct scheduled_fault *scheduled)
{
    struct slice text = record_parameter(event, "at");
    char at[UNIT_TEXT_MAX];
    struct target actor;
    uint64_t at_ns;
    (void)snprintf(at, sizeof at, "%.*s", (int)text.length, text.length ? text.at : "");
    if (parse_duration(at, &at_ns, NULL) < 0 ||
        target_parse(record_parameter(event, "by"), NODES_MAX, &actor, NULL) < 0)
        return;
    scheduled->at_ns = at_ns;
    scheduled->after = (struct trigger){0};
    if (scheduled->target.role == TARGET_ACTOR || scheduled->to.role == TARGET_ACTOR)
        pin(scheduled, &actor, event_number(event, FIELD_BEGIN) - resolved->origin_ns);
}

void resolved_event(struct resolved *resolved, const struct event *event)
{
    uint64_t id = event_number(event, FIELD_ID);
    if (event->f == F_PHASE && slice_equals(event_text(event, FIELD_NAME), "faults"))
        resolved->origin_ns = event->time_ns;
    if (event->f != F_FAULT || id < 1 || id > resolved->schedule.count)
        return;
    struct scheduled_fault *scheduled = &resolved->schedule.faults[id - 1];
    if (scheduled->after.nth)
        begin_at(resolved, event, scheduled);
}

void resolved_release(struct resolved *resolved)
{
    schedule_release(&resolved->schedule);
    free(resolved->expect);
    *resolved = (struct resolved){0};
}

/* ---- YAML ---- */

static void add_quoted(const char *key, const char *value, struct text *out)
{
    text_add(out, "%s: ", key);
    text_add_json(out, slice_of(value)); /* which is YAML too */
    text_add(out, "\n");
}

/* "at=1s fault=kill on=random:2" as a mapping on one line. */
static void add_step(const struct scheduled_fault *scheduled, struct text *out)
{
    struct text line = {0};
    scheduled_fault_format(scheduled, &line);
    const char *comma = "  - {";
    for (const char *at = text_string(&line); *at; at += *at == ' ') {
        size_t name = strcspn(at, "="), length = strcspn(at + name + 1, " ");
        struct slice value = {at + name + 1, length};
        text_add(out, "%s%.*s: ", comma, (int)name, at);
        if (memchr(value.at, ':', value.length))
            text_add_json(out, value);
        else
            text_add_bytes(out, value.at, value.length);
        comma = ", ";
        at += name + 1 + length;
    }
    text_add(out, "}\n");
    text_release(&line);
}

static void add_cluster(const struct history_header *header, struct text *out)
{
    struct text algorithm = {0}, knobs = {0};
    char duration[UNIT_TEXT_MAX];
    text_add(&algorithm, "%s%s%s", header->algorithm, *header->options ? ":" : "", header->options);
    knobs_format(&header->knobs, true, &knobs);
    add_quoted("algorithm", text_string(&algorithm), out);
    text_add(out, "nodes: %" PRIu32 "\nwitnesses: %" PRIu32 "\nclients: %" PRIu32 "\n",
             header->nodes, header->witnesses, header->clients);
    if (header->client_pause_ns)
        text_add(out, "rate: %" PRIu64 "\n", NS_PER_S / header->client_pause_ns);
    text_add(out, "seed: %" PRIu64 "\ntime: %s\nresource: %s\n", header->seed,
             format_duration(header->duration_ns, duration), header->resource);
    if (knobs.length)
        add_quoted("set", text_string(&knobs), out);
    text_release(&algorithm);
    text_release(&knobs);
}

void scenario_write(const struct history_header *header, const struct resolved *resolved,
                    struct text *out)
{
    struct text name = {0};
    text_add(&name, "%s, seed %" PRIu64, header->algorithm, header->seed);
    add_quoted("name", text_string(&name), out);
    text_release(&name);
    add_cluster(header, out);
    if (*header->physics)
        add_quoted("physics", header->physics, out);
    add_quoted("expect", resolved->expect ? resolved->expect : "valid", out);
    if (resolved->schedule.count)
        text_add(out, "steps:\n");
    for (uint32_t i = 0; i < resolved->schedule.count; i++)
        add_step(&resolved->schedule.faults[i], out);
}
