#include "nodes/services/pg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "nodes/alarm.h"
#include "nodes/clock.h"

#define CONNECT_AGAIN_NS (50 * NS_PER_MS)

/* libpq's socket in the loop; on the heap, because it closes late. */
struct watched {
    uv_poll_t poll;
    int fd;
};

enum stage { PG_APART, PG_CONNECTING, PG_IDLE, PG_BUSY };

struct pg {
    struct pg_config config;
    struct pg_events events;
    char ip[32], port[16];
    PGconn *connection; /* NULL: apart */
    struct watched *watched;
    enum stage stage;
    struct alarm alarm; /* apart: connect; else: give up */
    struct pg_statement queue[PG_STATEMENTS_MAX];
    uint32_t first, count; /* busy: the first is under way */
};

static void on_closed(uv_handle_t *handle)
{
    free(handle); /* it is the first member */
}

static void unwatch(struct pg *pg)
{
    if (!pg->watched)
        return;
    (void)uv_poll_stop(&pg->watched->poll);
    uv_close((uv_handle_t *)&pg->watched->poll, on_closed);
    pg->watched = NULL;
}

/* --- the queue --- */

static void end_first(struct pg *pg, const PGresult *result)
{
    struct pg_statement *statement = &pg->queue[pg->first];
    void *asker = statement->asker;
    for (uint32_t i = 0; i < statement->value_count; i++)
        free(statement->values[i]);
    pg->first = (pg->first + 1) % PG_STATEMENTS_MAX;
    pg->count--;
    pg->events.done(pg->events.context, asker, result);
}

static void part(struct pg *pg)
{
    unwatch(pg);
    if (pg->connection)
        PQfinish(pg->connection);
    pg->connection = NULL;
    pg->stage = PG_APART;
    alarm_set(&pg->alarm, clock_own_ns() + CONNECT_AGAIN_NS);
    while (pg->count > 0)
        end_first(pg, NULL);
}

/* --- the socket --- */

static void on_socket(uv_poll_t *poll, int status, int events);

static void watch(struct pg *pg, int events)
{
    int fd = PQsocket(pg->connection);
    if (pg->watched && pg->watched->fd != fd)
        unwatch(pg);
    if (!pg->watched) {
        struct watched *watched = must_alloc(1, sizeof *watched);
        watched->fd = fd;
        if (fd < 0 || uv_poll_init(pg->config.loop, &watched->poll, fd) < 0) {
            free(watched);
            part(pg);
            return;
        }
        watched->poll.data = pg;
        pg->watched = watched;
    }
    (void)uv_poll_start(&pg->watched->poll, events, on_socket);
}

static void send_next(struct pg *pg)
{
    const struct pg_statement *statement = &pg->queue[pg->first];
    const char *values[PG_VALUES_MAX];
    for (uint32_t i = 0; i < statement->value_count; i++)
        values[i] = statement->values[i];
    if (!PQsendQueryParams(pg->connection, statement->sql, (int)statement->value_count, NULL,
                           values, NULL, NULL, 0)) {
        part(pg);
        return;
    }
    pg->stage = PG_BUSY;
    alarm_set(&pg->alarm, clock_own_ns() + pg->config.patience_ns);
    int left = PQflush(pg->connection);
    if (left < 0)
        part(pg);
    else
        watch(pg, left ? UV_READABLE | UV_WRITABLE : UV_READABLE);
}

static void go_on(struct pg *pg)
{
    pg->stage = PG_IDLE;
    alarm_set(&pg->alarm, UINT64_MAX);
    if (pg->count > 0)
        send_next(pg);
    else
        watch(pg, UV_READABLE);
}

static void connecting(struct pg *pg)
{
    switch (PQconnectPoll(pg->connection)) {
    case PGRES_POLLING_READING: watch(pg, UV_READABLE); break;
    case PGRES_POLLING_WRITING: watch(pg, UV_WRITABLE); break;
    case PGRES_POLLING_OK:
        (void)PQsetnonblocking(pg->connection, 1); /* it fails on lost connections alone */
        go_on(pg);
        if (pg->stage != PG_APART)
            pg->events.connected(pg->events.context);
        break;
    default: part(pg);
    }
}

static void take_notices(struct pg *pg)
{
    PGnotify *notice;
    bool any = false;
    while ((notice = PQnotifies(pg->connection))) {
        any = true;
        PQfreemem(notice);
    }
    if (any)
        pg->events.notified(pg->events.context);
}

/* A statement is over when no result of it is left; it has one. */
static void take_results(struct pg *pg)
{
    PGresult *kept = NULL, *result;
    while (pg->stage == PG_BUSY && !PQisBusy(pg->connection)) {
        result = PQgetResult(pg->connection);
        if (result) {
            PQclear(kept);
            kept = result;
            continue;
        }
        pg->stage = PG_IDLE;
        end_first(pg, kept);
        if (pg->stage == PG_IDLE)
            go_on(pg);
        break;
    }
    PQclear(kept);
}

static void on_socket(uv_poll_t *poll, int status, int events)
{
    struct pg *pg = poll->data;
    if (pg->stage == PG_CONNECTING) {
        connecting(pg);
        return;
    }
    int left = PQflush(pg->connection);
    if (status < 0 || left < 0 || (events & UV_READABLE && !PQconsumeInput(pg->connection))) {
        part(pg);
        return;
    }
    watch(pg, left ? UV_READABLE | UV_WRITABLE : UV_READABLE);
    take_results(pg);
    if (pg->stage != PG_APART)
        take_notices(pg);
}

/* --- open and ask --- */

static void connect_again(struct pg *pg)
{
    const char *const names[] = {"hostaddr",   "port",     "user",     "dbname", "sslmode",
                                 "gssencmode", "passfile", "password", NULL};
    const char *const values[] = {pg->ip,    pg->port,    "coup", "postgres", "disable",
                                  "disable", "/dev/null", "coup", NULL};
    pg->connection = PQconnectStartParams(names, values, 0);
    if (!pg->connection || PQstatus(pg->connection) == CONNECTION_BAD) {
        part(pg);
        return;
    }
    pg->stage = PG_CONNECTING;
    alarm_set(&pg->alarm, clock_own_ns() + pg->config.patience_ns);
    watch(pg, UV_WRITABLE);
}

static void on_alarm(void *context)
{
    struct pg *pg = context;
    if (pg->stage == PG_APART)
        connect_again(pg);
    else
        part(pg);
}

/* What a user's shell tells libpq is not meant for this server. */
static void forget_environment(void)
{
    PQconninfoOption *options = PQconndefaults();
    for (const PQconninfoOption *option = options; option && option->keyword; option++)
        if (option->envvar)
            (void)unsetenv(option->envvar);
    PQconninfoFree(options);
}

void pg_open(const struct pg_config *config, const struct pg_events *events, struct pg **out)
{
    struct pg *pg = must_alloc(1, sizeof *pg);
    *pg = (struct pg){.config = *config, .events = *events};
    (void)snprintf(pg->ip, sizeof pg->ip, "%s", config->ip);
    (void)snprintf(pg->port, sizeof pg->port, "%" PRIu32, config->port);
    forget_environment();
    alarm_init(&pg->alarm, config->loop, on_alarm, pg);
    alarm_set(&pg->alarm, 0);
    *out = pg;
}

bool pg_ask(struct pg *pg, const char *sql, const uint64_t *values, uint32_t count, void *asker)
{
    if (pg->stage != PG_IDLE && pg->stage != PG_BUSY)
        return false;
    if (pg->count == PG_STATEMENTS_MAX) /* one under way, the others behind it */
        return false;
    struct pg_statement *statement = &pg->queue[(pg->first + pg->count++) % PG_STATEMENTS_MAX];
    *statement = (struct pg_statement){.sql = sql, .value_count = count, .asker = asker};
    for (uint32_t i = 0; i < count; i++) {
        char text[24];
        (void)snprintf(text, sizeof text, "%" PRIu64, values[i]);
        statement->values[i] = must_copy(text);
    }
    if (pg->stage == PG_IDLE)
        send_next(pg);
    return true;
}
