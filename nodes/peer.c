#include "nodes/peer.h"

#include <string.h>

void peer_init(struct peer *peer, const struct elector_config *config, const char *stream)
{
    peer->config = *config;
    random_init(&peer->random, config->seed, stream, config->id);
}

uint64_t peer_timeout(struct peer *peer)
{
    const struct knobs *knobs = &peer->config.knobs;
    return random_between(&peer->random, knobs->election_timeout_min, knobs->election_timeout_max);
}

void peer_send(const struct peer *peer, uint32_t target, struct message message,
               struct output *output)
{
    message.source = peer->config.id;
    message.target = target;
    output_send(output, message);
}

void peer_send_range(const struct peer *peer, uint32_t first, uint32_t last, struct message message,
                     struct output *output)
{
    for (uint32_t id = first; id <= last; id++)
        if (id != peer->config.id)
            peer_send(peer, id, message, output);
}

void peer_send_all(const struct peer *peer, struct message message, struct output *output)
{
    peer_send_range(peer, 1, peer->config.nodes, message, output);
}

void members_clear(struct members *members, uint32_t nodes)
{
    memset(members->bits, 0, members_words(nodes) * sizeof members->bits[0]);
    members->count = 0;
}

bool members_have(const struct members *members, uint32_t id)
{
    return members->bits[(id - 1) / 64] >> ((id - 1) % 64) & 1;
}

bool members_add(struct members *members, uint32_t id)
{
    if (members_have(members, id))
        return false;
    members->bits[(id - 1) / 64] |= UINT64_C(1) << ((id - 1) % 64);
    members->count++;
    return true;
}

uint32_t peer_heard_lately(const struct peer *peer, const uint64_t *heard_ns, uint64_t now_ns,
                           uint64_t window_ns)
{
    uint32_t count = 1;
    for (uint32_t id = 1; id <= peer->config.nodes; id++)
        if (id != peer->config.id && heard_ns[id - 1] && now_ns - heard_ns[id - 1] <= window_ns)
            count++;
    return count;
}
