/* PostgreSQL as coordination service, by libpq: the one row of the database lease and nothing else,
 * for sessions and what goes with them are not in its nature. One statement extends the row or
 * takes it, under the row's lock, by the database's clock or by the asker's. */
#include "nodes/adapter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "nodes/address.h"
#include "nodes/services/pg.h"
#include "nodes/services/postgres.h"

/* $1 node, $2 name, $3 the token it believes in, $4 ttl, $5 its clock or 0: whether it has the row,
 * then token, holder, and how long another still has it. */
static const char update_row[] =
    "with t as (select case when $5::bigint > 0 then $5::bigint"
    "   else (extract(epoch from now()) * 1e9)::bigint end as now),"
    " u as (update coup_row set"
    "   token = case when name = $2::int and token = $3::bigint then token else token + 1 end,"
    "   until = case when name = $2::int and token = $3::bigint"
    "     then greatest(until, t.now + $4::bigint) else t.now + $4::bigint end,"
    "   node = $1::int, name = $2::int"
    "   from t where name = $2::int or until <= t.now returning token)"
    " select 1, token, $1::int, 0::bigint from u"
    " union all select 0, token, node, greatest(until - t.now, 0) from coup_row, t"
    " where not exists (select from u)";

/* $1 the token, or 0 for whichever it is. */
static const char release_row[] = "update coup_row set node = 0, name = 0, until = 0"
                                  " where name <> 0 and ($1::bigint = 0 or token = $1::bigint)";

/* $1 a token below the row's. */
static const char look_at_row[] =
    "select 1, token, node, 0::bigint from coup_row where token > $1::bigint";

struct postgres {
    struct adapter_config config;
    struct adapter_events events;
    struct pg *pg;
    bool noted;
};

static bool read_field(const PGresult *result, int column, uint64_t max, uint64_t *out)
{
    return !PQgetisnull(result, 0, column) &&
           parse_count(PQgetvalue(result, 0, column), out, NULL) == 0 && *out <= max;
}

/* No row: there is nothing to tell of. False: no answer to any of our statements. */
static bool read_row(const struct postgres *postgres, const PGresult *result, bool *ret_holds,
                     struct answer *out)
{
    uint64_t holds = 0, holder = 0;
    if (PQresultStatus(result) == PGRES_COMMAND_OK)
        return true;
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQnfields(result) != 4)
        return false;
    if (PQntuples(result) == 0)
        return true;
    bool good = read_field(result, 0, 1, &holds) &&
                read_field(result, 1, INT64_MAX, &out->record) &&
                read_field(result, 2, postgres->config.nodes, &holder) &&
                read_field(result, 3, INT64_MAX, &out->left_ns);
    out->holder = (uint32_t)holder;
    *ret_holds = holds;
    return good;
}

/* Out of order is what the server may be at any time; a statement it does not take is noted. */
static void note_failure(struct postgres *postgres, const PGresult *result)
{
    static const char *const passing[] = {"08", "25", "40", "53", "57", "58"};
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    char text[200];
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
        if (state && strncmp(state, passing[i], 2) == 0)
            return;
    if (postgres->noted)
        return;
    postgres->noted = true;
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    (void)snprintf(text, sizeof text, "postgres: %s",
                   message ? message : "a row that is none of ours");
    postgres->events.note(postgres->events.context, text);
}

static void on_done(void *context, void *asker, const PGresult *result)
{
    struct postgres *postgres = context;
    struct ask ask = *(struct ask *)asker;
    struct answer answer = {.kind = ANSWER_OK, .id = ask.id};
    bool holds = true;
    free(asker);
    if (!result)
        return;
    if (!read_row(postgres, result, &holds, &answer)) {
        note_failure(postgres, result);
        return;
    }
    if (!holds)
        answer.kind = ANSWER_REFUSED;
    postgres->events.answer(postgres->events.context, &answer);
}

static void on_nothing(void *context)
{
    (void)context;
}

static bool postgres_ask(void *adapter, const struct ask *ask)
{
    struct postgres *postgres = adapter;
    const uint64_t values[] = {postgres->config.node, ask->name, ask->record, ask->ttl_ns,
                               ask->now_ns};
    struct ask *asker = must_alloc(1, sizeof *asker);
    bool left = false;
    *asker = *ask;
    if (ask->kind == ASK_UPDATE)
        left = pg_ask(postgres->pg, update_row, values, 5, asker);
    else if (ask->kind == ASK_RELEASE)
        left = pg_ask(postgres->pg, release_row, &ask->record, 1, asker);
    else if (ask->kind == ASK_AFTER)
        left = pg_ask(postgres->pg, look_at_row, &ask->record, 1, asker);
    if (!left)
        free(asker);
    return left;
}

static int postgres_open(const struct adapter_config *config, const struct adapter_events *events,
                         void **ret_adapter, struct error *error)
{
    struct postgres *postgres = must_alloc(1, sizeof *postgres);
    const struct pg_events pg_events = {postgres, on_nothing, on_done, on_nothing};
    char ip[ADDRESS_TEXT_MAX];
    const struct pg_config pg_config = {
        .loop = config->loop,
        .ip = address_format(config->address, ip),
        .port = config->port ? config->port : POSTGRES_PORT,
        .patience_ns = config->patience_ns,
    };
    (void)error;
    *postgres = (struct postgres){.config = *config, .events = *events};
    pg_open(&pg_config, &pg_events, &postgres->pg);
    *ret_adapter = postgres;
    return 0;
}

const struct adapter_kind adapter_postgres = {
    .name = "postgres", .open = postgres_open, .ask = postgres_ask};
