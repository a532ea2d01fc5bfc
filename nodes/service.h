/* What a node does with its leadership, whichever algorithm gave it: write to the guarded resource
 * steadily with its token, and pass clients' requests on to it. Pure; one per incarnation of a
 * node, the same for real processes and the simulator.
 *
 * "May I act?" is asked with the clock of the very call that sends. Between that answer and the
 * message's arrival anything may happen: what a stale leader does then is the resource's to refuse.
 *
 * Own writes go to register 0, one open at a time, write_every apart. Clients use the others. */
#ifndef COUP_NODES_SERVICE_H
#define COUP_NODES_SERVICE_H

#include "nodes/elector.h"
#include "nodes/outbox.h"

#define SERVICE_OWN_REGISTER 0u
#define SERVICE_PENDING_MAX 256u

struct service_config {
    uint32_t id;          /* the node */
    bool twin;            /* another process under that id: its acts are told apart, not its mail */
    uint64_t incarnation; /* 1..INCARNATIONS_MAX */
    uint64_t write_every_ns;
    uint64_t request_timeout_ns;
};

/* A request the resource has not answered yet. */
struct pending {
    uint64_t id;          /* the operation's number, all the way */
    uint32_t client;      /* process number; 0: our own write */
    uint64_t deadline_ns; /* own monotonic */
    uint64_t token;
    uint32_t reg;
};

struct service {
    struct service_config config;
    struct belief belief;
    uint64_t counter;        /* of own writes */
    uint64_t own_id;         /* our open write of this reign, 0: none */
    uint64_t next_write_ns;  /* own monotonic */
    struct pending *pending; /* pending_count, at most SERVICE_PENDING_MAX */
    uint32_t pending_count, pending_capacity;
    struct reply *memory; /* planted bugs only: by register, what the resource answered last in this
                           * reign; owned; NULL: not kept */
};

/* Release frees what init and use allocated. */
void service_init(struct service *service, const struct service_config *config);
void service_release(struct service *service);

/* All times are the node's own monotonic clock. The belief after each step of the elector; when a
 * reign ends, clients whose requests are open are told "unknown". Writes at once at its start. */
void service_belief(struct service *service, const struct belief *belief, uint64_t now_ns,
                    struct outbox *outbox);

/* A client's request, its reply from the resource, or the time service_deadline() named. Replies
 * nobody waits for, and wakes that come early, do nothing. */
void service_request(struct service *service, uint32_t client, const struct request *request,
                     uint64_t now_ns, struct outbox *outbox);
void service_reply(struct service *service, const struct reply *reply, uint64_t now_ns,
                   struct outbox *outbox);
void service_wake(struct service *service, uint64_t now_ns, struct outbox *outbox);

/* The carrier knows that this request never left: it has certainly not happened. Optional. */
void service_unsent(struct service *service, uint64_t id, uint64_t now_ns, struct outbox *outbox);

/* The next time at which service_wake() has something to do; UINT64_MAX: none. */
uint64_t service_deadline(const struct service *service);

#endif
