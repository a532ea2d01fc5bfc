/* Targets: text both ways, and whom each role means. */
#include "nemesis/target.h"

#include <string.h>

#include "tests/test.h"

static void test_text_round_trip(void **state)
{
    (void)state;
    static const char *const exact[] = {
        "any",      "leader",    "candidate", "follower", "follower:2", "random",
        "random:3", "all",       "minority",  "majority", "n1",         "n2+n4",
        "n1+n5",    "followers", "lowest",    "highest",  "actor",
    };
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        struct target target;
        struct error error;
        struct text text = {0};
        assert_int_equal(target_parse(slice_of(exact[i]), 5, &target, &error), 0);
        target_format(&target, &text);
        assert_string_equal(text_string(&text), exact[i]);
        text_release(&text);
    }
}

static void test_text_refusals(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "",          "leaders",   "n0",       "n6",       "n2+",      "+n2",
        "n2,n3",     "random:0",  "random:6", "random:",  "random:x", "leader:1",
        "n1+n2+x",   "n01",       "client-1", "resource", "N1",       "n1 ",
        "random:-1", "follower:", "all:2",    "n1++n2",   "nemesis",
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct target target = {.count = 77};
        struct error error;
        if (target_parse(slice_of(refused[i]), 5, &target, &error) == 0)
            fail_msg("'%s' was accepted", refused[i]);
        assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
        assert_int_equal(target.count, 77);
    }
}

static node_set resolve(const char *text, const struct cluster_view *view, uint64_t seed,
                        const char **ret_why)
{
    struct target target;
    struct error error;
    struct random random;
    assert_int_equal(target_parse(slice_of(text), view->nodes, &target, &error), 0);
    random_init(&random, seed, "test", 0);
    return target_resolve(&target, view, &random, ret_why);
}

static void test_roles(void **state)
{
    (void)state;
    const struct cluster_view view = {.nodes = 7,
                                      .leader = 3,
                                      .running = nodes_all(7) & ~node_bit(7),
                                      .candidates = node_bit(5) | node_bit(7),
                                      .actor = 4};
    const char *why;
    for (uint64_t seed = 0; seed < 200; seed++) {
        assert_true(resolve("any", &view, seed, &why) == nodes_all(7));
        assert_true(resolve("all", &view, seed, &why) == view.running);
        assert_true(resolve("leader", &view, seed, &why) == node_bit(3));
        assert_true(resolve("followers", &view, seed, &why) == (view.running & ~node_bit(3)));
        assert_true(resolve("lowest", &view, seed, &why) == node_bit(1));
        assert_true(resolve("highest", &view, seed, &why) == node_bit(6));
        assert_true(resolve("actor", &view, seed, &why) == node_bit(4));
        assert_true(resolve("candidate", &view, seed, &why) == node_bit(5));
        assert_true(resolve("n2+n7", &view, seed, &why) == (node_bit(2) | node_bit(7)));
        node_set set = resolve("minority", &view, seed, &why);
        assert_true(nodes_count(set) == 3 && (set & ~view.running) == 0);
        set = resolve("majority", &view, seed, &why);
        assert_true(nodes_count(set) == 4 && (set & ~view.running) == 0);
        set = resolve("random:2", &view, seed, &why);
        assert_true(nodes_count(set) == 2 && (set & ~view.running) == 0);
        set = resolve("follower:5", &view, seed, &why);
        assert_true(set == (view.running & ~node_bit(3)));
    }
}

static void test_nobody_there(void **state)
{
    (void)state;
    const struct cluster_view none = {.nodes = 3};
    const struct cluster_view one = {.nodes = 1, .running = 1, .leader = 1};
    const struct cluster_view stale = {.nodes = 3, .running = 6, .leader = 1};
    const char *why;
    assert_true(resolve("leader", &none, 1, &why) == 0);
    assert_string_equal(why, "no leader is known");
    assert_true(resolve("leader", &stale, 1, &why) == 0);
    assert_true(resolve("candidate", &none, 1, &why) == 0);
    assert_string_equal(why, "no node is a candidate");
    assert_true(resolve("follower", &one, 1, &why) == 0);
    assert_string_equal(why, "no follower is running");
    assert_true(resolve("random", &none, 1, &why) == 0);
    assert_string_equal(why, "no node is running");
    assert_true(resolve("minority", &one, 1, &why) == 0);
    assert_string_equal(why, "a cluster this small has no minority");
    const struct target beyond = {.role = TARGET_NODES, .nodes = node_bit(9)};
    struct random random = {{1, 2, 3, 4}};
    assert_true(target_resolve(&beyond, &none, &random, &why) == 0);
}

static void test_every_node_is_picked_sometimes(void **state)
{
    (void)state;
    struct random random;
    uint32_t count[5] = {0};
    random_init(&random, 1, "test", 0);
    for (int i = 0; i < 5000; i++)
        count[nodes_pick(&random, nodes_all(5)) - 1]++;
    for (int i = 0; i < 5; i++)
        assert_in_range(count[i], 850, 1150);
    assert_int_equal(nodes_pick(&random, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_round_trip),
        cmocka_unit_test(test_text_refusals),
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_nobody_there),
        cmocka_unit_test(test_every_node_is_picked_sometimes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
