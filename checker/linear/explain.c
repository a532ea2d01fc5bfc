#include "checker/linear/explain.h"

#include <inttypes.h>

/* What an explanation is made of. */
struct speech {
    const struct linear_result *result;
    const struct linear_model *model;
    const struct linear_space *space;
    const struct linear_names *names;
    struct text *out;
};

static void add_micros(const struct speech *speech, uint64_t txn)
{
    const struct linear_space *space = speech->space;
    text_add(speech->out, "transaction of");
    for (uint32_t i = space->micro_first[txn]; i < space->micro_first[txn + 1]; i++) {
        const struct linear_micro *micro = &space->micros[i];
        text_add(speech->out, " %s %u=", micro->writes ? "write" : "read", micro->cell);
        if (micro->any)
            text_add(speech->out, "?");
        else
            linear_show_value(space, micro->value, speech->out);
    }
}

static void add_what(const struct speech *speech, const struct linear_op *op)
{
    static const char *const verbs[LINEAR_FS] = {
        [LINEAR_READ] = "read of ",     [LINEAR_WRITE] = "write of ",
        [LINEAR_CAS] = "cas from ",     [LINEAR_REFUSED] = "refused cas from ",
        [LINEAR_APPEND] = "append of ", [LINEAR_ACQUIRE] = "acquire",
        [LINEAR_RELEASE] = "release",
    };
    if (op->f == LINEAR_TXN) {
        add_micros(speech, op->value);
        return;
    }
    text_add(speech->out, "%s", verbs[op->f]);
    if (op->f == LINEAR_ACQUIRE && op->value && speech->model->fenced)
        text_add(speech->out, " with fence %" PRIu64,
                 speech->space->fences ? speech->space->fences[op->value] : op->value);
    if (op->f == LINEAR_ACQUIRE || op->f == LINEAR_RELEASE)
        return;
    if (op->f == LINEAR_CAS || op->f == LINEAR_REFUSED)
        linear_show_value(speech->space, op->expected, speech->out);
    else
        linear_show_value(speech->space, op->value, speech->out);
    if (op->f == LINEAR_CAS) {
        text_add(speech->out, " to ");
        linear_show_value(speech->space, op->value, speech->out);
    }
}

/* "client-1's read of 7 (1.203s to 1.207s)" */
static void add_op(const struct speech *speech, uint32_t which)
{
    const struct linear_op *op = speech->result->ops[which];
    speech->names->who(speech->names->context, op, speech->out);
    text_add(speech->out, "'s ");
    add_what(speech, op);
    text_add(speech->out, " (");
    speech->names->when(speech->names->context, op, speech->out);
    text_add(speech->out, ")");
}

/* What the operation found: a read its value, a compare what it replaced. */
static void add_found(const struct speech *speech, const struct linear_op *op)
{
    linear_show_value(speech->space, op->f == LINEAR_READ ? op->value : op->expected, speech->out);
}

static void add_unwritten(const struct speech *speech)
{
    add_op(speech, 0);
    text_add(speech->out, " found ");
    add_found(speech, speech->result->ops[0]);
    text_add(speech->out, ", which nobody wrote");
}

static void add_mixed(const struct speech *speech)
{
    const struct linear_result *result = speech->result;
    bool one = result->ops[1] == result->ops[2];
    if (one && result->ops[3]->f == LINEAR_READ) {
        text_add(speech->out, "stale: ");
        add_op(speech, 3);
        text_add(speech->out, " began after ");
        add_op(speech, 1);
        text_add(speech->out, " was over%s", result->ops[0] ? ", which began after " : "");
        if (result->ops[0]) {
            add_op(speech, 0);
            text_add(speech->out, " was over");
        }
        return;
    }
    if (result->ops[0]) {
        add_op(speech, 0);
        text_add(speech->out, " was over before ");
        add_op(speech, 1);
        text_add(speech->out, " began, and ");
    }
    add_op(speech, 2);
    text_add(speech->out, " before ");
    add_op(speech, 3);
    text_add(speech->out, result->ops[0] ? ": neither value can come first"
                                         : ", which stands on the initial value, began");
}

/* Two operations of one value, or of values that replace one another. */
static void add_early(const struct speech *speech)
{
    const struct linear_result *result = speech->result;
    if (result->ops[1]->f == LINEAR_READ) {
        text_add(speech->out, "stale: ");
        add_op(speech, 1);
        text_add(speech->out, " began after ");
        add_op(speech, 0);
        text_add(speech->out, " was over, which had replaced that value");
        return;
    }
    add_op(speech, 0);
    text_add(speech->out, " was over before ");
    add_op(speech, 1);
    text_add(speech->out, " began, on which it stands");
}

static void add_stuck(const struct speech *speech)
{
    const struct linear_result *result = speech->result;
    add_op(speech, 0);
    if (!result->states_known || result->state_count == 0) {
        text_add(speech->out, " fits into none of the orders that were possible until then");
        return;
    }
    text_add(speech->out, " does not fit: by then it was ");
    for (uint32_t i = 0; i < result->state_count; i++) {
        text_add(speech->out, "%s", i == 0 ? "" : i + 1 < result->state_count ? ", " : " or ");
        speech->model->show(speech->model, speech->space, result->states[i], speech->out);
    }
}

void linear_explain(const struct linear_result *result, const struct linear_model *model,
                    const struct linear_space *space, const struct linear_names *names,
                    struct text *out)
{
    const struct speech speech = {result, model, space, names, out};
    const struct linear_op *any = result->ops[0] ? result->ops[0] : result->ops[1];
    names->key(names->context, any->key, out);
    text_add(out, ": ");
    switch (result->fault) {
    case LINEAR_FINE: break;
    case LINEAR_UNWRITTEN: add_unwritten(&speech); break;
    case LINEAR_EARLY: add_early(&speech); break;
    case LINEAR_FORKED:
        add_op(&speech, 0);
        text_add(out, " and ");
        add_op(&speech, 1);
        text_add(out, " both replaced one value that was written once");
        break;
    case LINEAR_CIRCLE:
        add_op(&speech, 0);
        text_add(out, " wrote what its own old value follows from");
        break;
    case LINEAR_MIXED: add_mixed(&speech); break;
    case LINEAR_STUCK: add_stuck(&speech); break;
    case LINEAR_GIVEN_UP:
        text_add(out, "gave up with %" PRIu64 " possible orders at ", result->configurations);
        add_op(&speech, 0);
        break;
    }
}

static uint32_t note_event(uint64_t index, uint64_t witness[LINEAR_WITNESS_MAX], uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (witness[i] == index)
            return count;
    if (count < LINEAR_WITNESS_MAX)
        witness[count++] = index;
    return count;
}

/* Which end of each operation matters: bit 0 its call, bit 1 its return. */
static uint32_t ends_of(const struct linear_result *result, uint32_t which)
{
    switch (result->fault) {
    case LINEAR_EARLY: return which == 0 ? 2 : 1;
    case LINEAR_MIXED:
        if (which == 1 && !result->ops[0])
            return 0; /* the initial value is before it anyway */
        return which % 2 == 0 ? 2 : 1;
    case LINEAR_STUCK: return which == 0 ? 3 : 1;
    default: return 3;
    }
}

uint32_t linear_witness(const struct linear_result *result, uint64_t witness[LINEAR_WITNESS_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < result->count; i++) {
        const struct linear_op *op = result->ops[i];
        uint32_t ends = ends_of(result, i);
        if (!op)
            continue;
        if (ends & 1)
            count = note_event(op->call_index, witness, count);
        if (ends & 2 && !linear_is_open(op))
            count = note_event(op->done_index, witness, count);
    }
    return count;
}
