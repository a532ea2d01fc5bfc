/* PostgreSQL as it is kept: a cluster of its own made by initdb, which refuses root, as does the
 * server: both run as an ordinary user of a user namespace. Data is not fsynced: what a killed
 * process wrote the kernel keeps, and no fault here takes it from the kernel. Commits reach the
 * kernel before they are answered. */
#include "nodes/keeper.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "nodes/address.h"
#include "nodes/services/pg.h"
#include "nodes/services/postgres.h"

#define PATIENCE_NS NS_PER_S

/* The row comes last: nobody can take it before what takes note of that is there. */
static const char *const schema[] = {
    "create table if not exists coup_row (one int primary key, token bigint not null,"
    " node int not null, name int not null, until bigint not null)",
    "create table if not exists coup_log (id bigserial primary key, what text not null,"
    " token bigint not null, node int not null)",
    "create or replace function coup_tell() returns trigger language plpgsql as $$ begin"
    " if new.token <> old.token and old.node <> 0 then"
    "  insert into coup_log (what, token, node) values ('expire', old.token, old.node); end if;"
    " if new.token <> old.token then"
    "  insert into coup_log (what, token, node) values ('grant', new.token, new.node);"
    " elsif new.node = 0 and old.node <> 0 then"
    "  insert into coup_log (what, token, node) values ('revoke', old.token, old.node);"
    " end if;"
    " notify " POSTGRES_CHANNEL "; return new; end $$",
    "create or replace trigger coup_tells before update on coup_row"
    " for each row execute function coup_tell()",
    "listen " POSTGRES_CHANNEL,
    "insert into coup_row values (1, 0, 0, 0, 0) on conflict do nothing",
};
#define STEPS (sizeof schema / sizeof schema[0])

static const char new_entries[] =
    "select id, what, token, node from coup_log where id > $1::bigint order by id limit 200";

struct postgres_keeper {
    struct keeper *keeper;
    struct pg *pg;
    uint32_t step; /* of the schema; STEPS: it is made */
    bool reading, again;
};

static bool postgres_command(struct keeper *keeper, struct keeper_words *words,
                             struct keeper_words *environment)
{
    const struct arguments *arguments = &keeper->shell->arguments;
    char ip[ADDRESS_TEXT_MAX];
    struct text made = {0};
    text_add(&made, "%s/data/made", arguments->state);
    bool is_made = access(text_string(&made), F_OK) == 0;
    text_release(&made);
    (void)environment;
    if (!is_made) {
        /* Its folder has initdb beside the server. */
        const char *slash = strrchr(arguments->program, '/');
        keeper_word(words, "/bin/sh");
        keeper_word(words, "-c");
        keeper_word(words,
                    "rm -rf \"$1\" && mkdir -p \"$1\" && \"$0\" -D \"$1/db\" -U coup -A trust -N"
                    " -E UTF8 --locale=C && echo host all all all trust >\"$1/hba\" &&"
                    " touch \"$1/made\"");
        keeper_word(words, "%.*s/initdb", (int)(slash - arguments->program), arguments->program);
        keeper_word(words, "%s/data", arguments->state);
        return true;
    }
    keeper_word(words, "%s", arguments->program);
    keeper_word(words, "-D");
    keeper_word(words, "%s/data/db", arguments->state);
    keeper_word(words, "--hba_file=%s/data/hba", arguments->state);
    keeper_word(words, "--listen_addresses=%s", address_format(keeper->address, ip));
    keeper_word(words, "--port=%u", POSTGRES_PORT);
    keeper_word(words, "--unix_socket_directories=");
    keeper_word(words, "--fsync=off");
    keeper_word(words, "--full_page_writes=off");
    keeper_word(words, "--autovacuum=off");
    keeper_word(words, "--shared_buffers=16MB");
    keeper_word(words, "--max_connections=200"); /* of lost ones some linger */
    keeper_word(words, "--tcp_keepalives_idle=1");
    keeper_word(words, "--tcp_keepalives_interval=1");
    keeper_word(words, "--tcp_keepalives_count=3");
    return false;
}

/* --- what it grants --- */

static bool read_entry(const PGresult *result, int row, uint64_t out[3])
{
    static const int columns[] = {0, 2, 3};
    for (int i = 0; i < 3; i++)
        if (parse_count(PQgetvalue(result, row, columns[i]), &out[i], NULL) < 0)
            return false;
    return true;
}

static void take_entries(struct postgres_keeper *postgres, const PGresult *result)
{
    uint64_t entry[3], place = 0; /* id, token, node */
    for (int row = 0; row < PQntuples(result); row++) {
        const char *what = PQgetvalue(result, row, 1);
        if (!read_entry(result, row, entry))
            continue;
        place = entry[0];
        if (strcmp(what, "grant") == 0)
            keeper_event(postgres->keeper, F_GRANT, "row", (uint32_t)entry[2], entry[1], NULL);
        else if (strcmp(what, "expire") == 0)
            keeper_event(postgres->keeper, F_EXPIRE, "row", (uint32_t)entry[2], entry[1], NULL);
        else
            keeper_event(postgres->keeper, F_REVOKE, "row", (uint32_t)entry[2], entry[1],
                         "released");
    }
    keeper_recorded(postgres->keeper, place);
}

static void read_log(struct postgres_keeper *postgres)
{
    postgres->again = postgres->reading;
    if (!postgres->reading)
        postgres->reading =
            pg_ask(postgres->pg, new_entries, &postgres->keeper->recorded, 1, postgres);
}

static void next_step(struct postgres_keeper *postgres)
{
    if (postgres->step < STEPS)
        (void)pg_ask(postgres->pg, schema[postgres->step], NULL, 0, postgres);
    else
        read_log(postgres);
}

static void fail(struct postgres_keeper *postgres, const PGresult *result)
{
    struct error error;
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    (void)error_set(&error, -1, "postgres: %s", message ? message : "no result");
    shell_fail(postgres->keeper->shell, &error);
}

static void on_connected(void *context)
{
    struct postgres_keeper *postgres = context;
    postgres->step = 0;
    postgres->reading = false;
    next_step(postgres);
}

/* A lost connection is made anew, and everything begins again. */
static void on_done(void *context, void *asker, const PGresult *result)
{
    struct postgres_keeper *postgres = context;
    ExecStatusType status = result ? PQresultStatus(result) : PGRES_EMPTY_QUERY;
    (void)asker;
    if (!result)
        return;
    if (postgres->step < STEPS && status == PGRES_COMMAND_OK) {
        postgres->step++;
        next_step(postgres);
    } else if (postgres->step == STEPS && status == PGRES_TUPLES_OK) {
        bool more = PQntuples(result) > 0 || postgres->again;
        take_entries(postgres, result);
        postgres->reading = false;
        keeper_ready(postgres->keeper);
        if (more)
            read_log(postgres);
    } else {
        fail(postgres, result);
    }
}

static void on_notified(void *context)
{
    struct postgres_keeper *postgres = context;
    if (postgres->step == STEPS)
        read_log(postgres);
}

static int postgres_begin(struct keeper *keeper, struct error *error)
{
    struct postgres_keeper *postgres = must_alloc(1, sizeof *postgres);
    const struct pg_events events = {postgres, on_connected, on_done, on_notified};
    char ip[ADDRESS_TEXT_MAX];
    const struct pg_config config = {
        .loop = &keeper->shell->loop,
        .ip = address_format(keeper->address, ip),
        .port = POSTGRES_PORT,
        .patience_ns = PATIENCE_NS,
    };
    (void)error;
    *postgres = (struct postgres_keeper){.keeper = keeper};
    keeper->state = postgres;
    pg_open(&config, &events, &postgres->pg);
    return 0;
}

/* The row belongs to no session. */
static bool postgres_drop(struct keeper *keeper, uint32_t node)
{
    (void)node;
    keeper_dropped(keeper, 0);
    return true;
}

const struct keeper_kind keeper_postgres = {.name = "postgres",
                                            .unprivileged = true,
                                            .command = postgres_command,
                                            .begin = postgres_begin,
                                            .drop = postgres_drop};
