#include "checker/linear/linear.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checker/linear/zone.h"
#include "checker/table.h"

static int by_key(const void *a, const void *b)
{
    const struct linear_op *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->call_index < y->call_index ? -1 : x->call_index > y->call_index;
}

/* Each key's operations together; sorting takes as much memory again, so not where they are. */
static void group(struct linear_op *ops, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (ops[i].key < ops[i - 1].key) {
            qsort(ops, count, sizeof *ops, by_key);
            return;
        }
}

/* Values seen by some read or demanded by some compare, unknown ones included. */
static void collect_seen(const struct linear_op *ops, uint32_t count, struct table *seen)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ops[i].f == LINEAR_READ)
            (void)table_put(seen, ops[i].value, 0, NULL);
        else if (ops[i].f != LINEAR_WRITE)
            (void)table_put(seen, ops[i].expected, 0, NULL);
    }
}

/* A name for all values that nobody saw: one that somebody saw or that was there is not free. */
static uint64_t name_unseen(const struct table *seen, uint64_t initial)
{
    uint64_t name = UINT64_MAX;
    while (name == initial || table_find(seen, name, 0))
        name--;
    return name;
}

/* For the search: values that nobody saw become one. An unknown operation that wrote such a value
 * explains at most that a compare was refused; without refusals it may as well not have happened.
 * Returns how many operations are left. */
static uint32_t simplify(struct linear_op *ops, uint32_t count, uint64_t initial,
                         uint64_t *ret_name)
{
    struct table seen;
    uint32_t kept = 0;
    bool refusals = false;
    table_init(&seen, 8);
    collect_seen(ops, count, &seen);
    uint64_t name = *ret_name = name_unseen(&seen, initial);
    for (uint32_t i = 0; i < count; i++)
        refusals = refusals || ops[i].f == LINEAR_REFUSED;
    for (uint32_t i = 0; i < count; i++) {
        bool unseen =
            linear_sets(&ops[i]) && ops[i].value != initial && !table_find(&seen, ops[i].value, 0);
        if (unseen && linear_is_open(&ops[i]) && !refusals)
            continue;
        ops[kept] = ops[i];
        if (unseen)
            ops[kept].value = name;
        kept++;
    }
    table_release(&seen);
    return kept;
}

static const struct linear_op *original(const struct linear_op *copy, const struct linear_op *ops,
                                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (ops[i].call_index == copy->call_index && ops[i].f == copy->f)
            return &ops[i];
    return copy;
}

/* Say it of the originals instead of simplified copies: a state called `name` is the value that
 * the operation wrote which left it. */
static void restore(struct linear_result *out, const struct linear_op *ops, uint32_t count,
                    uint64_t name)
{
    uint64_t unseen = 0;
    for (uint32_t i = 0; i < out->count; i++) {
        bool renamed = linear_sets(out->ops[i]) && out->ops[i]->value == name;
        out->ops[i] = original(out->ops[i], ops, count);
        if (renamed)
            unseen = out->ops[i]->value;
    }
    for (uint32_t i = 0; i < out->state_count; i++)
        if (out->states[i] == name)
            out->states[i] = unseen;
}

static void search_register(const struct linear_model *model, struct linear_space *space,
                            const struct linear_op *ops, uint32_t count, const bool *without,
                            const struct search_limits *limits, struct linear_result *out)
{
    struct linear_op *copy = must_alloc((size_t)count + 1, sizeof *copy);
    uint64_t name;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!without || !without[i])
            copy[kept++] = ops[i];
    kept = simplify(copy, kept, space->initial, &name);
    search_check(model, space, copy, kept, limits, out);
    restore(out, ops, count, name);
    free(copy);
}

/* Refusals that are right in any order say nothing and would only slow the search. */
static void search_refusals(const struct linear_model *model, struct linear_space *space,
                            const struct linear_op *ops, uint32_t count, const uint32_t *left,
                            uint32_t left_count, const struct search_limits *limits,
                            struct linear_result *out)
{
    bool *without = must_alloc((size_t)count + 1, sizeof *without);
    for (uint32_t i = 0; i < count; i++)
        without[i] = ops[i].f == LINEAR_REFUSED;
    for (uint32_t i = 0; i < left_count; i++)
        without[left[i]] = false;
    search_register(model, space, ops, count, without, limits, out);
    free(without);
}

static void check_register(const struct linear_model *model, struct linear_space *space,
                           const struct linear_op *ops, uint32_t count,
                           const struct search_limits *limits, struct linear_result *out)
{
    uint32_t *left = must_alloc((size_t)count + 1, sizeof *left), left_count = 0;
    switch (zone_check(ops, count, space->initial, out, left, &left_count)) {
    case ZONE_DECIDED: break;
    case ZONE_REPEATED: search_register(model, space, ops, count, NULL, limits, out); break;
    case ZONE_REFUSALS:
        search_refusals(model, space, ops, count, left, left_count, limits, out);
        break;
    }
    free(left);
}

static void check_all(const struct linear_model *model, struct linear_space *space,
                      struct linear_op *ops, uint32_t count, bool zones,
                      const struct search_limits *limits, struct linear_result *out,
                      uint32_t *ret_bad)
{
    uint32_t bad = 0;
    *out = (struct linear_result){0};
    group(ops, count);
    for (uint32_t from = 0, until; from < count; from = until) {
        struct linear_result one;
        for (until = from + 1; until < count && ops[until].key == ops[from].key;)
            until++;
        if (!model->registers)
            search_check(model, space, ops + from, until - from, limits, &one);
        else if (zones)
            check_register(model, space, ops + from, until - from, limits, &one);
        else
            search_register(model, space, ops + from, until - from, NULL, limits, &one);
        bool invalid = one.fault != LINEAR_FINE && one.fault != LINEAR_GIVEN_UP;
        bad += invalid;
        if (out->fault == LINEAR_FINE || (invalid && out->fault == LINEAR_GIVEN_UP))
            *out = one;
    }
    if (ret_bad)
        *ret_bad = bad;
}

void linear_check(const struct linear_model *model, struct linear_space *space,
                  struct linear_op *ops, uint32_t count, const struct search_limits *limits,
                  struct linear_result *out, uint32_t *ret_bad)
{
    check_all(model, space, ops, count, true, limits, out, ret_bad);
}

void linear_check_by_search(const struct linear_model *model, struct linear_space *space,
                            struct linear_op *ops, uint32_t count,
                            const struct search_limits *limits, struct linear_result *out,
                            uint32_t *ret_bad)
{
    check_all(model, space, ops, count, false, limits, out, ret_bad);
}
