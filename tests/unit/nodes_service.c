/* What a leader does with its leadership, told as scripts; then random lives against invariants. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "nodes/service.h"
#include "tests/outbox_text.h"

#define EVERY 20u
#define TIMEOUT 500u
#define RESOURCE PROCESS_NUMBER(PROCESS_RESOURCE, 0)
#define CLIENT PROCESS_NUMBER(PROCESS_CLIENT, 1)

struct fixture {
    struct service service;
    struct outbox outbox;
    struct text text;
};

static int setup(void **state)
{
    struct fixture *fixture = must_alloc(1, sizeof *fixture);
    service_init(&fixture->service, &(struct service_config){.id = 2,
                                                             .incarnation = 1,
                                                             .write_every_ns = EVERY,
                                                             .request_timeout_ns = TIMEOUT});
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    service_release(&fixture->service);
    outbox_release(&fixture->outbox);
    text_release(&fixture->text);
    free(fixture);
    return 0;
}

static void says(struct fixture *fixture, const char *expected)
{
    assert_string_equal(outbox_as_text(&fixture->outbox, &fixture->text), expected);
}

static struct belief leading(uint64_t term)
{
    return (struct belief){
        .role = ROLE_LEADER, .leader = 2, .term = term, .token = term, .may_act = true};
}

static struct belief following(uint32_t leader)
{
    return (struct belief){.role = ROLE_FOLLOWER, .leader = leader, .term = 9};
}

static void believe(struct fixture *fixture, struct belief belief, uint64_t now_ns)
{
    service_belief(&fixture->service, &belief, now_ns, &fixture->outbox);
}

static uint64_t client_id(uint64_t counter)
{
    return operation_number(CLIENT, 1, counter);
}

static void ask(struct fixture *fixture, uint64_t counter, uint64_t now_ns)
{
    service_request(&fixture->service, CLIENT,
                    &(struct request){.id = client_id(counter), .reg = 3}, now_ns,
                    &fixture->outbox);
}

static void reply(struct fixture *fixture, uint64_t id, enum outcome outcome, uint64_t now_ns)
{
    service_reply(&fixture->service,
                  &(struct reply){.id = id, .outcome = outcome, .sequence = 7, .highest = 8},
                  now_ns, &fixture->outbox);
}

#define WRITE_1                                                   \
    "n2 invoke guarded-write token=5 id=#1 register=0 value=#1\n" \
    "n2 > resource: write #1 register=0 token=5 holder=2\n"

static void test_writes_at_once_then_steadily(void **state)
{
    struct fixture *fixture = *state;
    uint64_t own = operation_number(2, 1, 1);
    believe(fixture, leading(5), 1000);
    says(fixture, WRITE_1);
    service_wake(&fixture->service, 1000 + EVERY, &fixture->outbox);
    says(fixture, ""); /* the first is still open */
    reply(fixture, own, OUTCOME_OK, 1030);
    says(fixture, "n2 ok guarded-write token=5 id=#1 register=0 value=#1 sequence=7\n"
                  "n2 invoke guarded-write token=5 id=#2 register=0 value=#2\n"
                  "n2 > resource: write #2 register=0 token=5 holder=2\n");
    reply(fixture, operation_number(2, 1, 2), OUTCOME_OK, 1031);
    says(fixture, "n2 ok guarded-write token=5 id=#2 register=0 value=#2 sequence=7\n");
    assert_int_equal(service_deadline(&fixture->service), 1030 + EVERY);
}

static void test_ends_of_an_own_write(void **state)
{
    static const struct {
        enum outcome outcome;
        const char *told;
    } cases[] = {
        {OUTCOME_STALE,
         "n2 fail guarded-write token=5 id=#1 register=0 value=#1 highest=8 error=stale\n"},
        {OUTCOME_FAIL, "n2 fail guarded-write token=5 id=#1 register=0 value=#1 error=refused\n"},
        {OUTCOME_UNKNOWN,
         "n2 info guarded-write token=5 id=#1 register=0 value=#1 error=unknown\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture *fixture = *state;
        believe(fixture, leading(5), 1000);
        believe(fixture, following(1), 1001); /* the answer still counts after the reign */
        outbox_reset(&fixture->outbox);
        reply(fixture, operation_number(2, 1, 1), cases[i].outcome, 1002);
        says(fixture, cases[i].told);
        assert_int_equal(service_deadline(&fixture->service), UINT64_MAX);
        (void)teardown(state);
        (void)setup(state);
    }
}

static void test_own_write_times_out(void **state)
{
    struct fixture *fixture = *state;
    believe(fixture, leading(5), 1000);
    believe(fixture, following(0), 1001);
    outbox_reset(&fixture->outbox);
    assert_int_equal(service_deadline(&fixture->service), 1000 + TIMEOUT);
    service_wake(&fixture->service, 1000 + TIMEOUT - 1, &fixture->outbox);
    says(fixture, "");
    service_wake(&fixture->service, 1000 + TIMEOUT, &fixture->outbox);
    says(fixture, "n2 info guarded-write token=5 id=#1 register=0 value=#1 error=timeout\n");
    reply(fixture, operation_number(2, 1, 1), OUTCOME_OK, 1600);
    says(fixture, ""); /* too late to be known */
}

static void test_new_reign_does_not_wait_for_the_old_write(void **state)
{
    struct fixture *fixture = *state;
    believe(fixture, leading(5), 1000);
    believe(fixture, following(0), 1001);
    outbox_reset(&fixture->outbox);
    believe(fixture, leading(6), 1002);
    says(fixture, "n2 info guarded-write token=5 id=#1 register=0 value=#1 error=reign ended\n"
                  "n2 invoke guarded-write token=6 id=#2 register=0 value=#2\n"
                  "n2 > resource: write #2 register=0 token=6 holder=2\n");
}

static void test_write_that_never_left_has_failed(void **state)
{
    struct fixture *fixture = *state;
    believe(fixture, leading(5), 1000);
    outbox_reset(&fixture->outbox);
    service_unsent(&fixture->service, operation_number(2, 1, 1), 1000, &fixture->outbox);
    says(fixture, "n2 fail guarded-write token=5 id=#1 register=0 value=#1 error=not sent\n");
    assert_int_equal(service_deadline(&fixture->service), 1000 + EVERY);
}

static void test_clients_are_passed_on_with_the_token(void **state)
{
    struct fixture *fixture = *state;
    ask(fixture, 1, 900);
    says(fixture, "n2 > client-1: not-leader #1\n");
    believe(fixture, following(3), 950);
    ask(fixture, 2, 960);
    says(fixture, "n2 > client-1: not-leader #2 leader=3\n");
    believe(fixture, leading(5), 1000);
    outbox_reset(&fixture->outbox);
    ask(fixture, 3, 1001);
    says(fixture, "n2 > resource: read #3 register=3 token=5 holder=2\n");
    ask(fixture, 3, 1002);
    says(fixture, ""); /* came twice */
    reply(fixture, client_id(3), OUTCOME_OK, 1003);
    says(fixture, "n2 > client-1: ok #3 leader=2 value=#0 at=0.7 highest=8\n");
    ask(fixture, 4, 1004);
    outbox_reset(&fixture->outbox);
    believe(fixture, following(3), 1005);
    says(fixture, "n2 > client-1: unknown #4 leader=3\n");
    reply(fixture, client_id(4), OUTCOME_OK, 1006);
    says(fixture, "");
}

static void test_leaders_register_is_not_for_clients(void **state)
{
    struct fixture *fixture = *state;
    believe(fixture, leading(5), 1000);
    outbox_reset(&fixture->outbox);
    service_request(&fixture->service, CLIENT,
                    &(struct request){.id = client_id(1), .reg = SERVICE_OWN_REGISTER}, 1001,
                    &fixture->outbox);
    says(fixture, "n2 > client-1: fail #1 leader=2\n");
}

static void test_nothing_is_done_once_the_lease_is_over(void **state)
{
    struct fixture *fixture = *state;
    struct belief lease = leading(5);
    lease.until_ns = 1010;
    believe(fixture, lease, 1000);
    reply(fixture, operation_number(2, 1, 1), OUTCOME_OK, 1001);
    outbox_reset(&fixture->outbox);
    service_wake(&fixture->service, 1020, &fixture->outbox);
    ask(fixture, 1, 1010);
    says(fixture, "n2 > client-1: not-leader #1 leader=2\n");
    lease.may_act = false;
    lease.until_ns = 5000;
    believe(fixture, lease, 1050);
    says(fixture, "");
    lease.may_act = true;
    believe(fixture, lease, 1090);
    says(fixture, "n2 invoke guarded-write token=5 id=#2 register=0 value=#2\n"
                  "n2 > resource: write #2 register=0 token=5 holder=2\n");
}

/* Lives of random beliefs, requests and answers. */
static void check_outbox(const struct fixture *fixture, const struct belief *belief,
                         uint64_t now_ns, uint64_t *last_own)
{
    bool may_act = belief->role == ROLE_LEADER && belief->may_act &&
                   (belief->until_ns == 0 || now_ns < belief->until_ns);
    for (uint32_t i = 0; i < fixture->outbox.message_count; i++) {
        const struct envelope *envelope = &fixture->outbox.messages[i];
        if (envelope->type != WIRE_REQUEST)
            continue;
        assert_true(may_act);
        assert_int_equal(envelope->target, RESOURCE);
        assert_int_equal(envelope->request.token, belief->token);
        if (envelope->request.reg != SERVICE_OWN_REGISTER)
            continue;
        assert_true(envelope->request.value > *last_own);
        *last_own = envelope->request.value;
    }
}

static struct belief drawn_belief(struct random *random, uint64_t now_ns)
{
    struct belief belief = leading(1 + random_below(random, 4));
    belief.role = (enum role)random_below(random, 3);
    belief.may_act = random_chance(random, 700000);
    belief.until_ns = random_chance(random, 500000) ? now_ns + random_below(random, 60) : 0;
    return belief;
}

static void test_random_lives(void **state)
{
    struct fixture *fixture = *state;
    struct random random;
    struct belief belief = {0};
    uint64_t now_ns = 1000, last_own = 0, asked = 0;
    random_init(&random, 1, "lives", 0);
    for (uint32_t i = 0; i < 200000; i++) {
        now_ns += random_below(&random, 40);
        switch (random_below(&random, 5)) {
        case 0: believe(fixture, belief = drawn_belief(&random, now_ns), now_ns); break;
        case 1: ask(fixture, 1 + asked++ % OPERATIONS_MAX, now_ns); break;
        case 2:
            reply(fixture, client_id(1 + random_below(&random, asked + 1)),
                  (enum outcome)random_below(&random, OUTCOMES), now_ns);
            break;
        case 3:
            reply(fixture, last_own, (enum outcome)random_below(&random, OUTCOMES), now_ns);
            break;
        default: break;
        }
        service_wake(&fixture->service, now_ns, &fixture->outbox);
        check_outbox(fixture, &belief, now_ns, &last_own);
        outbox_reset(&fixture->outbox);
        /* Or the carrier would wake it for ever. */
        assert_true(service_deadline(&fixture->service) > now_ns);
    }
    assert_true(last_own > 0);
}

static void test_pending_requests_are_bounded(void **state)
{
    struct fixture *fixture = *state;
    believe(fixture, leading(5), 1000);
    for (uint64_t i = 1; i < SERVICE_PENDING_MAX; i++)
        ask(fixture, i, 1001);
    outbox_reset(&fixture->outbox);
    ask(fixture, SERVICE_PENDING_MAX, 1002);
    says(fixture, "n2 > client-1: fail #256 leader=2\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_writes_at_once_then_steadily),
        TEST(test_ends_of_an_own_write),
        TEST(test_own_write_times_out),
        TEST(test_new_reign_does_not_wait_for_the_old_write),
        TEST(test_write_that_never_left_has_failed),
        TEST(test_clients_are_passed_on_with_the_token),
        TEST(test_leaders_register_is_not_for_clients),
        TEST(test_nothing_is_done_once_the_lease_is_over),
        TEST(test_random_lives),
        TEST(test_pending_requests_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
