/* etcd as coordination service, by its v3 HTTP gateway. Sessions are leases, records are keys that
 * go with them, numbers are revisions: a record's is that of its creation, the row's that at which
 * it was taken (etcd documentation, "Glossary": revision).
 *
 * An ask is one request or two, the second on the condition that what the first saw still holds. A
 * watch first looks whether the record is there, then watches its key from the next revision on, so
 * nothing falls between; asked again for the same record, it looks again, so a stream that broke
 * without a word costs time alone. The newest watch counts. */
#include "nodes/adapter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "nodes/address.h"
#include "nodes/services/etcd_text.h"
#include "nodes/services/http.h"

#define ETCD_PORT 2379u
#define ASKS_OPEN_MAX 64u /* more are not let out: those before them wait in vain */
#define TRIES_MAX 3u      /* of an update that others come between */

struct etcd {
    struct adapter_config config;
    struct adapter_events events;
    struct http *http;
    uint64_t patience_ms;
    uint32_t sessions;           /* opened so far */
    uint32_t open;               /* asks under way */
    uint32_t noted;              /* bit per enum trouble */
    struct http_request *stream; /* NULL: none */
    uv_timer_t later;            /* what a stream brought is told outside of libcurl */
    uint64_t watched, watch_id;  /* record, newest ask for it; 0: nothing */
};

/* What a service must not say; each kind is noted once. */
enum trouble { TROUBLE_REDIRECT, TROUBLE_STATUS, TROUBLE_GARBAGE, TROUBLE_HOLDER };

enum step { STEP_FIRST, STEP_SECOND };

struct exchange {
    struct etcd *etcd;
    struct ask ask;
    enum step step;
    uint32_t tries;
    uint64_t until_ns; /* what an update writes */
    bool takes;
    uint64_t session; /* of OPEN */
};

static void note(struct etcd *etcd, enum trouble trouble, const char *text)
{
    if (etcd->noted >> trouble & 1)
        return;
    etcd->noted |= 1u << trouble;
    etcd->events.note(etcd->events.context, text);
}

static void end(struct exchange *exchange)
{
    exchange->etcd->open--;
    free(exchange);
}

static void answer(struct exchange *exchange, struct answer answer)
{
    struct etcd *etcd = exchange->etcd;
    answer.id = exchange->ask.id;
    end(exchange);
    etcd->events.answer(etcd->events.context, &answer);
}

static void on_done(void *context, const struct http_answer *answer);

static void post(struct exchange *exchange, const char *path, struct text *body)
{
    struct etcd *etcd = exchange->etcd;
    const struct http_events events = {exchange, NULL, on_done};
    if (!http_post(etcd->http, path, text_string(body), etcd->patience_ms, &events))
        end(exchange);
    text_release(body);
}

/* --- what the answers mean --- */

/* Fills session, record and holder; false: the record is not one of ours. */
static bool show(struct etcd *etcd, const struct etcd_kv *kv, struct answer *out)
{
    uint32_t name;
    if (!kv)
        return true;
    if (!etcd_holder(kv, etcd->config.nodes, &out->holder, &name)) {
        note(etcd, TROUBLE_HOLDER, "etcd: a record that no node can have written");
        return false;
    }
    bool row = strcmp(kv->key, ETCD_ROW) == 0;
    out->record = row ? kv->mod : kv->create;
    out->session = kv->lease;
    return true;
}

static void on_lease(struct exchange *exchange, const struct etcd_reply *reply)
{
    uint64_t session = exchange->ask.kind == ASK_OPEN ? exchange->session : exchange->ask.session;
    bool alive = reply->ttl_s > 0;
    answer(exchange,
           (struct answer){.kind = alive ? ANSWER_ALIVE : ANSWER_GONE, .session = session});
}

static void on_created(struct exchange *exchange, const struct etcd_reply *reply)
{
    struct answer out = {.kind = ANSWER_REFUSED};
    if (reply->succeeded)
        out = (struct answer){.kind = ANSWER_OK,
                              .record = reply->revision,
                              .session = exchange->ask.session,
                              .holder = exchange->etcd->config.node};
    else if (!show(exchange->etcd, etcd_reply_find(reply, 0), &out) || !out.record) {
        end(exchange);
        return;
    }
    /* Put before, by a request that libcurl sent twice: no other can have that key in a queue. */
    if (exchange->ask.kind == ASK_ENQUEUE)
        out.kind = ANSWER_OK;
    answer(exchange, out);
}

static void on_looked(struct exchange *exchange, const struct etcd_reply *reply)
{
    struct answer out = {.kind = ANSWER_OK};
    const struct etcd_kv *kv = etcd_reply_find(reply, 0), *row = etcd_reply_find(reply, 1);
    if (!kv && exchange->ask.kind == ASK_AFTER && row && row->mod > exchange->ask.record)
        kv = row;
    if (show(exchange->etcd, kv, &out))
        answer(exchange, out);
    else
        end(exchange);
}

/* Of a release: found, so it is deleted if it is still there then. */
static void on_release(struct exchange *exchange, const struct etcd_reply *reply)
{
    const struct etcd_kv *kv = etcd_reply_find(reply, 0), *row = etcd_reply_find(reply, 1);
    struct text body = {0};
    uint64_t wanted = exchange->ask.record;
    bool held = row && strcmp(row->value, "0 0") != 0;
    if (exchange->step == STEP_FIRST && kv) {
        exchange->step = STEP_SECOND;
        const char *path = etcd_delete(kv->key, kv->create, &body);
        post(exchange, path, &body);
    } else if (exchange->step == STEP_FIRST && held && (!wanted || wanted == row->mod)) {
        exchange->step = STEP_SECOND;
        const char *path = etcd_row_release(row->mod, &body);
        post(exchange, path, &body);
    } else {
        answer(exchange, (struct answer){.kind = ANSWER_OK});
    }
}

/* --- the row --- */

static void read_row(struct exchange *exchange)
{
    struct text body = {0};
    exchange->step = STEP_FIRST;
    const char *path = etcd_row(&body);
    post(exchange, path, &body);
}

static void on_row(struct exchange *exchange, const struct etcd_reply *reply)
{
    const struct etcd_kv *row = etcd_reply_find(reply, 0), *until = etcd_reply_find(reply, 1);
    const struct ask *ask = &exchange->ask;
    struct etcd *etcd = exchange->etcd;
    const struct etcd_row_seen seen = {row ? row->mod : 0, until ? until->mod : 0};
    uint64_t until_ns = 0, wanted_ns = ask->now_ns + ask->ttl_ns;
    uint32_t node = 0, name = 0;
    struct text body = {0};
    if ((until && parse_count(until->value, &until_ns, NULL) < 0) ||
        (row && !etcd_holder(row, etcd->config.nodes, &node, &name))) {
        note(etcd, TROUBLE_HOLDER, "etcd: a row that no node can have written");
        end(exchange);
        return;
    }
    bool mine = row && name == ask->name;
    if (!mine && until_ns > ask->now_ns) {
        answer(exchange, (struct answer){.kind = ANSWER_REFUSED,
                                         .record = row ? row->mod : 0,
                                         .holder = node,
                                         .left_ns = until_ns - ask->now_ns});
        return;
    }
    exchange->takes = !mine || row->mod != ask->record;
    exchange->step = STEP_SECOND;
    if (!exchange->takes && until_ns > wanted_ns)
        wanted_ns = until_ns; /* we were overtaken by a later one */
    const char *path = exchange->takes
                           ? etcd_row_take(&seen, etcd->config.node, ask->name, wanted_ns, &body)
                           : etcd_row_extend(&seen, wanted_ns, &body);
    post(exchange, path, &body);
}

static void on_update(struct exchange *exchange, const struct etcd_reply *reply)
{
    if (exchange->step == STEP_FIRST)
        on_row(exchange, reply);
    else if (reply->succeeded)
        answer(exchange,
               (struct answer){.kind = ANSWER_OK,
                               .record = exchange->takes ? reply->revision : exchange->ask.record,
                               .holder = exchange->etcd->config.node});
    else if (++exchange->tries < TRIES_MAX)
        read_row(exchange);
    else
        end(exchange);
}

/* --- watches --- */

static void drop_stream(struct etcd *etcd)
{
    (void)uv_timer_stop(&etcd->later);
    if (etcd->stream)
        http_cancel(etcd->stream);
    etcd->stream = NULL;
}

static void on_later(uv_timer_t *timer)
{
    struct etcd *etcd = timer->data;
    const struct answer answer = {
        .kind = ANSWER_CHANGED, .id = etcd->watch_id, .record = etcd->watched};
    drop_stream(etcd);
    etcd->watched = 0;
    etcd->events.answer(etcd->events.context, &answer);
}

/* The filter lets nothing through but the end of the key. */
static void on_change(void *context, const struct etcd_change *change)
{
    struct etcd *etcd = context;
    (void)change;
    (void)uv_timer_start(&etcd->later, on_later, 0, 0);
}

static void on_stream_line(void *context, struct slice line)
{
    struct etcd *etcd = context;
    struct etcd_watched watched = {0};
    struct error error;
    if (line.length == 0)
        return;
    if (etcd_watch_read(line, etcd, on_change, &watched, &error) < 0)
        note(etcd, TROUBLE_GARBAGE, "etcd: garbage in a watch");
}

/* The elector asks again before long. */
static void on_stream_done(void *context, const struct http_answer *answer)
{
    struct etcd *etcd = context;
    (void)answer;
    etcd->stream = NULL;
}

static void watch_key(struct etcd *etcd, const char *key, uint64_t revision)
{
    const struct http_events events = {etcd, on_stream_line, on_stream_done};
    struct text body = {0};
    const char *path = etcd_watch_key(key, revision, &body);
    etcd->stream = http_post(etcd->http, path, text_string(&body), etcd->patience_ms, &events);
    text_release(&body);
}

static void on_watch(struct exchange *exchange, const struct etcd_reply *reply)
{
    struct etcd *etcd = exchange->etcd;
    const struct etcd_kv *kv = etcd_reply_find(reply, 0);
    uint64_t record = exchange->ask.record;
    bool newest = exchange->ask.id == etcd->watch_id && etcd->watched == record;
    if (!kv && newest)
        etcd->watched = 0;
    if (!kv) {
        answer(exchange, (struct answer){.kind = ANSWER_CHANGED, .record = record});
        return;
    }
    end(exchange);
    if (newest && !etcd->stream)
        watch_key(etcd, kv->key, reply->revision + 1);
}

static void begin_watch(struct exchange *exchange)
{
    struct etcd *etcd = exchange->etcd;
    if (etcd->watched != exchange->ask.record)
        drop_stream(etcd);
    etcd->watched = exchange->ask.record;
    etcd->watch_id = exchange->ask.id;
}

/* --- requests and their ends --- */

static void (*const readers[ASKS])(struct exchange *, const struct etcd_reply *) = {
    [ASK_OPEN] = on_lease,      [ASK_KEEPALIVE] = on_lease, [ASK_ACQUIRE] = on_created,
    [ASK_ENQUEUE] = on_created, [ASK_RELEASE] = on_release, [ASK_AFTER] = on_looked,
    [ASK_BEFORE] = on_looked,   [ASK_WATCH] = on_watch,     [ASK_UPDATE] = on_update,
};

/* An answer that is none: what the service is short of passes, what makes no sense is noted. */
static void on_failed(struct exchange *exchange, const struct http_answer *http,
                      const struct etcd_reply *reply)
{
    struct etcd *etcd = exchange->etcd;
    char text[64];
    if (reply && reply->error == ETCD_NOT_FOUND && exchange->ask.session &&
        exchange->ask.kind != ASK_RELEASE) {
        answer(exchange, (struct answer){.kind = ANSWER_GONE, .session = exchange->ask.session});
        return;
    }
    (void)snprintf(text, sizeof text, "etcd: HTTP status %ld", http->status);
    if (http->status >= 300 && http->status < 400)
        note(etcd, TROUBLE_REDIRECT, "etcd: a redirect, which is not followed");
    else if (!reply && http->status)
        note(etcd, TROUBLE_STATUS, text);
    end(exchange);
}

static void on_done(void *context, const struct http_answer *http)
{
    struct exchange *exchange = context;
    struct etcd_reply reply;
    struct error error;
    if (http->failure) {
        end(exchange);
        return;
    }
    bool read = etcd_reply_read(http->body, &reply, &error) == 0;
    if (!read && http->status == 200) {
        note(exchange->etcd, TROUBLE_GARBAGE, "etcd: garbage for an answer");
        end(exchange);
    } else if (!read || reply.error || http->status != 200) {
        on_failed(exchange, http, read ? &reply : NULL);
    } else {
        readers[exchange->ask.kind](exchange, &reply);
    }
}

static const char *first_request(struct exchange *exchange, struct text *body)
{
    struct etcd *etcd = exchange->etcd;
    const struct ask *ask = &exchange->ask;
    char key[ETCD_KEY_MAX];
    switch (ask->kind) {
    case ASK_OPEN:
        exchange->session =
            etcd_session(etcd->config.node, etcd->config.incarnation, ++etcd->sessions);
        return etcd_grant(exchange->session, ask->ttl_ns, body);
    case ASK_KEEPALIVE: return etcd_keepalive(ask->session, body);
    case ASK_ACQUIRE: return etcd_create(ETCD_LEADER, etcd->config.node, ask->session, body);
    case ASK_ENQUEUE:
        (void)snprintf(key, sizeof key, ETCD_RECORDS "%" PRIx64 "/%" PRIx64, ask->session, ask->id);
        return etcd_create(key, etcd->config.node, ask->session, body);
    case ASK_AFTER: return etcd_look(ask->record + 1, 0, false, body);
    case ASK_BEFORE: return etcd_look(0, ask->record ? ask->record - 1 : 0, true, body);
    case ASK_RELEASE:
    case ASK_WATCH: return etcd_look(ask->record, ask->record, false, body);
    default: return etcd_row(body);
    }
}

static bool etcd_ask(void *adapter, const struct ask *ask)
{
    struct etcd *etcd = adapter;
    if (etcd->open == ASKS_OPEN_MAX)
        return false;
    struct exchange *exchange = must_alloc(1, sizeof *exchange);
    struct text body = {0};
    *exchange = (struct exchange){.etcd = etcd, .ask = *ask};
    etcd->open++;
    if (ask->kind == ASK_WATCH)
        begin_watch(exchange);
    const char *path = first_request(exchange, &body);
    post(exchange, path, &body);
    return true;
}

static int etcd_open(const struct adapter_config *config, const struct adapter_events *events,
                     void **ret_adapter, struct error *error)
{
    struct etcd *etcd = must_alloc(1, sizeof *etcd);
    char ip[ADDRESS_TEXT_MAX], address[ADDRESS_TEXT_MAX + 8];
    *etcd = (struct etcd){
        .config = *config, .events = *events, .patience_ms = config->patience_ns / NS_PER_MS + 1};
    (void)snprintf(address, sizeof address, "%s:%u", address_format(config->address, ip),
                   config->port ? config->port : ETCD_PORT);
    (void)uv_timer_init(config->loop, &etcd->later); /* cannot fail */
    etcd->later.data = etcd;
    *ret_adapter = etcd;
    return http_open(config->loop, address, &etcd->http, error);
}

const struct adapter_kind adapter_etcd = {.name = "etcd", .open = etcd_open, .ask = etcd_ask};
