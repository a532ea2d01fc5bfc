/* The coordination service's state machine, ask by ask. */
#include "nodes/coordinator_core.h"

#include <stdlib.h>

#include "base/random.h"
#include "base/units.h"
#include "tests/test.h"

#define NODES 4u
#define TTL (100 * NS_PER_MS)

struct desk {
    struct coordinator *core;
    struct outbox outbox;
    struct service_time time;
    uint64_t last_id;
};

static struct desk opened(void)
{
    return (struct desk){.core = coordinator_new(NODES), .time = {NS_PER_S, 50 * NS_PER_S}};
}

static void closed(struct desk *desk)
{
    coordinator_free(desk->core);
    outbox_release(&desk->outbox);
}

static void pass(struct desk *desk, uint64_t ns)
{
    desk->time.now_ns += ns;
    desk->time.wall_ns += ns;
}

/* The last answer to `node`; kind COORDINATION_KINDS: it was told nothing. */
static struct answer told(const struct desk *desk, uint32_t node)
{
    struct answer answer = {.kind = COORDINATION_KINDS};
    for (uint32_t i = 0; i < desk->outbox.message_count; i++) {
        const struct envelope *envelope = &desk->outbox.messages[i];
        assert_int_equal(envelope->source, PROCESS_NUMBER(PROCESS_COORDINATOR, 0));
        if (envelope->target == node)
            assert_true(answer_read(&envelope->message, NODES, &answer));
    }
    return answer;
}

static struct answer ask(struct desk *desk, uint32_t node, struct ask ask)
{
    ask.id = ++desk->last_id;
    if (!ask.name)
        ask.name = node;
    if (!ask.ttl_ns)
        ask.ttl_ns = TTL;
    struct message message = ask_message(&ask, node);
    outbox_reset(&desk->outbox);
    coordinator_ask(desk->core, &message, desk->time, &desk->outbox);
    return told(desk, node);
}

static uint64_t session(struct desk *desk, uint32_t node)
{
    struct answer answer = ask(desk, node, (struct ask){.kind = ASK_OPEN});
    assert_int_equal(answer.kind, ANSWER_ALIVE);
    return answer.session;
}

static struct answer acquire(struct desk *desk, uint32_t node, uint64_t session)
{
    return ask(desk, node, (struct ask){.kind = ASK_ACQUIRE, .session = session});
}

static struct answer look(struct desk *desk, enum coordination_kind kind, uint64_t record)
{
    return ask(desk, 1, (struct ask){.kind = kind, .record = record});
}

static bool recorded(const struct desk *desk, enum event_f f, uint32_t holder)
{
    for (uint32_t i = 0; i < desk->outbox.event_count; i++)
        if (desk->outbox.events[i].f == f &&
            event_number(&desk->outbox.events[i], FIELD_HOLDER) == holder)
            return true;
    return false;
}

static void test_one_record_at_a_time(void **state)
{
    (void)state;
    struct desk desk = opened();
    uint64_t a = session(&desk, 1), b = session(&desk, 2);
    struct answer first = acquire(&desk, 1, a);
    assert_int_equal(first.kind, ANSWER_OK);
    assert_true(recorded(&desk, F_GRANT, 1));
    struct answer second = acquire(&desk, 2, b);
    assert_int_equal(second.kind, ANSWER_REFUSED);
    assert_true(second.record == first.record && second.session == a && second.holder == 1);
    /* A put that is asked again finds its own. */
    assert_true(acquire(&desk, 1, a).session == a);
    pass(&desk, TTL);
    b = session(&desk, 2);
    struct answer third = acquire(&desk, 2, b);
    assert_int_equal(third.kind, ANSWER_OK);
    assert_true(third.record > first.record);
    closed(&desk);
}

static void test_a_session_lives_while_it_is_kept_alive(void **state)
{
    (void)state;
    struct desk desk = opened();
    uint64_t a = session(&desk, 1);
    (void)acquire(&desk, 1, a);
    for (int i = 0; i < 5; i++) {
        pass(&desk, TTL - 1);
        assert_int_equal(ask(&desk, 1, (struct ask){.kind = ASK_KEEPALIVE, .session = a}).kind,
                         ANSWER_ALIVE);
    }
    /* Another's is as good as none. */
    assert_int_equal(ask(&desk, 2, (struct ask){.kind = ASK_KEEPALIVE, .session = a}).kind,
                     ANSWER_GONE);
    assert_true(coordinator_deadline(desk.core) == desk.time.now_ns + TTL);
    pass(&desk, TTL - 1);
    outbox_reset(&desk.outbox);
    coordinator_wake(desk.core, desk.time.now_ns, &desk.outbox);
    assert_int_equal(desk.outbox.event_count, 0);
    pass(&desk, 1);
    coordinator_wake(desk.core, desk.time.now_ns, &desk.outbox);
    assert_true(recorded(&desk, F_EXPIRE, 1));
    assert_true(coordinator_deadline(desk.core) == UINT64_MAX);
    assert_int_equal(ask(&desk, 1, (struct ask){.kind = ASK_KEEPALIVE, .session = a}).kind,
                     ANSWER_GONE);
    assert_int_equal(acquire(&desk, 1, a).kind, ANSWER_GONE);
    closed(&desk);
}

static void test_the_queue_is_in_order_of_entry(void **state)
{
    (void)state;
    struct desk desk = opened();
    uint64_t record[NODES + 1] = {0};
    for (uint32_t node = 1; node <= NODES; node++) {
        uint64_t own = session(&desk, node);
        record[node] = ask(&desk, node, (struct ask){.kind = ASK_ENQUEUE, .session = own}).record;
        assert_true(record[node] > record[node - 1]);
    }
    assert_true(look(&desk, ASK_AFTER, 0).record == record[1]);
    assert_true(look(&desk, ASK_AFTER, record[2]).holder == 3);
    assert_true(look(&desk, ASK_BEFORE, record[3]).record == record[2]);
    assert_true(look(&desk, ASK_BEFORE, record[1]).record == 0);
    (void)ask(&desk, 2, (struct ask){.kind = ASK_RELEASE, .record = record[2]});
    assert_true(recorded(&desk, F_REVOKE, 2));
    assert_true(look(&desk, ASK_BEFORE, record[3]).record == record[1]);
    closed(&desk);
}

static void test_a_watch_fires_once_and_misses_nothing(void **state)
{
    (void)state;
    struct desk desk = opened();
    uint64_t record = acquire(&desk, 1, session(&desk, 1)).record;
    const struct ask watch = {.kind = ASK_WATCH, .record = record};
    assert_int_equal(ask(&desk, 2, watch).kind, COORDINATION_KINDS);
    assert_int_equal(ask(&desk, 2, watch).kind, COORDINATION_KINDS); /* again: still one */
    uint64_t newest = desk.last_id;
    (void)ask(&desk, 1, (struct ask){.kind = ASK_RELEASE, .record = record});
    struct answer changed = told(&desk, 2);
    assert_int_equal(changed.kind, ANSWER_CHANGED);
    assert_true(changed.id == newest && changed.record == record);
    uint32_t to_watcher = 0;
    for (uint32_t i = 0; i < desk.outbox.message_count; i++)
        to_watcher += desk.outbox.messages[i].target == 2;
    assert_int_equal(to_watcher, 1);
    /* Who asks too late is told at once. */
    assert_int_equal(ask(&desk, 3, watch).kind, ANSWER_CHANGED);
    (void)acquire(&desk, 1, session(&desk, 1));
    assert_int_equal(told(&desk, 2).kind, COORDINATION_KINDS);
    closed(&desk);
}

static struct answer update(struct desk *desk, uint32_t node, uint64_t token, uint64_t now_ns)
{
    return ask(desk, node, (struct ask){.kind = ASK_UPDATE, .record = token, .now_ns = now_ns});
}

static void test_the_row_goes_by_the_services_clock(void **state)
{
    (void)state;
    struct desk desk = opened();
    struct answer first = update(&desk, 1, 0, 0);
    assert_int_equal(first.kind, ANSWER_OK);
    pass(&desk, TTL / 2);
    struct answer refused = update(&desk, 2, 0, 0);
    assert_int_equal(refused.kind, ANSWER_REFUSED);
    assert_true(refused.left_ns == TTL / 2 && refused.holder == 1 &&
                refused.record == first.record);
    assert_true(update(&desk, 1, first.record, 0).record == first.record); /* extended */
    pass(&desk, TTL - 1);
    assert_int_equal(update(&desk, 2, 0, 0).kind, ANSWER_REFUSED);
    pass(&desk, 1);
    struct answer second = update(&desk, 2, 0, 0);
    assert_true(second.kind == ANSWER_OK && second.record > first.record);
    assert_true(recorded(&desk, F_EXPIRE, 1) && recorded(&desk, F_GRANT, 2));
    assert_true(look(&desk, ASK_AFTER, 0).holder == 2);
    closed(&desk);
}

static void test_a_holder_that_forgot_its_token_gets_a_new_one(void **state)
{
    (void)state;
    struct desk desk = opened();
    struct answer first = update(&desk, 1, 0, 0);
    struct answer second = update(&desk, 1, 0, 0);
    assert_true(second.kind == ANSWER_OK && second.record > first.record);
    closed(&desk);
}

static void test_the_row_by_the_askers_clock(void **state)
{
    (void)state;
    struct desk desk = opened();
    uint64_t wall_ns = desk.time.wall_ns;
    assert_int_equal(update(&desk, 1, 0, wall_ns).kind, ANSWER_OK);
    assert_int_equal(update(&desk, 2, 0, wall_ns + TTL - 1).kind, ANSWER_REFUSED);
    assert_int_equal(update(&desk, 2, 0, wall_ns + TTL).kind, ANSWER_OK);
    closed(&desk);
}

static void test_release_is_of_what_was_named(void **state)
{
    (void)state;
    struct desk desk = opened();
    uint64_t token = update(&desk, 1, 0, 0).record;
    (void)ask(&desk, 2, (struct ask){.kind = ASK_RELEASE, .record = token + 1});
    assert_int_equal(update(&desk, 2, 0, 0).kind, ANSWER_REFUSED);
    (void)ask(&desk, 1, (struct ask){.kind = ASK_RELEASE, .record = token});
    assert_int_equal(update(&desk, 2, 0, 0).kind, ANSWER_OK);
    (void)ask(&desk, 3, (struct ask){.kind = ASK_RELEASE}); /* whichever there is */
    assert_int_equal(update(&desk, 3, 0, 0).kind, ANSWER_OK);
    closed(&desk);
}

static void test_dropped_sessions_take_their_records_along(void **state)
{
    (void)state;
    struct desk desk = opened();
    uint64_t a = session(&desk, 1);
    (void)acquire(&desk, 1, a);
    outbox_reset(&desk.outbox);
    assert_int_equal(coordinator_drop(desk.core, 2, &desk.outbox), 0);
    assert_int_equal(coordinator_drop(desk.core, 1, &desk.outbox), 1);
    assert_true(recorded(&desk, F_REVOKE, 1));
    assert_int_equal(desk.outbox.message_count, 0);
    assert_int_equal(acquire(&desk, 2, session(&desk, 2)).kind, ANSWER_OK);
    closed(&desk);
}

/* --- what is durable --- */

static struct message random_ask(struct random *random, uint64_t id)
{
    const struct ask ask = {.kind = (enum coordination_kind)random_below(random, ASKS),
                            .id = id,
                            .session = random_below(random, 60),
                            .record = random_below(random, 60),
                            .ttl_ns = random_below(random, 40) * NS_PER_MS,
                            .name = (uint32_t)random_between(random, 1, NODES)};
    return ask_message(&ask, (uint32_t)random_between(random, 1, NODES));
}

static int by_kind_and_number(const void *a, const void *b)
{
    const struct stored *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* What a table with a key of kind and number holds after these changes; of revision and row there
 * is one, whatever its number. */
static void apply(struct stored_list *table, const struct stored *change)
{
    bool single = change->kind == STORED_REVISION || change->kind == STORED_ROW;
    uint32_t at = 0;
    while (at < table->count && (table->at[at].kind != change->kind ||
                                 (!single && table->at[at].number != change->number)))
        at++;
    if (change->gone) {
        assert_true(at < table->count);
        table->at[at] = table->at[--table->count];
        return;
    }
    if (at == table->count) {
        assert_true(table->count < table->capacity);
        table->count++;
    }
    table->at[at] = *change;
}

static void assert_same_state(struct stored_list *table, const struct coordinator *core)
{
    struct stored_list dump = {0};
    coordinator_dump(core, &dump);
    assert_int_equal(dump.count, table->count);
    qsort(dump.at, dump.count, sizeof dump.at[0], by_kind_and_number);
    qsort(table->at, table->count, sizeof table->at[0], by_kind_and_number);
    for (uint32_t i = 0; i < dump.count; i++) {
        const struct stored *a = &dump.at[i], *b = &table->at[i];
        assert_true(a->kind == b->kind && a->number == b->number && a->value == b->value &&
                    a->owner == b->owner && a->name == b->name);
    }
    stored_list_release(&dump);
}

/* Whatever is asked: the changes add up to the state, and a state that is read back is the same. */
static void test_changes_add_up_to_the_state(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 1, "coordinator", 0);
    for (int round = 0; round < 200; round++) {
        struct desk desk = opened();
        struct stored_list table = {.capacity = 4096};
        table.at = must_alloc(table.capacity, sizeof *table.at);
        struct stored first = {.kind = STORED_REVISION};
        apply(&table, &first);
        for (uint64_t id = 1; id <= 80; id++) {
            struct message message = random_ask(&random, id);
            outbox_reset(&desk.outbox);
            pass(&desk, random_below(&random, 5) * NS_PER_MS);
            coordinator_ask(desk.core, &message, desk.time, &desk.outbox);
            struct stored_list *changes = coordinator_changes(desk.core);
            for (uint32_t i = 0; i < changes->count; i++)
                apply(&table, &changes->at[i]);
            changes->count = 0;
        }
        assert_same_state(&table, desk.core);
        struct coordinator *again = coordinator_new(NODES);
        for (uint32_t i = table.count; i-- > 0;)
            assert_true(coordinator_load(again, &table.at[i], desk.time.now_ns));
        assert_same_state(&table, again);
        coordinator_free(again);
        stored_list_release(&table);
        closed(&desk);
    }
}

static void test_sessions_get_their_whole_ttl_after_a_restart(void **state)
{
    (void)state;
    struct desk desk = opened();
    struct stored_list disk = {0};
    (void)session(&desk, 1);
    pass(&desk, TTL - 1);
    coordinator_dump(desk.core, &disk);
    struct coordinator *again = coordinator_new(NODES);
    for (uint32_t i = 0; i < disk.count; i++)
        assert_true(coordinator_load(again, &disk.at[i], desk.time.now_ns));
    assert_true(coordinator_deadline(again) == desk.time.now_ns + TTL);
    coordinator_free(again);
    stored_list_release(&disk);
    closed(&desk);
}

static void test_what_is_out_of_bounds_is_not_loaded(void **state)
{
    (void)state;
    static const struct stored bad[] = {
        {.kind = STORED_KINDS},
        {.kind = STORED_SESSION, .number = 1, .value = 1, .owner = NODES + 1},
        {.kind = STORED_RECORD, .number = 1, .value = 1, .owner = 0},
        {.kind = STORED_ROW, .number = 1, .value = 1, .owner = 1, .name = NODES + 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct coordinator *core = coordinator_new(NODES);
        assert_false(coordinator_load(core, &bad[i], 1));
        coordinator_free(core);
    }
}

static void test_an_ask_counts_once(void **state)
{
    (void)state;
    struct desk desk = opened();
    uint64_t token = update(&desk, 1, 0, 0).record;
    desk.last_id -= 1;
    assert_int_equal(update(&desk, 1, 0, 0).kind, COORDINATION_KINDS);
    assert_true(look(&desk, ASK_AFTER, 0).record == token);
    closed(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_record_at_a_time),
        cmocka_unit_test(test_a_session_lives_while_it_is_kept_alive),
        cmocka_unit_test(test_the_queue_is_in_order_of_entry),
        cmocka_unit_test(test_a_watch_fires_once_and_misses_nothing),
        cmocka_unit_test(test_the_row_goes_by_the_services_clock),
        cmocka_unit_test(test_a_holder_that_forgot_its_token_gets_a_new_one),
        cmocka_unit_test(test_the_row_by_the_askers_clock),
        cmocka_unit_test(test_release_is_of_what_was_named),
        cmocka_unit_test(test_dropped_sessions_take_their_records_along),
        cmocka_unit_test(test_changes_add_up_to_the_state),
        cmocka_unit_test(test_sessions_get_their_whole_ttl_after_a_restart),
        cmocka_unit_test(test_what_is_out_of_bounds_is_not_loaded),
        cmocka_unit_test(test_an_ask_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
