/* ZooKeeper as coordination service, by its C client (Hunt et al., "ZooKeeper", USENIX ATC 2010,
 * section 2.2: sessions, ephemeral and sequential nodes, watches). A session of ours is one of
 * theirs, and is kept alive by a read that the server answers in it. The leader's record is
 * numbered by the transaction that made it, those of the queue by their sequence and one.
 *
 * The client repeats requests on no connection but its own, in order, so an ask is a request or
 * two. A record is deleted only if it is of the own session, in that session: else another's might
 * have come between. */
#include "nodes/adapter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "nodes/address.h"
#include "nodes/services/zk_link.h"
#include "nodes/services/zk_log.h"

#define ASKS_OPEN_MAX 64u

struct zookeeper {
    struct adapter_config config;
    struct adapter_events events;
    char address[ADDRESS_TEXT_MAX + 8];
    struct zk_link link;
    bool used;     /* the session at hand was taken up: something was asked in it */
    uint32_t open; /* asks under way */
    uint64_t watched, watch_id;
    char watched_path[ZK_PATH_MAX];
    bool noted;
};

struct exchange {
    struct zookeeper *zookeeper;
    struct ask ask;
    char path[ZK_PATH_MAX]; /* of the second request */
};

static uint64_t session_of(const struct zookeeper *zookeeper)
{
    return (uint64_t)zoo_client_id(zookeeper->link.handle)->client_id;
}

static void note(struct zookeeper *zookeeper, const char *text)
{
    if (!zookeeper->noted)
        zookeeper->events.note(zookeeper->events.context, text);
    zookeeper->noted = true;
}

static void end(struct exchange *exchange)
{
    exchange->zookeeper->open--;
    free(exchange);
}

static void answer(struct exchange *exchange, struct answer answer)
{
    struct zookeeper *zookeeper = exchange->zookeeper;
    answer.id = exchange->ask.id;
    end(exchange);
    zookeeper->events.answer(zookeeper->events.context, &answer);
}

/* The request did not even leave. */
static void asked(struct exchange *exchange, int rc)
{
    struct zookeeper *zookeeper = exchange->zookeeper;
    if (rc != ZOK)
        end(exchange);
    zk_link_moved(&zookeeper->link);
}

/* --- sessions --- */

static void on_alive(int rc, const struct Stat *stat, const void *context)
{
    struct exchange *exchange = (struct exchange *)(uintptr_t)context;
    struct zookeeper *zookeeper = exchange->zookeeper;
    (void)stat;
    if (rc != ZOK && rc != ZNONODE) {
        end(exchange);
        return;
    }
    if ((uint64_t)zoo_recv_timeout(zookeeper->link.handle) * NS_PER_MS <
        exchange->ask.ttl_ns / NS_PER_MS * NS_PER_MS) {
        note(zookeeper, "zookeeper: sessions are shorter than what was asked for");
        end(exchange);
        return;
    }
    answer(exchange, (struct answer){.kind = ANSWER_ALIVE, .session = session_of(zookeeper)});
}

static void on_connected(void *context)
{
    (void)context; /* what was asked before is under way now */
}

static void on_expired(void *context)
{
    struct zookeeper *zookeeper = context;
    const struct answer gone = {.kind = ANSWER_GONE, .session = session_of(zookeeper)};
    if (zookeeper->used)
        zookeeper->events.answer(zookeeper->events.context, &gone);
}

static void on_watched(void *context, int type, const char *path)
{
    struct zookeeper *zookeeper = context;
    const struct answer changed = {
        .kind = ANSWER_CHANGED, .id = zookeeper->watch_id, .record = zookeeper->watched};
    if (type != ZOO_DELETED_EVENT || !zookeeper->watched ||
        strcmp(path, zookeeper->watched_path) != 0)
        return;
    zookeeper->watched = 0;
    zookeeper->events.answer(zookeeper->events.context, &changed);
}

/* One that was taken up is over when another is asked for; one that was not, because its opening
 * took longer than who asked waits, will do. */
static bool open_session(struct zookeeper *zookeeper, uint64_t ttl_ns)
{
    const struct zk_link_events events = {zookeeper, on_connected, on_expired, on_watched};
    bool usable = zookeeper->link.handle && is_unrecoverable(zookeeper->link.handle) == ZOK;
    if (usable && !zookeeper->used)
        return true;
    zk_link_close(&zookeeper->link);
    zookeeper->used = false;
    zookeeper->watched = 0;
    return zk_link_open(&zookeeper->link, zookeeper->config.loop, zookeeper->address,
                        (int)((ttl_ns + NS_PER_MS - 1) / NS_PER_MS), &events);
}

static int ask_alive(struct exchange *exchange)
{
    return zoo_aexists(exchange->zookeeper->link.handle, ZK_ROOT, 0, on_alive, exchange);
}

/* --- the leader's record --- */

static void on_leader(int rc, const char *data, int length, const struct Stat *stat,
                      const void *context)
{
    struct exchange *exchange = (struct exchange *)(uintptr_t)context;
    struct zookeeper *zookeeper = exchange->zookeeper;
    const struct ask *ask = &exchange->ask;
    struct answer out = {.kind = ask->kind == ASK_ACQUIRE ? ANSWER_REFUSED : ANSWER_OK};
    char text[ZK_PATH_MAX];
    if (rc == ZOK) {
        (void)snprintf(text, sizeof text, "%.*s", length > 0 ? length : 0, data ? data : "");
        out.record = (uint64_t)stat->czxid;
        out.session = (uint64_t)stat->ephemeralOwner;
        if (!zk_node_read(text, zookeeper->config.nodes, &out.holder)) {
            note(zookeeper, "zookeeper: a record that no node can have written");
            end(exchange);
            return;
        }
    }
    bool beyond = ask->kind == ASK_AFTER ? out.record <= ask->record
                                         : ask->kind == ASK_BEFORE && out.record >= ask->record;
    if ((rc != ZOK && rc != ZNONODE) || (rc == ZNONODE && ask->kind == ASK_ACQUIRE))
        end(exchange);
    else if (beyond)
        answer(exchange, (struct answer){.kind = ANSWER_OK});
    else
        answer(exchange, out);
}

static int ask_leader(struct exchange *exchange, data_completion_t done)
{
    return zoo_aget(exchange->zookeeper->link.handle, ZK_LEADER, 0, done, exchange);
}

static void on_created(int rc, const char *path, const struct Stat *stat, const void *context)
{
    struct exchange *exchange = (struct exchange *)(uintptr_t)context;
    struct zookeeper *zookeeper = exchange->zookeeper;
    const char *slash = path ? strrchr(path, '/') : NULL;
    struct zk_name name;
    if (rc == ZNODEEXISTS) {
        asked(exchange, ask_leader(exchange, on_leader));
        return;
    }
    if (rc != ZOK || !slash) {
        end(exchange);
        return;
    }
    struct answer out = {.kind = ANSWER_OK,
                         .record = (uint64_t)stat->czxid,
                         .session = exchange->ask.session,
                         .holder = zookeeper->config.node};
    if (exchange->ask.kind == ASK_ENQUEUE) {
        if (!zk_name_read(slash + 1, zookeeper->config.nodes, &name)) {
            note(zookeeper, "zookeeper: a sequence that is none");
            end(exchange);
            return;
        }
        out.record = name.record;
    }
    answer(exchange, out);
}

static int ask_create(struct exchange *exchange)
{
    struct zookeeper *zookeeper = exchange->zookeeper;
    bool queued = exchange->ask.kind == ASK_ENQUEUE;
    char path[ZK_PATH_MAX] = ZK_LEADER, data[16];
    (void)snprintf(data, sizeof data, "%" PRIu32, zookeeper->config.node);
    if (queued)
        (void)snprintf(path, sizeof path, ZK_QUEUE "/%016" PRIx64 "-%" PRIu32 "-",
                       exchange->ask.session, zookeeper->config.node);
    return zoo_acreate2(zookeeper->link.handle, path, data, (int)strlen(data), &ZOO_OPEN_ACL_UNSAFE,
                        queued ? ZOO_EPHEMERAL | ZOO_SEQUENCE : ZOO_EPHEMERAL, on_created,
                        exchange);
}

/* --- the queue --- */

/* Of the queue the record that is meant: by its number, or the nearest above or below it. */
static bool find_record(const struct zookeeper *zookeeper, const struct String_vector *names,
                        const struct ask *ask, struct zk_name *out, char path[ZK_PATH_MAX])
{
    bool found = false, last = ask->kind == ASK_BEFORE;
    for (int32_t i = 0; names && i < names->count; i++) {
        struct zk_name name;
        if (!zk_name_read(names->data[i], zookeeper->config.nodes, &name))
            continue;
        bool meant = ask->kind == ASK_AFTER    ? name.record > ask->record
                     : ask->kind == ASK_BEFORE ? name.record < ask->record
                                               : !ask->record || name.record == ask->record;
        if (!meant || (found && (last ? name.record < out->record : name.record > out->record)))
            continue;
        found = true;
        *out = name;
        (void)snprintf(path, ZK_PATH_MAX, ZK_QUEUE "/%.100s", names->data[i]);
    }
    return found;
}

static void on_deleted(int rc, const void *context)
{
    struct exchange *exchange = (struct exchange *)(uintptr_t)context;
    if (rc == ZOK || rc == ZNONODE)
        answer(exchange, (struct answer){.kind = ANSWER_OK});
    else
        end(exchange);
}

static void delete_record(struct exchange *exchange, uint64_t owner)
{
    struct zookeeper *zookeeper = exchange->zookeeper;
    if (exchange->ask.record && owner != session_of(zookeeper))
        answer(exchange, (struct answer){.kind = ANSWER_OK}); /* it goes with its session */
    else
        asked(exchange,
              zoo_adelete(zookeeper->link.handle, exchange->path, -1, on_deleted, exchange));
}

static void on_release(int rc, const char *data, int length, const struct Stat *stat,
                       const void *context)
{
    struct exchange *exchange = (struct exchange *)(uintptr_t)context;
    (void)data;
    (void)length;
    bool meant =
        rc == ZOK && (!exchange->ask.record || (uint64_t)stat->czxid == exchange->ask.record);
    (void)snprintf(exchange->path, sizeof exchange->path, ZK_LEADER);
    if (rc != ZOK && rc != ZNONODE)
        end(exchange);
    else if (meant)
        delete_record(exchange, (uint64_t)stat->ephemeralOwner);
    else
        answer(exchange, (struct answer){.kind = ANSWER_OK});
}

static void changed(struct exchange *exchange)
{
    struct zookeeper *zookeeper = exchange->zookeeper;
    if (exchange->ask.id == zookeeper->watch_id)
        zookeeper->watched = 0;
    answer(exchange, (struct answer){.kind = ANSWER_CHANGED, .record = exchange->ask.record});
}

/* There, and watched; or it went before. */
static void on_watch_set(int rc, const struct Stat *stat, const void *context)
{
    struct exchange *exchange = (struct exchange *)(uintptr_t)context;
    bool leader = strcmp(exchange->path, ZK_LEADER) == 0;
    bool another = rc == ZOK && leader && (uint64_t)stat->czxid != exchange->ask.record;
    if (rc == ZNONODE || another)
        changed(exchange);
    else
        end(exchange);
}

static void on_event(zhandle_t *handle, int type, int state, const char *path, void *context)
{
    struct zookeeper *zookeeper = context;
    (void)state;
    if (handle == zookeeper->link.handle)
        on_watched(zookeeper, type, path ? path : "");
}

static void set_watch(struct exchange *exchange)
{
    struct zookeeper *zookeeper = exchange->zookeeper;
    if (exchange->ask.id == zookeeper->watch_id)
        (void)snprintf(zookeeper->watched_path, sizeof zookeeper->watched_path, "%s",
                       exchange->path);
    asked(exchange, zoo_awexists(zookeeper->link.handle, exchange->path, on_event, zookeeper,
                                 on_watch_set, exchange));
}

static void on_children(int rc, const struct String_vector *names, const void *context)
{
    struct exchange *exchange = (struct exchange *)(uintptr_t)context;
    const struct ask *ask = &exchange->ask;
    struct zk_name name = {0};
    if (rc != ZOK) {
        end(exchange);
        return;
    }
    bool found = find_record(exchange->zookeeper, names, ask, &name, exchange->path);
    bool empty = names->count == 0; /* perhaps it is the other recipe */
    if (ask->kind == ASK_RELEASE && found)
        delete_record(exchange, name.session);
    else if (ask->kind == ASK_RELEASE)
        asked(exchange, ask_leader(exchange, on_release));
    else if (ask->kind == ASK_WATCH && found)
        set_watch(exchange);
    else if (ask->kind == ASK_WATCH && empty) {
        (void)snprintf(exchange->path, sizeof exchange->path, ZK_LEADER);
        set_watch(exchange);
    } else if (ask->kind == ASK_WATCH)
        changed(exchange);
    else if (empty)
        asked(exchange, ask_leader(exchange, on_leader));
    else
        answer(exchange, (struct answer){.kind = ANSWER_OK,
                                         .record = name.record,
                                         .session = name.session,
                                         .holder = name.node});
}

static int ask_children(struct exchange *exchange)
{
    struct zookeeper *zookeeper = exchange->zookeeper;
    if (exchange->ask.kind == ASK_WATCH) {
        zookeeper->watched = exchange->ask.record;
        zookeeper->watch_id = exchange->ask.id;
        zookeeper->watched_path[0] = '\0';
    }
    return zoo_aget_children(zookeeper->link.handle, ZK_QUEUE, 0, on_children, exchange);
}

/* --- the adapter --- */

static int (*const first[ASKS])(struct exchange *) = {
    [ASK_OPEN] = ask_alive,      [ASK_KEEPALIVE] = ask_alive,  [ASK_ACQUIRE] = ask_create,
    [ASK_ENQUEUE] = ask_create,  [ASK_RELEASE] = ask_children, [ASK_AFTER] = ask_children,
    [ASK_BEFORE] = ask_children, [ASK_WATCH] = ask_children,
};

static bool zookeeper_ask(void *adapter, const struct ask *ask)
{
    struct zookeeper *zookeeper = adapter;
    if (zookeeper->open == ASKS_OPEN_MAX || !first[ask->kind])
        return false;
    if (ask->kind == ASK_OPEN && !open_session(zookeeper, ask->ttl_ns))
        return false;
    bool others = ask->kind != ASK_OPEN && ask->session &&
                  (!zookeeper->link.handle || ask->session != session_of(zookeeper));
    if (!zookeeper->link.handle || others)
        return false;
    zookeeper->used = zookeeper->used || (ask->kind != ASK_OPEN && ask->session);
    struct exchange *exchange = must_alloc(1, sizeof *exchange);
    *exchange = (struct exchange){.zookeeper = zookeeper, .ask = *ask};
    zookeeper->open++;
    asked(exchange, first[ask->kind](exchange));
    return true;
}

static int zookeeper_open(const struct adapter_config *config, const struct adapter_events *events,
                          void **ret_adapter, struct error *error)
{
    struct zookeeper *zookeeper = must_alloc(1, sizeof *zookeeper);
    char ip[ADDRESS_TEXT_MAX];
    (void)error;
    *zookeeper = (struct zookeeper){.config = *config, .events = *events};
    (void)snprintf(zookeeper->address, sizeof zookeeper->address, "%s:%u",
                   address_format(config->address, ip),
                   config->port ? config->port : ZOOKEEPER_PORT);
    *ret_adapter = zookeeper;
    return 0;
}

const struct adapter_kind adapter_zookeeper = {
    .name = "zookeeper", .open = zookeeper_open, .ask = zookeeper_ask};
