/* What algorithms share: who a node is, its generator and durable words, sending in its name, sets
 * of members that answered, and how lately they did. Pure. */
#ifndef COUP_NODES_PEER_H
#define COUP_NODES_PEER_H

#include "nodes/elector.h"

/* The first two durable words of every algorithm that uses this. */
enum peer_word { PEER_TERM, PEER_VOTE };

struct peer {
    struct elector_config config;
    struct random random;
    struct durable durable;
    uint64_t highest_seen; /* terms heard of; a new one is above them */
    uint64_t *heard_ns;    /* by id - 1: own clock when the question it last answered was SENT (an
                            * answer read after a pause proves nothing new), 0: never; or NULL */
};

/* `stream` names the generator, so that two algorithms of one seed do not draw alike. */
void peer_init(struct peer *peer, const struct elector_config *config, const char *stream);

/* Take up what was persisted. */
void peer_start(struct peer *peer, const struct durable *stored);

static inline uint64_t peer_term(const struct peer *peer)
{
    return peer->durable.word[PEER_TERM];
}

static inline uint32_t peer_vote(const struct peer *peer)
{
    return (uint32_t)peer->durable.word[PEER_VOTE];
}

static inline bool peer_broken(const struct peer *peer, uint32_t bug)
{
    return peer->config.bug == bug;
}

void peer_saw(struct peer *peer, uint64_t term);

/* Make term and vote durable, unless they are already. */
void peer_keep(struct peer *peer, uint64_t term, uint32_t vote, struct output *output);

/* Grant `candidate` this node's one vote of `term`: kept, noted, true; also for a repeated request.
 * False if a higher term is known or the vote of this one is given. */
bool peer_grant(struct peer *peer, uint64_t term, uint32_t candidate, struct output *output);

/* `leader` leads `term`, which is not below ours: take the term up. The vote of a term is kept also
 * when it went to somebody who lost: following the winner is no second vote. */
void peer_follow(struct peer *peer, uint64_t term, uint32_t leader, struct output *output);

/* A drawn election timeout, between the knobs' bounds. */
uint64_t peer_timeout(struct peer *peer);

/* Nodes above this id are witnesses: they answer and vote, and never lead. */
static inline uint32_t peer_electable(const struct peer *peer)
{
    return peer->config.nodes - peer->config.witnesses;
}

static inline bool peer_is_witness(const struct peer *peer)
{
    return elector_is_witness(&peer->config, peer->config.id);
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

/* Those in `ids` answered what was sent at `sent_ns`, the others nothing yet: leadership begins. */
void peer_heard_from(struct peer *peer, const uint32_t *ids, uint32_t count, uint64_t sent_ns);
/* `message` answers a question that carried our clock in this argument, which it echoes. */
void peer_heard(struct peer *peer, const struct message *message, uint32_t argument,
                uint64_t now_ns);

/* The same for a set. */
struct members;
void peer_heard_members(struct peer *peer, const struct members *members, uint64_t sent_ns);

/* Whether a majority of all n, this node included, answered within the shortest election timeout:
 * until then no other can have been elected by those who answered. True where heard_ns is NULL. */
bool peer_has_majority(const struct peer *peer, uint64_t now_ns);

/* For validate(): a wait longer than the shortest election timeout would have everybody suspect the
 * leader before it is over. `option` is a row of the algorithm's table. */
int peer_check_wait(const struct elector_config *config, const char *algorithm,
                    const struct option *table, uint32_t option, struct error *error);

#endif
