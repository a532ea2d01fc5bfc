#include "tests/test.h"

#include "base/random.h"

/* From the authors' reference program: state 1, 2, 3, 4. */
static void test_xoshiro_known_values(void **state)
{
    (void)state;
    static const uint64_t want[] = {
        UINT64_C(11520),
        UINT64_C(0),
        UINT64_C(1509978240),
        UINT64_C(1215971899390074240),
        UINT64_C(1216172134540287360),
        UINT64_C(607988272756665600),
        UINT64_C(16172922978634559625),
        UINT64_C(8476171486693032832),
        UINT64_C(10595114339597558777),
        UINT64_C(2904607092377533576),
    };
    struct random random = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        assert_true(random_next(&random) == want[i]);
}

/* mix64() is the output function of splitmix64, whose state steps by the golden ratio. */
static void test_splitmix_known_values(void **state)
{
    (void)state;
    static const uint64_t want[] = {
        UINT64_C(1985237415132408290),  UINT64_C(2979275885539914483),
        UINT64_C(13511426838097143398), UINT64_C(8488337342461049707),
        UINT64_C(15141737807933549159),
    };
    uint64_t word = UINT64_C(1477776061723855037);
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        word += UINT64_C(0x9e3779b97f4a7c15);
        assert_true(mix64(word) == want[i]);
    }
}

/* Saved runs are repeated from their seed: these values may never change. */
static void test_streams_are_fixed_and_apart(void **state)
{
    (void)state;
    struct random a, b, c, d, again;
    random_init(&a, 7, "plan", 0);
    random_init(&again, 7, "plan", 0);
    random_init(&b, 8, "plan", 0);
    random_init(&c, 7, "plan", 1);
    random_init(&d, 7, "node", 0);
    uint64_t first = random_next(&a);
    assert_true(first == random_next(&again));
    assert_true(first == UINT64_C(13085862291605668933));
    assert_true(first != random_next(&b) && first != random_next(&c) && first != random_next(&d));
}

static void test_bounds_hold(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 1, "bounds", 0);
    assert_int_equal(random_below(&random, 0), 0);
    assert_int_equal(random_below(&random, 1), 0);
    assert_int_equal(random_between(&random, 5, 5), 5);
    assert_int_equal(random_between(&random, 6, 5), 6);
    (void)random_between(&random, 0, UINT64_MAX);
    for (int i = 0; i < 100000; i++) {
        uint64_t limit = random_next(&random) >> random_below(&random, 64);
        assert_true(limit == 0 || random_below(&random, limit) < limit);
        uint64_t between = random_between(&random, 10, 12);
        assert_in_range(between, 10, 12);
    }
    assert_true(random_chance(&random, 1000000));
    assert_false(random_chance(&random, 0));
}

/* 5 sigma of a fair draw: a wrong bias shows, a right one passes for this seed for ever. */
static void test_draws_are_even(void **state)
{
    (void)state;
    enum { SIDES = 6, DRAWS = 600000 };
    struct random random;
    int count[SIDES] = {0}, chances = 0;
    random_init(&random, 1, "even", 0);
    for (int i = 0; i < DRAWS; i++) {
        count[random_below(&random, SIDES)]++;
        chances += random_chance(&random, 250000);
    }
    for (int side = 0; side < SIDES; side++)
        assert_in_range(count[side], DRAWS / SIDES - 1450, DRAWS / SIDES + 1450);
    assert_in_range(chances, DRAWS / 4 - 1680, DRAWS / 4 + 1680);
}

static void test_shuffle_keeps_all_and_reaches_every_order(void **state)
{
    (void)state;
    struct random random;
    uint32_t seen = 0;
    random_init(&random, 1, "shuffle", 0);
    for (int i = 0; i < 1000; i++) {
        uint32_t items[] = {0, 1, 2, 3};
        random_shuffle(&random, items, 4);
        assert_int_equal(1 << items[0] | 1 << items[1] | 1 << items[2] | 1 << items[3], 15);
        uint32_t third = items[2] - (items[2] > items[0]) - (items[2] > items[1]);
        seen |= 1u << (items[0] * 6 + (items[1] - (items[1] > items[0])) * 2 + third);
    }
    assert_int_equal(seen, (1u << 24) - 1);
    random_shuffle(&random, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_xoshiro_known_values),
        cmocka_unit_test(test_splitmix_known_values),
        cmocka_unit_test(test_streams_are_fixed_and_apart),
        cmocka_unit_test(test_bounds_hold),
        cmocka_unit_test(test_draws_are_even),
        cmocka_unit_test(test_shuffle_keeps_all_and_reaches_every_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
