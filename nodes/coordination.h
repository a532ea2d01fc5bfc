/* What electors say to a coordination service and hear from it: one small interface for the
 * embedded service and for adapters of real ones. Asks and answers travel in the common envelope,
 * with SERVICE_ID where a peer's id would stand, so that sending, counting and tracing need to know
 * nothing of them. Pure.
 *
 * Records belong to sessions and go with them; a session lives as long as it is kept alive within
 * its ttl. A record's number is the service's revision at its creation: it only grows, so it serves
 * as fencing token. An ask may get no answer, and an answer may come late or twice. */
#ifndef COUP_NODES_COORDINATION_H
#define COUP_NODES_COORDINATION_H

#include "nodes/elector.h"

#define SERVICE_ID 0u

/* The message kinds of every algorithm with trait service, in the order of the enum. */
extern const char *const coordination_kinds[];

enum coordination_kind {
    ASK_OPEN,      /* a session of `ttl_ns`: ALIVE */
    ASK_KEEPALIVE, /* `session` begins its ttl anew: ALIVE, or GONE */
    ASK_ACQUIRE,   /* put the one record if it is absent: OK, REFUSED with the one there, or GONE */
    ASK_ENQUEUE,   /* add a record behind all others: OK, or GONE */
    ASK_RELEASE,   /* delete `record`, or whichever there is if that is 0: OK. Of UPDATE: give the
                    * row up if `record` is its token */
    ASK_AFTER,     /* the first record numbered above `record`, or the row: OK, record 0 if none */
    ASK_BEFORE,    /* the last record numbered below `record`: OK, with record 0 if none */
    ASK_WATCH,     /* CHANGED, once, when `record` goes; at once if it has gone already */
    ASK_UPDATE,    /* one statement, by the clock `now_ns` or, if that is 0, the service's own: if
                    * the row's token is `record` and it is `name`'s, extend it by `ttl_ns`; else, if
                    * it is `name`'s or has run out, take it with a new token: OK, or REFUSED */
    ASKS,
    ANSWER_ALIVE = ASKS,
    ANSWER_OK,
    ANSWER_REFUSED,
    ANSWER_GONE, /* there is no such session */
    ANSWER_CHANGED,
    COORDINATION_KINDS,
};

struct ask {
    enum coordination_kind kind; /* ASK_ */
    uint64_t id;                 /* echoed; the asker's own clock when it asked, made unique */
    uint64_t session, record, ttl_ns;
    uint64_t now_ns; /* UPDATE alone, which has no session */
    uint32_t name;   /* 1..n: as whom the asker holds what it gets */
};

struct answer {
    enum coordination_kind kind; /* ANSWER_ */
    uint64_t id;
    uint64_t session; /* the record's; ALIVE and GONE: the one asked for */
    uint64_t record;
    uint64_t left_ns; /* REFUSED to an update: how long the row is still held */
    uint32_t holder;  /* node that has the record; 0: none */
};

struct message ask_message(const struct ask *ask, uint32_t source);
struct message answer_message(const struct answer *answer, uint32_t target);

/* False: not what the kind demands (a name or holder beyond `nodes`, an answer for an ask). */
bool ask_read(const struct message *message, uint32_t nodes, struct ask *out);
bool answer_read(const struct message *message, uint32_t nodes, struct answer *out);

#endif
