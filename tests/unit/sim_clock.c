/* Clocks and disks of simulated machines. */
#include "simulator/clock.h"

#include "base/random.h"
#include "base/units.h"
#include "simulator/disk.h"
#include "tests/test.h"

static void exact_clock_follows_true_time(void **state)
{
    (void)state;
    struct sim_clock clock;
    sim_clock_init(&clock, 1000, 5000);
    assert_int_equal(sim_clock_own(&clock, 77), 1077);
    assert_int_equal(sim_clock_wall(&clock, 1077), 6077);
    assert_int_equal(sim_clock_reaches(&clock, 10, 1077), 77);
    assert_true(sim_clock_reaches(&clock, 10, UINT64_MAX) == UINT64_MAX);
}

static void rates_hold_from_the_change_on(void **state)
{
    (void)state;
    struct sim_clock clock;
    sim_clock_init(&clock, 0, 0);
    sim_clock_rate(&clock, NS_PER_S, 100000); /* 10 % fast */
    assert_int_equal(sim_clock_own(&clock, NS_PER_S), NS_PER_S);
    assert_in_range(sim_clock_own(&clock, 11 * NS_PER_S), 12 * NS_PER_S - 10, 12 * NS_PER_S);
    sim_clock_rate(&clock, 11 * NS_PER_S, -500000); /* half as fast */
    assert_in_range(sim_clock_own(&clock, 13 * NS_PER_S), 13 * NS_PER_S - 10, 13 * NS_PER_S);
}

/* A timer computed with reaches() never fires early by its owner's clock, and less than 3 ns late.
 */
static void reaches_is_the_inverse(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 3, "clock", 0);
    for (int i = 0; i < 10000; i++) {
        struct sim_clock clock;
        sim_clock_init(&clock, random_below(&random, NS_PER_S), 0);
        sim_clock_rate(&clock, random_below(&random, NS_PER_S),
                       (int64_t)random_below(&random, 1800000) - 900000);
        uint64_t now = NS_PER_S + random_below(&random, 100 * NS_PER_S);
        uint64_t deadline = sim_clock_own(&clock, now) + random_below(&random, NS_PER_S);
        uint64_t due = sim_clock_reaches(&clock, now, deadline);
        assert_true(due >= now);
        assert_true(sim_clock_own(&clock, due) >= deadline);
        assert_true(due < now + 3 || sim_clock_own(&clock, due - 3) < deadline);
    }
}

static void leap_moves_both_clocks_and_step_only_the_wall(void **state)
{
    (void)state;
    struct sim_clock clock;
    sim_clock_init(&clock, 0, 100);
    sim_clock_leap(&clock, 10, 1000);
    assert_int_equal(sim_clock_own(&clock, 20), 1020);
    assert_int_equal(sim_clock_wall(&clock, 1020), 1120);
    sim_clock_step(&clock, -50);
    assert_int_equal(sim_clock_own(&clock, 20), 1020);
    assert_int_equal(sim_clock_wall(&clock, 1020), 1070);
}

static void kill_keeps_what_was_written_and_power_loss_what_was_synced(void **state)
{
    (void)state;
    struct durable first = {{1}}, second = {{2}};
    struct disk disk = {0};
    disk_write(&disk, &first);
    disk_sync(&disk);
    disk_write(&disk, &second);
    struct disk other = disk;
    disk_after_kill(&disk);
    assert_int_equal(disk.synced.word[0], 2);
    disk_after_power_loss(&other);
    assert_int_equal(other.synced.word[0], 1);
    assert_int_equal(other.written.word[0], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_clock_follows_true_time),
        cmocka_unit_test(rates_hold_from_the_change_on),
        cmocka_unit_test(reaches_is_the_inverse),
        cmocka_unit_test(leap_moves_both_clocks_and_step_only_the_wall),
        cmocka_unit_test(kill_keeps_what_was_written_and_power_loss_what_was_synced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
