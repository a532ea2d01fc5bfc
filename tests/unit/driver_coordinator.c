/* The coordination service's file: what was answered is read back by the next process. */
#include "nodes/coordinator_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "base/units.h"
#include "tests/test.h"

#define NODES 3u
#define RUN 0xabcu
#define FILE_NAME "coordinator.db"

static int setup(void **state)
{
    char path[] = "/tmp/coup-coordinator-XXXXXX";
    if (!mkdtemp(path) || chdir(path) < 0)
        return -1;
    *state = must_copy(path);
    return 0;
}

static int teardown(void **state)
{
    (void)unlink(FILE_NAME);
    (void)unlink(FILE_NAME "-wal");
    (void)unlink(FILE_NAME "-shm");
    int rc = chdir("/");
    if (rc == 0)
        rc = rmdir(*state);
    free(*state);
    return rc;
}

static void commit(struct coordinator *core, struct coordinator_store *store)
{
    struct error error;
    if (coordinator_store_commit(store, coordinator_changes(core), &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(coordinator_changes(core)->count, 0);
}

static void open_store(struct coordinator *core, struct coordinator_store *out)
{
    struct error error;
    if (coordinator_store_open(".", RUN, core, NS_PER_S, out, &error) < 0)
        fail_msg("%s", error.text);
}

static void some_asks(struct coordinator *core, struct random *random, uint64_t *id)
{
    struct outbox outbox = {0};
    for (int i = 0; i < 30; i++) {
        const struct ask ask = {.kind = (enum coordination_kind)random_below(random, ASKS),
                                .id = ++*id,
                                .session = random_below(random, 40),
                                .record = random_below(random, 40),
                                .ttl_ns = random_below(random, 40) * NS_PER_MS,
                                .name = (uint32_t)random_between(random, 1, NODES)};
        const struct message message = ask_message(&ask, ask.name);
        const struct service_time time = {NS_PER_S + *id * NS_PER_MS, *id * NS_PER_MS};
        outbox_reset(&outbox);
        coordinator_ask(core, &message, time, &outbox);
    }
    outbox_release(&outbox);
}

static int by_kind_and_number(const void *a, const void *b)
{
    const struct stored *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void assert_same(const struct coordinator *a, const struct coordinator *b)
{
    struct stored_list x = {0}, y = {0};
    coordinator_dump(a, &x);
    coordinator_dump(b, &y);
    assert_int_equal(x.count, y.count);
    qsort(x.at, x.count, sizeof x.at[0], by_kind_and_number);
    qsort(y.at, y.count, sizeof y.at[0], by_kind_and_number);
    for (uint32_t i = 0; i < x.count; i++) {
        const struct stored *p = &x.at[i], *q = &y.at[i];
        assert_true(p->kind == q->kind && p->number == q->number && p->value == q->value &&
                    p->owner == q->owner && p->name == q->name);
    }
    stored_list_release(&x);
    stored_list_release(&y);
}

static void test_the_next_process_knows_what_was_answered(void **state)
{
    (void)state;
    struct random random;
    uint64_t id = 0;
    random_init(&random, 1, "file", 0);
    struct coordinator *core = coordinator_new(NODES);
    struct coordinator_store store;
    open_store(core, &store);
    for (int round = 0; round < 20; round++) {
        some_asks(core, &random, &id);
        commit(core, &store);
        coordinator_store_release(&store);
        struct coordinator *next = coordinator_new(NODES);
        open_store(next, &store);
        assert_same(core, next);
        coordinator_free(core);
        core = next;
    }
    coordinator_store_release(&store);
    coordinator_free(core);
}

/* As after a kill: the file was never closed. */
static void test_what_was_committed_needs_no_closing(void **state)
{
    (void)state;
    struct random random;
    uint64_t id = 0;
    random_init(&random, 2, "file", 0);
    struct coordinator *core = coordinator_new(NODES), *next = coordinator_new(NODES);
    struct coordinator_store first, second;
    open_store(core, &first);
    some_asks(core, &random, &id);
    commit(core, &first);
    open_store(next, &second);
    assert_same(core, next);
    coordinator_store_release(&first);
    coordinator_store_release(&second);
    coordinator_free(core);
    coordinator_free(next);
}

static const char *refusal(uint64_t run)
{
    static struct error error;
    struct coordinator *core = coordinator_new(NODES);
    struct coordinator_store store;
    assert_true(coordinator_store_open(".", run, core, 1, &store, &error) < 0);
    coordinator_free(core);
    return error.text;
}

static void test_what_is_not_ours_is_refused(void **state)
{
    (void)state;
    struct coordinator *core = coordinator_new(NODES);
    struct coordinator_store store;
    open_store(core, &store);
    coordinator_store_release(&store);
    coordinator_free(core);
    assert_string_equal(refusal(RUN + 2), "state in .: " FILE_NAME " belongs to another run");
    FILE *file = fopen(FILE_NAME, "wb");
    assert_non_null(file);
    for (int i = 0; i < 1000; i++)
        assert_true(fputs("garbage ", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_non_null(strstr(refusal(RUN), FILE_NAME));
    assert_non_null(strstr(refusal(RUN), "not a database"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_next_process_knows_what_was_answered, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_what_was_committed_needs_no_closing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_not_ours_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
