/* The embedded coordination service: sessions with a ttl, records that go with their session,
 * watches, and the one row of the database lease. Pure; the program makes its changes durable, the
 * simulator keeps them in memory. Sessions are timed by the service's own monotonic clock, the row
 * by its wall clock, as databases do.
 *
 * After a restart every session gets its whole ttl again, because nobody knows when it was last
 * kept alive: leases last longer then, never shorter. Watches are forgotten; whoever asks for one
 * again is told at once of what it missed. */
#ifndef COUP_NODES_COORDINATOR_CORE_H
#define COUP_NODES_COORDINATOR_CORE_H

#include "nodes/coordination.h"
#include "nodes/outbox.h"

/* Of the whole service; who asks for more is refused. */
#define COORDINATOR_SESSIONS_MAX 4096u
#define COORDINATOR_RECORDS_MAX 4096u

/* What must be durable before the outbox is carried out, in this order. Values by kind:
 * session: number, ttl, owner; record: number, session, owner (queued: 1 if enqueued); row: token,
 * wall time of its end, owner, name; revision: number. */
enum stored_kind { STORED_REVISION, STORED_SESSION, STORED_RECORD, STORED_ROW, STORED_KINDS };

struct stored {
    enum stored_kind kind;
    bool gone; /* delete it: only the number counts */
    uint64_t number, value;
    uint32_t owner, name;
};

struct stored_list {
    struct stored *at;
    uint32_t count, capacity;
};

struct service_time {
    uint64_t now_ns;  /* own monotonic */
    uint64_t wall_ns; /* own wall */
};

struct coordinator;
struct coordinator *coordinator_new(uint32_t nodes);
void coordinator_free(struct coordinator *coordinator);

/* Before anything else: what was durable, in any order. False: it is out of bounds. */
bool coordinator_load(struct coordinator *coordinator, const struct stored *stored,
                      uint64_t now_ns);
/* All of it, as coordinator_load() takes it; appended to `out`. */
void coordinator_dump(const struct coordinator *coordinator, struct stored_list *out);

/* What has changed since the last clear; the caller empties it once it is durable. */
struct stored_list *coordinator_changes(struct coordinator *coordinator);
void stored_list_release(struct stored_list *list);

/* One ask of node `message->source`. Asks that make no sense are passed over, and so are those that
 * come twice or were overtaken: ids of a node only grow, as if it had a connection. */
void coordinator_ask(struct coordinator *coordinator, const struct message *message,
                     struct service_time time, struct outbox *outbox);

/* End the sessions that have run out. Early calls do nothing. */
void coordinator_wake(struct coordinator *coordinator, uint64_t now_ns, struct outbox *outbox);
/* When coordinator_wake() has something to do, own monotonic; UINT64_MAX: never. */
uint64_t coordinator_deadline(const struct coordinator *coordinator);

/* Forget the sessions of a node as a service may that loses them, without a word to it. How many
 * there were. */
uint32_t coordinator_drop(struct coordinator *coordinator, uint32_t node, struct outbox *outbox);

#endif
