/* What algorithms share: who a node is, its generator and durable words, sending in its name, sets
 * of members that answered, and how lately they did. Pure. */
#ifndef COUP_NODES_PEER_H
#define COUP_NODES_PEER_H

#include "nodes/elector.h"

struct peer {
    struct elector_config config;
    struct random random;
    struct durable durable;
};

/* `stream` names the generator, so that two algorithms of one seed do not draw alike. */
void peer_init(struct peer *peer, const struct elector_config *config, const char *stream);

/* A drawn election timeout, between the knobs' bounds. */
uint64_t peer_timeout(struct peer *peer);

/* Nodes above this id are witnesses: they answer and vote, and never lead. */
static inline uint32_t peer_electable(const struct peer *peer)
{
    return peer->config.nodes - peer->config.witnesses;
}

/* Source is filled in; everything else is as in `message`. */
void peer_send(const struct peer *peer, uint32_t target, struct message message,
               struct output *output);
/* To every node with first <= id <= last except this one. */
void peer_send_range(const struct peer *peer, uint32_t first, uint32_t last, struct message message,
                     struct output *output);
void peer_send_all(const struct peer *peer, struct message message, struct output *output);

/* A set of node ids in storage of the algorithm's state: members_words(n) words. */
struct members {
    uint64_t *bits;
    uint32_t count;
};

static inline size_t members_words(uint32_t nodes)
{
    return (nodes + 63) / 64;
}

void members_clear(struct members *members, uint32_t nodes);
bool members_add(struct members *members, uint32_t id); /* false: was in already */
bool members_have(const struct members *members, uint32_t id);

/* How many of the n nodes were heard within the window before now, this node included.
 * `heard_ns[id - 1]` is the node's own clock when `id` last answered, 0 for never. */
uint32_t peer_heard_lately(const struct peer *peer, const uint64_t *heard_ns, uint64_t now_ns,
                           uint64_t window_ns);

#endif
