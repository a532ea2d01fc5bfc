/* Ring election by collecting ids (Le Lann, "Distributed Systems: Towards a Formal Approach", 1977,
 * with the announcement round of Chang and Roberts, CACM 22(5), 1979): an election token travels
 * the ring of ids and every member adds itself; where it meets a node already listed, the highest
 * listed id is announced round the ring. A successor that does not acknowledge is skipped. Of
 * several tokens the one started by the highest id survives.
 *
 * term = epoch = highest seen by the token + 1, kept on disk. With quorum=on the announcement
 * collects a vote of every member it passes, and the leader acts only on a majority of them. */
#include "nodes/algorithms/ring/ring.h"

#include <string.h>

#include "base/units.h"

static const char *const kinds[] = {"election",  "coordinator",     "elected", "acknowledge",
                                    "heartbeat", "heartbeat-reply", NULL};

static const char *const words[] = {"term", "vote", NULL};

static const struct option options[] = {
    {"quorum", OPTION_SWITCH, "off", 0, 0, NULL, "act only with the votes of a majority of all n"},
    {"answer", OPTION_DURATION, "60ms", NS_PER_MS, 60 * NS_PER_S, NULL,
     "how long a successor may take to acknowledge before it is skipped"},
    {.name = NULL},
};

static const struct bug bugs[] = {
    {"reuse-epoch", "announces the highest epoch met instead of a new one", "",
     "single-leader-per-term", "kill", 50},
    {"forget-epoch",
     "a member that restarts counts epochs from zero and believes it (cf. corosync/corosync#495)",
     "", "term-monotonic", "kill", 50},
    {"no-majority", "quorum=on, but any announcement that came round is enough", "quorum=on",
     "majority-support", "partition,kill", 100},
    {"vote-twice", "a member votes for every announcement of an epoch", "quorum=on", "vote-once",
     "partition,kill,link", 500},
    {.name = NULL},
};

static bool broken(const struct ring *ring, enum defect defect)
{
    return peer_broken(&ring->peer, defect);
}

static bool quorum(const struct ring *ring)
{
    return ring->peer.config.options.at[OPTION_QUORUM];
}

static void rest(struct ring *ring, uint64_t now_ns, const char *reason, struct output *output)
{
    if (ring->phase == LEADING)
        output->step_reason = reason;
    ring->phase = RESTING;
    ring->leader = 0;
    ring->deadline_ns = now_ns + peer_timeout(&ring->peer);
}

/* What has gone `hops` of its way round may have to skip every member that is left. */
static void await_round(struct ring *ring, uint32_t hops)
{
    const struct elector_config *config = &ring->peer.config;
    if (hops < config->nodes)
        ring->deadline_ns += config->options.at[OPTION_ANSWER] * (config->nodes - hops);
}

static bool listed(const uint32_t *ids, uint32_t count, uint32_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static bool grant(struct ring *ring, uint64_t epoch, uint32_t candidate, struct output *output)
{
    if (broken(ring, VOTE_TWICE) && epoch == peer_term(&ring->peer))
        ring->peer.durable.word[PEER_VOTE] = candidate;
    return peer_grant(&ring->peer, epoch, candidate, output);
}

/* They carry our clock, which answers echo. */
static void send_heartbeats(const struct ring *ring, uint64_t now_ns, struct output *output)
{
    peer_send_all(
        &ring->peer,
        (struct message){.kind = HEARTBEAT, .term = peer_term(&ring->peer), .argument = {now_ns}},
        output);
}

static void lead(struct ring *ring, uint64_t epoch, uint64_t now_ns, struct output *output)
{
    const struct peer *peer = &ring->peer;
    peer_keep(&ring->peer, epoch, peer->config.id, output);
    ring->phase = LEADING;
    ring->leader = peer->config.id;
    ring->starter = 0;
    ring->deadline_ns = now_ns + peer->config.knobs.heartbeat;
    send_heartbeats(ring, now_ns, output);
}

/* quorum=on: too few to elect anybody. */
static bool lacks_majority(const struct ring *ring, uint32_t count)
{
    return quorum(ring) && count < elector_majority(&ring->peer.config) &&
           !broken(ring, NO_MAJORITY);
}

/* quorum=on: the announcement came round with these votes. */
static void count_votes(struct ring *ring, uint64_t epoch, const uint32_t *ids, uint32_t count,
                        uint64_t now_ns, struct output *output)
{
    uint32_t self = ring->peer.config.id;
    if (lacks_majority(ring, count) || epoch <= ring->before || epoch != peer_term(&ring->peer) ||
        peer_vote(&ring->peer) != self || ring->phase == LEADING)
        return;
    peer_heard_from(&ring->peer, ids, count, now_ns);
    lead(ring, epoch, now_ns, output);
}

/* The token came round: announce the highest electable id it collected. An epoch that nobody can
 * win would only set its few members against the leader of the others. */
static void announce(struct ring *ring, const struct message *token, uint64_t now_ns,
                     struct output *output)
{
    uint32_t leader = 0;
    for (uint32_t i = 0; i < token->id_count; i++)
        if (token->ids[i] > leader && token->ids[i] <= peer_electable(&ring->peer))
            leader = token->ids[i];
    peer_saw(&ring->peer, token->argument[ARGUMENT_EPOCH]);
    if (leader == 0)
        return;
    rest(ring, now_ns, "an election", output);
    if (lacks_majority(ring, token->id_count))
        return;
    await_round(ring, 0);
    uint64_t next =
        ring->peer.highest_seen + (broken(ring, REUSE_EPOCH) && ring->peer.highest_seen ? 0 : 1);
    struct message message = {.kind = COORDINATOR, .term = next, .argument = {leader}};
    uint32_t self = ring->peer.config.id;
    bool join = true;
    if (quorum(ring)) {
        join = grant(ring, next, leader, output);
    } else {
        peer_keep(&ring->peer, next, leader, output);
        ring->leader = leader == self ? 0 : leader;
    }
    ring_pass_on(ring, &message, join, now_ns, output);
    if (leader == self && !quorum(ring))
        lead(ring, next, now_ns, output);
    if (ring->peer.config.nodes == 1 && quorum(ring))
        count_votes(ring, next, ring->ids, join, now_ns, output);
}

static void stand(struct ring *ring, uint64_t now_ns, struct output *output)
{
    const struct elector_config *config = &ring->peer.config;
    rest(ring, now_ns, "a new election", output);
    ring->phase = STANDING;
    ring->starter = config->id;
    await_round(ring, 0);
    output_note(output, (struct note){.f = F_CAMPAIGN});
    struct message token = {.kind = ELECTION,
                            .term = peer_term(&ring->peer),
                            .argument = {config->id, ring->peer.highest_seen}};
    if (config->nodes > 1) {
        ring_pass_on(ring, &token, true, now_ns, output);
        return;
    }
    token.ids = &config->id;
    token.id_count = 1;
    announce(ring, &token, now_ns, output);
}

static void on_election(struct ring *ring, const struct message *message, uint64_t now_ns,
                        struct output *output)
{
    const struct elector_config *config = &ring->peer.config;
    uint32_t starter = (uint32_t)message->argument[ARGUMENT_WHO];
    peer_saw(&ring->peer, message->argument[ARGUMENT_EPOCH]);
    if (listed(message->ids, message->id_count, config->id)) {
        announce(ring, message, now_ns, output);
        return;
    }
    if (message->id_count >= config->nodes || ring->starter > starter)
        return;
    rest(ring, now_ns, "an election", output);
    await_round(ring, message->id_count);
    ring->starter = starter;
    struct message token = *message;
    token.argument[ARGUMENT_EPOCH] = ring->peer.highest_seen;
    ring_pass_on(ring, &token, true, now_ns, output);
}

/* The announcement is back where it began, or has met everybody. */
static void came_round(struct ring *ring, const struct message *message, uint64_t now_ns,
                       struct output *output)
{
    uint32_t leader = (uint32_t)message->argument[ARGUMENT_WHO];
    if (!quorum(ring))
        return;
    if (leader == ring->peer.config.id) {
        count_votes(ring, message->term, message->ids, message->id_count, now_ns, output);
        return;
    }
    struct message elected = *message;
    uint32_t *copy = output_ids(output, message->id_count);
    memcpy(copy, message->ids, message->id_count * sizeof copy[0]);
    elected.ids = copy;
    elected.kind = ELECTED;
    peer_send(&ring->peer, leader, elected, output);
}

static void on_coordinator(struct ring *ring, const struct message *message, uint64_t now_ns,
                           struct output *output)
{
    const struct elector_config *config = &ring->peer.config;
    uint32_t leader = (uint32_t)message->argument[ARGUMENT_WHO];
    peer_saw(&ring->peer, message->term);
    if (listed(message->ids, message->id_count, config->id)) {
        came_round(ring, message, now_ns, output);
        return;
    }
    /* Epochs begin at 1. */
    if (message->term == 0 || message->term < peer_term(&ring->peer) ||
        message->id_count >= config->nodes || message->argument[ARGUMENT_HOPS] >= 2 * config->nodes)
        return;
    bool join = true;
    rest(ring, now_ns, "an announcement", output);
    await_round(ring, (uint32_t)message->argument[ARGUMENT_HOPS]);
    ring->starter = 0;
    if (quorum(ring)) {
        join = grant(ring, message->term, leader, output);
    } else {
        peer_keep(&ring->peer, message->term, leader, output);
        ring->leader = leader;
    }
    struct message next = *message;
    next.argument[ARGUMENT_HOPS]++;
    ring_pass_on(ring, &next, join, now_ns, output);
    if (leader == config->id && !quorum(ring))
        lead(ring, message->term, now_ns, output);
}

static void on_heartbeat(struct ring *ring, const struct message *message, uint64_t now_ns,
                         struct output *output)
{
    uint32_t vote = peer_vote(&ring->peer);
    bool same_epoch = message->term == peer_term(&ring->peer);
    peer_saw(&ring->peer, message->term);
    /* Without a quorum two sides of a partition lead in one epoch: the higher id stays. */
    bool lower = !quorum(ring) && same_epoch && vote > message->source;
    if (message->term < peer_term(&ring->peer) || lower)
        return;
    rest(ring, now_ns, "another leads", output);
    if (quorum(ring))
        peer_follow(&ring->peer, message->term, message->source, output);
    else
        peer_keep(&ring->peer, message->term, message->source, output);
    ring->leader = message->source;
    ring->starter = 0;
    /* Somebody leads: what we still pass on of an older election would only unseat it. */
    if (ring->forward.message.kind == ELECTION)
        ring->forward.waiting = false;
    if (quorum(ring))
        peer_send(&ring->peer, message->source,
                  (struct message){.kind = HEARTBEAT_REPLY,
                                   .term = message->term,
                                   .argument = {message->argument[0]}},
                  output);
}

static void on_message(struct ring *ring, const struct message *message, uint64_t now_ns,
                       struct output *output)
{
    bool forwarded = message->kind == ELECTION || message->kind == COORDINATOR;
    bool names = forwarded || message->kind == ELECTED;
    uint64_t number = message->argument[ARGUMENT_FORWARD], who = message->argument[ARGUMENT_WHO];
    uint32_t limit =
        message->kind == ELECTION ? ring->peer.config.nodes : peer_electable(&ring->peer);
    if (names && (who == 0 || who > limit))
        return;
    if (forwarded)
        peer_send(&ring->peer, message->source,
                  (struct message){.kind = ACKNOWLEDGE, .argument[ARGUMENT_FORWARD] = number},
                  output);
    switch ((enum kind)message->kind) {
    case ELECTION: on_election(ring, message, now_ns, output); break;
    case COORDINATOR: on_coordinator(ring, message, now_ns, output); break;
    case ELECTED:
        if (quorum(ring))
            count_votes(ring, message->term, message->ids, message->id_count, now_ns, output);
        break;
    case ACKNOWLEDGE:
        if (number == ring->forward.number)
            ring->forward.waiting = false;
        break;
    case HEARTBEAT: on_heartbeat(ring, message, now_ns, output); break;
    case HEARTBEAT_REPLY:
        if (ring->phase == LEADING && message->term == peer_term(&ring->peer))
            peer_heard(&ring->peer, message, 0, now_ns);
        break;
    }
}

/* The successor is silent: skip it. Back at ourselves, everybody else is dead: it came round. */
static void skip_successor(struct ring *ring, uint64_t now_ns, struct output *output)
{
    if (ring_send_next(ring, now_ns, output))
        return;
    struct message back = ring->forward.message;
    back.ids = ring->ids;
    if (back.kind == ELECTION)
        announce(ring, &back, now_ns, output);
    else
        came_round(ring, &back, now_ns, output);
}

static void on_deadline(struct ring *ring, uint64_t now_ns, struct output *output)
{
    const struct peer *peer = &ring->peer;
    if (ring->phase == LEADING && peer_has_majority(&ring->peer, now_ns)) {
        ring->deadline_ns = now_ns + peer->config.knobs.heartbeat;
        send_heartbeats(ring, now_ns, output);
        return;
    }
    if (ring->phase == LEADING) {
        rest(ring, now_ns, "no majority answers", output);
        return;
    }
    if (ring->leader)
        output_note(output, (struct note){.f = F_SUSPECT, .term = peer_term(&ring->peer)});
    stand(ring, now_ns, output);
}

static void on_command(struct ring *ring, const struct input *input, struct output *output)
{
    if (input->command.type == COMMAND_FORCE && peer_is_witness(&ring->peer))
        return;
    switch (input->command.type) {
    case COMMAND_RESIGN:
        if (ring->phase == LEADING)
            rest(ring, input->now_ns, "asked to resign", output);
        break;
    case COMMAND_STAND:
        if (ring->phase != LEADING)
            stand(ring, input->now_ns, output);
        break;
    case COMMAND_FORCE:
        peer_heard_from(&ring->peer, NULL, 0, input->now_ns);
        lead(ring, ring->peer.highest_seen + 1, input->now_ns, output);
        break;
    case COMMAND_TRANSFER: break; /* the highest member of the ring leads */
    }
}

static void on_start(struct ring *ring, const struct input *input, struct output *output)
{
    static const struct durable nothing;
    peer_start(&ring->peer, broken(ring, FORGET_EPOCH) ? &nothing : input->stored);
    ring->before = peer_term(&ring->peer);
    rest(ring, input->now_ns, NULL, output);
}

static void step(void *state, const struct input *input, struct output *output)
{
    static const enum role roles[] = {ROLE_FOLLOWER, ROLE_CANDIDATE, ROLE_LEADER};
    struct ring *ring = state;
    switch (input->type) {
    case INPUT_START: on_start(ring, input, output); break;
    case INPUT_WAKE:
        if (ring->forward.waiting && input->now_ns >= ring->forward.expires_ns)
            skip_successor(ring, input->now_ns, output);
        if (input->now_ns >= ring->deadline_ns)
            on_deadline(ring, input->now_ns, output);
        break;
    case INPUT_MESSAGE: on_message(ring, input->message, input->now_ns, output); break;
    case INPUT_COMMAND: on_command(ring, input, output); break;
    }
    bool leads = ring->phase == LEADING;
    output->belief =
        (struct belief){.role = roles[ring->phase],
                        .leader = ring->leader,
                        .term = peer_term(&ring->peer),
                        .token = leads ? peer_term(&ring->peer) : 0,
                        .may_act = leads && peer_has_majority(&ring->peer, input->now_ns)};
    output->wake_ns = ring->deadline_ns;
    if (ring->forward.waiting && ring->forward.expires_ns < output->wake_ns)
        output->wake_ns = ring->forward.expires_ns;
}

static size_t heard_words(const struct elector_config *config)
{
    return config->options.at[OPTION_QUORUM] ? config->nodes : 0;
}

static size_t state_size(const struct elector_config *config)
{
    return sizeof(struct ring) + heard_words(config) * sizeof(uint64_t) +
           (config->nodes + 1) * sizeof(uint32_t);
}

static void init(void *state, const struct elector_config *config)
{
    struct ring *ring = state;
    peer_init(&ring->peer, config, "ring");
    if (heard_words(config))
        ring->peer.heard_ns = ring->storage;
    ring->ids = (uint32_t *)(ring->storage + heard_words(config));
}

static uint32_t traits(const struct option_values *values)
{
    uint32_t always = 1u << TRAIT_DURABLE | 1u << TRAIT_TOKEN;
    return values->at[OPTION_QUORUM] ? always | 1u << TRAIT_MAJORITY | 1u << TRAIT_LINEARIZABLE
                                     : always;
}

static int validate(const struct elector_config *config, struct error *error)
{
    return peer_check_wait(config, "ring", options, OPTION_ANSWER, error);
}

const struct algorithm algorithm_ring = {
    .name = "ring",
    .summary = "a token collects the ids of the ring, the highest of them is announced",
    .reference = "Le Lann 1977; Chang and Roberts, CACM 22(5), 1979",
    .promises = "after crashes one live node of the ring leads; quorum=on: one leader per epoch",
    .bears[UNDER_CRASH] =
        "one crash after the other: a live member leads; nobody who knows the newest "
        "epoch alive: it may be used again",
    .bears[UNDER_PARTITION] =
        "each side closes a ring and leads in one epoch; quorum=on: only with a "
        "majority of all n, and not beside half cut nodes",
    .bears[UNDER_PAUSE] =
        "skipped as if dead: a second leader until it wakes; quorum=on: it stops by "
        "itself",
    .bears[UNDER_DRIFT] = "only timeouts stretch",
    .broken_by = "partitions: one ring, and one leader, per side, in the same epoch",
    .kinds = kinds,
    .durable = words,
    .options = options,
    .bugs = bugs,
    .traits = traits,
    .validate = validate,
    .state_size = state_size,
    .init = init,
    .step = step,
};
