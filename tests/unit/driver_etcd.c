/* What a node makes of a server in etcd's place that answers wrongly, late or never: no answer to
 * the elector, one note for the history, and the next ask is none the worse for it. */
#include "nodes/adapter.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "nodes/clock.h"
#include "tests/test.h"

#define LOOPBACK 0x7f000001u
#define PATIENCE (200 * NS_PER_MS)
#define DEADLINE (20 * NS_PER_S)
#define ALIVE "{\"result\":{\"header\":{\"revision\":\"2\"},\"ID\":\"7\",\"TTL\":\"1\"}}"

/* A server that says one thing to everybody, or, if that is NULL, nothing. */
struct stage {
    uv_loop_t loop;
    uv_tcp_t server;
    const char *says;
    uint32_t asked;
    struct adapter adapter;
    uint32_t answers, notes;
    struct answer last;
    char note[128];
    uint64_t next_id;
};

struct visitor {
    struct stage *stage;
    uv_tcp_t tcp;
    uv_write_t write;
    char bytes[4096];
};

static void on_visitor_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void on_written(uv_write_t *write, int status)
{
    struct visitor *visitor = write->data;
    (void)status;
    if (!uv_is_closing((uv_handle_t *)&visitor->tcp))
        uv_close((uv_handle_t *)&visitor->tcp, on_visitor_closed);
}

static void give_room(uv_handle_t *handle, size_t wanted, uv_buf_t *out)
{
    struct visitor *visitor = handle->data;
    (void)wanted;
    *out = uv_buf_init(visitor->bytes, sizeof visitor->bytes);
}

static void on_asked(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
    struct visitor *visitor = stream->data;
    struct stage *stage = visitor->stage;
    (void)buffer;
    if (got < 0) {
        if (!uv_is_closing((uv_handle_t *)stream))
            uv_close((uv_handle_t *)stream, on_visitor_closed);
        return;
    }
    stage->asked++;
    if (!stage->says)
        return; /* half open: it took the question */
    union {
        const char *constant;
        char *plain;
    } says = {stage->says};
    uv_buf_t out = uv_buf_init(says.plain, (unsigned)strlen(stage->says));
    visitor->write.data = visitor;
    assert_int_equal(uv_write(&visitor->write, stream, &out, 1, on_written), 0);
    (void)uv_read_stop(stream);
}

static void on_visitor(uv_stream_t *server, int status)
{
    struct stage *stage = server->data;
    struct visitor *visitor = calloc(1, sizeof *visitor);
    assert_int_equal(status, 0);
    assert_non_null(visitor);
    visitor->stage = stage;
    assert_int_equal(uv_tcp_init(&stage->loop, &visitor->tcp), 0);
    visitor->tcp.data = visitor;
    assert_int_equal(uv_accept(server, (uv_stream_t *)&visitor->tcp), 0);
    assert_int_equal(uv_read_start((uv_stream_t *)&visitor->tcp, give_room, on_asked), 0);
}

static void on_answer(void *context, const struct answer *answer)
{
    struct stage *stage = context;
    stage->answers++;
    stage->last = *answer;
}

static void on_note(void *context, const char *text)
{
    struct stage *stage = context;
    stage->notes++;
    (void)snprintf(stage->note, sizeof stage->note, "%s", text);
}

/* Where nobody listens: port 1 of the loopback. */
static void open_stage(struct stage *stage, bool listens)
{
    struct sockaddr_storage bound;
    int length = sizeof bound;
    struct error error;
    struct sockaddr_in any;
    *stage = (struct stage){.next_id = 1};
    assert_int_equal(uv_loop_init(&stage->loop), 0);
    assert_int_equal(uv_tcp_init(&stage->loop, &stage->server), 0);
    stage->server.data = stage;
    assert_int_equal(uv_ip4_addr("127.0.0.1", 0, &any), 0);
    assert_int_equal(uv_tcp_bind(&stage->server, (const struct sockaddr *)&any, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&stage->server, 16, on_visitor), 0);
    assert_int_equal(uv_tcp_getsockname(&stage->server, (struct sockaddr *)&bound, &length), 0);
    const struct adapter_events events = {on_answer, on_note, stage};
    const struct adapter_config config = {
        .loop = &stage->loop,
        .node = 1,
        .nodes = 3,
        .incarnation = 1,
        .address = LOOPBACK,
        .port = listens ? ntohs(((const struct sockaddr_in *)&bound)->sin_port) : 1,
        .patience_ns = PATIENCE,
    };
    if (adapter_open("etcd", &config, &events, &stage->adapter, &error) < 0)
        fail_msg("%s", error.text);
}

static void ask(struct stage *stage, enum coordination_kind kind)
{
    const struct ask ask = {
        .kind = kind, .id = stage->next_id++, .session = 7, .ttl_ns = NS_PER_S, .name = 1};
    assert_true(adapter_ask(&stage->adapter, &ask));
}

static void until(struct stage *stage, const uint32_t *counter, uint32_t count)
{
    uint64_t end_ns = clock_own_ns() + DEADLINE;
    while (*counter < count && clock_own_ns() < end_ns)
        (void)uv_run(&stage->loop, UV_RUN_ONCE);
    assert_int_equal(*counter, count);
}

/* Longer than any ask is waited for. */
static void pass(struct stage *stage)
{
    uint64_t end_ns = clock_own_ns() + 2 * PATIENCE;
    while (clock_own_ns() < end_ns) {
        (void)uv_run(&stage->loop, UV_RUN_NOWAIT);
        (void)usleep(1000);
    }
}

#define HTTP(status, body) "HTTP/1.1 " status "\r\nConnection: close\r\n\r\n" body

static void test_good(void **state)
{
    struct stage stage;
    (void)state;
    open_stage(&stage, true);
    stage.says = HTTP("200 OK", ALIVE);
    ask(&stage, ASK_KEEPALIVE);
    until(&stage, &stage.answers, 1);
    assert_true(stage.last.kind == ANSWER_ALIVE && stage.last.id == 1 && stage.last.session == 7);
    stage.says = HTTP("404 Not Found", "{\"error\":\"etcdserver: requested lease not found\","
                                       "\"code\":5}");
    ask(&stage, ASK_KEEPALIVE);
    until(&stage, &stage.answers, 2);
    assert_true(stage.last.kind == ANSWER_GONE && stage.last.session == 7);
    assert_int_equal(stage.notes, 0);
}

static void test_nonsense_is_noted_once(void **state)
{
    static const struct {
        const char *says, *note;
    } cases[] = {
        {HTTP("200 OK", "garbage"), "etcd: garbage for an answer"},
        {HTTP("200 OK", "{}"), "etcd: garbage for an answer"},
        {HTTP("302 Found\r\nLocation: http://127.0.0.1:1/", ""),
         "etcd: a redirect, which is not followed"},
        {HTTP("500 Internal Server Error", "oh"), "etcd: HTTP status 500"},
        {HTTP("200 OK", "{\"header\":{\"revision\":\"2\"},\"responses\":[{\"response_range\":"
                        "{\"kvs\":[{\"key\":\"Zm9v\",\"value\":\"Zm9v\"}]}}]}"),
         "etcd: a record that no node can have written"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stage stage;
        open_stage(&stage, true);
        stage.says = cases[i].says;
        ask(&stage, ASK_ACQUIRE);
        until(&stage, &stage.notes, 1);
        assert_string_equal(stage.note, cases[i].note);
        ask(&stage, ASK_ACQUIRE);
        until(&stage, &stage.asked, 2);
        pass(&stage);
        assert_true(stage.notes == 1 && stage.answers == 0);
        stage.says = HTTP("200 OK", ALIVE);
        ask(&stage, ASK_KEEPALIVE);
        until(&stage, &stage.answers, 1);
    }
}

/* No answer is what electors reckon with: nothing is said of it. */
static void test_silence(void **state)
{
    static const char *const sayings[] = {
        NULL,                                                       /* half open */
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"header",  /* cut off */
        "SSH-2.0-OpenSSH\r\n",                                      /* somebody else */
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nxx", /* without end */
    };
    (void)state;
    for (size_t i = 0; i < sizeof sayings / sizeof sayings[0]; i++) {
        struct stage stage;
        open_stage(&stage, true);
        stage.says = sayings[i];
        for (int asks = 0; asks < 3; asks++)
            ask(&stage, ASK_KEEPALIVE);
        until(&stage, &stage.asked, 3);
        pass(&stage);
        assert_true(stage.answers == 0 && stage.notes == 0);
        stage.says = HTTP("200 OK", ALIVE);
        ask(&stage, ASK_KEEPALIVE);
        until(&stage, &stage.answers, 1);
    }
}

static void test_a_flood_of_asks_is_bounded(void **state)
{
    struct stage stage;
    uint32_t taken = 0;
    (void)state;
    open_stage(&stage, false);
    for (uint64_t id = 1; id <= 1000; id++)
        taken += adapter_ask(&stage.adapter, &(struct ask){.kind = ASK_AFTER, .id = id, .name = 1});
    assert_in_range(taken, 1, 999);
    pass(&stage);
    assert_true(stage.answers == 0 && stage.notes == 0);
    assert_true(adapter_ask(&stage.adapter, &(struct ask){.kind = ASK_AFTER, .id = 1001}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_nonsense_is_noted_once),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_a_flood_of_asks_is_bounded),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)fflush(NULL);
    _exit(failed); /* adapters last as long as their process */
}
