/* The database of the lease in PostgreSQL: one row, changed by one statement, and a log that a
 * trigger writes in the same transaction, so that what was granted is known by the database's own
 * word, in its own order. Times are ns since 1970. now() is the time at which a statement began,
 * which a wait for the row makes late, so that nothing runs out too early. */
#ifndef COUP_NODES_SERVICES_POSTGRES_H
#define COUP_NODES_SERVICES_POSTGRES_H

#define POSTGRES_PORT 5432u

#define POSTGRES_CHANNEL "coup_log"

#endif
