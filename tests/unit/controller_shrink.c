/* Shrinking with a made-up idea of what violates, so that the smallest is known. */
#include "tests/test.h"

#include <errno.h>
#include <stdio.h>

#include "base/units.h"
#include "controller/shrink.h"

struct fake {
    uint32_t calls, calls_max;
    uint32_t nodes_needed, clients_needed;
    uint64_t first, second; /* seeds of the faults it takes, in this order; 0: none */
    uint64_t length_ns;     /* how long the first must last */
};

static bool over(void *context)
{
    const struct fake *fake = context;
    return fake->calls >= fake->calls_max;
}

static int violates(void *context, const struct shape *shape, struct error *error)
{
    struct fake *fake = context;
    bool first = fake->first == 0, second = fake->second == 0;
    (void)error;
    fake->calls++;
    for (uint32_t i = 0; i < shape->schedule.count; i++) {
        const struct scheduled_fault *fault = &shape->schedule.faults[i];
        assert_true(fault->at_ns < shape->duration_ns);
        assert_true(i == 0 || fault[-1].at_ns <= fault->at_ns);
        first = first || (fault->seed == fake->first && fault->duration_ns >= fake->length_ns);
        second = second || (first && fault->seed == fake->second);
    }
    return first && second && shape->nodes >= fake->nodes_needed &&
           shape->clients >= fake->clients_needed;
}

static struct shape large(uint32_t count)
{
    struct shape shape = {.duration_ns = 30 * NS_PER_S, .nodes = 7, .clients = 4};
    for (uint32_t i = 0; i < count; i++) {
        struct scheduled_fault fault;
        char line[100];
        (void)snprintf(line, sizeof line, "at=%ums fault=%s on=leader for=1s seed=%u",
                       100 + i * 200, i % 2 ? "kill" : "pause", i + 1);
        assert_int_equal(scheduled_fault_parse(line, 7, &fault, NULL), 0);
        schedule_add(&shape.schedule, &fault);
    }
    return shape;
}

static struct shape shrunk(struct fake *fake, uint32_t count)
{
    struct shape shape = large(count);
    struct shrink shrink = {.context = fake,
                            .violates = violates,
                            .over = over,
                            .nodes_min = 2,
                            .step_ns = 10 * NS_PER_MS};
    assert_int_equal(shrink_run(&shrink, &shape, NULL), 0);
    assert_true(violates(fake, &shape, NULL) == 1);
    return shape;
}

static void test_only_what_it_takes_is_left(void **state)
{
    (void)state;
    struct fake fake = {.calls_max = 100000,
                        .first = 31,
                        .second = 90,
                        .nodes_needed = 3,
                        .clients_needed = 1,
                        .length_ns = 333 * NS_PER_MS};
    struct shape shape = shrunk(&fake, 100);
    assert_int_equal(shape.schedule.count, 2);
    assert_int_equal(shape.schedule.faults[0].seed, 31);
    assert_int_equal(shape.schedule.faults[1].seed, 90);
    assert_int_equal(shape.schedule.faults[0].duration_ns, 340 * NS_PER_MS);
    assert_int_equal(shape.schedule.faults[1].duration_ns, 10 * NS_PER_MS);
    assert_int_equal(shape.nodes, 3);
    assert_int_equal(shape.clients, 1);
    assert_true(shape.duration_ns <= 50 * NS_PER_MS);
    assert_true(fake.calls < 600); /* of the order of log, not of square */
    schedule_release(&shape.schedule);
}

static void test_nothing_may_be_left(void **state)
{
    (void)state;
    struct fake fake = {.calls_max = 100000};
    struct shape shape = shrunk(&fake, 100);
    assert_int_equal(shape.schedule.count, 0);
    assert_int_equal(shape.nodes, 2);
    assert_int_equal(shape.clients, 0);
    schedule_release(&shape.schedule);
}

static void test_everything_may_be_needed(void **state)
{
    (void)state;
    struct fake fake = {.calls_max = 100000,
                        .first = 1,
                        .nodes_needed = 7,
                        .clients_needed = 4,
                        .length_ns = NS_PER_S};
    struct shape shape = shrunk(&fake, 1);
    assert_int_equal(shape.schedule.count, 1);
    assert_int_equal(shape.nodes, 7);
    assert_int_equal(shape.clients, 4);
    assert_int_equal(shape.schedule.faults[0].duration_ns, NS_PER_S);
    schedule_release(&shape.schedule);
}

/* However early the budget ends it, what it has still violates. */
static void test_the_budget_ends_it(void **state)
{
    (void)state;
    for (uint32_t budget = 0; budget < 200; budget++) {
        struct fake fake = {.calls_max = budget, .first = 31, .second = 90};
        struct shape shape = shrunk(&fake, 100);
        assert_true(fake.calls <= budget + 1);
        schedule_release(&shape.schedule);
    }
}

static int breaks(void *context, const struct shape *shape, struct error *error)
{
    (void)context;
    (void)shape;
    return error_set(error, -EIO, "broken");
}

static void test_an_error_ends_it(void **state)
{
    (void)state;
    struct fake fake = {.calls_max = 10};
    struct shape shape = large(3);
    struct error error;
    struct shrink shrink = {
        .context = &fake, .violates = breaks, .over = over, .nodes_min = 1, .step_ns = 1};
    assert_int_equal(shrink_run(&shrink, &shape, &error), -EIO);
    assert_int_equal(shape.schedule.count, 3);
    schedule_release(&shape.schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_what_it_takes_is_left),
        cmocka_unit_test(test_nothing_may_be_left),
        cmocka_unit_test(test_everything_may_be_needed),
        cmocka_unit_test(test_the_budget_ends_it),
        cmocka_unit_test(test_an_error_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
