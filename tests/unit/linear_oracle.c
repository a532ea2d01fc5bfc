/* Every way to decide linearizability against one that tries all orders, on random tiny histories:
 * registers with unique and with repeated values, compare-and-sets, refusals, locks, unknown
 * outcomes. */
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "checker/linear/linear.h"

#define OPS_MAX 9u
#define HISTORIES 25000u /* of each of the kinds below */

/* The object as plainly as can be: registers hold a value, locks a holder, a count and a fence. */
struct thing {
    uint64_t value;
    uint32_t owner, held; /* owner: 1 + process */
    uint64_t fence, highest;
    uint32_t permits[2];
};

/* What is tried out. */
enum variety { UNIQUE, REPEATED, CHAINS, LOCKS, VARIETIES };

struct tiny {
    struct linear_op ops[OPS_MAX];
    uint32_t count;
    const struct linear_model *model;
    bool used[OPS_MAX];
};

static bool is_model(const struct tiny *tiny, const char *name)
{
    return strcmp(tiny->model->name, name) == 0;
}

static bool may_acquire(const struct tiny *tiny, struct thing *thing, const struct linear_op *op)
{
    bool reentrant = is_model(tiny, "reentrant-mutex") || is_model(tiny, "reentrant-fenced-lock");
    bool fenced = is_model(tiny, "fenced-lock") || is_model(tiny, "reentrant-fenced-lock");
    bool mine = reentrant && thing->held == 1 && thing->owner == op->process + 1;
    if (thing->held && !mine)
        return false;
    if (fenced && op->value) {
        if (mine && thing->fence && thing->fence != op->value)
            return false;
        if (!(mine && thing->fence) && op->value <= thing->highest)
            return false;
        thing->fence = op->value;
        if (op->value > thing->highest)
            thing->highest = op->value;
    }
    thing->owner = op->process + 1;
    thing->held++;
    return true;
}

static bool may_release(const struct tiny *tiny, struct thing *thing, const struct linear_op *op)
{
    if (!thing->held || (!is_model(tiny, "mutex") && thing->owner != op->process + 1))
        return false;
    if (--thing->held == 0)
        thing->fence = 0;
    return true;
}

static bool may_semaphore(struct thing *thing, const struct linear_op *op)
{
    uint32_t wanted = op->f == LINEAR_ACQUIRE ? 0 : op->process + 1;
    for (uint32_t i = 0; i < 2; i++)
        if (thing->permits[i] == wanted) {
            thing->permits[i] = op->f == LINEAR_ACQUIRE ? op->process + 1 : 0;
            return true;
        }
    return false;
}

static bool may(const struct tiny *tiny, struct thing *thing, const struct linear_op *op)
{
    bool fits;
    if (is_model(tiny, "semaphore"))
        return may_semaphore(thing, op);
    switch (op->f) {
    case LINEAR_READ: return thing->value == op->value;
    case LINEAR_REFUSED: return thing->value != op->expected;
    case LINEAR_ACQUIRE: return may_acquire(tiny, thing, op);
    case LINEAR_RELEASE: return may_release(tiny, thing, op);
    default:
        fits = op->f == LINEAR_WRITE || thing->value == op->expected;
        thing->value = op->value;
        return fits;
    }
}

/* Whether what is not used yet can follow in some order: each time try everything that nothing
 * unused must precede. Unknown operations may be left out. */
static bool any_order(struct tiny *tiny, struct thing thing)
{
    bool all_known = true;
    for (uint32_t i = 0; i < tiny->count; i++)
        all_known = all_known && (tiny->used[i] || linear_is_open(&tiny->ops[i]));
    if (all_known)
        return true;
    for (uint32_t i = 0; i < tiny->count; i++) {
        bool first = !tiny->used[i];
        for (uint32_t k = 0; k < tiny->count && first; k++)
            first = tiny->used[k] || tiny->ops[k].done >= tiny->ops[i].call;
        struct thing after = thing;
        if (!first || !may(tiny, &after, &tiny->ops[i]))
            continue;
        tiny->used[i] = true;
        bool found = any_order(tiny, after);
        tiny->used[i] = false;
        if (found)
            return true;
    }
    return false;
}

/* Random histories */

static void draw_register(struct random *random, enum variety variety, uint32_t at,
                          struct linear_op *op)
{
    uint64_t dice = random_below(random, 100);
    uint64_t limit = variety == REPEATED ? 3 : (at + 2) / 2;
    uint64_t cas = variety == UNIQUE ? 10 : variety == CHAINS ? 40 : 25;
    op->f = dice < 45          ? LINEAR_READ
            : dice < 100 - cas ? LINEAR_WRITE
            : dice < 90        ? LINEAR_CAS
                               : LINEAR_REFUSED;
    if (variety == UNIQUE && op->f == LINEAR_REFUSED && random_chance(random, 700000))
        op->f = LINEAR_WRITE;
    op->expected = op->f == LINEAR_CAS || op->f == LINEAR_REFUSED ? random_below(random, limit) : 0;
    if (op->f == LINEAR_READ)
        op->value = random_below(random, limit);
    else if (op->f != LINEAR_REFUSED)
        op->value = variety == REPEATED ? random_below(random, 3) : at + 1;
}

static void draw_lock(struct random *random, struct linear_op *op)
{
    op->f = random_chance(random, 550000) ? LINEAR_ACQUIRE : LINEAR_RELEASE;
    op->process = (uint32_t)random_below(random, 3);
    if (op->f == LINEAR_ACQUIRE)
        op->value = random_below(random, 4);
}

static void draw(struct random *random, enum variety variety, struct tiny *tiny)
{
    static const char *const locks[] = {"mutex",       "owner-mutex",           "reentrant-mutex",
                                        "fenced-lock", "reentrant-fenced-lock", "semaphore"};
    const char *name = variety == LOCKS ? locks[random_below(random, 6)] : "register";
    *tiny = (struct tiny){.model = linear_model_find((struct slice){name, strlen(name)})};
    tiny->count = (uint32_t)random_between(random, 2, variety == LOCKS ? 6 : OPS_MAX);
    uint64_t spread = random_between(random, 1, 20), length = random_between(random, 1, 24);
    for (uint32_t i = 0; i < tiny->count; i++) {
        struct linear_op *op = &tiny->ops[i];
        if (variety == LOCKS)
            draw_lock(random, op);
        else
            draw_register(random, variety, i, op);
        op->call = random_below(random, spread);
        op->done = op->call + random_below(random, length);
        if (op->f != LINEAR_READ && op->f != LINEAR_REFUSED && random_chance(random, 150000))
            op->done = LINEAR_OPEN;
        op->call_index = 2 * i;
    }
}

static void complain(const struct tiny *tiny, bool truth, const char *how, enum linear_fault fault)
{
    printf("%s, %s by all orders, %s says %d:\n", tiny->model->name, truth ? "fine" : "wrong", how,
           (int)fault);
    for (uint32_t i = 0; i < tiny->count; i++) {
        const struct linear_op *op = &tiny->ops[i];
        printf("  %" PRIu64 "..%" PRIi64 " f %u value %" PRIu64 " expected %" PRIu64
               " process %u\n",
               op->call, (int64_t)op->done, op->f, op->value, op->expected, op->process);
    }
    fail();
}

static void compare(const struct tiny *tiny, bool truth)
{
    struct linear_space space;
    struct linear_result result;
    struct tiny copy = *tiny;
    struct search_limits limits = SEARCH_LIMITS;
    linear_space_init(&space);
    linear_check(tiny->model, &space, copy.ops, copy.count, &limits, &result, NULL);
    if ((result.fault == LINEAR_FINE) != truth)
        complain(tiny, truth, "the check", result.fault);
    copy = *tiny;
    linear_check_by_search(tiny->model, &space, copy.ops, copy.count, &limits, &result, NULL);
    if ((result.fault == LINEAR_FINE) != truth)
        complain(tiny, truth, "the search", result.fault);
    linear_space_release(&space);
}

static void test_variety(enum variety variety)
{
    struct random random;
    uint32_t fine = 0;
    random_init(&random, 1, "linear", variety);
    for (uint32_t i = 0; i < HISTORIES; i++) {
        struct tiny tiny;
        draw(&random, variety, &tiny);
        bool truth = any_order(&tiny, (struct thing){0});
        fine += truth;
        compare(&tiny, truth);
    }
    printf("%d: %u fine, %u wrong\n", (int)variety, fine, HISTORIES - fine);
    assert_in_range(fine, HISTORIES / 5, HISTORIES * 4 / 5);
}

static void test_unique_values(void **unused)
{
    (void)unused;
    test_variety(UNIQUE);
}

static void test_repeated_values(void **unused)
{
    (void)unused;
    test_variety(REPEATED);
}

static void test_chains(void **unused)
{
    (void)unused;
    test_variety(CHAINS);
}

static void test_locks(void **unused)
{
    (void)unused;
    test_variety(LOCKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unique_values),
        cmocka_unit_test(test_repeated_values),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
