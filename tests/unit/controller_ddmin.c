/* The needed things are known; whatever the size of the list, they are all that is left. */
#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>

#include "base/random.h"
#include "controller/ddmin.h"

struct need {
    const uint32_t *items; /* ascending */
    uint32_t count, calls;
    uint32_t fails_at; /* call; 0: never */
};

static int holds(void *context, const uint32_t *items, uint32_t count, struct error *error)
{
    struct need *need = context;
    uint32_t found = 0;
    if (++need->calls == need->fails_at)
        return error_set(error, -EIO, "no more");
    for (uint32_t i = 0; i < count; i++) {
        assert_true(i == 0 || items[i - 1] < items[i]);
        found += found < need->count && need->items[found] == items[i];
    }
    return found == need->count;
}

static uint32_t minimise(struct need *need, uint32_t count, uint32_t **out, int wanted)
{
    struct error error;
    uint32_t *items = must_alloc(count, sizeof *items);
    for (uint32_t i = 0; i < count; i++)
        items[i] = i;
    assert_int_equal(ddmin(items, &count, holds, need, &error), wanted);
    *out = items;
    return count;
}

static void test_any(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 1, "ddmin", 0);
    for (uint32_t round = 0; round < 2000; round++) {
        uint32_t size = (uint32_t)random_below(&random, 60), needed[60], *left;
        struct need need = {.items = needed};
        for (uint32_t i = 0; i < size; i++)
            if (random_below(&random, 6) == 0)
                needed[need.count++] = i;
        assert_int_equal(minimise(&need, size, &left, 0), need.count);
        assert_memory_equal(left, needed, need.count * sizeof *left);
        free(left);
    }
}

/* A few of very many take few looks. */
static void test_many(void **state)
{
    (void)state;
    const uint32_t needed[] = {17, 70000, 99999};
    struct need need = {.items = needed, .count = 3};
    uint32_t *left;
    assert_int_equal(minimise(&need, 100000, &left, 0), 3);
    assert_true(need.calls < 200);
    free(left);
}

static void test_failure_ends_it(void **state)
{
    (void)state;
    const uint32_t needed[] = {3};
    struct need need = {.items = needed, .count = 1, .fails_at = 3};
    uint32_t *left;
    (void)minimise(&need, 10, &left, -EIO);
    assert_int_equal(need.calls, 3);
    free(left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_failure_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
