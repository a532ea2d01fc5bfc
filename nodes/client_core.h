/* One client: reads, writes and compares-and-sets registers 1..n through the node it believes
 * leads, one operation at a time, every written value unique. Pure; the same for real processes and
 * the simulator.
 *
 * Refused is `fail` (it did not happen and will not); no answer in time is `info` (it may have, or
 * may still), and the client goes on under its name with the next id. It follows a refusing node's
 * hint; without one it tries the next node, with a pause when it has been told "no leader". */
#ifndef COUP_NODES_CLIENT_CORE_H
#define COUP_NODES_CLIENT_CORE_H

#include "base/random.h"
#include "nodes/outbox.h"

struct client_config {
    uint32_t client;      /* 1.. */
    uint64_t incarnation; /* 1..INCARNATIONS_MAX */
    uint32_t nodes;
    uint32_t registers; /* uses 1..registers */
    uint64_t pause_ns;  /* mean distance between beginnings of operations */
    uint64_t request_timeout_ns;
    uint64_t seed;
};

struct client {
    struct client_config config;
    struct random random;
    bool running;
    uint64_t counter;  /* of operations begun */
    uint32_t node;     /* whom to ask */
    uint64_t next_ns;  /* when the next operation begins */
    uint64_t open_id;  /* the open operation's number, 0: none */
    uint64_t since_ns; /* when it began */
    uint32_t open_node;
    struct request open;
    uint64_t seen[WIRE_REGISTERS_MAX]; /* last value read or written, what a cas expects */
};

void client_init(struct client *client, const struct client_config *config);

/* All times are the client's own monotonic clock. After stop the open operation may still end. */
void client_start(struct client *client, uint64_t now_ns);
void client_stop(struct client *client);

/* The time client_deadline() named, or an answer; early wakes and late answers do nothing. */
void client_wake(struct client *client, uint64_t now_ns, struct outbox *outbox);
void client_reply(struct client *client, uint32_t source, const struct reply *reply,
                  uint64_t now_ns, struct outbox *outbox);

/* The carrier knows that the open request never left: it has certainly not happened. Optional. */
void client_unsent(struct client *client, uint64_t id, uint64_t now_ns, struct outbox *outbox);

/* UINT64_MAX: nothing to do until an answer comes. */
uint64_t client_deadline(const struct client *client);

#endif
