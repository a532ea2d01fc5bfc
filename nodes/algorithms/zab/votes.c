/* Zab's fast leader election: who looks for a leader exchanges votes until a majority agrees on
 * one, or joins a leader that a majority already follows. */
#include "nodes/algorithms/zab/zab.h"

static bool better(struct ballot a, struct ballot b)
{
    if (a.leader == 0 || b.leader == 0)
        return a.leader != 0;
    if (a.epoch != b.epoch)
        return a.epoch > b.epoch;
    return a.last != b.last ? a.last > b.last : a.leader > b.leader;
}

struct ballot zab_own_ballot(const struct zab *zab)
{
    const struct elector_config *config = &zab->peer.config;
    if (elector_is_witness(config, config->id))
        return (struct ballot){0};
    return (struct ballot){config->id, zab->peer.durable.word[WORD_CURRENT], zab->last};
}

void zab_notify(struct zab *zab, uint32_t target, struct output *output)
{
    uint64_t looking = zab->phase == LOOKING ? ROUND_LOOKING : 0;
    struct message message = {.kind = NOTIFICATION,
                              .term = peer_term(&zab->peer),
                              .argument = {zab->ballot.leader, zab->ballot.epoch, zab->ballot.last,
                                           zab->round | looking}};
    if (target)
        peer_send(&zab->peer, target, message, output);
    else
        peer_send_all(&zab->peer, message, output);
}

static uint32_t supporters(const struct zab *zab)
{
    uint32_t count = zab->ballot.leader != 0;
    for (uint32_t id = 1; id <= zab->peer.config.nodes; id++) {
        const struct heard *heard = &zab->heard[id - 1];
        if (id != zab->peer.config.id && heard->looking && heard->round == zab->round &&
            heard->ballot.leader == zab->ballot.leader)
            count++;
    }
    return count;
}

static void settle(struct zab *zab, uint64_t now_ns)
{
    bool stands = supporters(zab) >= elector_majority(&zab->peer.config);
    zab->settle_ns = stands ? now_ns + zab->peer.config.options.at[OPTION_SETTLE] : UINT64_MAX;
}

void zab_vote_for(struct zab *zab, struct ballot ballot, uint64_t now_ns, struct output *output)
{
    zab->ballot = ballot;
    zab->repeat_ns = now_ns + zab->peer.config.knobs.heartbeat;
    zab_notify(zab, 0, output);
    settle(zab, now_ns);
}

/* Enough of those who do not look any more name one leader, and it is among them. */
static bool established(const struct zab *zab, uint32_t leader)
{
    uint32_t count = 1;
    for (uint32_t id = 1; id <= zab->peer.config.nodes; id++) {
        const struct heard *heard = &zab->heard[id - 1];
        count += id != zab->peer.config.id && heard->round && !heard->looking &&
                 heard->ballot.leader == leader;
    }
    const struct heard *itself = &zab->heard[leader - 1];
    return leader != zab->peer.config.id && itself->round && !itself->looking &&
           itself->ballot.leader == leader && count >= elector_majority(&zab->peer.config);
}

void zab_on_notification(struct zab *zab, const struct message *message, uint64_t now_ns,
                         struct output *output)
{
    uint64_t leader = message->argument[ARGUMENT_LEADER];
    uint64_t round = message->argument[ARGUMENT_ROUND];
    if (leader > peer_electable(&zab->peer))
        return;
    struct heard *heard = &zab->heard[message->source - 1];
    *heard = (struct heard){.round = round & (ROUND_LOOKING - 1),
                            .looking = round & ROUND_LOOKING,
                            .ballot = {(uint32_t)leader, message->argument[ARGUMENT_EPOCH],
                                       message->argument[ARGUMENT_LAST]}};
    if (zab->phase != LOOKING) {
        if (heard->looking)
            zab_notify(zab, message->source, output);
        return;
    }
    if (!heard->looking) {
        if (leader && established(zab, (uint32_t)leader)) {
            zab->ballot = heard->ballot;
            zab_follow(zab, (uint32_t)leader, now_ns, output);
        }
        return;
    }
    if (heard->round > zab->round) {
        zab->round = heard->round;
        struct ballot own = zab_own_ballot(zab);
        zab_vote_for(zab, better(heard->ballot, own) ? heard->ballot : own, now_ns, output);
    } else if (heard->round < zab->round) {
        zab_notify(zab, message->source, output);
    } else if (better(heard->ballot, zab->ballot)) {
        zab_vote_for(zab, heard->ballot, now_ns, output);
    } else if (zab->settle_ns == UINT64_MAX) {
        settle(zab, now_ns);
    }
}
