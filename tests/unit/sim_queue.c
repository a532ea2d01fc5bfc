/* The event queue against a plain sorted order. */
#include "simulator/queue.h"

#include <stdlib.h>

#include "base/random.h"
#include "tests/test.h"

/* Pops come by time, and by order of pushing within a time, whatever the order of pushing. */
static void pops_in_order_of_time_then_pushing(void **state)
{
    (void)state;
    struct queue queue = {0};
    struct random random;
    random_init(&random, 1, "queue", 0);
    for (uint32_t round = 0; round < 200; round++) {
        uint32_t count = 1 + (uint32_t)random_below(&random, 300);
        for (uint32_t i = 0; i < count; i++)
            queue_push(&queue, random_below(&random, 40), i, round);
        struct queued last = queue_pop(&queue);
        for (uint32_t i = 1; i < count; i++) {
            struct queued next = queue_pop(&queue);
            assert_true(last.time_ns < next.time_ns ||
                        (last.time_ns == next.time_ns && last.sequence < next.sequence));
            assert_int_equal(next.cargo, round);
            last = next;
        }
        assert_int_equal(queue.count, 0);
    }
    queue_release(&queue);
}

/* Mixed pushes and pops: nothing is lost, nothing comes twice, and time never runs back as long as
 * nobody pushes into the past. */
static void keeps_every_entry_exactly_once(void **state)
{
    (void)state;
    struct queue queue = {0};
    struct random random;
    random_init(&random, 2, "queue", 0);
    uint8_t *seen = calloc(100000, 1);
    uint64_t now = 0;
    uint32_t pushed = 0, popped = 0;
    while (popped < 100000) {
        if (pushed < 100000 && random_chance(&random, 550000))
            queue_push(&queue, now + random_below(&random, 1000), 7, pushed++);
        if (queue.count == 0 || random_chance(&random, 500000))
            continue;
        assert_int_equal(queue_next_ns(&queue), queue.heap[0].time_ns);
        struct queued next = queue_pop(&queue);
        assert_true(next.time_ns >= now);
        assert_int_equal(next.target, 7);
        assert_int_equal(seen[next.cargo]++, 0);
        now = next.time_ns;
        popped++;
    }
    free(seen);
    queue_release(&queue);
}

static bool has_target(const void *context, const struct queued *entry)
{
    return entry->target == *(const uint32_t *)context;
}

/* What is hastened comes in the order of pushing, the rest when it was due. */
static void hastens_only_what_is_picked_and_late(void **state)
{
    (void)state;
    struct queue queue = {0};
    const uint32_t picked = 1;
    for (uint32_t i = 0; i < 1000; i++)
        queue_push(&queue, 1000 - i, i % 2, i);
    queue_hasten(&queue, 300, has_target, &picked);
    struct queued last = queue_pop(&queue);
    for (uint32_t i = 1; i < 1000; i++) {
        struct queued next = queue_pop(&queue);
        uint32_t due = 1000 - next.cargo;
        assert_true(last.time_ns < next.time_ns ||
                    (last.time_ns == next.time_ns && last.sequence < next.sequence));
        assert_int_equal(next.time_ns, next.target == picked && due > 300 ? 300 : due);
        last = next;
    }
    queue_release(&queue);
}

static void empty_queue_is_due_never(void **state)
{
    (void)state;
    struct queue queue = {0};
    assert_true(queue_next_ns(&queue) == UINT64_MAX);
    queue_push(&queue, 5, 0, 0);
    queue_clear(&queue);
    assert_true(queue_next_ns(&queue) == UINT64_MAX);
    queue_release(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pops_in_order_of_time_then_pushing),
        cmocka_unit_test(keeps_every_entry_exactly_once),
        cmocka_unit_test(hastens_only_what_is_picked_and_late),
        cmocka_unit_test(empty_queue_is_due_never),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
