#include "nodes/peer.h"

#include <string.h>

#include "base/units.h"

void peer_init(struct peer *peer, const struct elector_config *config, const char *stream)
{
    peer->config = *config;
    random_init(&peer->random, config->seed, stream, config->id);
}

void peer_start(struct peer *peer, const struct durable *stored)
{
    peer->durable = *stored;
    peer_saw(peer, peer_term(peer));
}

void peer_saw(struct peer *peer, uint64_t term)
{
    if (term > peer->highest_seen)
        peer->highest_seen = term;
}

void peer_keep(struct peer *peer, uint64_t term, uint32_t vote, struct output *output)
{
    peer_saw(peer, term);
    if (peer_term(peer) == term && peer_vote(peer) == vote)
        return;
    peer->durable.word[PEER_TERM] = term;
    peer->durable.word[PEER_VOTE] = vote;
    output_persist(output, &peer->durable);
}

bool peer_grant(struct peer *peer, uint64_t term, uint32_t candidate, struct output *output)
{
    bool again = term == peer_term(peer) && candidate == peer_vote(peer);
    if (term <= peer_term(peer) && !again)
        return false;
    peer_keep(peer, term, candidate, output);
    /* Said again, it is made durable again: a kill may have kept the first record unreported. */
    output_persist(output, &peer->durable);
    output_note(output, (struct note){.f = F_VOTE, .term = term, .peer = candidate});
    return true;
}

void peer_follow(struct peer *peer, uint64_t term, uint32_t leader, struct output *output)
{
    bool voted = term == peer_term(peer) && peer_vote(peer);
    peer_keep(peer, term, voted ? peer_vote(peer) : leader, output);
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

void peer_heard(struct peer *peer, const struct message *message, uint32_t argument,
                uint64_t now_ns)
{
    uint64_t sent_ns = message->argument[argument];
    if (peer->heard_ns && sent_ns <= now_ns && sent_ns > peer->heard_ns[message->source - 1])
        peer->heard_ns[message->source - 1] = sent_ns;
}

void peer_heard_from(struct peer *peer, const uint32_t *ids, uint32_t count, uint64_t sent_ns)
{
    if (!peer->heard_ns)
        return;
    memset(peer->heard_ns, 0, peer->config.nodes * sizeof peer->heard_ns[0]);
    for (uint32_t i = 0; i < count; i++)
        peer->heard_ns[ids[i] - 1] = sent_ns;
}

void peer_heard_members(struct peer *peer, const struct members *members, uint64_t sent_ns)
{
    for (uint32_t id = 1; peer->heard_ns && id <= peer->config.nodes; id++)
        peer->heard_ns[id - 1] = members_have(members, id) ? sent_ns : 0;
}

bool peer_has_majority(const struct peer *peer, uint64_t now_ns)
{
    uint32_t count = 1;
    if (!peer->heard_ns)
        return true;
    for (uint32_t id = 1; id <= peer->config.nodes; id++) {
        uint64_t heard_ns = peer->heard_ns[id - 1];
        if (id != peer->config.id && heard_ns &&
            now_ns - heard_ns <= peer->config.knobs.election_timeout_min)
            count++;
    }
    return count >= elector_majority(&peer->config);
}

int peer_check_wait(const struct elector_config *config, const char *algorithm,
                    const struct option *table, uint32_t option, struct error *error)
{
    char wait[UNIT_TEXT_MAX], timeout[UNIT_TEXT_MAX];
    if (config->options.at[option] <= config->knobs.election_timeout_min)
        return 0;
    return error_usage(error, "%s option %s (%s) must be <= election-timeout-min (%s)", algorithm,
                       table[option].name, format_duration(config->options.at[option], wait),
                       format_duration(config->knobs.election_timeout_min, timeout));
}
