/* One client against a scripted and a random cluster. */
#include "tests/test.h"

#include "nodes/client_core.h"
#include "tests/outbox_text.h"

#define PAUSE 1000u
#define TIMEOUT UINT64_C(500000000)
#define NO_LEADER_PAUSE UINT64_C(20000000)
#define NODES 3u

static struct client fresh(uint64_t seed)
{
    struct client client;
    client_init(&client, &(struct client_config){.client = 1,
                                                 .incarnation = 1,
                                                 .nodes = NODES,
                                                 .registers = 4,
                                                 .pause_ns = PAUSE,
                                                 .request_timeout_ns = TIMEOUT,
                                                 .seed = seed});
    return client;
}

/* Begin an operation and forget what was said about it. */
static void begin(struct client *client, uint64_t now_ns, struct outbox *outbox)
{
    client_start(client, now_ns);
    client_wake(client, now_ns, outbox);
    assert_int_equal(outbox->event_count, 1);
    assert_int_equal(outbox->message_count, 1);
    outbox_reset(outbox);
}

static void answer(struct client *client, enum outcome outcome, uint32_t leader, uint64_t now_ns,
                   struct outbox *outbox)
{
    client_reply(client, client->open_node,
                 &(struct reply){.id = client->open_id, .outcome = outcome, .leader = leader},
                 now_ns, outbox);
}

static void test_where_it_asks_next(void **state)
{
    (void)state;
    static const struct {
        enum outcome outcome;
        uint32_t hint; /* 0 none, 10 the asked node itself, 11 and 12 the ones behind it */
        uint32_t next; /* steps from the asked node */
        bool waits;    /* for a leader to come up */
        enum event_type end;
    } cases[] = {
        {OUTCOME_OK, 0, 0, false, EVENT_OK},
        {OUTCOME_MISMATCH, 0, 0, false, EVENT_FAIL},
        {OUTCOME_NOT_LEADER, 0, 1, true, EVENT_FAIL},
        {OUTCOME_NOT_LEADER, 12, 2, false, EVENT_FAIL},
        {OUTCOME_NOT_LEADER, 10, 1, true, EVENT_FAIL},
        {OUTCOME_STALE, 10, 1, true, EVENT_FAIL},
        {OUTCOME_STALE, 12, 2, false, EVENT_FAIL},
        {OUTCOME_UNKNOWN, 11, 1, false, EVENT_INFO},
        {OUTCOME_FAIL, 0, 1, true, EVENT_FAIL},
    };
    struct outbox outbox = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct client client = fresh(i);
        begin(&client, 5, &outbox);
        uint32_t asked = client.open_node;
        uint32_t hint = cases[i].hint ? (asked - 1 + cases[i].hint - 10) % NODES + 1 : 0;
        answer(&client, cases[i].outcome, hint, 10, &outbox);
        assert_int_equal(outbox.event_count, 1);
        assert_int_equal(outbox.events[0].type, cases[i].end);
        assert_int_equal(client.node, (asked - 1 + cases[i].next) % NODES + 1);
        assert_int_equal(client_deadline(&client) >= 10 + NO_LEADER_PAUSE, cases[i].waits);
        outbox_reset(&outbox);
    }
    outbox_release(&outbox);
}

static void test_no_answer_is_unknown_and_late_ones_are_ignored(void **state)
{
    (void)state;
    struct outbox outbox = {0};
    struct client client = fresh(3);
    begin(&client, 5, &outbox);
    uint64_t first = client.open_id;
    uint32_t asked = client.open_node;
    assert_int_equal(client_deadline(&client), 5 + TIMEOUT);
    client_wake(&client, 4 + TIMEOUT, &outbox);
    assert_int_equal(outbox.event_count, 0);
    client_wake(&client, 5 + TIMEOUT, &outbox);
    assert_int_equal(outbox.event_count, 2); /* the end of one, the beginning of the next */
    assert_int_equal(outbox.events[0].type, EVENT_INFO);
    assert_true(slice_equals(event_text(&outbox.events[0], FIELD_ERROR), "timeout"));
    assert_int_equal(event_number(&outbox.events[1], FIELD_ID), first + 1);
    assert_int_not_equal(client.open_node, asked);
    outbox_reset(&outbox);
    client_reply(&client, asked, &(struct reply){.id = first}, 6 + TIMEOUT, &outbox);
    client_reply(&client, asked, &(struct reply){.id = first + 1}, 6 + TIMEOUT, &outbox);
    assert_int_equal(outbox.event_count, 0); /* too late; not the node that was asked */
    outbox_release(&outbox);
}

static void test_stopped_client_ends_what_is_open_and_rests(void **state)
{
    (void)state;
    struct outbox outbox = {0};
    struct client client = fresh(3);
    assert_int_equal(client_deadline(&client), UINT64_MAX); /* not started */
    begin(&client, 5, &outbox);
    client_stop(&client);
    answer(&client, OUTCOME_OK, 0, 10, &outbox);
    assert_int_equal(outbox.event_count, 1);
    client_wake(&client, 10 * TIMEOUT, &outbox);
    assert_int_equal(outbox.event_count, 1);
    assert_int_equal(client_deadline(&client), UINT64_MAX);
    outbox_release(&outbox);
}

static void test_request_that_never_left_has_failed(void **state)
{
    (void)state;
    struct outbox outbox = {0};
    struct client client = fresh(3);
    begin(&client, 5, &outbox);
    client_unsent(&client, client.open_id + 1, 6, &outbox); /* some other */
    assert_int_equal(outbox.event_count, 0);
    client_unsent(&client, client.open_id, 6, &outbox);
    assert_int_equal(outbox.events[0].type, EVENT_FAIL);
    assert_true(slice_equals(event_text(&outbox.events[0], FIELD_ERROR), "not sent"));
    outbox_release(&outbox);
}

struct tally {
    uint64_t last_id, begun[OPERATIONS], ended;
    bool open;
};

static void count(struct tally *tally, const struct event *event)
{
    uint64_t id = event_number(event, FIELD_ID);
    if (event->type == EVENT_INVOKE) {
        assert_false(tally->open);
        assert_true(id > tally->last_id);
        if (event->f != F_READ)
            assert_int_equal(event_number(event, FIELD_VALUE), id);
        assert_in_range(event_number(event, FIELD_REGISTER), 1, 4);
        assert_in_range(event_number(event, FIELD_NODE), 1, NODES);
        tally->last_id = id;
        tally->begun[event->f == F_READ ? 0 : event->f == F_WRITE ? 1 : 2]++;
    } else {
        assert_true(tally->open);
        assert_int_equal(id, tally->last_id);
        tally->ended++;
    }
    tally->open = event->type == EVENT_INVOKE;
}

/* One operation at a time, all kinds of them, and never a deadline that has passed. */
static void test_random_life(void **state)
{
    (void)state;
    struct outbox outbox = {0};
    struct client client = fresh(7);
    struct random random;
    struct tally tally = {0};
    uint64_t now_ns = 0;
    random_init(&random, 7, "life", 0);
    client_start(&client, 0);
    for (uint32_t i = 0; i < 100000; i++) {
        now_ns += random_below(&random, 2 * PAUSE);
        if (random_chance(&random, 1000))
            now_ns += TIMEOUT;
        if (random_chance(&random, 300000))
            answer(&client, (enum outcome)random_below(&random, OUTCOMES),
                   (uint32_t)random_below(&random, NODES + 1), now_ns, &outbox);
        client_wake(&client, now_ns, &outbox);
        for (uint32_t e = 0; e < outbox.event_count; e++)
            count(&tally, &outbox.events[e]);
        outbox_reset(&outbox);
        assert_true(client_deadline(&client) > now_ns);
    }
    for (uint32_t i = 0; i < OPERATIONS; i++)
        assert_true(tally.begun[i] * 10 > tally.ended);
    outbox_release(&outbox);
}

/* On average as many operations as asked for, whatever the answers' speed below it. */
static void test_rate(void **state)
{
    (void)state;
    struct outbox outbox = {0};
    struct client client = fresh(7);
    uint64_t begun = 0;
    client_start(&client, 0);
    for (uint64_t now_ns = 0; now_ns < 1000 * PAUSE; now_ns = client_deadline(&client)) {
        client_wake(&client, now_ns, &outbox);
        begun += outbox.message_count;
        outbox_reset(&outbox);
        answer(&client, OUTCOME_OK, 0, now_ns + 1, &outbox);
        outbox_reset(&outbox);
    }
    assert_in_range(begun, 950, 1050);
    outbox_release(&outbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_it_asks_next),
        cmocka_unit_test(test_no_answer_is_unknown_and_late_ones_are_ignored),
        cmocka_unit_test(test_stopped_client_ends_what_is_open_and_rests),
        cmocka_unit_test(test_request_that_never_left_has_failed),
        cmocka_unit_test(test_random_life),
        cmocka_unit_test(test_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
