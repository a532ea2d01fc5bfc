/* Leadership by ballots (Lamport, "Paxos Made Simple", 2001, section 2.2, phase 1; distinguished
 * proposer as in section 2.4): a proposer prepares a ballot that is its own for ever, leads once a
 * majority promised it, and is deposed by any higher promise. A proposer that is refused, or that
 * nobody answers, backs off for longer each time: so duels end, and one that is heard but hears
 * nothing leaves the others time to agree.
 *
 * term = token = ballot = round * n + (id - 1). The promise is durable before it is sent.
 * Heartbeats are phase 2 messages: an acceptor that answers one has promised its ballot. */
#include "base/units.h"
#include "nodes/peer.h"

enum kind { PREPARE, PROMISE, REFUSAL, HEARTBEAT, HEARTBEAT_REPLY };
static const char *const kinds[] = {"prepare",   "promise",         "refusal",
                                    "heartbeat", "heartbeat-reply", NULL};

static const char *const words[] = {"term", "vote", NULL};

enum choice { OPTION_STEADY, OPTION_BACKOFF };
static const struct option options[] = {
    {"steady", OPTION_SWITCH, "on", 0, 0, NULL,
     "refuse prepares while a leader is heard, so that a node cut one way does not depose it"},
    {"backoff", OPTION_SWITCH, "on", 0, 0, NULL,
     "a proposer that is refused, or not answered, waits longer each time; off shows duels"},
    {.name = NULL},
};

enum defect {
    HONEST,
    SHARED_BALLOT,
    FORGET_PROMISE,
    PROMISE_LOWER,
    STALE_PROMISE,
    NO_MAJORITY,
    REPLY_FIRST,
};
static const struct bug bugs[] = {
    {"shared-ballot", "ballots are bare round numbers, so two proposers can hold one", "steady=off",
     "vote-once", "kill,partition", 200},
    {"forget-promise", "a promise does not survive a restart (cf. databend#1051)", "",
     "term-monotonic", "kill", 50},
    {"promise-lower", "an acceptor promises any ballot, also one below its last (cf. nebula#2405)",
     "steady=off", "term-monotonic",
     "at=400ms fault=message-duplicate kind=prepare copy=late for=1600ms;"
     "at=500ms fault=kill on=leader for=3s;at=1200ms fault=kill on=leader for=500ms",
     50},
    {"stale-promise", "promises of an earlier ballot are counted for the present one", "steady=off",
     "majority-support",
     "at=500ms fault=kill on=leader for=2s;"
     "at=500ms fault=message-hold kind=promise count=3 for=1200ms;"
     "at=500ms after=message fault=message-drop kind=prepare for=1500ms",
     20},
    {"no-majority", "one promise besides its own is enough", "", "majority-support", "kill", 20},
    {"reply-first", "a promise is sent before it is durable (cf. valkey#3887)", "",
     "persist-before-send", "kill", 20},
    {.name = NULL},
};

enum phase { FOLLOWING, PREPARING, LEADING };

struct paxos {
    struct peer peer;
    enum phase phase;
    uint32_t leader;
    uint32_t refused; /* times in a row */
    uint32_t silent;  /* prepares in a row after which nothing at all was heard */
    uint64_t ballot;  /* ours, PREPARING and LEADING */
    uint64_t prepared_ns;
    uint64_t deadline_ns;
    uint64_t leader_heard_ns;
    struct members promised;
    uint64_t storage[];
};

#define DOUBLINGS_MAX 3u
#define SILENT_DOUBLINGS_MAX 2u /* where all were cut off, somebody must try soon afterwards */

static bool broken(const struct paxos *paxos, enum defect defect)
{
    return peer_broken(&paxos->peer, defect);
}

static uint64_t next_ballot(const struct paxos *paxos)
{
    uint64_t nodes = paxos->peer.config.nodes;
    if (broken(paxos, SHARED_BALLOT))
        return paxos->peer.highest_seen + 1;
    return (paxos->peer.highest_seen / nodes + 1) * nodes + paxos->peer.config.id - 1;
}

static uint64_t back_off(struct paxos *paxos, uint32_t failures, uint32_t most)
{
    return peer_timeout(&paxos->peer) << (failures < most ? failures : most);
}

static void follow(struct paxos *paxos, uint32_t leader, uint64_t now_ns, const char *reason,
                   struct output *output)
{
    if (paxos->phase == LEADING)
        output->step_reason = reason;
    paxos->phase = FOLLOWING;
    paxos->leader = leader;
    paxos->deadline_ns = now_ns + peer_timeout(&paxos->peer);
}

/* Section 2.2, phase 1b: promise a ballot above every one promised before. */
static bool promise(struct paxos *paxos, uint64_t ballot, uint32_t proposer, struct output *output)
{
    if (broken(paxos, PROMISE_LOWER) && ballot < peer_term(&paxos->peer))
        paxos->peer.durable.word[PEER_TERM] = ballot - 1;
    if (broken(paxos, SHARED_BALLOT) && ballot == peer_term(&paxos->peer))
        paxos->peer.durable.word[PEER_VOTE] = proposer;
    output->send_before_persist = broken(paxos, REPLY_FIRST);
    return peer_grant(&paxos->peer, ballot, proposer, output);
}

/* They carry our clock, which answers echo. */
static void send_heartbeats(const struct paxos *paxos, uint64_t now_ns, struct output *output)
{
    peer_send_all(&paxos->peer,
                  (struct message){.kind = HEARTBEAT, .term = paxos->ballot, .argument = {now_ns}},
                  output);
}

static void lead(struct paxos *paxos, uint64_t now_ns, struct output *output)
{
    const struct elector_config *config = &paxos->peer.config;
    paxos->phase = LEADING;
    paxos->leader = config->id;
    paxos->refused = 0;
    paxos->deadline_ns = now_ns + config->knobs.heartbeat;
    peer_heard_members(&paxos->peer, &paxos->promised, paxos->prepared_ns);
    send_heartbeats(paxos, now_ns, output);
}

static void count_promise(struct paxos *paxos, uint32_t from, uint64_t now_ns,
                          struct output *output)
{
    uint32_t enough = broken(paxos, NO_MAJORITY) ? 2 : elector_majority(&paxos->peer.config);
    if (members_add(&paxos->promised, from) && paxos->promised.count == enough)
        lead(paxos, now_ns, output);
}

/* Phase 1a. */
static void prepare(struct paxos *paxos, uint64_t now_ns, struct output *output)
{
    paxos->silent += paxos->phase == PREPARING; /* whatever is heard sets it to 0 */
    follow(paxos, 0, now_ns, "prepares anew", output);
    paxos->phase = PREPARING;
    if (paxos->peer.config.options.at[OPTION_BACKOFF])
        paxos->deadline_ns = now_ns + back_off(paxos, paxos->silent, SILENT_DOUBLINGS_MAX);
    paxos->ballot = next_ballot(paxos);
    paxos->prepared_ns = now_ns;
    members_clear(&paxos->promised, paxos->peer.config.nodes);
    output_note(output, (struct note){.f = F_CAMPAIGN, .term = paxos->ballot});
    (void)promise(paxos, paxos->ballot, paxos->peer.config.id, output);
    peer_send_all(&paxos->peer, (struct message){.kind = PREPARE, .term = paxos->ballot}, output);
    count_promise(paxos, paxos->peer.config.id, now_ns, output);
}

static void on_deadline(struct paxos *paxos, uint64_t now_ns, struct output *output)
{
    const struct elector_config *config = &paxos->peer.config;
    if (paxos->phase == LEADING && peer_has_majority(&paxos->peer, now_ns)) {
        paxos->deadline_ns = now_ns + config->knobs.heartbeat;
        send_heartbeats(paxos, now_ns, output);
    } else if (paxos->phase == LEADING || elector_is_witness(config, config->id)) {
        follow(paxos, 0, now_ns, "no majority answers", output);
    } else {
        if (paxos->leader)
            output_note(output, (struct note){.f = F_SUSPECT, .term = peer_term(&paxos->peer)});
        prepare(paxos, now_ns, output);
    }
}

static bool hears_leader(const struct paxos *paxos, uint64_t now_ns)
{
    const struct elector_config *config = &paxos->peer.config;
    if (!config->options.at[OPTION_STEADY])
        return false;
    if (paxos->phase == LEADING)
        return peer_has_majority(&paxos->peer, now_ns);
    return paxos->leader && now_ns - paxos->leader_heard_ns < config->knobs.election_timeout_min;
}

static void on_prepare(struct paxos *paxos, const struct message *message, uint64_t now_ns,
                       struct output *output)
{
    if (!hears_leader(paxos, now_ns) && promise(paxos, message->term, message->source, output)) {
        follow(paxos, 0, now_ns, "promised a higher ballot", output);
        peer_send(&paxos->peer, message->source,
                  (struct message){.kind = PROMISE, .term = message->term}, output);
        return;
    }
    peer_send(&paxos->peer, message->source,
              (struct message){
                  .kind = REFUSAL, .term = message->term, .argument = {peer_term(&paxos->peer)}},
              output);
}

/* Duelling proposers: who is refused lets the other one finish. A leader that a majority still
 * answers was refused by somebody who prepared in vain, maybe long ago and cut off: it prepares a
 * ballot above that one's, instead of leaving the place to whoever is first. */
static void on_refusal(struct paxos *paxos, const struct message *message, uint64_t now_ns,
                       struct output *output)
{
    peer_saw(&paxos->peer, message->argument[0]);
    if (paxos->phase == FOLLOWING || message->term != paxos->ballot ||
        message->argument[0] <= paxos->ballot)
        return;
    if (paxos->phase == LEADING && hears_leader(paxos, now_ns)) {
        prepare(paxos, now_ns, output);
        return;
    }
    follow(paxos, 0, now_ns, "a higher ballot was promised", output);
    paxos->refused++;
    if (paxos->peer.config.options.at[OPTION_BACKOFF])
        paxos->deadline_ns = now_ns + back_off(paxos, paxos->refused - 1, DOUBLINGS_MAX);
    else
        paxos->deadline_ns = now_ns + paxos->peer.config.knobs.heartbeat;
}

static void on_heartbeat(struct paxos *paxos, const struct message *message, uint64_t now_ns,
                         struct output *output)
{
    if (message->term < peer_term(&paxos->peer)) {
        peer_send(&paxos->peer, message->source,
                  (struct message){.kind = REFUSAL,
                                   .term = message->term,
                                   .argument = {peer_term(&paxos->peer)}},
                  output);
        return;
    }
    follow(paxos, message->source, now_ns, "a higher ballot leads", output);
    paxos->refused = 0;
    paxos->leader_heard_ns = now_ns;
    peer_keep(&paxos->peer, message->term, message->source, output);
    peer_send(&paxos->peer, message->source,
              (struct message){.kind = HEARTBEAT_REPLY,
                               .term = message->term,
                               .argument = {message->argument[0]}},
              output);
}

static void on_message(struct paxos *paxos, const struct message *message, uint64_t now_ns,
                       struct output *output)
{
    bool ours = message->term == paxos->ballot || broken(paxos, STALE_PROMISE);
    paxos->silent = 0;
    peer_saw(&paxos->peer, message->term);
    switch ((enum kind)message->kind) {
    case PREPARE: on_prepare(paxos, message, now_ns, output); break;
    case PROMISE:
        if (paxos->phase == PREPARING && ours)
            count_promise(paxos, message->source, now_ns, output);
        break;
    case REFUSAL: on_refusal(paxos, message, now_ns, output); break;
    case HEARTBEAT: on_heartbeat(paxos, message, now_ns, output); break;
    case HEARTBEAT_REPLY:
        if (paxos->phase == LEADING && ours)
            peer_heard(&paxos->peer, message, 0, now_ns);
        break;
    }
}

static void on_command(struct paxos *paxos, const struct input *input, struct output *output)
{
    if (input->command.type == COMMAND_FORCE && peer_is_witness(&paxos->peer))
        return;
    switch (input->command.type) {
    case COMMAND_RESIGN:
        if (paxos->phase == LEADING) {
            follow(paxos, 0, input->now_ns, "asked to resign", output);
            paxos->deadline_ns += paxos->peer.config.knobs.election_timeout_max;
        }
        break;
    case COMMAND_STAND:
        if (paxos->phase != LEADING &&
            !elector_is_witness(&paxos->peer.config, paxos->peer.config.id))
            prepare(paxos, input->now_ns, output);
        break;
    case COMMAND_FORCE:
        prepare(paxos, input->now_ns, output);
        if (paxos->phase != LEADING)
            lead(paxos, input->now_ns, output);
        break;
    case COMMAND_TRANSFER: break; /* a ballot cannot be handed on */
    }
}

static void step(void *state, const struct input *input, struct output *output)
{
    static const struct durable nothing;
    static const enum role roles[] = {ROLE_FOLLOWER, ROLE_CANDIDATE, ROLE_LEADER};
    struct paxos *paxos = state;
    switch (input->type) {
    case INPUT_START:
        peer_start(&paxos->peer, broken(paxos, FORGET_PROMISE) ? &nothing : input->stored);
        follow(paxos, 0, input->now_ns, NULL, output);
        break;
    case INPUT_WAKE:
        if (input->now_ns >= paxos->deadline_ns)
            on_deadline(paxos, input->now_ns, output);
        break;
    case INPUT_MESSAGE: on_message(paxos, input->message, input->now_ns, output); break;
    case INPUT_COMMAND: on_command(paxos, input, output); break;
    }
    bool leads = paxos->phase == LEADING;
    output->belief =
        (struct belief){.role = roles[paxos->phase],
                        .leader = paxos->leader,
                        .term = peer_term(&paxos->peer),
                        .token = leads ? paxos->ballot : 0,
                        .may_act = leads && peer_has_majority(&paxos->peer, input->now_ns)};
    output->wake_ns = paxos->deadline_ns;
}

static size_t state_size(const struct elector_config *config)
{
    size_t words_count = members_words(config->nodes) + config->nodes;
    return sizeof(struct paxos) + words_count * sizeof(uint64_t);
}

static void init(void *state, const struct elector_config *config)
{
    struct paxos *paxos = state;
    peer_init(&paxos->peer, config, "paxos");
    paxos->promised.bits = paxos->storage;
    paxos->peer.heard_ns = paxos->storage + members_words(config->nodes);
}

static uint32_t traits(const struct option_values *values)
{
    return 1u << TRAIT_MAJORITY | 1u << TRAIT_DURABLE | 1u << TRAIT_TOKEN |
           1u << TRAIT_LINEARIZABLE | (values->at[OPTION_STEADY] ? 1u << TRAIT_PROGRESS : 0);
}

const struct algorithm algorithm_paxos = {
    .name = "paxos",
    .summary = "whoever a majority promised the highest ballot leads",
    .reference = "Lamport, Paxos Made Simple, 2001, sections 2.2 and 2.4",
    .promises = "a ballot has one leader for ever; a leader while a majority is connected",
    .bears[UNDER_CRASH] =
        "ballots are not shared; a leader while a majority runs, back within the bound",
    .bears[UNDER_PARTITION] =
        "the side with a majority has a leader, the other stops; no ballot is shared",
    .bears[UNDER_PAUSE] = "the others prepare; who wakes stops, its late writes carry an old token",
    .bears[UNDER_DRIFT] = "only timeouts stretch",
    .broken_by = "a majority that lost its disks",
    .kinds = kinds,
    .durable = words,
    .options = options,
    .bugs = bugs,
    .stands_alone = true,
    .traits = traits,
    .state_size = state_size,
    .init = init,
    .step = step,
};
