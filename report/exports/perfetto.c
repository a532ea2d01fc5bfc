/* A timeline for ui.perfetto.dev or chrome://tracing, in the JSON form of trace events. A process
 * is a process there: of a node the lanes role (leader, candidate, follower, with the term), state
 * (down, paused) and events; of a client its operations; of the nemesis a band for every fault, of
 * the controller one for every phase. Times are microseconds since the run began. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "checker/fault_kinds.h"
#include "report/export.h"
#include "report/pauses.h"

/* Number 0 is the kernel's there. Who has but one lane has the first. */
enum lane { LANE_ROLE = 1, LANE_STATE, LANE_EVENTS, LANES_END };
static const char *const lane_names[] = {
    [LANE_ROLE] = "role", [LANE_STATE] = "state", [LANE_EVENTS] = "events"};

/* What a lane shows now; a slice ends where the next begins. */
struct open_slice {
    bool open;
    uint64_t since_ns;
};

struct node_lanes {
    struct open_slice lanes[LANES_END];
    bool down;
};

struct perfetto {
    uint32_t nodes;
    struct node_lanes *of; /* by node id; owned */
    struct pauses pauses;
    bool phase_open;
    uint64_t last_ns;
    struct text *out; /* of the current call */
};

/* ---- one line each ---- */

static void add_head(struct perfetto *perfetto, char what, uint32_t process, uint32_t lane,
                     uint64_t time_ns)
{
    text_add(perfetto->out,
             ",\n{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%" PRIu64
             ".%03" PRIu64,
             what, process, lane, time_ns / NS_PER_US, time_ns % NS_PER_US);
}

static void add_named(struct perfetto *perfetto, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_named(struct perfetto *perfetto, const char *format, ...)
{
    struct text name = {0};
    va_list arguments;
    va_start(arguments, format);
    text_add_va(&name, format, arguments);
    va_end(arguments);
    text_add(perfetto->out, ",\"name\":");
    text_add_json(perfetto->out, (struct slice){text_string(&name), name.length});
    text_release(&name);
}

/* The event as it stands in JSON lines: all that a reader may want to know of it. */
static void add_event(struct perfetto *perfetto, const struct event *event)
{
    text_add(perfetto->out, ",\"args\":{\"event\":");
    event_to_json(event, perfetto->out);
    text_add(perfetto->out, "}}");
}

static void add_metadata(struct perfetto *perfetto, const char *what, uint32_t process,
                         uint32_t lane, const char *name)
{
    text_add(perfetto->out,
             ",\n{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
             ",\"name\":\"%s\",\"args\":{\"name\":\"%s\"}}",
             process, lane, what, name);
}

static void name_process(struct perfetto *perfetto, uint32_t process)
{
    char name[PROCESS_NAME_MAX];
    add_metadata(perfetto, "process_name", process, LANE_ROLE, process_name(process, name));
}

/* ---- lanes of nodes ---- */

static struct node_lanes *lanes_of(struct perfetto *perfetto, uint32_t process)
{
    return process >= 1 && process <= perfetto->nodes ? &perfetto->of[process] : NULL;
}

/* Recording order may lag behind time across processes; within a lane time does not go back. */
static void end_slice(struct perfetto *perfetto, uint32_t node, enum lane lane, uint64_t time_ns)
{
    struct open_slice *slice = &lanes_of(perfetto, node)->lanes[lane];
    if (!slice->open)
        return;
    slice->open = false;
    add_head(perfetto, 'E', node, lane, time_ns > slice->since_ns ? time_ns : slice->since_ns);
    text_add(perfetto->out, "}");
}

static void begin_slice(struct perfetto *perfetto, const struct event *event, uint32_t node,
                        enum lane lane, const char *name)
{
    struct open_slice *slice = &lanes_of(perfetto, node)->lanes[lane];
    end_slice(perfetto, node, lane, event->time_ns);
    if (slice->since_ns < event->time_ns)
        slice->since_ns = event->time_ns;
    slice->open = true;
    add_head(perfetto, 'B', node, lane, slice->since_ns);
    add_named(perfetto, "%s", name);
    add_event(perfetto, event);
}

static void show_role(struct perfetto *perfetto, const struct event *event, const char *role)
{
    struct text name = {0};
    char leader[PROCESS_NAME_MAX];
    text_add(&name, "%s", role);
    if (event->f == F_FOLLOW && event_has(event, FIELD_LEADER))
        text_add(&name, " of %s",
                 process_name((uint32_t)event_number(event, FIELD_LEADER), leader));
    if (event_has(event, FIELD_TERM))
        text_add(&name, ", term %" PRIu64, event_number(event, FIELD_TERM));
    begin_slice(perfetto, event, event->process, LANE_ROLE, text_string(&name));
    text_release(&name);
}

static void show_instant(struct perfetto *perfetto, const struct event *event, uint32_t lane)
{
    char peer[PROCESS_NAME_MAX];
    add_head(perfetto, 'i', event->process, lane, event->time_ns);
    text_add(perfetto->out, ",\"s\":\"t\"");
    if (event_has(event, FIELD_PEER)) {
        struct slice kind = event_text(event, FIELD_KIND);
        add_named(perfetto, "%s %s %.*s", event_f_name(event->f),
                  process_name((uint32_t)event_number(event, FIELD_PEER), peer), (int)kind.length,
                  kind.at);
    } else {
        add_named(perfetto, "%s", event_f_name(event->f));
    }
    add_event(perfetto, event);
}

static void show_node(struct perfetto *perfetto, const struct event *event)
{
    switch (event->f) {
    case F_LEAD: show_role(perfetto, event, "leader"); return;
    case F_CAMPAIGN: show_role(perfetto, event, "candidate"); return;
    case F_FOLLOW: show_role(perfetto, event, "follower"); return;
    case F_STEP_DOWN: end_slice(perfetto, event->process, LANE_ROLE, event->time_ns); break;
    case F_SPAWN:
        lanes_of(perfetto, event->process)->down = false;
        end_slice(perfetto, event->process, LANE_STATE, event->time_ns);
        break;
    case F_EXIT:
        lanes_of(perfetto, event->process)->down = true;
        end_slice(perfetto, event->process, LANE_ROLE, event->time_ns);
        begin_slice(perfetto, event, event->process, LANE_STATE, "down");
        return;
    default: break;
    }
    show_instant(perfetto, event, LANE_EVENTS);
}

/* ---- the others ---- */

/* Operations of a client do not overlap, but those of a leader may: bands, not slices. */
static void show_operation(struct perfetto *perfetto, const struct event *event)
{
    bool begins = event->type == EVENT_INVOKE;
    add_head(perfetto, begins ? 'b' : 'e', event->process, LANE_ROLE, event->time_ns);
    text_add(perfetto->out, ",\"cat\":\"operation\",\"id\":\"%" PRIx32 "/%" PRIu64 "\"",
             event->process, event_number(event, FIELD_ID));
    add_named(perfetto, "%s", event_f_name(event->f));
    add_event(perfetto, event);
}

struct pausing {
    struct perfetto *perfetto;
    const struct event *event;
};

static void show_pause(void *context, uint32_t node, bool begins)
{
    const struct pausing *pausing = context;
    const struct node_lanes *lanes = lanes_of(pausing->perfetto, node);
    if (!lanes || lanes->down)
        return;
    if (begins)
        begin_slice(pausing->perfetto, pausing->event, node, LANE_STATE, "paused");
    else
        end_slice(pausing->perfetto, node, LANE_STATE, pausing->event->time_ns);
}

static void show_fault(struct perfetto *perfetto, const struct event *event)
{
    struct slice kind = event_text(event, FIELD_KIND), targets = event_text(event, FIELD_TARGETS);
    struct pausing pausing = {perfetto, event};
    if (event->f == F_FAULT && !fault_installed(event)) {
        show_instant(perfetto, event, LANE_ROLE);
        return;
    }
    add_head(perfetto, event->f == F_FAULT ? 'b' : 'e', event->process, LANE_ROLE, event->time_ns);
    text_add(perfetto->out, ",\"cat\":\"fault\",\"id\":\"%" PRIu64 "\"",
             event_number(event, FIELD_ID));
    add_named(perfetto, "%.*s %.*s", (int)kind.length, kind.at, (int)targets.length, targets.at);
    add_event(perfetto, event);
    pauses_see(&perfetto->pauses, event, show_pause, &pausing);
}

static void show_phase(struct perfetto *perfetto, const struct event *event)
{
    struct slice name = event_text(event, FIELD_NAME);
    if (perfetto->phase_open) {
        add_head(perfetto, 'E', event->process, LANE_ROLE, event->time_ns);
        text_add(perfetto->out, "}");
    }
    perfetto->phase_open = true;
    add_head(perfetto, 'B', event->process, LANE_ROLE, event->time_ns);
    add_named(perfetto, "%.*s", (int)name.length, name.at);
    add_event(perfetto, event);
}

/* ---- the form ---- */

static void *begin(const struct history_header *header, struct text *out)
{
    struct perfetto *perfetto = must_alloc(1, sizeof *perfetto);
    perfetto->nodes = header->nodes;
    perfetto->of = must_alloc(header->nodes + 1, sizeof *perfetto->of);
    perfetto->out = out;
    text_add(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"command\":");
    text_add_json(out, slice_of(header->command));
    text_add(out, /* faults on top of what they did */
             "},\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
             ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":-1}}",
             PROCESS_NUMBER(PROCESS_NEMESIS, 0), LANE_ROLE);
    name_process(perfetto, PROCESS_NUMBER(PROCESS_CONTROLLER, 0));
    name_process(perfetto, PROCESS_NUMBER(PROCESS_NEMESIS, 0));
    name_process(perfetto, PROCESS_NUMBER(PROCESS_RESOURCE, 0));
    name_process(perfetto, PROCESS_NUMBER(PROCESS_COORDINATOR, 0));
    for (uint32_t i = 1; i <= header->clients; i++)
        name_process(perfetto, PROCESS_NUMBER(PROCESS_CLIENT, i));
    for (uint32_t node = 1; node <= header->nodes; node++) {
        name_process(perfetto, node);
        for (uint32_t lane = LANE_ROLE; lane < LANES_END; lane++)
            add_metadata(perfetto, "thread_name", node, lane, lane_names[lane]);
    }
    return perfetto;
}

static void step(void *state, const struct event *event, struct text *out)
{
    struct perfetto *perfetto = state;
    perfetto->out = out;
    if (perfetto->last_ns < event->time_ns)
        perfetto->last_ns = event->time_ns;
    switch (event->f) {
    case F_GUARDED_WRITE:
    case F_READ:
    case F_WRITE:
    case F_CAS: show_operation(perfetto, event); break;
    case F_FAULT:
    case F_HEAL: show_fault(perfetto, event); break;
    case F_PHASE: show_phase(perfetto, event); break;
    default:
        if (lanes_of(perfetto, event->process))
            show_node(perfetto, event);
        else
            show_instant(perfetto, event, LANE_ROLE);
    }
}

static void end(void *state, struct text *out)
{
    struct perfetto *perfetto = state;
    perfetto->out = out;
    for (uint32_t node = 1; node <= perfetto->nodes; node++)
        for (enum lane lane = LANE_ROLE; lane < LANES_END; lane++)
            end_slice(perfetto, node, lane, perfetto->last_ns);
    if (perfetto->phase_open) {
        add_head(perfetto, 'E', PROCESS_NUMBER(PROCESS_CONTROLLER, 0), LANE_ROLE,
                 perfetto->last_ns);
        text_add(out, "}");
    }
    text_add(out, "\n]}\n");
    pauses_release(&perfetto->pauses);
    free(perfetto->of);
    free(perfetto);
}

extern const struct export_form export_perfetto;
const struct export_form export_perfetto = {
    .name = "perfetto",
    .summary = "a timeline for ui.perfetto.dev: roles and terms, faults, operations, messages",
    .begin = begin,
    .event = step,
    .end = end,
};
