/* Whatever the schedule and whatever the manners of the world: the engine comes to rest and leaves
 * nothing behind. */
#include <stdlib.h>
#include <string.h>

#include "tests/fake_world.h"
#include "tests/test.h"

static void change_world(struct fake *fake, struct random *random)
{
    uint32_t leader = (uint32_t)random_below(random, NODES + 1);
    fake->leader = leader && (fake->running & node_bit(leader)) ? leader : 0;
    for (int i = 0; i < 4; i++)
        fake->manner[i] =
            random_chance(random, 700000) ? AT_ONCE : (enum manner)random_below(random, 4);
    fake->frames += random_below(random, 100);
    if (random_chance(random, 400000))
        fake_tell(fake);
}

static void test_any_schedule(void **state)
{
    (void)state;
    static const char *const nothing[] = {NULL};
    for (uint64_t seed = 0; seed < 150; seed++) {
        struct fake *fake = fake_new(nothing);
        fake_add_service(fake);
        struct plan_request request = {.seed = seed,
                                       .nodes = NODES,
                                       .kinds = faults,
                                       .every_ns = 200 * NS_PER_MS,
                                       .length_ns = 20 * NS_PER_S,
                                       .election_timeout_ns = 300 * NS_PER_MS};
        struct random random;
        while (faults[request.kind_count])
            request.kind_count++;
        plan_random(&request, &fake->schedule);
        random_init(&random, seed, "test", 0);
        for (uint64_t ms = 0; ms < 20000; ms += 100) {
            fake_run_to(fake, ms);
            change_world(fake, &random);
        }
        fake_heal(fake);
        for (int i = 0; i < 4; i++)
            fake->manner[i] = AT_ONCE;
        for (uint64_t ms = 20000; ms < 40000; ms += 1000) {
            fake_tell(fake);
            fake_run_to(fake, ms);
        }
        assert_true(engine_quiet(fake->engine));
        assert_int_equal(fake->fault_events, fake->schedule.count);
        assert_true(fake->running == nodes_all(NODES + 1) && fake->paused == 0 &&
                    fake_is_true(fake));
        for (uint32_t from = 0; from <= NODES; from++)
            for (uint32_t to = 0; to <= NODES; to++)
                assert_true(impairment_is_clean(&fake->link[from][to]));
        fake_free(fake);
    }
}

/* With a world that always answers, what a plan draws nearly always takes effect. */
static void test_plans_land(void **state)
{
    (void)state;
    static const char *const nothing[] = {NULL};
    uint32_t skipped = 0, all = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct fake *fake = fake_new(nothing);
        fake_add_service(fake);
        struct plan_request request = {.seed = seed,
                                       .nodes = NODES,
                                       .kinds = faults,
                                       .every_ns = 3 * NS_PER_S,
                                       .length_ns = 30 * NS_PER_S,
                                       .election_timeout_ns = 300 * NS_PER_MS};
        while (faults[request.kind_count])
            request.kind_count++;
        plan_random(&request, &fake->schedule);
        for (uint64_t ms = 0; ms <= 30000; ms += 100) {
            fake_run_to(fake, ms);
            if (!fake->leader && nodes_count(fake->running & ~fake->paused) > NODES / 2)
                fake->leader = nodes_first(fake->running & ~fake->paused);
        }
        assert_true(fake->fault_events + 2 >= fake->schedule.count); /* others wait for a leader */
        fake_heal(fake);
        fake_assert_nothing_left(fake);
        for (const char *at = text_string(&fake->events); (at = strstr(at, "[skipped]")); at++)
            skipped++;
        all += fake->schedule.count;
        fake_free(fake);
    }
    assert_true(skipped * 20 < all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_schedule),
        cmocka_unit_test(test_plans_land),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
