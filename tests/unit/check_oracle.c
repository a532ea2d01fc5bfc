/* The safety checks against a plain second opinion, on many random tiny histories. */
#include "tests/test.h"

#include "base/random.h"
#include "tests/opinions.h"

#define HISTORIES 100000u

static void random_event(struct random *random, uint64_t clocks[OPINION_NODES + 1],
                         struct events *all)
{
    static const uint8_t kinds[] = {F_LEAD,    F_LEAD,      F_LEAD,          F_VOTE,   F_VOTE,
                                    F_PERSIST, F_PERSIST,   F_CAMPAIGN,      F_ACCEPT, F_ACCEPT,
                                    F_FOLLOW,  F_STEP_DOWN, F_GUARDED_WRITE, F_EXIT,   F_SPAWN};
    struct event event = {.type = EVENT_INFO};
    uint32_t node = (uint32_t)random_between(random, 1, OPINION_NODES);
    uint64_t term = random_between(random, 1, 3);
    event.f = kinds[random_below(random, sizeof kinds)];
    event.process = event.f == F_ACCEPT ? PROCESS_NUMBER(PROCESS_RESOURCE, 0) : node;
    clocks[event.f == F_ACCEPT ? 0 : node] += random_below(random, 4);
    event.time_ns = clocks[event.f == F_ACCEPT ? 0 : node];
    if (event.f == F_GUARDED_WRITE)
        event.type = EVENT_INVOKE;
    event_set(&event, FIELD_TERM, term);
    if (event.f == F_LEAD || event.f == F_ACCEPT || event.f == F_GUARDED_WRITE)
        event_set(&event, FIELD_TOKEN,
                  random_chance(random, 800000) ? term : random_below(random, 4));
    if (event.f == F_ACCEPT)
        event_set(&event, FIELD_HOLDER, node);
    if (event.f == F_VOTE || (event.f == F_PERSIST && random_chance(random, 800000)))
        event_set(&event, FIELD_FOR, random_between(random, 1, OPINION_NODES));
    (void)events_add(all, &event);
}

static void test_random_histories(void **unused)
{
    struct random random;
    struct history_header header = events_header(OPINION_NODES);
    uint32_t seen[OPINIONS][3] = {{0}};
    (void)unused;
    random_init(&random, 1, "oracle", 0);
    for (uint32_t i = 0; i < HISTORIES; i++) {
        struct events all = {0};
        uint64_t clocks[OPINION_NODES + 1] = {0};
        uint64_t length = random_between(&random, 1, 14);
        header.clock_uncertainty_ns = random_chance(&random, 300000) ? 2 : 0;
        while (length--)
            random_event(&random, clocks, &all);
        opinions_compare(&header, &all, seen);
        events_release(&all);
    }
    for (uint32_t i = 0; i < OPINIONS; i++) {
        assert_true(seen[i][VERDICT_VALID] > HISTORIES / 1000); /* held over something */
        assert_true(seen[i][VERDICT_INVALID] > HISTORIES / 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_histories)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
