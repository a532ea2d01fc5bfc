/* The clients' operations on each register have an order in which every read finds what was last
 * written, and which respects real time (Herlihy & Wing 1990).
 *
 * Clients write every value once, so zones decide in near-linear time (checker/linear/zone.h);
 * histories from elsewhere that repeat values are searched. Operations are judged when the history
 * has ended, for the records of different clients come in any order: memory grows with their
 * number, by some 64 bytes each and 100 bytes a value.
 *
 * A resource that is fenced and one that is not owe it alike: either decides one request at a time,
 * so even a write that fencing should have refused takes effect at one instant between its call and
 * its return. What a pause breaks there is fencing-monotonic's business. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "checker/linear/explain.h"
#include "checker/linear/linear.h"
#include "checker/table.h"
#include "checker/words.h"

/* An operation begun; in the table by (process, id). */
struct begun {
    struct linear_op op;
    bool waits;
};

/* No run lasts that long; below it times can be shifted by an uncertainty. */
#define TIME_MAX (UINT64_MAX / 4)

struct linearizable {
    uint64_t uncertainty_ns;
    struct table open;
    struct linear_op *ops;
    uint32_t count, capacity;
};

static uint64_t bounded(uint64_t time_ns)
{
    return time_ns < TIME_MAX ? time_ns : TIME_MAX;
}

static void begin(void *state, const struct history_header *header)
{
    struct linearizable *check = state;
    check->uncertainty_ns = bounded(header->clock_uncertainty_ns);
    table_init(&check->open, sizeof(struct begun));
}

static void keep(struct linearizable *check, const struct linear_op *op)
{
    if (check->count == check->capacity) {
        check->capacity = check->capacity ? check->capacity / 2 * 3 : 64;
        check->ops = must_grow(check->ops, check->capacity, sizeof *check->ops);
    }
    check->ops[check->count++] = *op;
}

/* Nobody knows how it ended: it may have happened, or may still. A read that told nobody anything
 * does not matter. */
static void keep_open(struct linearizable *check, const struct linear_op *op)
{
    if (op->f != LINEAR_READ)
        keep(check, op);
}

static void on_invoke(struct linearizable *check, const struct event *event)
{
    static const uint8_t fs[EVENT_FS] = {
        [F_READ] = LINEAR_READ, [F_WRITE] = LINEAR_WRITE, [F_CAS] = LINEAR_CAS};
    struct begun *begun =
        table_put(&check->open, event->process, event_number(event, FIELD_ID), NULL);
    if (begun->waits) /* its number is used again */
        keep_open(check, &begun->op);
    *begun = (struct begun){{.call = bounded(event->time_ns),
                             .done = LINEAR_OPEN,
                             .value = event_number(event, FIELD_VALUE),
                             .expected = event_number(event, FIELD_EXPECTED),
                             .call_index = event->index,
                             .key = event_number(event, FIELD_REGISTER),
                             .process = event->process,
                             .f = fs[event->f]},
                            true};
}

static bool was_refused(const struct event *event)
{
    return event->f == F_CAS && event->type == EVENT_FAIL &&
           slice_equals(event_text(event, FIELD_ERROR), "mismatch");
}

static void on_completion(struct linearizable *check, const struct event *event,
                          struct finding *finding)
{
    uint64_t id = event_number(event, FIELD_ID);
    const struct begun *begun = table_find(&check->open, event->process, id);
    if (!begun || !begun->waits)
        return;
    struct linear_op op = begun->op;
    (void)table_remove(&check->open, event->process, id);
    if (event->type == EVENT_INFO) {
        keep_open(check, &op);
        return;
    }
    if (event->type == EVENT_FAIL && !was_refused(event))
        return;
    op.done = bounded(event->time_ns);
    op.done_index = event->index;
    if (op.f == LINEAR_READ)
        op.value = event_number(event, FIELD_VALUE);
    if (event->type == EVENT_FAIL)
        op.f = LINEAR_REFUSED;
    keep(check, &op);
    finding->judged++;
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct linearizable *check = state;
    if (process_kind(event->process) != PROCESS_CLIENT)
        return;
    if (event->type == EVENT_INVOKE)
        on_invoke(check, event);
    else
        on_completion(check, event, finding);
}

static void keep_begun(void *state, void *value)
{
    const struct begun *begun = value;
    if (begun->waits)
        keep_open(state, &begun->op);
}

static void who(const void *context, const struct linear_op *op, struct text *out)
{
    struct words words = {0};
    (void)context;
    text_add(out, "%s", word_process(&words, op->process));
}

static void when(const void *context, const struct linear_op *op, struct text *out)
{
    struct words words = {0};
    (void)context;
    if (linear_is_open(op))
        text_add(out, "%s, outcome unknown", word_time(&words, op->call));
    else
        text_add(out, "%s to %s", word_time(&words, op->call), word_time(&words, op->done));
}

static void key(const void *context, uint64_t number, struct text *out)
{
    (void)context;
    text_add(out, "register %" PRIu64, number);
}

/* With times so far apart as the clocks are sure of, and then, if need be, as they stand. */
static void judge(struct linearizable *check, uint64_t margin_ns, struct finding *finding)
{
    static const struct linear_names names = {NULL, who, when, key};
    const struct search_limits limits = SEARCH_LIMITS;
    const struct linear_model *model = linear_model_find(slice_of("register"));
    struct linear_space space;
    struct linear_result result;
    struct text reason = {0};
    uint64_t witness[LINEAR_WITNESS_MAX];
    uint32_t bad;
    linear_space_init(&space);
    for (uint32_t i = 0; i < check->count; i++)
        if (!linear_is_open(&check->ops[i]))
            check->ops[i].done += margin_ns;
    linear_check(model, &space, check->ops, check->count, &limits, &result, &bad);
    for (uint32_t i = 0; i < check->count; i++)
        if (!linear_is_open(&check->ops[i]))
            check->ops[i].done -= margin_ns;
    if (result.fault != LINEAR_FINE) {
        bool certain = result.fault != LINEAR_GIVEN_UP && margin_ns == check->uncertainty_ns;
        linear_explain(&result, model, &space, &names, &reason);
        uint32_t count = linear_witness(&result, witness);
        if (certain)
            finding_invalid(finding, witness, count, "%s", text_string(&reason));
        else
            finding_unknown(finding, witness, count, "%s%s", text_string(&reason),
                            margin_ns ? "" : ", within the clocks' uncertainty");
        for (; certain && bad > 1; bad--)
            finding->violations++;
    }
    linear_space_release(&space);
    text_release(&reason);
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct linearizable *check = state;
    (void)end_ns;
    table_each(&check->open, keep_begun, check);
    table_release(&check->open);
    judge(check, check->uncertainty_ns, finding);
    if (check->uncertainty_ns && finding->verdict == VERDICT_VALID)
        judge(check, 0, finding);
    free(check->ops);
}

const struct check check_linearizable = {
    .name = "linearizable",
    .summary = "what clients read and wrote has an order that respects real time",
    .traits = 1u << TRAIT_LINEARIZABLE,
    .owed = check_needs_resource,
    .judges = "operation",
    .may_idle = true,
    .events = 1u << F_READ | 1u << F_WRITE | 1u << F_CAS,
    .state_bytes = sizeof(struct linearizable),
    .begin = begin,
    .step = step,
    .end = end,
};
