/* The faulted network as a process sees it: one NNG socket that listens on the process's own
 * address for all that comes, and one for every process it sends to, so that each directed link is
 * a connection of its own. Lives in the uv loop; NNG's threads touch nothing of ours but
 * atomics and a wake-up.
 *
 * Sending never waits. A message to a peer that is not connected is dropped and the caller told;
 * towards one whose connection takes no more, the oldest waiting gives way. While two attempts to
 * connect have both succeeded a message may come twice. Connections that are down are dialled again
 * every 150 to 250 ms, more seldom where many are, and at once when the peer dials us or is heard
 * from. */
#ifndef COUP_NODES_MESH_H
#define COUP_NODES_MESH_H

#include <uv.h>

#include "base/error.h"
#include "nodes/wire.h"

struct mesh_config {
    uint64_t run;
    uint32_t self;         /* process number, as others know it */
    uint32_t home;         /* whose address is ours */
    uint32_t base;         /* nodes/address.h */
    uint32_t nodes;        /* n, for vetting what comes */
    uint32_t kinds;        /* message kinds of the algorithm; 0: takes no election messages */
    bool service;          /* they are those of a coordination service */
    const uint32_t *peers; /* process numbers to send to; copied */
    uint32_t peer_count;
    uint64_t seed; /* spreads dialling in time */
};

struct mesh_events {
    void (*message)(void *context, const struct envelope *envelope); /* borrowed for the call */
    void (*drained)(void *context); /* after the last message of a row; may be NULL */
    void *context;
};

/* There is no closing: in NNG 1.5.2 that can wait for ever for a pipe which a message reaches at
 * the same moment. A mesh lasts as long as its process, which ends without tearing NNG down. After
 * a failure to open nothing is left to do but to end likewise. */
struct mesh;
int mesh_open(uv_loop_t *loop, const struct mesh_config *config, const struct mesh_events *events,
              struct mesh **out, struct error *error);

/* Sends to envelope->target under the run's number. False: it certainly did not leave. */
bool mesh_send(struct mesh *mesh, const struct envelope *envelope);

/* Where a node's messages go from now on: to it, to its twin as well, or to the twin alone. Only
 * one node has a twin at a time; 0 or a negative errno, `error` set. */
enum mesh_reach { REACH_NODE, REACH_BOTH, REACH_TWIN };
int mesh_twin(struct mesh *mesh, uint32_t node, enum mesh_reach reach, struct error *error);

uint32_t mesh_self(const struct mesh *mesh);
/* Whose address is ours: ourselves', or a twin's. */
uint32_t mesh_home(const struct mesh *mesh);

/* Messages that were none of this run's or not for us, and those that were malformed. */
uint64_t mesh_foreign(const struct mesh *mesh);
uint64_t mesh_malformed(const struct mesh *mesh);

#endif
