/* The netem backend on real namespaces: every impairment as it is seen by a socket, and as it is
 * counted. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/units.h"
#include "nodes/clock.h"
#include "tests/lab.h"
#include "tests/namespaces.h"
#include "tests/test.h"

#define SKIPPED 77

static int open_lab(void **state)
{
    *state = lab_open("netem");
    return 0;
}

static int close_lab(void **state)
{
    lab_close(*state);
    return 0;
}

static void test_clean(void **state)
{
    struct lab *lab = *state;
    lab_assert_all_pass(lab);
    struct tally tally = lab_probe(lab, 0, 1, 500, 200);
    assert_int_equal(tally.arrived, 500);
    assert_int_equal(tally.twice, 0);
    assert_int_equal(tally.overtaken, 0);
}

static void test_cut_one_way(void **state)
{
    struct lab *lab = *state;
    static const char *const cuts[] = {"cut", "cut-soft", "cut,duplicate=50%", "cut-soft,delay=1s"};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        uint64_t before = lab_touched(lab, 0, 1, "cut");
        lab_impair(lab, 0, 1, cuts[i]);
        assert_non_null(strstr(lab->proof, "read back"));
        assert_int_equal(lab_probe(lab, 0, 1, 50, 100).arrived, 0);
        assert_int_equal(lab_probe(lab, 1, 0, 20, 200).arrived, 20);
        assert_int_equal(lab_probe(lab, 0, 2, 20, 200).arrived, 20);
        assert_int_equal(lab_touched(lab, 0, 1, "cut") - before, 50);
    }
    lab_impair(lab, 0, 1, "");
    lab_assert_all_pass(lab);
}

/* A share of the frames of one link, none of the others'. */
static void test_shares(void **state)
{
    struct lab *lab = *state;
    lab_impair(lab, 0, 1, "loss=30%");
    struct tally tally = lab_probe(lab, 0, 1, 2000, 200);
    assert_in_range(tally.arrived, 1300, 1500);
    assert_int_equal(lab_touched(lab, 0, 1, "loss=1%"), 2000 - tally.arrived);
    assert_int_equal(lab_probe(lab, 1, 0, 100, 200).arrived, 100);
    lab_impair(lab, 0, 1, "duplicate=30%");
    tally = lab_probe(lab, 0, 1, 2000, 200);
    assert_int_equal(tally.arrived, 2000);
    assert_in_range(tally.twice, 500, 700);
    assert_int_equal(lab_touched(lab, 0, 1, "duplicate=1%"), tally.twice);
    lab_impair(lab, 0, 1, "loss=20%,duplicate=40%");
    tally = lab_probe(lab, 0, 1, 2000, 200);
    assert_in_range(tally.arrived, 1500, 1700); /* whatever is doubled besides */
    assert_true(tally.twice > 100);
    lab_impair(lab, 0, 1, "");
    lab_assert_all_pass(lab);
}

static void test_every_link_doubles_at_once(void **state)
{
    struct lab *lab = *state;
    for (uint32_t from = 0; from < LAB_ENDPOINTS; from++)
        for (uint32_t to = 0; to < LAB_ENDPOINTS; to++)
            if (from != to)
                lab_impair(lab, from, to, "duplicate=100%");
    for (uint32_t from = 0; from < LAB_ENDPOINTS; from++)
        for (uint32_t to = 0; to < LAB_ENDPOINTS; to++) {
            if (from == to)
                continue;
            assert_int_equal(lab_probe(lab, from, to, 50, 200).twice, 50);
            lab_impair(lab, from, to, "");
        }
    lab_assert_all_pass(lab);
}

static void test_corrupt(void **state)
{
    struct lab *lab = *state;
    uint64_t before = lab_touched(lab, 0, 1, "corrupt=1%");
    lab_impair(lab, 0, 1, "corrupt=100%");
    /* A bit of the addresses or of what a checksum does not cover may pass, or be refused unseen.
     */
    assert_true(lab_probe(lab, 0, 1, 300, 200).arrived < 60);
    assert_true(lab_touched(lab, 0, 1, "corrupt=1%") - before > 100);
    lab_impair(lab, 0, 1, "");
    lab_assert_all_pass(lab);
}

static void test_times(void **state)
{
    struct lab *lab = *state;
    uint64_t before = lab_touched(lab, 0, 1, "delay=1ms");
    lab_impair(lab, 0, 1, "delay=50ms");
    struct tally tally = lab_probe(lab, 0, 1, 200, 500);
    assert_int_equal(tally.arrived, 200);
    assert_in_range(tally.least_ns, 50 * NS_PER_MS, 70 * NS_PER_MS);
    assert_int_equal(lab_touched(lab, 0, 1, "delay=1ms") - before, 200);
    assert_true(lab_probe(lab, 1, 0, 20, 200).least_ns < 20 * NS_PER_MS); /* one way only */
    lab_impair(lab, 0, 1, "delay=20ms,jitter=20ms");
    tally = lab_probe(lab, 0, 1, 500, 500);
    assert_int_equal(tally.arrived, 500);
    assert_true(tally.overtaken > 50);
    before = lab_touched(lab, 0, 1, "reorder=1%,delay=1ms");
    lab_impair(lab, 0, 1, "delay=50ms,reorder=30%");
    tally = lab_probe(lab, 0, 1, 500, 500);
    assert_int_equal(tally.arrived, 500);
    assert_in_range(lab_touched(lab, 0, 1, "reorder=1%,delay=1ms") - before, 90, 210);
    assert_true(tally.overtaken > 100); /* those that wait, by those sent within 50 ms of them */
    lab_impair(lab, 0, 1, "");
    lab_assert_all_pass(lab);
}

static void test_rate(void **state)
{
    struct lab *lab = *state;
    uint64_t before = lab_touched(lab, 0, 1, "rate=1kbit");
    lab_impair(lab, 0, 1, "rate=100kbit"); /* 58 bytes of frame take 4.64 ms */
    struct tally tally = lab_probe(lab, 0, 1, 20, 500);
    assert_int_equal(tally.arrived, 20);
    assert_in_range(tally.median_ns, 30 * NS_PER_MS, 150 * NS_PER_MS);
    assert_int_equal(lab_touched(lab, 0, 1, "rate=1kbit") - before, 20);
    assert_true(lab_probe(lab, 0, 1, 500, 1000).arrived <
                400); /* what would wait too long is not kept */
    lab_impair(lab, 0, 1, "");
    lab_assert_all_pass(lab);
}

/* What is under way when the link is cut: gone, or still to arrive. */
static void test_hard_and_soft_cuts(void **state)
{
    struct lab *lab = *state;
    static const struct {
        const char *before, *cut;
        bool drains;
    } rows[] = {{"delay=400ms", "cut", false},
                {"delay=400ms,duplicate=50%", "cut", false},
                {"delay=400ms", "cut-soft", true},
                {"delay=400ms,loss=1%", "cut-soft,cut", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lab_impair(lab, 0, 1, rows[i].before);
        uint64_t cut = lab_touched(lab, 0, 1, "cut");
        assert_int_equal(lab_probe(lab, 0, 1, 40, 1).arrived, 0); /* they are held back */
        lab_impair(lab, 0, 1, rows[i].cut);
        struct tally leaked = lab_collect(lab, 1, 700);
        assert_true(rows[i].drains ? leaked.arrived == 40 : leaked.arrived == 0);
        uint64_t dropped = lab_touched(lab, 0, 1, "cut") - cut;
        assert_true(rows[i].drains ? dropped == 0 : dropped >= 35);
        lab_impair(lab, 0, 1, "");
        assert_int_equal(lab_probe(lab, 0, 1, 20, 200).arrived, 20);
    }
    lab_assert_all_pass(lab);
}

static void test_cut_data_keeps_the_other_direction(void **state)
{
    lab_check_cut_data(*state);
}

static void test_dead_connections_are_noticed(void **state)
{
    lab_check_dead_connections(*state);
}

static void test_a_link_that_is_not_there(void **state)
{
    struct lab *lab = *state;
    (void)lab_ask(lab, 1, 1, "cut", false);
    assert_string_equal(lab->failure, "there is no link n2>n2");
    lab_assert_all_pass(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_cut_one_way),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_every_link_doubles_at_once),
        cmocka_unit_test(test_corrupt),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_hard_and_soft_cuts),
        cmocka_unit_test(test_cut_data_keeps_the_other_direction),
        cmocka_unit_test(test_dead_connections_are_noticed),
        cmocka_unit_test(test_a_link_that_is_not_there),
    };
    struct error error;
    if (!namespaces_allowed()) {
        (void)printf("skipped: this machine allows no user namespaces\n");
        return SKIPPED;
    }
    if (network_find("netem")->probe(&error) < 0) {
        (void)printf("skipped: %s\n", error.text);
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, open_lab, close_lab);
}
