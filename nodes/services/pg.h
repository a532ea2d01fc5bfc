/* One connection to PostgreSQL by libpq, in the uv loop: nothing here waits. Statements queue up
 * and are sent one after the other; a connection that is lost, or silent for too long, is given up
 * with whatever was asked on it, and made anew. Nothing of the environment, no file and no
 * password counts. */
#ifndef COUP_NODES_SERVICES_PG_H
#define COUP_NODES_SERVICES_PG_H

#include <libpq-fe.h>
#include <uv.h>

#include "base/error.h"

#define PG_VALUES_MAX 6u
#define PG_STATEMENTS_MAX 16u /* under way and waiting; more are refused */

/* What was asked, and by whom. Texts are owned by the connection. */
struct pg_statement {
    const char *sql; /* static */
    char *values[PG_VALUES_MAX];
    uint32_t value_count;
    void *asker;
};

struct pg_events {
    void *context;
    void (*connected)(void *context);
    /* What became of a statement: NULL: nobody knows. The asker is the receiver's to free. */
    void (*done)(void *context, void *asker, const PGresult *result);
    void (*notified)(void *context); /* somebody notifies the channel that is listened to */
};

struct pg;
struct pg_config {
    uv_loop_t *loop;
    const char *ip; /* "10.1.2.3" */
    uint32_t port;
    uint64_t patience_ns; /* of a connection, and of a statement */
};
/* It lasts as long as the process, and connects at once. */
void pg_open(const struct pg_config *config, const struct pg_events *events, struct pg **out);

/* Values are decimal numbers. False: there is no connection, or too much waits for it. */
bool pg_ask(struct pg *pg, const char *sql, const uint64_t *values, uint32_t count, void *asker);

#endif
