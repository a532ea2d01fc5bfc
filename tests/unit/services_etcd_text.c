/* What etcd's gateway says, as it says it (version 3.4.23), and what it must not say. */
#include "nodes/services/etcd_text.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "tests/test.h"

#define LEADER "Y291cC9yZWNvcmQvbGVhZGVy" /* coup/record/leader */
#define KV                                                                      \
    "{\"key\":\"" LEADER "\",\"create_revision\":\"7\",\"mod_revision\":\"7\"," \
    "\"version\":\"1\",\"value\":\"Mg==\",\"lease\":\"137455730689\"}"

static struct etcd_reply read_reply(const char *body)
{
    struct etcd_reply reply;
    struct error error;
    if (etcd_reply_read(slice_of(body), &reply, &error) < 0)
        fail_msg("%s: %s", body, error.text);
    return reply;
}

static void test_answers(void **state)
{
    (void)state;
    struct etcd_reply reply = read_reply(
        "{\"header\":{\"revision\":\"9\"},\"responses\":[{\"response_range\":{\"header\":{},"
        "\"kvs\":[" KV "],\"count\":\"1\"}}]}");
    const struct etcd_kv *kv = etcd_reply_find(&reply, 0);
    uint32_t node, name;
    assert_true(reply.revision == 9 && !reply.succeeded && reply.kv_count == 1 && kv);
    assert_string_equal(kv->key, ETCD_LEADER);
    assert_true(kv->create == 7 && kv->mod == 7 && kv->lease == 137455730689);
    assert_true(etcd_holder(kv, 3, &node, &name) && node == 2 && name == 0);
    assert_false(etcd_holder(kv, 1, &node, &name));
    assert_null(etcd_reply_find(&reply, 1));
    reply = read_reply("{\"header\":{\"revision\":\"2\"},\"succeeded\":true,\"responses\":"
                       "[{\"response_put\":{\"header\":{\"revision\":\"2\"}}}]}");
    assert_true(reply.succeeded && reply.revision == 2);
    reply =
        read_reply("{\"result\":{\"header\":{\"revision\":\"2\"},\"ID\":\"12345\",\"TTL\":\"1\"}}");
    assert_true(reply.id == 12345 && reply.ttl_s == 1);
    reply = read_reply("{\"result\":{\"header\":{\"revision\":\"2\"},\"ID\":\"12345\"}}");
    assert_true(reply.ttl_s == 0);
    reply = read_reply("{\"error\":\"etcdserver: requested lease not found\",\"message\":"
                       "\"etcdserver: requested lease not found\",\"code\":5}");
    assert_int_equal(reply.error, ETCD_NOT_FOUND);
    reply =
        read_reply("{\"header\":{\"revision\":\"2\"},\"leases\":[{\"ID\":\"5\"},{\"ID\":\"6\"}]}");
    assert_true(reply.lease_count == 2 && reply.leases[1] == 6);
}

static void test_what_is_no_answer(void **state)
{
    static const char *const bodies[] = {
        "",
        "garbage",
        "<html>moved</html>",
        "[]",
        "{}",
        "{\"header\":7}",
        "{\"header\":{\"revision\":\"-1\"}}",
        "{\"header\":{\"revision\":\"99999999999999999999\"}}",
        "{\"header\":{\"revision\":1.5}}",
        "{\"header\":{},\"responses\":{}}",
        "{\"header\":{},\"responses\":[{\"response_range\":{\"kvs\":{}}}]}",
        "{\"header\":{},\"responses\":[{\"response_range\":{\"kvs\":[1]}}]}",
        "{\"header\":{},\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":\"*\"}]}}]}",
        "{\"header\":{},\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":\"AA==\"}]}}]}",
        "{\"header\":{},\"leases\":[{\"ID\":{}}]}",
        "{\"header\":{},\"header\":{}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct etcd_reply reply;
        struct error error = {.text = ""};
        if (etcd_reply_read(slice_of(bodies[i]), &reply, &error) == 0)
            fail_msg("accepted: %s", bodies[i]);
        assert_string_not_equal(error.text, "");
    }
}

struct heard {
    uint32_t count;
    struct etcd_change last;
};

static void on_change(void *context, const struct etcd_change *change)
{
    struct heard *heard = context;
    heard->count++;
    heard->last = *change;
}

static void test_watches(void **state)
{
    struct heard heard = {0};
    struct etcd_watched watched = {0};
    struct error error;
    (void)state;
    assert_int_equal(etcd_watch_read(slice_of("{\"result\":{\"header\":{\"revision\":\"2\"},"
                                              "\"created\":true}}"),
                                     &heard, on_change, &watched, &error),
                     0);
    assert_true(watched.created && heard.count == 0);
    assert_int_equal(
        etcd_watch_read(
            slice_of("{\"result\":{\"header\":{\"revision\":\"8\"},\"events\":[{\"kv\":" KV
                     "},{\"type\":\"DELETE\",\"kv\":{\"key\":\"" LEADER
                     "\",\"mod_revision\":\"8\"},\"prev_kv\":" KV "}]}}"),
            &heard, on_change, &watched, &error),
        0);
    assert_true(heard.count == 2 && heard.last.deleted && heard.last.has_before);
    assert_true(heard.last.kv.mod == 8 && heard.last.before.create == 7 && watched.revision == 8);
    assert_int_equal(etcd_watch_read(slice_of("{\"error\":{\"grpc_code\":14}}"), &heard, on_change,
                                     &watched, &error),
                     -EBADMSG);
}

static void assert_request(const char *path, struct text *body, const char *want_path,
                           const char *want_body)
{
    assert_string_equal(path, want_path);
    assert_string_equal(text_string(body), want_body);
    text_clear(body);
}

static void test_requests(void **state)
{
    struct text body = {0};
    (void)state;
    assert_request(etcd_grant(5, 500 * NS_PER_MS, &body), &body, "/v3/lease/grant",
                   "{\"ID\":\"5\",\"TTL\":\"1\"}");
    assert_request(etcd_grant(5, 2 * NS_PER_S, &body), &body, "/v3/lease/grant",
                   "{\"ID\":\"5\",\"TTL\":\"2\"}");
    assert_request(etcd_create(ETCD_LEADER, 2, 5, &body), &body, "/v3/kv/txn",
                   "{\"compare\":[{\"key\":\"" LEADER
                   "\",\"result\":\"EQUAL\",\"target\":\"CREATE\",\"create_revision\":\"0\"}],"
                   "\"success\":[{\"request_put\":{\"key\":\"" LEADER
                   "\",\"value\":\"Mg==\",\"lease\":\"5\"}}],\"failure\":[{\"request_range\":{"
                   "\"key\":\"" LEADER "\"}}]}");
    assert_request(etcd_watch_key(ETCD_LEADER, 8, &body), &body, "/v3/watch",
                   "{\"create_request\":{\"key\":\"" LEADER
                   "\",\"start_revision\":\"8\",\"filters\":[\"NOPUT\"]}}");
    text_release(&body);
}

static void test_sessions_tell_their_owner(void **state)
{
    (void)state;
    assert_int_equal(etcd_session_node(etcd_session(50, 4095, 0xffffff)), 50);
    assert_true(etcd_session(1, 1, 1) != etcd_session(1, 2, 1));
    assert_true(etcd_session(NODES_MAX, 4095, UINT32_MAX) < UINT64_C(1) << 53);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_what_is_no_answer),
        cmocka_unit_test(test_watches),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_sessions_tell_their_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
