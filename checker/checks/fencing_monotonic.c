/* The resource never accepts a token below one it accepted before, nor one token from two holders:
 * what fencing is for (Kleppmann, "How to do distributed locking", 2016). Judged in the resource's
 * own stream, so no clock matters. The finding names the stale write, who had overtaken it and,
 * when the nemesis had stopped the writer, for how long: a pause is how a leader comes to write
 * late. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "checker/fault_kinds.h"
#include "checker/table.h"
#include "checker/words.h"

struct accepted {
    uint64_t index, time_ns, token;
    uint32_t holder;
};

/* The last pause that landed on a node; zeroed: none. */
struct pause {
    uint64_t id, from_ns, until_ns; /* until_ns 0: not yet known */
};

struct fencing {
    uint32_t nodes;
    struct table tokens;    /* token -> struct accepted, the first with it */
    struct accepted newest; /* first accepted write under the largest token */
    struct pause *pauses;   /* by node id */
    /* The stale write described and its writer's pause, whose end may be recorded later. */
    struct accepted stale;
    struct pause stale_pause;
};

static void begin(void *state, const struct history_header *header)
{
    struct fencing *check = state;
    check->nodes = header->nodes;
    check->pauses = must_alloc(header->nodes + 1, sizeof *check->pauses);
    table_init(&check->tokens, sizeof(struct accepted));
}

static void report_stale(struct fencing *check, const struct event *event,
                         const struct accepted *write, struct finding *finding)
{
    struct words words = {0};
    const struct accepted *newest = &check->newest;
    uint32_t id = process_index(write->holder);
    finding_invalid(finding, (uint64_t[]){newest->index, write->index}, 2,
                    "stale write: at %s the resource accepted %s's value %" PRIu64
                    " for register %" PRIu64 " with token %" PRIu64
                    ", %s after it had accepted token %" PRIu64 " of %s",
                    word_time(&words, write->time_ns), word_process(&words, write->holder),
                    event_number(event, FIELD_VALUE), event_number(event, FIELD_REGISTER),
                    write->token, word_apart(&words, newest->time_ns, write->time_ns),
                    newest->token, word_process(&words, newest->holder));
    if (finding->violations > 1)
        return;
    check->stale = *write;
    if (process_kind(write->holder) == PROCESS_NODE && id <= check->nodes)
        check->stale_pause = check->pauses[id];
}

static void report_shared(const struct accepted *first, const struct accepted *write,
                          struct finding *finding)
{
    struct words words = {0};
    finding_invalid(finding, (uint64_t[]){first->index, write->index}, 2,
                    "the resource accepted token %" PRIu64 " from %s at %s and from %s at %s, %s "
                    "apart",
                    write->token, word_process(&words, first->holder),
                    word_time(&words, first->time_ns), word_process(&words, write->holder),
                    word_time(&words, write->time_ns),
                    word_apart(&words, first->time_ns, write->time_ns));
}

static void on_accept(struct fencing *check, const struct event *event, struct finding *finding)
{
    struct accepted write = {event->index, event->time_ns, event_number(event, FIELD_TOKEN),
                             (uint32_t)event_number(event, FIELD_HOLDER)};
    finding->judged++;
    if (write.token == check->newest.token && write.holder == check->newest.holder)
        return;
    if (write.token < check->newest.token)
        report_stale(check, event, &write, finding);
    bool fresh;
    struct accepted *first = table_put(&check->tokens, write.token, 0, &fresh);
    if (fresh)
        *first = write;
    else if (first->holder != write.holder)
        report_shared(first, &write, finding);
    if (fresh && write.token >= check->newest.token)
        check->newest = write;
}

struct pausing {
    struct fencing *check;
    struct pause pause;
};

static void pause_node(void *context, uint32_t id)
{
    struct pausing *pausing = context;
    if (id <= pausing->check->nodes)
        pausing->check->pauses[id] = pausing->pause;
}

static void on_fault(struct fencing *check, const struct event *event)
{
    struct pausing pausing = {check,
                              {event_number(event, FIELD_ID), event_number(event, FIELD_BEGIN), 0}};
    if (fault_installed(event) && fault_effect(event) == EFFECT_PAUSE)
        fault_targets(event, pause_node, &pausing);
}

static void end_pause(struct pause *pause, uint64_t id, uint64_t until_ns)
{
    if (pause->id == id && pause->until_ns == 0)
        pause->until_ns = until_ns;
}

static void on_heal(struct fencing *check, const struct event *event)
{
    uint64_t until_ns =
        event_has(event, FIELD_BEGIN) ? event->field[FIELD_BEGIN].number : event->time_ns;
    for (uint32_t node = 1; node <= check->nodes; node++)
        end_pause(&check->pauses[node], event_number(event, FIELD_ID), until_ns);
    end_pause(&check->stale_pause, event_number(event, FIELD_ID), until_ns);
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    if (event->f == F_ACCEPT)
        on_accept(state, event, finding);
    else if (event->f == F_HEAL)
        on_heal(state, event);
    else
        on_fault(state, event);
}

static void explain(const struct accepted *stale, const struct pause *pause,
                    struct finding *finding)
{
    struct words words = {0};
    if (pause->from_ns == 0 || pause->from_ns > stale->time_ns)
        return;
    bool ended = pause->until_ns && pause->until_ns <= stale->time_ns;
    uint64_t until_ns = ended ? pause->until_ns : stale->time_ns;
    finding_add(finding, "; the nemesis had paused %s for %s", word_process(&words, stale->holder),
                word_apart(&words, pause->from_ns, until_ns));
    if (ended)
        finding_add(finding, ", until %s before that write",
                    word_apart(&words, until_ns, stale->time_ns));
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct fencing *check = state;
    (void)end_ns;
    explain(&check->stale, &check->stale_pause, finding);
    free(check->pauses);
    table_release(&check->tokens);
}

const struct check check_fencing_monotonic = {
    .name = "fencing-monotonic",
    .summary = "the resource accepts no token below one accepted before, none of two holders",
    .owed = check_needs_resource,
    .judges = "accepted write",
    .events = 1u << F_ACCEPT | 1u << F_FAULT | 1u << F_HEAL,
    .state_bytes = sizeof(struct fencing),
    .begin = begin,
    .step = step,
    .end = end,
};
