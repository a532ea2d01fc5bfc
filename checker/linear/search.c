#include "checker/linear/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checker/linear/configurations.h"
#include "checker/table.h"

#define NONE UINT32_MAX

/* A call or a return. Of equal times calls come first, so that what is equal is not ordered. */
struct moment {
    uint64_t time;
    uint32_t op;
    uint32_t returns;
};

/* Unknown operations that do the same: how many may have been called, and one of them. */
struct kind {
    uint32_t op;
    uint32_t available; /* 0: the place is free */
};

struct search {
    const struct linear_model *model;
    struct linear_space *space;
    const struct linear_op *ops;
    const struct search_limits *limits;
    struct moment *moments;
    uint32_t moment_count;

    struct configurations current, next, seen;
    uint32_t mask_words;
    uint64_t *row, *fresh; /* being worked on */

    uint32_t *slot_op; /* what is open in each slot */
    uint64_t *open;    /* bit per slot in use */
    uint64_t *inert;   /* and of these, whose operation changes nothing */
    uint32_t *op_slot; /* by operation */
    uint32_t slots;    /* 64 for every word */

    struct kind *kinds;
    uint32_t kind_count, kind_capacity;
    struct table kind_of; /* what it does -> struct kind_place */

    uint64_t steps;
    bool given_up;
};

struct kind_place {
    uint32_t kind; /* 1 + place */
};

static int by_time(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->returns != y->returns)
        return x->returns < y->returns ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

/* And how many slots are needed: as many as are open at once. */
static uint32_t make_moments(struct search *search, uint32_t count)
{
    uint32_t open = 0, most = 1;
    search->moments = must_alloc(2 * (size_t)count + 1, sizeof *search->moments);
    for (uint32_t i = 0; i < count; i++) {
        search->moments[search->moment_count++] = (struct moment){search->ops[i].call, i, 0};
        if (!linear_is_open(&search->ops[i]))
            search->moments[search->moment_count++] = (struct moment){search->ops[i].done, i, 1};
    }
    if (search->moment_count)
        qsort(search->moments, search->moment_count, sizeof *search->moments, by_time);
    for (uint32_t i = 0; i < search->moment_count; i++) {
        const struct moment *moment = &search->moments[i];
        open += moment->returns ? UINT32_MAX : !linear_is_open(&search->ops[moment->op]);
        most = open > most ? open : most;
    }
    return most;
}

static void search_open(struct search *search, uint32_t count)
{
    search->mask_words = (make_moments(search, count) + 63) / 64;
    search->slots = 64 * search->mask_words;
    search->slot_op = must_alloc(search->slots, sizeof *search->slot_op);
    search->open = must_alloc(search->mask_words, sizeof *search->open);
    search->inert = must_alloc(search->mask_words, sizeof *search->inert);
    search->op_slot = must_alloc((size_t)count + 1, sizeof *search->op_slot);
    configurations_init(&search->current, 1 + search->mask_words, 0);
    configurations_init(&search->next, 1 + search->mask_words, 0);
    configurations_init(&search->seen, 1 + search->mask_words, 0);
    search->row = must_alloc(search->current.words, sizeof *search->row);
    search->fresh = must_alloc(search->current.words, sizeof *search->fresh);
    table_init(&search->kind_of, sizeof(struct kind_place));
    search->row[0] = search->model->start(search->model, search->space);
    configurations_add(&search->current, search->row, false);
}

static void search_close(struct search *search)
{
    configurations_release(&search->current);
    configurations_release(&search->next);
    configurations_release(&search->seen);
    table_release(&search->kind_of);
    free(search->moments);
    free(search->slot_op);
    free(search->open);
    free(search->inert);
    free(search->op_slot);
    free(search->row);
    free(search->fresh);
    free(search->kinds);
}

static bool step(struct search *search, uint64_t state, uint32_t op, uint64_t *ret_state)
{
    search->steps++;
    return search->model->step(search->model, search->space, state, &search->ops[op], ret_state);
}

/* What is open, changes nothing ever and may happen now happens now: nothing later is disturbed. */
static void settle(struct search *search, uint64_t *row)
{
    for (uint32_t word = 0; word < search->mask_words; word++)
        for (uint64_t left = search->inert[word] & ~row[1 + word]; left; left &= left - 1) {
            uint32_t bit = (uint32_t)__builtin_ctzll(left);
            uint64_t state;
            if (step(search, row[0], search->slot_op[64 * word + bit], &state))
                row[1 + word] |= UINT64_C(1) << bit;
        }
}

/* Kinds of unknown operations */

static void make_kind_room(struct search *search)
{
    search->kind_capacity = search->kind_capacity ? 2 * search->kind_capacity : 4;
    search->kinds = must_grow(search->kinds, search->kind_capacity, sizeof *search->kinds);
    configurations_widen(&search->current, search->kind_capacity);
    configurations_clear(&search->next);
    configurations_clear(&search->seen);
    configurations_widen(&search->next, search->kind_capacity);
    configurations_widen(&search->seen, search->kind_capacity);
    search->row = must_grow(search->row, search->current.words, sizeof *search->row);
    search->fresh = must_grow(search->fresh, search->current.words, sizeof *search->fresh);
}

static uint32_t free_kind(struct search *search)
{
    for (uint32_t i = 0; i < search->kind_count; i++)
        if (search->kinds[i].available == 0)
            return i;
    if (search->kind_count == search->kind_capacity)
        make_kind_room(search);
    return search->kind_count++;
}

static struct kind_place *place_of_kind(struct search *search, const struct linear_op *op)
{
    bool who = search->model->owned || search->model->shared;
    uint64_t rest = (uint64_t)op->f << 32 | (who ? op->process : 0);
    return table_put(&search->kind_of, op->value ^ op->expected << 32 ^ op->expected >> 32,
                     rest ^ op->expected * UINT64_C(0x9e3779b97f4a7c15), NULL);
}

static bool same_kind(const struct search *search, const struct linear_op *a,
                      const struct linear_op *b)
{
    bool who = search->model->owned || search->model->shared;
    return a->f == b->f && a->value == b->value && a->expected == b->expected &&
           (!who || a->process == b->process);
}

static void call_unknown(struct search *search, uint32_t op)
{
    struct kind_place *place = place_of_kind(search, &search->ops[op]);
    uint32_t at = place->kind - 1;
    /* The place may have been given to another since, or stand for one of the same hash. */
    bool there = place->kind && search->kinds[at].available &&
                 same_kind(search, &search->ops[search->kinds[at].op], &search->ops[op]);
    if (!there) {
        at = free_kind(search);
        search->kinds[at] = (struct kind){op, 0};
        place->kind = at + 1;
    }
    if (++search->kinds[at].available > COUNT_MAX)
        search->given_up = true;
}

/* What all configurations used is settled. */
static void retire_kinds(struct search *search)
{
    for (uint32_t kind = 0; kind < search->kind_count; kind++) {
        uint32_t least = search->kinds[kind].available;
        for (uint32_t i = 0; i < search->current.count && least; i++) {
            uint32_t used =
                configuration_used(&search->current, configuration(&search->current, i), kind);
            least = used < least ? used : least;
        }
        if (least == 0)
            continue;
        search->kinds[kind].available -= least;
        for (uint32_t i = 0; i < search->current.count; i++)
            configuration(&search->current, i)[search->current.exact + kind / COUNTS_A_WORD] -=
                least * configuration_one(kind);
    }
}

/* Calls and returns */

static void call_known(struct search *search, uint32_t op)
{
    uint32_t word = 0;
    while (search->open[word] == UINT64_MAX)
        word++;
    uint32_t bit = (uint32_t)__builtin_ctzll(~search->open[word]);
    search->open[word] |= UINT64_C(1) << bit;
    search->slot_op[64 * word + bit] = op;
    search->op_slot[op] = 64 * word + bit;
    if (!linear_is_inert(&search->ops[op]))
        return;
    search->inert[word] |= UINT64_C(1) << bit;
    for (uint32_t i = 0; i < search->current.count; i++) {
        uint64_t *row = configuration(&search->current, i), state;
        if (step(search, row[0], op, &state))
            row[1 + word] |= UINT64_C(1) << bit;
    }
}

/* `fresh` has come about: with the returning operation in it, it goes on; else it is looked into.
 */
static void emit(struct search *search, uint32_t word, uint64_t bit)
{
    settle(search, search->fresh);
    if (search->fresh[1 + word] & bit) {
        search->fresh[1 + word] &= ~bit;
        configurations_add(&search->next, search->fresh, true);
    } else {
        configurations_add(&search->seen, search->fresh, false);
    }
}

static void expand_known(struct search *search, uint32_t word, uint64_t bit)
{
    size_t bytes = search->seen.words * sizeof *search->row;
    for (uint32_t at = 0; at < search->mask_words; at++)
        for (uint64_t left = search->open[at] & ~search->inert[at] & ~search->row[1 + at]; left;
             left &= left - 1) {
            uint32_t slot = 64 * at + (uint32_t)__builtin_ctzll(left);
            uint64_t state;
            if (!step(search, search->row[0], search->slot_op[slot], &state))
                continue;
            memcpy(search->fresh, search->row, bytes);
            search->fresh[0] = state;
            search->fresh[1 + at] |= left & -left;
            emit(search, word, bit);
        }
}

static void expand_unknown(struct search *search, uint32_t word, uint64_t bit)
{
    size_t bytes = search->seen.words * sizeof *search->row;
    for (uint32_t kind = 0; kind < search->kind_count; kind++) {
        uint64_t state;
        if (configuration_used(&search->seen, search->row, kind) >= search->kinds[kind].available ||
            !step(search, search->row[0], search->kinds[kind].op, &state) ||
            state == search->row[0])
            continue;
        memcpy(search->fresh, search->row, bytes);
        search->fresh[0] = state;
        search->fresh[search->seen.exact + kind / COUNTS_A_WORD] += configuration_one(kind);
        emit(search, word, bit);
    }
}

static bool within_limits(const struct search *search)
{
    return search->steps <= search->limits->steps && !search->space->full &&
           configurations_bytes(&search->seen) + configurations_bytes(&search->next) <=
               search->limits->bytes;
}

/* The operation has taken effect in every configuration that goes on. False when there is none, or
 * when that is too much to find out. */
static bool return_of(struct search *search, uint32_t op)
{
    uint32_t word = search->op_slot[op] / 64;
    uint64_t bit = UINT64_C(1) << search->op_slot[op] % 64;
    size_t bytes = search->seen.words * sizeof *search->row;
    configurations_clear(&search->next);
    configurations_clear(&search->seen);
    for (uint32_t i = 0; i < search->current.count; i++) {
        uint64_t *row = configuration(&search->current, i);
        bool in = row[1 + word] & bit;
        memcpy(search->row, row, bytes);
        search->row[1 + word] &= ~bit;
        configurations_add(in ? &search->next : &search->seen, search->row, in);
    }
    for (uint32_t i = 0; i < search->seen.count && !search->given_up; i++) {
        memcpy(search->row, configuration(&search->seen, i), bytes);
        expand_known(search, word, bit);
        expand_unknown(search, word, bit);
        search->given_up = !within_limits(search);
    }
    if (search->given_up || search->next.count == 0)
        return false;
    struct configurations swapped = search->current;
    search->current = search->next;
    search->next = swapped;
    search->open[word] &= ~bit;
    search->inert[word] &= ~bit;
    retire_kinds(search);
    return true;
}

/* What to say */

static bool noted(const struct linear_result *out, uint64_t state)
{
    for (uint32_t i = 0; i < out->state_count; i++)
        if (out->states[i] == state)
            return true;
    return false;
}

/* The latest before `stuck` that may have left that state. */
static const struct linear_op *who_left(const struct search *search, uint32_t count,
                                        const struct linear_op *stuck, uint64_t state)
{
    const struct linear_op *latest = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct linear_op *op = &search->ops[i];
        bool changes = search->model->registers ? linear_sets(op) && op->value == state
                                                : op->f != LINEAR_READ && op->f != LINEAR_REFUSED;
        if (op != stuck && changes && op->call <= stuck->done &&
            (!latest || op->call > latest->call))
            latest = op;
    }
    return latest;
}

static void explain(const struct search *search, uint32_t count, uint32_t op,
                    struct linear_result *out)
{
    out->fault = search->given_up ? LINEAR_GIVEN_UP : LINEAR_STUCK;
    out->configurations = search->current.count;
    out->ops[0] = &search->ops[op];
    out->count = 1;
    if (search->given_up)
        return;
    out->states_known = true;
    for (uint32_t i = 0; i < search->current.count && out->states_known; i++) {
        uint64_t state = configuration(&search->current, i)[0];
        if (noted(out, state))
            continue;
        out->states_known = out->state_count < LINEAR_OPS_MAX - 1;
        if (out->states_known)
            out->states[out->state_count++] = state;
    }
    for (uint32_t i = 0; i < out->state_count; i++) {
        const struct linear_op *left = who_left(search, count, out->ops[0], out->states[i]);
        if (left)
            out->ops[out->count++] = left;
    }
}

void search_check(const struct linear_model *model, struct linear_space *space,
                  const struct linear_op *ops, uint32_t count, const struct search_limits *limits,
                  struct linear_result *out)
{
    struct search search = {.model = model, .space = space, .ops = ops, .limits = limits};
    *out = (struct linear_result){0};
    search_open(&search, count);
    for (uint32_t i = 0; i < search.moment_count; i++) {
        const struct moment *moment = &search.moments[i];
        if (!moment->returns && linear_is_open(&ops[moment->op])) {
            call_unknown(&search, moment->op);
        } else if (!moment->returns) {
            call_known(&search, moment->op);
        } else if (!return_of(&search, moment->op)) {
            explain(&search, count, moment->op, out);
            break;
        }
    }
    search_close(&search);
}
