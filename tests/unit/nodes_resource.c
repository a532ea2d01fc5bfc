/* The guarded resource: fencing, positions, repeated requests, and a log that is replayed or
 * refused at every byte. */
#include "tests/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "nodes/resource_core.h"
#include "tests/outbox_text.h"

#define RUN 77u
#define REGISTERS 5u
#define RECORD 64u

struct fixture {
    struct resource *resource;
    struct outbox outbox;
    struct text text, log;
    uint64_t counter;
};

static struct resource *fresh(bool fenced)
{
    return resource_new(
        &(struct resource_config){.fenced = fenced, .registers = REGISTERS, .run = RUN});
}

static void open_fixture(struct fixture *fixture, bool fenced)
{
    *fixture = (struct fixture){.resource = fresh(fenced)};
    resource_log_head(fixture->resource, &fixture->log);
}

static void close_fixture(struct fixture *fixture)
{
    resource_free(fixture->resource);
    outbox_release(&fixture->outbox);
    text_release(&fixture->text);
    text_release(&fixture->log);
}

/* Node `holder` asks with its token; the answer as text. */
static const char *ask(struct fixture *fixture, enum operation operation, uint32_t holder,
                       uint64_t token, uint64_t expected)
{
    uint64_t id = operation_number(holder, 1, ++fixture->counter);
    struct request request = {.id = id,
                              .operation = operation,
                              .reg = 1,
                              .value = operation == OPERATION_READ ? 0 : id,
                              .expected = expected,
                              .token = token,
                              .holder = holder};
    resource_request(fixture->resource, holder, &request, &fixture->outbox, &fixture->log);
    return outbox_as_text(&fixture->outbox, &fixture->text);
}

static void test_fenced_refuses_lower_tokens(void **state)
{
    (void)state;
    struct fixture fixture;
    open_fixture(&fixture, true);
    assert_string_equal(
        ask(&fixture, OPERATION_WRITE, 1, 5, 0),
        "resource info accept token=5 holder=n1 id=#1 register=1 value=#1 highest=5 sequence=1\n"
        "resource > n1: ok #1 value=#1 at=5.1 highest=5\n");
    assert_string_equal(
        ask(&fixture, OPERATION_WRITE, 2, 4, 0),
        "resource info reject token=4 holder=n2 id=#2 register=1 value=#2 highest=5\n"
        "resource > n2: stale #2 value=#1 at=5.1 highest=5\n");
    assert_string_equal(
        ask(&fixture, OPERATION_READ, 2, 4, 0),
        "resource info reject token=4 holder=n2 kind=read id=#3 register=1 highest=5\n"
        "resource > n2: stale #3 value=#1 at=5.1 highest=5\n");
    assert_string_equal(
        ask(&fixture, OPERATION_WRITE, 1, 5, 0),
        "resource info accept token=5 holder=n1 id=#4 register=1 value=#4 highest=5 sequence=2\n"
        "resource > n1: ok #4 value=#4 at=5.2 highest=5\n");
    close_fixture(&fixture);
}

static void test_a_new_leaders_read_shuts_out_its_predecessors(void **state)
{
    (void)state;
    struct fixture fixture;
    open_fixture(&fixture, true);
    assert_string_equal(ask(&fixture, OPERATION_READ, 2, 6, 0), "resource > n2: ok #1 highest=6\n");
    assert_string_equal(
        ask(&fixture, OPERATION_WRITE, 1, 5, 0),
        "resource info reject token=5 holder=n1 id=#2 register=1 value=#2 highest=6\n"
        "resource > n1: stale #2 highest=6\n");
    /* Across a restart too. */
    struct resource *again = fresh(true);
    size_t used = 0;
    struct error error;
    assert_int_equal(
        resource_replay(again, (struct slice){fixture.log.at, fixture.log.length}, &used, &error),
        0);
    assert_int_equal(resource_highest(again), 6);
    resource_free(again);
    close_fixture(&fixture);
}

static void test_unfenced_accepts_all_and_only_watches(void **state)
{
    (void)state;
    struct fixture fixture;
    open_fixture(&fixture, false);
    (void)ask(&fixture, OPERATION_WRITE, 1, 5, 0);
    assert_string_equal(
        ask(&fixture, OPERATION_WRITE, 2, 4, 0),
        "resource info accept token=4 holder=n2 id=#2 register=1 value=#2 highest=5 sequence=2\n"
        "resource > n2: ok #2 value=#2 at=4.2 highest=5\n");
    close_fixture(&fixture);
}

static void test_cas(void **state)
{
    (void)state;
    struct fixture fixture;
    open_fixture(&fixture, true);
    assert_string_equal(
        ask(&fixture, OPERATION_CAS, 1, 5, 0), /* nothing written yet */
        "resource info accept token=5 holder=n1 id=#1 register=1 value=#1 highest=5 sequence=1\n"
        "resource > n1: ok #1 value=#1 at=5.1 highest=5\n");
    assert_string_equal(ask(&fixture, OPERATION_CAS, 1, 5, 0),
                        "resource > n1: mismatch #2 value=#1 at=5.1 highest=5\n");
    close_fixture(&fixture);
}

static void request(struct fixture *fixture, struct request request)
{
    resource_request(fixture->resource, 1, &request, &fixture->outbox, &fixture->log);
}

static void test_what_cannot_be_done_is_refused_without_a_trace(void **state)
{
    (void)state;
    const uint64_t id = operation_number(1, 1, 1);
    const struct request cases[] = {
        {.id = id, .operation = OPERATION_WRITE, .reg = 1, .value = 0, .token = 9},
        {.id = id, .operation = OPERATION_WRITE, .reg = REGISTERS, .value = 1, .token = 9},
        {.id = id, .operation = OPERATION_READ, .reg = REGISTERS, .token = 9},
        {.id = 0, .operation = OPERATION_WRITE, .reg = 1, .value = 1, .token = 9},
        {.id = UINT64_C(1) << 61, .operation = OPERATION_WRITE, .reg = 1, .value = 1, .token = 9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        open_fixture(&fixture, true);
        size_t logged = fixture.log.length;
        request(&fixture, cases[i]);
        assert_int_equal(fixture.outbox.event_count, 0);
        assert_int_equal(fixture.outbox.messages[0].reply.outcome, OUTCOME_FAIL);
        assert_int_equal(fixture.log.length, logged);
        assert_int_equal(resource_highest(fixture.resource), 0);
        close_fixture(&fixture);
    }
}

static struct request write_request(uint64_t counter)
{
    uint64_t id = operation_number(1, 1, counter);
    return (struct request){
        .id = id, .operation = OPERATION_WRITE, .reg = 1, .value = id, .token = 5, .holder = 1};
}

static void test_repeated_requests_are_not_done_twice(void **state)
{
    (void)state;
    struct fixture fixture;
    open_fixture(&fixture, false);
    for (uint64_t i = 2; i <= RESOURCE_REMEMBERED + 1; i++)
        request(&fixture, write_request(i));
    outbox_reset(&fixture.outbox);
    request(&fixture, write_request(2));
    assert_string_equal(outbox_as_text(&fixture.outbox, &fixture.text),
                        "resource > n1: ok #2 value=#2 at=5.1 highest=5\n");
    request(&fixture, write_request(1)); /* late, but new, and not too old to tell */
    assert_int_equal(fixture.outbox.event_count, 1);
    outbox_reset(&fixture.outbox);
    request(&fixture, write_request(2)); /* forgotten meanwhile */
    assert_string_equal(outbox_as_text(&fixture.outbox, &fixture.text),
                        "resource > n1: unknown #2 value=#1 at=5.17 highest=5\n");
    close_fixture(&fixture);
}

/* A log of random decisions. */
static void live(struct fixture *fixture, uint64_t seed, uint32_t steps)
{
    struct random random;
    random_init(&random, seed, "resource", 0);
    for (uint32_t i = 0; i < steps; i++) {
        uint64_t id = operation_number((uint32_t)random_between(&random, 1, 3), 1,
                                       random_between(&random, 1, 2 * steps));
        request(fixture, (struct request){.id = id,
                                          .operation = (enum operation)random_below(&random, 3),
                                          .reg = (uint32_t)random_below(&random, REGISTERS),
                                          .value = id,
                                          .token = random_below(&random, 3) + i / 4,
                                          .holder = 1});
        outbox_reset(&fixture->outbox);
    }
}

/* All there is to see: highest token, and every register with its position. */
static void look(struct resource *resource, struct text *out)
{
    struct outbox outbox = {0};
    text_clear(out);
    uint64_t highest = resource_highest(resource);
    text_add(out, "%" PRIu64 "\n", highest);
    for (uint32_t reg = 0; reg < REGISTERS; reg++) {
        struct request request = {
            .id = operation_number(50, 1, 1 + reg), .reg = reg, .token = highest, .holder = 50};
        resource_request(resource, 50, &request, &outbox, NULL);
    }
    for (uint32_t i = 0; i < outbox.message_count; i++)
        add_message_text(&outbox.messages[i], out);
    outbox_release(&outbox);
}

static int replay(const struct text *log, size_t length, size_t *ret_used, struct text *seen,
                  struct error *error)
{
    struct resource *resource = fresh(true);
    char *exact = must_alloc(length + 1, 1); /* so that a read too far is found out */
    memcpy(exact, log->at, length);
    int rc = resource_replay(resource, (struct slice){exact, length}, ret_used, error);
    if (rc == 0)
        look(resource, seen);
    resource_free(resource);
    free(exact);
    return rc;
}

static void test_replay_gives_the_same_resource(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct fixture fixture;
        struct text before = {0}, after = {0};
        struct error error;
        size_t used = 0;
        open_fixture(&fixture, true);
        live(&fixture, seed, 200);
        look(fixture.resource, &before);
        assert_int_equal(replay(&fixture.log, fixture.log.length, &used, &after, &error), 0);
        assert_int_equal(used, fixture.log.length);
        assert_string_equal(text_string(&before), text_string(&after));
        text_release(&before);
        text_release(&after);
        close_fixture(&fixture);
    }
}

static void test_a_torn_end_is_cut_off_at_every_byte(void **state)
{
    (void)state;
    struct fixture fixture;
    struct text whole = {0}, torn = {0};
    struct error error;
    size_t used = 0;
    open_fixture(&fixture, true);
    live(&fixture, 1, 12);
    for (size_t length = 0; length <= fixture.log.length; length++) {
        int rc = replay(&fixture.log, length, &used, &torn, &error);
        if (length < RECORD) {
            assert_int_equal(rc, -EBADMSG);
            continue;
        }
        size_t records = length / RECORD * RECORD;
        assert_int_equal(rc, 0);
        assert_int_equal(used, records);
        assert_int_equal(replay(&fixture.log, records, &used, &whole, &error), 0);
        assert_string_equal(text_string(&torn), text_string(&whole));
    }
    text_release(&whole);
    text_release(&torn);
    close_fixture(&fixture);
}

static void test_no_flipped_bit_goes_unnoticed(void **state)
{
    (void)state;
    struct fixture fixture;
    struct text seen = {0};
    struct error error;
    open_fixture(&fixture, true);
    live(&fixture, 2, 12);
    size_t length = fixture.log.length, last = length - RECORD;
    for (size_t bit = 0; bit < 8 * length; bit++) {
        size_t used = 0;
        fixture.log.at[bit / 8] = (char)(fixture.log.at[bit / 8] ^ 1 << bit % 8);
        int rc = replay(&fixture.log, length, &used, &seen, &error);
        /* In the last record it looks like a torn write, and the record is not believed. */
        assert_int_equal(rc, bit / 8 < last ? -EBADMSG : 0);
        if (rc == 0)
            assert_int_equal(used, last);
        fixture.log.at[bit / 8] = (char)(fixture.log.at[bit / 8] ^ 1 << bit % 8);
    }
    text_release(&seen);
    close_fixture(&fixture);
}

static void test_whole_records_in_the_wrong_place_are_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    struct text seen = {0};
    struct error error;
    size_t used = 0;
    open_fixture(&fixture, true);
    for (uint64_t i = 1; i <= 4; i++)
        request(&fixture, write_request(i));
    text_add_bytes(&fixture.log, text_string(&fixture.log) + RECORD, RECORD);
    assert_int_equal(replay(&fixture.log, fixture.log.length, &used, &seen, &error), -EBADMSG);
    assert_string_equal(error.text, "byte 320: a record that does not follow from those before it");
    text_release(&seen);
    close_fixture(&fixture);
}

static void test_another_runs_log_is_refused(void **state)
{
    (void)state;
    struct resource *resource =
        resource_new(&(struct resource_config){.registers = REGISTERS, .run = RUN + 1});
    struct text log = {0};
    struct error error;
    size_t used = 0;
    resource_log_head(resource, &log);
    struct text seen = {0};
    assert_int_equal(replay(&log, log.length, &used, &seen, &error), -EBADMSG);
    assert_string_equal(error.text, "the log of another run (000000000000004e)");
    text_release(&log);
    text_release(&seen);
    resource_free(resource);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fenced_refuses_lower_tokens),
        cmocka_unit_test(test_a_new_leaders_read_shuts_out_its_predecessors),
        cmocka_unit_test(test_unfenced_accepts_all_and_only_watches),
        cmocka_unit_test(test_cas),
        cmocka_unit_test(test_what_cannot_be_done_is_refused_without_a_trace),
        cmocka_unit_test(test_repeated_requests_are_not_done_twice),
        cmocka_unit_test(test_replay_gives_the_same_resource),
        cmocka_unit_test(test_a_torn_end_is_cut_off_at_every_byte),
        cmocka_unit_test(test_no_flipped_bit_goes_unnoticed),
        cmocka_unit_test(test_whole_records_in_the_wrong_place_are_refused),
        cmocka_unit_test(test_another_runs_log_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
