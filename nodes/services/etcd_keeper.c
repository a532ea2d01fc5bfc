/* etcd as it is kept: one member, or what it says of itself in its log, its watch as the record of
 * what it granted. Data is not fsynced: what a killed process wrote the kernel keeps, and no fault
 * here takes it from the kernel. */
#include "nodes/keeper.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "nodes/address.h"
#include "nodes/alarm.h"
#include "nodes/clock.h"
#include "nodes/services/etcd_text.h"
#include "nodes/services/http.h"

#define ASK_AGAIN_NS (25 * NS_PER_MS)
#define PATIENCE_MS 1000u
#define DROPPED_MAX 64u

struct etcd_keeper {
    struct keeper *keeper;
    struct http *http;
    struct alarm again;
    bool answers;
    uint64_t place;                /* revision of the newest change heard of */
    uint64_t released;             /* the record whose deletion is a release */
    uint64_t dropped[DROPPED_MAX]; /* the newest sessions we ended */
    uint32_t drop_node, drop_count, drop_pending;
    uint64_t dropped_count;
    bool dropping;
};

static bool etcd_command(struct keeper *keeper, struct keeper_words *words,
                         struct keeper_words *environment)
{
    char ip[ADDRESS_TEXT_MAX];
    const char *host = address_format(keeper->address, ip);
    keeper_word(words, "%s", keeper->shell->arguments.program);
    keeper_word(words, "--name=coup");
    keeper_word(words, "--data-dir=%s/data", keeper->shell->arguments.state);
    keeper_word(words, "--listen-client-urls=http://%s:2379", host);
    keeper_word(words, "--advertise-client-urls=http://%s:2379", host);
    keeper_word(words, "--listen-peer-urls=http://%s:2380", host);
    keeper_word(words, "--initial-advertise-peer-urls=http://%s:2380", host);
    keeper_word(words, "--initial-cluster=coup=http://%s:2380", host);
    /* The shortest lease it grants is one and a half election timeouts, in whole seconds. */
    keeper_word(words, "--heartbeat-interval=20");
    keeper_word(words, "--election-timeout=200");
    keeper_word(words, "--unsafe-no-fsync");
    keeper_word(environment, "ETCD_UNSUPPORTED_ARCH=arm64"); /* 3.4 wants to be asked for it */
    return false;
}

/* --- what it grants --- */

static bool ended_by_us(const struct etcd_keeper *etcd, uint64_t session)
{
    for (uint32_t i = 0; i < DROPPED_MAX; i++)
        if (session && etcd->dropped[i] == session)
            return true;
    return false;
}

static void on_record(struct etcd_keeper *etcd, const struct etcd_change *change)
{
    const struct etcd_kv *kv = change->deleted ? &change->before : &change->kv;
    uint32_t node = 0, name = 0, nodes = (uint32_t)etcd->keeper->shell->arguments.nodes;
    char record[48] = "leader";
    if ((change->deleted && !change->has_before) || !etcd_holder(kv, nodes, &node, &name) || !node)
        return;
    if (strcmp(kv->key, ETCD_LEADER) != 0)
        (void)snprintf(record, sizeof record, "queue/%" PRIu64, kv->create);
    if (!change->deleted && kv->create == kv->mod)
        keeper_event(etcd->keeper, F_GRANT, record, node, kv->create, NULL);
    else if (change->deleted && kv->create == etcd->released)
        keeper_event(etcd->keeper, F_REVOKE, record, node, kv->create, "released");
    else if (change->deleted && ended_by_us(etcd, kv->lease))
        keeper_event(etcd->keeper, F_REVOKE, record, node, kv->create, "dropped");
    else if (change->deleted)
        keeper_event(etcd->keeper, F_EXPIRE, record, node, kv->create, "ttl");
}

static void on_row(struct etcd_keeper *etcd, const struct etcd_change *change)
{
    uint32_t node = 0, before = 0, name, nodes = (uint32_t)etcd->keeper->shell->arguments.nodes;
    if (change->deleted || !etcd_holder(&change->kv, nodes, &node, &name))
        return;
    if (change->has_before && etcd_holder(&change->before, nodes, &before, &name) && before)
        keeper_event(etcd->keeper, node ? F_EXPIRE : F_REVOKE, "row", before, change->before.mod,
                     node ? NULL : "released");
    if (node)
        keeper_event(etcd->keeper, F_GRANT, "row", node, change->kv.mod, NULL);
}

static void on_change(void *context, const struct etcd_change *change)
{
    struct etcd_keeper *etcd = context;
    if (change->kv.mod > etcd->place)
        etcd->place = change->kv.mod;
    if (strcmp(change->kv.key, ETCD_RELEASED) == 0)
        (void)parse_count(change->kv.value, &etcd->released, NULL); /* else it stays */
    else if (strcmp(change->kv.key, ETCD_ROW) == 0)
        on_row(etcd, change);
    else if (strncmp(change->kv.key, ETCD_RECORDS, sizeof ETCD_RECORDS - 1) == 0)
        on_record(etcd, change);
}

static void on_line(void *context, struct slice line)
{
    struct etcd_keeper *etcd = context;
    struct etcd_watched watched = {0};
    struct error error;
    if (line.length == 0)
        return;
    if (etcd_watch_read(line, etcd, on_change, &watched, &error) < 0) {
        shell_fail(etcd->keeper->shell, &error);
        return;
    }
    if (watched.created)
        keeper_ready(etcd->keeper);
    else
        keeper_recorded(etcd->keeper, etcd->place);
}

static void ask_again(struct etcd_keeper *etcd)
{
    alarm_set(&etcd->again, clock_own_ns() + ASK_AGAIN_NS);
}

static void on_watch_done(void *context, const struct http_answer *answer)
{
    (void)answer;
    ask_again(context);
}

static void on_status(void *context, const struct http_answer *answer)
{
    struct etcd_keeper *etcd = context;
    struct etcd_reply reply;
    struct error error;
    etcd->answers = !answer->failure && answer->status == 200 &&
                    etcd_reply_read(answer->body, &reply, &error) == 0 && !reply.error;
    ask_again(etcd);
}

/* Once it answers, everything since the last recorded change. */
static void on_again(void *context)
{
    struct etcd_keeper *etcd = context;
    struct http_events events = {etcd, NULL, on_status};
    struct text body = {0};
    const char *path = NULL;
    if (etcd->answers) {
        path = etcd_watch_all(etcd->keeper->recorded + 1, &body);
        events.line = on_line;
        events.done = on_watch_done;
    } else {
        path = etcd_status(&body);
    }
    if (!http_post(etcd->http, path, text_string(&body), PATIENCE_MS, &events))
        ask_again(etcd);
    text_release(&body);
}

/* --- sessions that are dropped --- */

static void dropped_one(struct etcd_keeper *etcd)
{
    if (--etcd->drop_pending > 0)
        return;
    etcd->dropping = false;
    keeper_dropped(etcd->keeper, etcd->drop_count);
}

static void on_revoked(void *context, const struct http_answer *answer)
{
    struct etcd_keeper *etcd = context;
    etcd->drop_count += !answer->failure && answer->status == 200;
    dropped_one(etcd);
}

static void drop_one(struct etcd_keeper *etcd, uint64_t session)
{
    const struct http_events events = {etcd, NULL, on_revoked};
    struct text body = {0};
    const char *path = etcd_revoke(session, &body);
    etcd->dropped[etcd->dropped_count++ % DROPPED_MAX] = session;
    etcd->drop_pending += !!http_post(etcd->http, path, text_string(&body), PATIENCE_MS, &events);
    text_release(&body);
}

static void on_leases(void *context, const struct http_answer *answer)
{
    struct etcd_keeper *etcd = context;
    struct etcd_reply reply = {0};
    struct error error;
    if (!answer->failure && etcd_reply_read(answer->body, &reply, &error) == 0)
        for (uint32_t i = 0; i < reply.lease_count; i++)
            if (etcd_session_node(reply.leases[i]) == etcd->drop_node)
                drop_one(etcd, reply.leases[i]);
    dropped_one(etcd); /* our own look */
}

static bool etcd_drop(struct keeper *keeper, uint32_t node)
{
    struct etcd_keeper *etcd = keeper->state;
    const struct http_events events = {etcd, NULL, on_leases};
    struct text body = {0};
    if (etcd->dropping)
        return false;
    const char *path = etcd_leases(&body);
    etcd->drop_node = node;
    etcd->drop_count = 0;
    etcd->drop_pending = 1;
    etcd->dropping = http_post(etcd->http, path, text_string(&body), PATIENCE_MS, &events) != NULL;
    text_release(&body);
    return etcd->dropping;
}

static int etcd_begin(struct keeper *keeper, struct error *error)
{
    struct etcd_keeper *etcd = must_alloc(1, sizeof *etcd);
    char ip[ADDRESS_TEXT_MAX], address[ADDRESS_TEXT_MAX + 8];
    *etcd = (struct etcd_keeper){.keeper = keeper};
    keeper->state = etcd;
    (void)snprintf(address, sizeof address, "%s:2379", address_format(keeper->address, ip));
    int rc = http_open(&keeper->shell->loop, address, &etcd->http, error);
    if (rc < 0)
        return rc;
    alarm_init(&etcd->again, &keeper->shell->loop, on_again, etcd);
    on_again(etcd);
    return 0;
}

const struct keeper_kind keeper_etcd = {
    .name = "etcd", .command = etcd_command, .begin = etcd_begin, .drop = etcd_drop};
