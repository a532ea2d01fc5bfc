/* The bully algorithm (Garcia-Molina, "Elections in a Distributed Computing System", IEEE Trans.
 * Computers C-31(1), 1982, section III and its appendix): the highest live id leads. A node that
 * misses the leader asks all higher ids; an answer makes it wait, silence makes it halt the
 * lower ones and announce itself. It assumes a synchronous network: a partition, or an answer
 * later than `answer`, gives two leaders in one epoch.
 *
 * term = epoch = highest seen + 1, kept on disk and collected while halting, so that a returning
 * node does not reuse one. With quorum=on the halt asks for a vote in the new epoch and the leader
 * acts only with a majority's answers. */
#include "base/units.h"
#include "nodes/peer.h"

enum kind { ELECTION, ALIVE, HALT, HALTED, COORDINATOR, HEARTBEAT, HEARTBEAT_REPLY };
static const char *const kinds[] = {"election",  "alive",           "halt", "halted", "coordinator",
                                    "heartbeat", "heartbeat-reply", NULL};

static const char *const words[] = {"term", "vote", NULL};

enum choice { OPTION_QUORUM, OPTION_ANSWER };
static const struct option options[] = {
    {"quorum", OPTION_SWITCH, "off", 0, 0, NULL,
     "act only with the answers of a majority of all n"},
    {"answer", OPTION_DURATION, "60ms", NS_PER_MS, 60 * NS_PER_S, NULL,
     "how long an answer may take before its sender counts as dead"},
    {.name = NULL},
};

enum defect { HONEST, IGNORE_ALIVE, REUSE_EPOCH, FORGET_EPOCH, NO_MAJORITY, VOTE_TWICE };
static const struct bug bugs[] = {
    {"ignore-alive",
     "stands on although a higher node answered, and does not halt for it (cf. nirvik/iWant#1)", "",
     "single-leader-per-term", "kill,pause", 200},
    {"reuse-epoch", "leads in the highest epoch seen instead of a new one", "",
     "single-leader-per-term", "kill", 50},
    {"forget-epoch",
     "counts epochs from zero after a restart, asking nobody (cf. corosync/corosync#495)", "",
     "term-monotonic", "kill", 50},
    {"no-majority", "quorum=on, but silence counts as consent", "quorum=on", "majority-support",
     "partition,kill", 50},
    {"vote-twice", "a voter grants every candidate of an epoch", "quorum=on", "vote-once",
     "partition,kill,link", 500},
    {.name = NULL},
};

enum phase { RESTING, ASKING, AWAITING, HALTING, LEADING };

struct bully {
    struct peer peer;
    enum phase phase;
    uint32_t leader;
    uint64_t proposal;  /* epoch our halt is for */
    uint64_t halted_ns; /* when we sent it */
    uint64_t deadline_ns;
    struct members answered; /* our halt; with quorum=on only those that granted */
    uint64_t storage[];
};

static bool broken(const struct bully *bully, enum defect defect)
{
    return peer_broken(&bully->peer, defect);
}

static bool quorum(const struct bully *bully)
{
    return bully->peer.config.options.at[OPTION_QUORUM];
}

static void rest(struct bully *bully, enum phase phase, uint64_t now_ns, const char *reason,
                 struct output *output)
{
    if (bully->phase == LEADING)
        output->step_reason = reason;
    bully->phase = phase;
    bully->leader = 0;
    bully->deadline_ns = now_ns + peer_timeout(&bully->peer);
}

static bool grant(struct bully *bully, uint64_t epoch, uint32_t candidate, struct output *output)
{
    if (broken(bully, VOTE_TWICE) && epoch == peer_term(&bully->peer))
        bully->peer.durable.word[PEER_VOTE] = candidate;
    return peer_grant(&bully->peer, epoch, candidate, output);
}

/* COORDINATOR and HEARTBEAT carry our clock, which answers echo. */
static void send_lead(const struct bully *bully, enum kind kind, uint64_t now_ns,
                      struct output *output)
{
    peer_send_all(&bully->peer,
                  (struct message){
                      .kind = (uint8_t)kind, .term = peer_term(&bully->peer), .argument = {now_ns}},
                  output);
}

static void lead(struct bully *bully, uint64_t epoch, uint64_t now_ns, struct output *output)
{
    const struct peer *peer = &bully->peer;
    peer_keep(&bully->peer, epoch, peer->config.id, output);
    bully->phase = LEADING;
    bully->leader = peer->config.id;
    bully->deadline_ns = now_ns + peer->config.knobs.heartbeat;
    peer_heard_members(&bully->peer, &bully->answered, bully->halted_ns);
    send_lead(bully, COORDINATOR, now_ns, output);
}

static void lead_next(struct bully *bully, uint64_t now_ns, struct output *output)
{
    uint64_t next = bully->peer.highest_seen + (broken(bully, REUSE_EPOCH) ? 0 : 1);
    lead(bully, next ? next : 1, now_ns, output);
}

/* Halt everybody before leading, so that nobody works for two, and learn their epochs. Witnesses
 * stand above all candidates by number, so the halt goes to all; a higher live node answers ALIVE.
 */
static void halt_others(struct bully *bully, uint64_t now_ns, struct output *output)
{
    const struct elector_config *config = &bully->peer.config;
    bully->phase = HALTING;
    bully->proposal = bully->peer.highest_seen + 1;
    bully->halted_ns = now_ns;
    bully->deadline_ns = now_ns + config->options.at[OPTION_ANSWER];
    members_clear(&bully->answered, config->nodes);
    /* Without votes the epoch is nobody's before it is led in. */
    output_note(output,
                (struct note){.f = F_CAMPAIGN, .term = quorum(bully) ? bully->proposal : 0});
    if (quorum(bully) && grant(bully, bully->proposal, config->id, output))
        (void)members_add(&bully->answered, config->id);
    peer_send_all(&bully->peer, (struct message){.kind = HALT, .term = bully->proposal}, output);
    if (config->nodes == 1)
        lead(bully, bully->proposal, now_ns, output);
}

static void elect(struct bully *bully, uint64_t now_ns, struct output *output)
{
    const struct peer *peer = &bully->peer;
    rest(bully, ASKING, now_ns, "a new election", output);
    if (peer->config.id == peer_electable(peer)) {
        halt_others(bully, now_ns, output);
        return;
    }
    bully->deadline_ns = now_ns + peer->config.options.at[OPTION_ANSWER];
    peer_send_range(peer, peer->config.id + 1, peer_electable(peer),
                    (struct message){.kind = ELECTION, .term = bully->peer.highest_seen}, output);
}

static void halting_over(struct bully *bully, uint64_t now_ns, struct output *output)
{
    if (quorum(bully) && !broken(bully, NO_MAJORITY))
        rest(bully, RESTING, now_ns, NULL, output);
    else
        lead_next(bully, now_ns, output);
}

static void on_deadline(struct bully *bully, uint64_t now_ns, struct output *output)
{
    const struct peer *peer = &bully->peer;
    switch (bully->phase) {
    case LEADING:
        if (!peer_has_majority(&bully->peer, now_ns)) {
            rest(bully, RESTING, now_ns, "no majority answers", output);
            return;
        }
        bully->deadline_ns = now_ns + peer->config.knobs.heartbeat;
        send_lead(bully, HEARTBEAT, now_ns, output);
        return;
    case ASKING: halt_others(bully, now_ns, output); return;
    case HALTING: halting_over(bully, now_ns, output); return;
    case RESTING:
    case AWAITING:
        if (bully->leader)
            output_note(output, (struct note){.f = F_SUSPECT, .term = peer_term(&bully->peer)});
        if (elector_is_witness(&peer->config, peer->config.id))
            rest(bully, RESTING, now_ns, NULL, output);
        else
            elect(bully, now_ns, output);
        return;
    }
}

static bool outranks(const struct bully *bully, uint32_t other)
{
    const struct peer *peer = &bully->peer;
    return peer->config.id > other && peer->config.id <= peer_electable(peer);
}

/* A lower node stands: tell it that we live, and stand ourselves unless we lead already, or have
 * stood and been told by a higher one to wait: else every answer would start the next round, and a
 * cluster that starts together would send far more than the n^2 messages of section III. */
static void bully_it(struct bully *bully, const struct message *message, uint64_t now_ns,
                     struct output *output)
{
    peer_saw(&bully->peer, message->term);
    peer_send(&bully->peer, message->source,
              (struct message){.kind = ALIVE, .term = bully->peer.highest_seen}, output);
    bool idle = bully->phase == RESTING;
    bool outdated = bully->phase == LEADING && message->term > peer_term(&bully->peer);
    if (idle || outdated)
        elect(bully, now_ns, output);
    else if (bully->phase == LEADING)
        peer_send(&bully->peer, message->source,
                  (struct message){
                      .kind = COORDINATOR, .term = peer_term(&bully->peer), .argument = {now_ns}},
                  output);
}

static void send_halted(const struct bully *bully, const struct message *message, bool granted,
                        struct output *output)
{
    peer_send(&bully->peer, message->source,
              (struct message){.kind = HALTED,
                               .term = bully->peer.highest_seen,
                               .argument = {message->term, granted}},
              output);
}

static void on_halt(struct bully *bully, const struct message *message, uint64_t now_ns,
                    struct output *output)
{
    bool granted = false;
    if (outranks(bully, message->source)) {
        bully_it(bully, message, now_ns, output);
        return;
    }
    bool stubborn = broken(bully, IGNORE_ALIVE) && bully->phase == HALTING;
    if (!stubborn)
        rest(bully, AWAITING, now_ns, "halted by a higher node", output);
    if (quorum(bully))
        granted = grant(bully, message->term, message->source, output);
    send_halted(bully, message, granted, output);
}

static void on_halted(struct bully *bully, const struct message *message, uint64_t now_ns,
                      struct output *output)
{
    const struct elector_config *config = &bully->peer.config;
    peer_saw(&bully->peer, message->term);
    /* It stood alone for a while and can never follow the epoch we lead: take one above it now,
     * before it suspects us. */
    if (quorum(bully) && bully->phase == LEADING && message->term > peer_term(&bully->peer)) {
        elect(bully, now_ns, output);
        return;
    }
    if (bully->phase != HALTING || message->argument[0] != bully->proposal)
        return;
    if (!quorum(bully)) {
        if (members_add(&bully->answered, message->source) &&
            bully->answered.count == config->nodes - 1)
            lead_next(bully, now_ns, output);
    } else if (message->argument[1]) {
        if (members_add(&bully->answered, message->source) &&
            bully->answered.count == elector_majority(config))
            lead(bully, bully->proposal, now_ns, output);
    } else if (message->term >= bully->proposal) {
        halt_others(bully, now_ns, output);
    }
}

static void on_alive(struct bully *bully, const struct message *message, uint64_t now_ns,
                     struct output *output)
{
    peer_saw(&bully->peer, message->term);
    if ((bully->phase == ASKING || bully->phase == HALTING) && !broken(bully, IGNORE_ALIVE))
        rest(bully, AWAITING, now_ns, NULL, output);
}

/* COORDINATOR or HEARTBEAT: somebody leads. */
static void on_leader(struct bully *bully, const struct message *message, uint64_t now_ns,
                      struct output *output)
{
    uint32_t source = message->source;
    peer_saw(&bully->peer, message->term);
    if (outranks(bully, source)) {
        bool idle = bully->phase == RESTING || bully->phase == AWAITING;
        if (idle || (bully->phase == LEADING && message->term >= peer_term(&bully->peer)))
            elect(bully, now_ns, output);
        return;
    }
    if (message->term < peer_term(&bully->peer)) {
        if (quorum(bully))
            send_halted(bully, message, false, output);
        return;
    }
    rest(bully, RESTING, now_ns, "a higher node leads", output);
    if (quorum(bully))
        peer_follow(&bully->peer, message->term, source, output);
    else
        peer_keep(&bully->peer, message->term, source, output);
    bully->leader = source;
    if (quorum(bully))
        peer_send(&bully->peer, source,
                  (struct message){.kind = HEARTBEAT_REPLY,
                                   .term = message->term,
                                   .argument = {message->argument[0]}},
                  output);
}

static void on_message(struct bully *bully, const struct message *message, uint64_t now_ns,
                       struct output *output)
{
    switch ((enum kind)message->kind) {
    case ELECTION:
        if (outranks(bully, message->source))
            bully_it(bully, message, now_ns, output);
        break;
    case ALIVE: on_alive(bully, message, now_ns, output); break;
    case HALT: on_halt(bully, message, now_ns, output); break;
    case HALTED: on_halted(bully, message, now_ns, output); break;
    case COORDINATOR:
    case HEARTBEAT: on_leader(bully, message, now_ns, output); break;
    case HEARTBEAT_REPLY:
        if (bully->phase == LEADING && message->term == peer_term(&bully->peer))
            peer_heard(&bully->peer, message, 0, now_ns);
        break;
    }
}

static void on_command(struct bully *bully, const struct input *input, struct output *output)
{
    if (input->command.type == COMMAND_FORCE && peer_is_witness(&bully->peer))
        return;
    switch (input->command.type) {
    case COMMAND_RESIGN:
        if (bully->phase == LEADING)
            rest(bully, RESTING, input->now_ns, "asked to resign", output);
        break;
    case COMMAND_STAND:
        if (bully->phase != LEADING &&
            !elector_is_witness(&bully->peer.config, bully->peer.config.id))
            elect(bully, input->now_ns, output);
        break;
    case COMMAND_FORCE:
        members_clear(&bully->answered, bully->peer.config.nodes);
        lead(bully, bully->peer.highest_seen + 1, input->now_ns, output);
        break;
    case COMMAND_TRANSFER: break; /* the highest leads, whatever an operator wishes */
    }
}

static void on_start(struct bully *bully, const struct input *input, struct output *output)
{
    static const struct durable nothing;
    peer_start(&bully->peer, broken(bully, FORGET_EPOCH) ? &nothing : input->stored);
    if (elector_is_witness(&bully->peer.config, bully->peer.config.id))
        rest(bully, RESTING, input->now_ns, NULL, output);
    else
        elect(bully, input->now_ns, output);
}

static void step(void *state, const struct input *input, struct output *output)
{
    static const enum role roles[] = {[RESTING] = ROLE_FOLLOWER,
                                      [AWAITING] = ROLE_FOLLOWER,
                                      [ASKING] = ROLE_CANDIDATE,
                                      [HALTING] = ROLE_CANDIDATE,
                                      [LEADING] = ROLE_LEADER};
    struct bully *bully = state;
    switch (input->type) {
    case INPUT_START: on_start(bully, input, output); break;
    case INPUT_WAKE:
        if (input->now_ns >= bully->deadline_ns)
            on_deadline(bully, input->now_ns, output);
        break;
    case INPUT_MESSAGE: on_message(bully, input->message, input->now_ns, output); break;
    case INPUT_COMMAND: on_command(bully, input, output); break;
    }
    bool leads = bully->phase == LEADING;
    output->belief =
        (struct belief){.role = roles[bully->phase],
                        .leader = bully->leader,
                        .term = peer_term(&bully->peer),
                        .token = leads ? peer_term(&bully->peer) : 0,
                        .may_act = leads && peer_has_majority(&bully->peer, input->now_ns)};
    output->wake_ns = bully->deadline_ns;
}

static size_t heard_words(const struct elector_config *config)
{
    return config->options.at[OPTION_QUORUM] ? config->nodes : 0;
}

static size_t state_size(const struct elector_config *config)
{
    size_t words_count = members_words(config->nodes) + heard_words(config);
    return sizeof(struct bully) + words_count * sizeof(uint64_t);
}

static void init(void *state, const struct elector_config *config)
{
    struct bully *bully = state;
    peer_init(&bully->peer, config, "bully");
    bully->answered.bits = bully->storage;
    if (heard_words(config))
        bully->peer.heard_ns = bully->storage + members_words(config->nodes);
}

static uint32_t traits(const struct option_values *values)
{
    uint32_t always = 1u << TRAIT_DURABLE | 1u << TRAIT_TOKEN;
    return values->at[OPTION_QUORUM] ? always | 1u << TRAIT_MAJORITY | 1u << TRAIT_LINEARIZABLE
                                     : always;
}

static int validate(const struct elector_config *config, struct error *error)
{
    return peer_check_wait(config, "bully", options, OPTION_ANSWER, error);
}

const struct algorithm algorithm_bully = {
    .name = "bully",
    .summary = "the highest live id leads, and takes over as soon as it returns",
    .reference = "Garcia-Molina, Elections in a Distributed Computing System, 1982, section III",
    .promises = "after crashes the highest live node leads; quorum=on: one leader per epoch",
    .bears[UNDER_CRASH] =
        "one crash after the other: the highest live id leads; nobody who knows the "
        "newest epoch alive: it may be used again",
    .bears[UNDER_PARTITION] =
        "a leader on each side, in one epoch if both elect; quorum=on: only with a "
        "majority of all n",
    .bears[UNDER_PAUSE] =
        "a second leader until the first one wakes and hears of it; quorum=on: it "
        "stops by itself",
    .bears[UNDER_DRIFT] = "only timeouts stretch",
    .broken_by = "partitions and slow answers: one leader per side, in the same epoch",
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
