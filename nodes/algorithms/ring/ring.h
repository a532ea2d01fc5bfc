/* A ring's inside, shared by ring.c (elections) and forward.c (what travels). */
#ifndef COUP_NODES_ALGORITHMS_RING_H
#define COUP_NODES_ALGORITHMS_RING_H

#include "nodes/peer.h"

enum kind { ELECTION, COORDINATOR, ELECTED, ACKNOWLEDGE, HEARTBEAT, HEARTBEAT_REPLY };

/* Arguments of ELECTION: who started it, highest epoch met. Of COORDINATOR and ELECTED: the leader.
 * The last argument numbers a forward, for its acknowledgement. */
enum argument { ARGUMENT_WHO, ARGUMENT_EPOCH, ARGUMENT_HOPS, ARGUMENT_FORWARD };

enum choice { OPTION_QUORUM, OPTION_ANSWER };

enum defect { HONEST, REUSE_EPOCH, FORGET_EPOCH, NO_MAJORITY, VOTE_TWICE };

enum phase { RESTING, STANDING, LEADING };

/* The one message under way to our successor, kept until it is acknowledged. */
struct forward {
    bool waiting;
    struct message message; /* ids in ring.ids */
    uint64_t expires_ns;
    uint64_t number;
};

struct ring {
    struct peer peer;
    enum phase phase;
    uint32_t leader;
    uint32_t starter; /* of the election we passed on last, 0: none since a leader was known */
    uint64_t deadline_ns;
    uint64_t before; /* epochs of earlier incarnations: what comes round late was perhaps led in */
    struct forward forward;
    uint32_t *ids; /* of the forward, nodes + 1 */
    uint64_t storage[];
};

/* Take `message` as the one under way, with ourselves added to its list if `join`. A newer one
 * replaces an older: whoever started that will miss it and try again. */
void ring_pass_on(struct ring *ring, const struct message *message, bool join, uint64_t now_ns,
                  struct output *output);

/* The successor is silent: send to the one behind it. False: that is ourselves, everybody else is
 * dead and the message has come round. */
bool ring_send_next(struct ring *ring, uint64_t now_ns, struct output *output);

#endif
