/* The coordination service's state on disk: one SQLite table, written ahead and synced (WAL,
 * synchronous=FULL). All asks that came in a row are made durable by one transaction; only then are
 * they recorded and answered. */
#ifndef COUP_NODES_COORDINATOR_STORE_H
#define COUP_NODES_COORDINATOR_STORE_H

#include "base/error.h"
#include "nodes/coordinator_core.h"

struct sqlite3;
struct sqlite3_stmt;

struct coordinator_store {
    struct sqlite3 *database;
    struct sqlite3_stmt *put, *take, *begin, *commit;
};

/* Read what the folder holds into `core`, or begin; a file of another run, or one that is damaged,
 * is an error that names it. */
int coordinator_store_open(const char *folder, uint64_t run, struct coordinator *core,
                           uint64_t now_ns, struct coordinator_store *out, struct error *error);

/* All changes are durable, and the list is empty, when it returns 0. */
int coordinator_store_commit(struct coordinator_store *store, struct stored_list *changes,
                             struct error *error);
void coordinator_store_release(struct coordinator_store *store);

#endif
