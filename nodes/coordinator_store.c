#include "nodes/coordinator_store.h"

#include <errno.h>

#include <sqlite3.h>

#define FILE_NAME "coordinator.db"

static int failed(struct error *error, sqlite3 *database, const char *what)
{
    return error_set(error, -EIO, "%s " FILE_NAME ": %s", what, sqlite3_errmsg(database));
}

/* There is one revision and one row; of everything else one for each number. */
static int64_t key_of(const struct stored *stored)
{
    bool single = stored->kind == STORED_REVISION || stored->kind == STORED_ROW;
    return single ? 0 : (int64_t)stored->number;
}

static int prepare(struct coordinator_store *store, struct error *error)
{
    const struct {
        sqlite3_stmt **statement;
        const char *text;
    } all[] = {
        {&store->put, "insert or replace into stored values (?1, ?2, ?3, ?4, ?5, ?6)"},
        {&store->take, "delete from stored where kind = ?1 and key = ?2"},
        {&store->begin, "begin immediate"},
        {&store->commit, "commit"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (sqlite3_prepare_v2(store->database, all[i].text, -1, all[i].statement, NULL) !=
            SQLITE_OK)
            return failed(error, store->database, "prepare statements for");
    return 0;
}

/* The file's application_id tells runs apart: 31 bits of the run's number. */
static int check_owner(struct coordinator_store *store, uint64_t run, struct error *error)
{
    int wanted = (int)(run & 0x7fffffff) | 1, found = 0;
    char text[64];
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->database, "pragma application_id", -1, &statement, NULL) !=
        SQLITE_OK)
        return failed(error, store->database, "read");
    if (sqlite3_step(statement) == SQLITE_ROW)
        found = sqlite3_column_int(statement, 0);
    (void)sqlite3_finalize(statement); /* repeats the error of the step */
    if (found != 0 && found != wanted)
        return error_set(error, -EBADMSG, FILE_NAME " belongs to another run");
    (void)sqlite3_snprintf(sizeof text, text, "pragma application_id = %d", wanted);
    if (found == 0 && sqlite3_exec(store->database, text, NULL, NULL, NULL) != SQLITE_OK)
        return failed(error, store->database, "mark");
    return 0;
}

static int begin_file(struct coordinator_store *store, struct error *error)
{
    static const char text[] = "pragma journal_mode = wal;"
                               "pragma synchronous = full;"
                               "create table if not exists stored (kind integer, key integer,"
                               " number integer, value integer, owner integer, name integer,"
                               " primary key (kind, key)) without rowid;";
    if (sqlite3_exec(store->database, text, NULL, NULL, NULL) != SQLITE_OK)
        return failed(error, store->database, "begin");
    return 0;
}

static int load(struct coordinator_store *store, struct coordinator *core, uint64_t now_ns,
                struct error *error)
{
    sqlite3_stmt *statement = NULL;
    int rc = 0, code;
    if (sqlite3_prepare_v2(store->database,
                           "select kind, number, value, owner, name from stored order by kind, key",
                           -1, &statement, NULL) != SQLITE_OK)
        return failed(error, store->database, "read");
    while (rc == 0 && (code = sqlite3_step(statement)) != SQLITE_DONE) {
        const struct stored stored = {
            .kind = (enum stored_kind)sqlite3_column_int(statement, 0),
            .number = (uint64_t)sqlite3_column_int64(statement, 1),
            .value = (uint64_t)sqlite3_column_int64(statement, 2),
            .owner = (uint32_t)sqlite3_column_int64(statement, 3),
            .name = (uint32_t)sqlite3_column_int64(statement, 4),
        };
        if (code != SQLITE_ROW)
            rc = failed(error, store->database, "read");
        else if (!coordinator_load(core, &stored, now_ns))
            rc = error_set(error, -EBADMSG, FILE_NAME " holds what this service never writes");
    }
    (void)sqlite3_finalize(statement); /* repeats the error of the step */
    return rc;
}

int coordinator_store_open(const char *folder, uint64_t run, struct coordinator *core,
                           uint64_t now_ns, struct coordinator_store *out, struct error *error)
{
    struct coordinator_store store = {0};
    struct text path = {0};
    text_add(&path, "%s/" FILE_NAME, folder);
    int rc = 0;
    if (sqlite3_open(text_string(&path), &store.database) != SQLITE_OK)
        rc = failed(error, store.database, "open");
    if (rc == 0)
        rc = check_owner(&store, run, error);
    if (rc == 0)
        rc = begin_file(&store, error);
    if (rc == 0)
        rc = prepare(&store, error);
    if (rc == 0)
        rc = load(&store, core, now_ns, error);
    text_release(&path);
    if (rc < 0) {
        error_prefix(error, "state in %s", folder);
        coordinator_store_release(&store);
        return rc;
    }
    *out = store;
    return 0;
}

static int run_statement(sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    (void)sqlite3_reset(statement); /* repeats the error of the step */
    return code == SQLITE_DONE ? 0 : -EIO;
}

static int write_one(struct coordinator_store *store, const struct stored *stored)
{
    sqlite3_stmt *statement = stored->gone ? store->take : store->put;
    const int64_t values[] = {stored->kind,           key_of(stored), (int64_t)stored->number,
                              (int64_t)stored->value, stored->owner,  stored->name};
    int count = stored->gone ? 2 : 6;
    for (int i = 0; i < count; i++)
        if (sqlite3_bind_int64(statement, i + 1, values[i]) != SQLITE_OK)
            return -EIO;
    return run_statement(statement);
}

int coordinator_store_commit(struct coordinator_store *store, struct stored_list *changes,
                             struct error *error)
{
    if (changes->count == 0)
        return 0;
    int rc = run_statement(store->begin);
    for (uint32_t i = 0; rc == 0 && i < changes->count; i++)
        rc = write_one(store, &changes->at[i]);
    if (rc == 0)
        rc = run_statement(store->commit);
    if (rc < 0)
        return failed(error, store->database, "write");
    changes->count = 0;
    return 0;
}

void coordinator_store_release(struct coordinator_store *store)
{
    (void)sqlite3_finalize(store->put); /* NULL is fine; errors were reported */
    (void)sqlite3_finalize(store->take);
    (void)sqlite3_finalize(store->begin);
    (void)sqlite3_finalize(store->commit);
    (void)sqlite3_close(store->database); /* nothing is open on it any more */
    *store = (struct coordinator_store){0};
}
