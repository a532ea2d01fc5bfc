/* Zab's election and discovery (Junqueira, Reed, Serafini, "Zab: High-performance broadcast for
 * primary-backup systems", DSN 2011, phase 1; fast leader election as ZooKeeper describes it):
 * nodes that look for a leader exchange votes ordered by (epoch last led under, last id seen, node
 * id) until a majority agrees, then the chosen one must have a majority acknowledge a new epoch
 * before it acts. Agreement of votes alone never makes a leader: a late vote cannot elect twice.
 *
 * term = token = accepted epoch, durable before it is acknowledged. The last id stands for the log:
 * the number of the leader's last heartbeat seen. */
#include "nodes/algorithms/zab/zab.h"

#include <string.h>

#include "base/units.h"

static const char *const kinds[] = {"notification", "follower-info", "new-epoch", "ack-epoch",
                                    "ping",         "ping-reply",    NULL};

static const char *const words[] = {"term", "vote", "current", NULL};

static const struct option options[] = {
    {"settle", OPTION_DURATION, "20ms", NS_PER_MS, 10 * NS_PER_S, NULL,
     "how long a majority of votes must stand before it counts, for a better vote to arrive"},
    {.name = NULL},
};

static const struct bug bugs[] = {
    {"skip-discovery", "leads on agreement of votes, no epoch acknowledged", "", "majority-support",
     "kill,partition", 20},
    {"forget-epoch", "the accepted epoch does not survive a restart (cf. databend#1051)", "",
     "term-monotonic", "kill", 50},
    {"ack-twice", "a follower acknowledges one epoch to two leaders (cf. camunda#5356)", "",
     "vote-once",
     "at=500ms fault=kill on=leader for=500ms;"
     "at=500ms fault=message-drop to=n2+n3 kind=new-epoch for=450ms;"
     "at=500ms after=vote@n1 fault=kill on=candidate for=2s;"
     "at=500ms after=vote@n1 fault=message-drop from=n1 for=1500ms",
     100},
    {"stale-ack", "acknowledgements of an earlier epoch are counted", "", "majority-support",
     "kill,partition,link", 1000},
    {"reuse-epoch", "a new leader leads in the highest epoch accepted, not above it", "",
     "single-leader-per-term", "kill,partition", 100},
    {.name = NULL},
};

static bool broken(const struct zab *zab, enum defect defect)
{
    return peer_broken(&zab->peer, defect);
}

static void look(struct zab *zab, uint64_t now_ns, const char *reason, struct output *output)
{
    if (zab->phase == LEADING)
        output->step_reason = reason;
    zab->phase = LOOKING;
    zab->leader = 0;
    zab->confirmed = false;
    zab->round++;
    /* What was heard before may name a leader that is gone: only fresh answers count. */
    memset(zab->heard, 0, zab->peer.config.nodes * sizeof zab->heard[0]);
    zab->deadline_ns = now_ns + peer_timeout(&zab->peer) * 4;
    zab_vote_for(zab, zab_own_ballot(zab), now_ns, output);
}

static bool acknowledge(struct zab *zab, uint64_t epoch, uint32_t leader, struct output *output)
{
    bool twice = broken(zab, ACK_TWICE) || broken(zab, REUSE_EPOCH);
    if (twice && epoch == peer_term(&zab->peer))
        zab->peer.durable.word[PEER_VOTE] = leader;
    return peer_grant(&zab->peer, epoch, leader, output);
}

static void ping(const struct zab *zab, uint64_t now_ns, struct output *output)
{
    peer_send_all(
        &zab->peer,
        (struct message){.kind = PING, .term = zab->epoch, .argument = {zab->last, now_ns}},
        output);
}

static void lead(struct zab *zab, uint64_t epoch, uint64_t now_ns, struct output *output)
{
    const struct elector_config *config = &zab->peer.config;
    zab->phase = LEADING;
    zab->leader = config->id;
    zab->epoch = epoch;
    zab->last = 0;
    zab->peer.durable.word[WORD_CURRENT] = epoch;
    peer_keep(&zab->peer, epoch, config->id, output);
    output_persist(output, &zab->peer.durable);
    zab->ballot = zab_own_ballot(zab);
    zab->deadline_ns = now_ns + config->knobs.heartbeat;
    peer_heard_members(&zab->peer, &zab->acked, zab->asked_ns);
    ping(zab, now_ns, output);
}

static void count_ack(struct zab *zab, uint32_t from, uint64_t now_ns, struct output *output)
{
    bool counts = members_add(&zab->acked, from) || broken(zab, STALE_ACK);
    if (counts && zab->acked.count >= elector_majority(&zab->peer.config))
        lead(zab, zab->epoch, now_ns, output);
}

/* DSN 2011, phase 1, step l.1.1: above every epoch a majority has accepted. */
static void count_joined(struct zab *zab, uint32_t from, uint64_t now_ns, struct output *output)
{
    if (!members_add(&zab->joined, from) || zab->epoch ||
        zab->joined.count < elector_majority(&zab->peer.config))
        return;
    uint32_t self = zab->peer.config.id;
    zab->epoch = zab->peer.highest_seen + (broken(zab, REUSE_EPOCH) ? 0 : 1);
    if (zab->epoch == 0)
        zab->epoch = 1;
    zab->asked_ns = now_ns;
    output_note(output, (struct note){.f = F_CAMPAIGN, .term = zab->epoch});
    for (uint32_t id = 1; id <= zab->peer.config.nodes; id++)
        if (id != self && members_have(&zab->joined, id))
            peer_send(&zab->peer, id, (struct message){.kind = NEW_EPOCH, .term = zab->epoch},
                      output);
    if (acknowledge(zab, zab->epoch, self, output))
        count_ack(zab, self, now_ns, output);
}

static void discover(struct zab *zab, uint64_t now_ns, struct output *output)
{
    const struct elector_config *config = &zab->peer.config;
    zab->phase = DISCOVERING;
    zab->leader = 0;
    zab->epoch = 0;
    zab->deadline_ns = now_ns + config->knobs.election_timeout_max;
    members_clear(&zab->joined, config->nodes);
    if (!broken(zab, STALE_ACK))
        members_clear(&zab->acked, config->nodes);
    if (broken(zab, SKIP_DISCOVERY))
        lead(zab, zab->peer.highest_seen + 1, now_ns, output);
    else
        count_joined(zab, config->id, now_ns, output);
}

static void send_info(const struct zab *zab, struct output *output)
{
    peer_send(&zab->peer, zab->leader,
              (struct message){.kind = FOLLOWER_INFO, .term = peer_term(&zab->peer)}, output);
}

void zab_follow(struct zab *zab, uint32_t leader, uint64_t now_ns, struct output *output)
{
    zab->phase = FOLLOWING;
    zab->leader = leader;
    zab->confirmed = false;
    zab->deadline_ns = now_ns + zab->peer.config.knobs.election_timeout_max;
    zab->repeat_ns = now_ns + zab->peer.config.knobs.heartbeat;
    send_info(zab, output);
}

/* The vote of a majority has stood for the settling time. */
static void chosen(struct zab *zab, uint64_t now_ns, struct output *output)
{
    zab->settle_ns = UINT64_MAX;
    if (zab->ballot.leader == zab->peer.config.id)
        discover(zab, now_ns, output);
    else
        zab_follow(zab, zab->ballot.leader, now_ns, output);
}

/* Until it is answered: the chosen one may not know yet that it is chosen (its votes settle a
 * moment later than ours), and both sides would wait for each other until they give up together. */
static bool repeats(const struct zab *zab)
{
    return zab->phase == LOOKING || (zab->phase == FOLLOWING && !zab->confirmed);
}

static void on_wake(struct zab *zab, uint64_t now_ns, struct output *output)
{
    const struct elector_config *config = &zab->peer.config;
    if (zab->phase == LOOKING && now_ns >= zab->settle_ns) {
        chosen(zab, now_ns, output);
    } else if (zab->phase == LEADING && now_ns >= zab->deadline_ns) {
        if (!peer_has_majority(&zab->peer, now_ns)) {
            look(zab, now_ns, "no majority answers", output);
            return;
        }
        zab->deadline_ns = now_ns + config->knobs.heartbeat;
        zab->last++;
        ping(zab, now_ns, output);
    } else if (now_ns >= zab->deadline_ns) {
        if (zab->phase == FOLLOWING && zab->confirmed)
            output_note(output, (struct note){.f = F_SUSPECT, .term = peer_term(&zab->peer)});
        look(zab, now_ns, NULL, output);
    } else if (repeats(zab) && now_ns >= zab->repeat_ns) {
        zab->repeat_ns = now_ns + config->knobs.heartbeat;
        if (zab->phase == LOOKING)
            zab_notify(zab, 0, output);
        else
            send_info(zab, output);
    }
}

static void on_follower_info(struct zab *zab, const struct message *message, uint64_t now_ns,
                             struct output *output)
{
    struct message answer = {.kind = NEW_EPOCH, .term = zab->epoch};
    if (zab->phase == LEADING && message->term > zab->epoch)
        look(zab, now_ns, "a follower has accepted a higher epoch", output);
    else if (zab->phase == LEADING)
        peer_send(&zab->peer, message->source, answer, output);
    else if (zab->phase == DISCOVERING && zab->epoch)
        peer_send(&zab->peer, message->source, answer, output);
    else if (zab->phase == DISCOVERING)
        count_joined(zab, message->source, now_ns, output);
}

static void on_new_epoch(struct zab *zab, const struct message *message, uint64_t now_ns,
                         struct output *output)
{
    if (zab->phase != FOLLOWING || message->source != zab->leader)
        return;
    struct message answer = {.kind = ACK_EPOCH, .term = message->term};
    /* Doubled, or said again: what is durable stays so, and does not prove that it leads by now. */
    if (zab->answered_epoch == message->term && zab->answered_leader == message->source) {
        peer_send(&zab->peer, message->source, answer, output);
        return;
    }
    if (!acknowledge(zab, message->term, message->source, output)) {
        /* Of an epoch that we acknowledged to another a ping tells who leads. To look again would
         * make the same leader answer with the same epoch, without end. */
        if (message->term < peer_term(&zab->peer))
            look(zab, now_ns, NULL, output);
        return;
    }
    zab->answered_epoch = message->term;
    zab->answered_leader = message->source;
    zab->deadline_ns = now_ns + peer_timeout(&zab->peer);
    peer_send(&zab->peer, message->source, answer, output);
}

static void on_ack_epoch(struct zab *zab, const struct message *message, uint64_t now_ns,
                         struct output *output)
{
    bool ours = message->term == zab->epoch || broken(zab, STALE_ACK);
    if (zab->phase == DISCOVERING && zab->epoch && ours)
        count_ack(zab, message->source, now_ns, output);
}

/* A ping of the epoch we are in: a majority acknowledged its leader, even if we did another. A node
 * that follows nobody, or another, asks to join a leader of a newer epoch. */
static void on_ping(struct zab *zab, const struct message *message, uint64_t now_ns,
                    struct output *output)
{
    bool ours = message->term == peer_term(&zab->peer);
    if (ours && zab->phase != LEADING) {
        zab->phase = FOLLOWING;
        zab->leader = message->source;
        zab->confirmed = true;
        zab->last = message->argument[ARGUMENT_NUMBER];
        zab->ballot = (struct ballot){message->source, message->term, zab->last};
        zab->deadline_ns = now_ns + peer_timeout(&zab->peer);
        if (zab->peer.durable.word[WORD_CURRENT] != message->term) {
            zab->peer.durable.word[WORD_CURRENT] = message->term;
            output_persist(output, &zab->peer.durable);
        }
        peer_send(&zab->peer, message->source,
                  (struct message){.kind = PING_REPLY,
                                   .term = message->term,
                                   .argument[ARGUMENT_SENT] = message->argument[ARGUMENT_SENT]},
                  output);
        return;
    }
    if (message->term <= peer_term(&zab->peer))
        return;
    if (zab->phase == LEADING)
        look(zab, now_ns, "a newer epoch leads", output);
    else if (zab->phase != FOLLOWING || zab->leader != message->source)
        zab_follow(zab, message->source, now_ns, output);
    else
        send_info(zab, output);
}

static void on_message(struct zab *zab, const struct message *message, uint64_t now_ns,
                       struct output *output)
{
    peer_saw(&zab->peer, message->term);
    switch ((enum kind)message->kind) {
    case NOTIFICATION: zab_on_notification(zab, message, now_ns, output); break;
    case FOLLOWER_INFO: on_follower_info(zab, message, now_ns, output); break;
    case NEW_EPOCH: on_new_epoch(zab, message, now_ns, output); break;
    case ACK_EPOCH: on_ack_epoch(zab, message, now_ns, output); break;
    case PING: on_ping(zab, message, now_ns, output); break;
    case PING_REPLY:
        if (zab->phase == LEADING && message->term == zab->epoch)
            peer_heard(&zab->peer, message, ARGUMENT_SENT, now_ns);
        break;
    }
}

static void on_command(struct zab *zab, const struct input *input, struct output *output)
{
    if (input->command.type == COMMAND_FORCE && peer_is_witness(&zab->peer))
        return;
    switch (input->command.type) {
    case COMMAND_RESIGN:
        if (zab->phase == LEADING)
            look(zab, input->now_ns, "asked to resign", output);
        break;
    case COMMAND_STAND:
        if (zab->phase != LEADING)
            look(zab, input->now_ns, NULL, output);
        break;
    case COMMAND_FORCE:
        members_clear(&zab->acked, zab->peer.config.nodes);
        lead(zab, zab->peer.highest_seen + 1, input->now_ns, output);
        break;
    case COMMAND_TRANSFER: break; /* votes decide */
    }
}

static void step(void *state, const struct input *input, struct output *output)
{
    static const struct durable nothing;
    static const enum role roles[] = {ROLE_CANDIDATE, ROLE_FOLLOWER, ROLE_CANDIDATE, ROLE_LEADER};
    struct zab *zab = state;
    switch (input->type) {
    case INPUT_START:
        peer_start(&zab->peer, broken(zab, FORGET_EPOCH) ? &nothing : input->stored);
        look(zab, input->now_ns, NULL, output);
        break;
    case INPUT_WAKE: on_wake(zab, input->now_ns, output); break;
    case INPUT_MESSAGE: on_message(zab, input->message, input->now_ns, output); break;
    case INPUT_COMMAND: on_command(zab, input, output); break;
    }
    bool leads = zab->phase == LEADING;
    output->belief =
        (struct belief){.role = roles[zab->phase],
                        .leader = leads || zab->confirmed ? zab->leader : 0,
                        .term = peer_term(&zab->peer),
                        .token = leads ? zab->epoch : 0,
                        .may_act = leads && peer_has_majority(&zab->peer, input->now_ns)};
    output->wake_ns = zab->deadline_ns;
    if (repeats(zab) && zab->repeat_ns < output->wake_ns)
        output->wake_ns = zab->repeat_ns;
    if (zab->phase == LOOKING && zab->settle_ns < output->wake_ns)
        output->wake_ns = zab->settle_ns;
}

static size_t state_size(const struct elector_config *config)
{
    size_t words_count = 2 * members_words(config->nodes) + config->nodes;
    return sizeof(struct zab) + words_count * sizeof(uint64_t) +
           config->nodes * sizeof(struct heard);
}

static void init(void *state, const struct elector_config *config)
{
    struct zab *zab = state;
    size_t words_each = members_words(config->nodes);
    peer_init(&zab->peer, config, "zab");
    zab->joined.bits = zab->storage;
    zab->acked.bits = zab->storage + words_each;
    zab->peer.heard_ns = zab->storage + 2 * words_each;
    zab->heard = (struct heard *)(zab->peer.heard_ns + config->nodes);
}

static uint32_t traits(const struct option_values *values)
{
    (void)values;
    return 1u << TRAIT_MAJORITY | 1u << TRAIT_DURABLE | 1u << TRAIT_TOKEN |
           1u << TRAIT_LINEARIZABLE;
}

static int validate(const struct elector_config *config, struct error *error)
{
    return peer_check_wait(config, "zab", options, OPTION_SETTLE, error);
}

const struct algorithm algorithm_zab = {
    .name = "zab",
    .summary = "votes choose a candidate, then a majority acknowledges its new epoch",
    .reference = "Junqueira, Reed, Serafini, Zab, DSN 2011, phase 1; ZooKeeper's fast election",
    .promises = "at most one leader per epoch; a leader while a majority is connected",
    .bears[UNDER_CRASH] =
        "epochs are not shared; a leader while a majority runs, back within the bound",
    .bears[UNDER_PARTITION] =
        "the side with a majority has a leader, the other stops; a leader beside half "
        "cut nodes is not promised",
    .bears[UNDER_PAUSE] = "the others elect; who wakes stops, its late writes carry an old token",
    .bears[UNDER_DRIFT] = "only timeouts stretch",
    .broken_by = "a majority that lost its disks",
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
