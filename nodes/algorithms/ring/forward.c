/* What travels round a ring, from successor to successor. */
#include "nodes/algorithms/ring/ring.h"

#include <string.h>

static uint32_t after(const struct ring *ring, uint32_t id)
{
    return id % ring->peer.config.nodes + 1;
}

/* Send what is under way to its present target. */
static void send_forward(struct ring *ring, uint64_t now_ns, struct output *output)
{
    struct message message = ring->forward.message;
    if (message.target == ring->peer.config.id)
        return; /* a ring of one */
    uint32_t *copy = output_ids(output, message.id_count);
    memcpy(copy, ring->ids, message.id_count * sizeof copy[0]);
    message.ids = copy;
    message.argument[ARGUMENT_FORWARD] = ++ring->forward.number;
    ring->forward.waiting = true;
    ring->forward.expires_ns = now_ns + ring->peer.config.options.at[OPTION_ANSWER];
    peer_send(&ring->peer, message.target, message, output);
}

void ring_pass_on(struct ring *ring, const struct message *message, bool join, uint64_t now_ns,
                  struct output *output)
{
    uint32_t self = ring->peer.config.id;
    ring->forward.message = *message;
    if (message->id_count)
        memcpy(ring->ids, message->ids, message->id_count * sizeof ring->ids[0]);
    if (join)
        ring->ids[ring->forward.message.id_count++] = self;
    ring->forward.message.target = after(ring, self);
    send_forward(ring, now_ns, output);
}

/* It may be on the list although it is silent: it is heard and does not hear, and elected it would
 * never know. */
static void unlist(struct ring *ring, uint32_t id)
{
    struct message *message = &ring->forward.message;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < message->id_count; i++)
        if (ring->ids[i] != id)
            ring->ids[kept++] = ring->ids[i];
    message->id_count = kept;
}

bool ring_send_next(struct ring *ring, uint64_t now_ns, struct output *output)
{
    struct message *message = &ring->forward.message;
    if (message->kind == ELECTION)
        unlist(ring, message->target);
    message->target = after(ring, message->target);
    ring->forward.waiting = message->target != ring->peer.config.id;
    send_forward(ring, now_ns, output);
    return ring->forward.waiting;
}
