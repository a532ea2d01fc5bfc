/* The checks' hash table against a plain list. */
#include "tests/test.h"

#include "base/random.h"
#include "checker/table.h"

#define KEYS 24u
#define STEPS 20000u

struct entry {
    bool present;
    uint64_t value;
};

static void compare(const struct table *table, const struct entry entries[KEYS][KEYS])
{
    size_t count = 0;
    for (uint64_t a = 0; a < KEYS; a++)
        for (uint64_t b = 0; b < KEYS; b++) {
            const uint64_t *found = table_find(table, a, b);
            assert_int_equal(found != NULL, entries[a][b].present);
            if (found)
                assert_int_equal(*found, entries[a][b].value);
            count += entries[a][b].present;
        }
    assert_int_equal(table->count, count);
}

static void put(struct table *table, struct entry *entry, uint64_t a, uint64_t b, uint64_t value)
{
    bool fresh;
    uint64_t *found = table_put(table, a, b, &fresh);
    assert_int_equal(fresh, !entry->present);
    assert_int_equal(*found, fresh ? 0 : entry->value);
    *found = value;
    *entry = (struct entry){true, value};
}

static void test_against_list(void **unused)
{
    static struct entry entries[KEYS][KEYS];
    struct random random;
    struct table table;
    (void)unused;
    random_init(&random, 1, "table", 0);
    table_init(&table, sizeof(uint64_t));
    for (uint32_t step = 0; step < STEPS; step++) {
        uint64_t a = random_below(&random, KEYS), b = random_below(&random, KEYS);
        uint64_t choice = random_below(&random, 100);
        if (choice < 60) {
            put(&table, &entries[a][b], a, b, step);
        } else if (choice < 99) {
            assert_int_equal(table_remove(&table, a, b), entries[a][b].present);
            entries[a][b].present = false;
        } else {
            table_remove_all(&table, a);
            for (uint64_t i = 0; i < KEYS; i++)
                entries[a][i].present = false;
        }
        if (step % 500 == 0)
            compare(&table, (const struct entry(*)[KEYS])entries);
    }
    compare(&table, (const struct entry(*)[KEYS])entries);
    table_release(&table);
}

static void add_value(void *context, void *value)
{
    *(uint64_t *)context += *(uint64_t *)value;
}

static void test_each(void **unused)
{
    struct table table;
    uint64_t sum = 0;
    (void)unused;
    table_init(&table, sizeof(uint64_t));
    for (uint64_t i = 0; i < 1000; i++)
        *(uint64_t *)table_put(&table, i, i, NULL) = i + 1;
    table_each(&table, add_value, &sum);
    assert_int_equal(sum, 1000 * 1001 / 2);
    table_release(&table);
    table_each(&table, add_value, &sum);
    assert_int_equal(sum, 1000 * 1001 / 2);
    assert_null(table_find(&table, 1, 1));
}

static void test_values_of_no_size(void **unused)
{
    struct table table;
    bool fresh;
    (void)unused;
    table_init(&table, 0);
    for (uint64_t i = 0; i < 100; i++)
        (void)table_put(&table, i % 50, 0, &fresh);
    assert_false(fresh);
    assert_int_equal(table.count, 50);
    table_release(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_list),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_values_of_no_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
