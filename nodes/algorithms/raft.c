/* Raft's leader election (Ongaro, "Consensus: Bridging Theory and Practice", 2014; sections are the
 * thesis's). Without a log the term alone decides: every node is equally up to date, and the
 * leader's term is its fencing token.
 *
 * With pre-vote a node that suspects its leader first asks whether a majority would vote for it,
 * and raises its term only then. Asking disturbs nobody, so it may be repeated without waiting for
 * an election timeout: lost questions and split votes cost a fraction of one.
 *
 * This file is what leaders do, and the step; elections are in raft/votes.c. */
#include "nodes/algorithms/raft/raft.h"

/* Section 6.2: a leader that no majority answers stops, because others may lead by now. What counts
 * is when the answered heartbeat was sent: an answer read late, after a pause, proves nothing new.
 */
static void check_quorum(struct raft *raft, uint64_t now_ns, struct output *output)
{
    bool exempt = !raft_enabled(raft, RAFT_CHECKQUORUM) || raft_broken(raft, BUG_DEAF_LEADER);
    if (raft->role != ROLE_LEADER || raft->forced || exempt || now_ns < raft->check_ns)
        return;
    uint64_t window_ns = raft->config.knobs.election_timeout_max;
    if (raft_fresh_members(raft, now_ns, window_ns, &raft->check_ns) < raft_majority(raft))
        raft_become_follower(raft, 0, "no answer from a majority", now_ns, output);
}

static void keep_leading(struct raft *raft, uint64_t now_ns, struct output *output)
{
    if (now_ns >= raft->transfer_ns)
        raft->transfer_ns = 0; /* section 3.10: the target did not take over in time */
    if (now_ns < raft->deadline_ns)
        return;
    raft->deadline_ns = now_ns + raft->config.knobs.heartbeat;
    if (raft_broken(raft, BUG_LATE_HEARTBEAT))
        raft_arm(raft, now_ns);
    raft_send_all(raft, (struct message){.kind = HEARTBEAT, .argument = {now_ns}}, output);
}

static void on_heartbeat(struct raft *raft, const struct message *message, uint64_t now_ns,
                         struct output *output)
{
    if (message->term == raft_term(raft)) {
        /* Only an override makes two leaders of one term; it is the one to give way. */
        if (raft->role == ROLE_LEADER && !raft->forced)
            return;
        const char *reason = raft->forced ? "another leader of this term" : NULL;
        raft_become_follower(raft, message->source, reason, now_ns, output);
        raft->heard_ns = now_ns;
        raft_arm(raft, now_ns);
    }
    raft_send(raft, message->source,
              (struct message){.kind = HEARTBEAT_REPLY, .argument = {message->argument[0]}},
              output);
}

static void on_heartbeat_reply(struct raft *raft, const struct message *message, uint64_t now_ns)
{
    uint64_t sent_ns = message->argument[0];
    struct raft_member *member = &raft->members[message->source - 1];
    bool current = message->term == raft_term(raft) || raft_broken(raft, BUG_KEEP_LEADING);
    if (raft->role == ROLE_LEADER && current && sent_ns <= now_ns && sent_ns > member->acked_ns)
        member->acked_ns = sent_ns;
}

/* Section 3.10: the leader asks a node to stand at once; its request overrides stickiness. */
static void on_timeout_now(struct raft *raft, const struct message *message, uint64_t now_ns,
                           struct output *output)
{
    if (message->term != raft_term(raft) || raft->role == ROLE_LEADER || raft_is_witness(raft))
        return;
    raft_become_follower(raft, 0, "asked to take over", now_ns, output);
    raft->transfer = true;
    raft_stand(raft, false, now_ns, output);
}

/* Section 3.3, but for a pre-vote: it asks about a term and never moves one (section 9.6). */
static void follow_term(struct raft *raft, const struct message *message, uint64_t now_ns,
                        struct output *output)
{
    bool larger = message->term > raft_term(raft) && message->kind != PREVOTE_REQUEST;
    bool regress = raft_broken(raft, BUG_TERM_REGRESSION) && message->kind == HEARTBEAT;
    bool keep = raft_broken(raft, BUG_KEEP_LEADING) && raft->role == ROLE_LEADER;
    if ((larger && !keep) || (regress && message->term < raft_term(raft)))
        raft_adopt_term(raft, message->term, now_ns, output);
}

static void on_message(struct raft *raft, const struct message *message, uint64_t now_ns,
                       struct output *output)
{
    if (raft_disturbs(raft, message, now_ns))
        return;
    follow_term(raft, message, now_ns, output);
    switch ((enum raft_kind)message->kind) {
    case VOTE_REQUEST: raft_on_vote_request(raft, message, now_ns, output); break;
    case VOTE_REPLY: raft_on_vote_reply(raft, message, now_ns, output); break;
    case PREVOTE_REQUEST: raft_on_prevote_request(raft, message, now_ns, output); break;
    case PREVOTE_REPLY: raft_on_prevote_reply(raft, message, now_ns, output); break;
    case HEARTBEAT: on_heartbeat(raft, message, now_ns, output); break;
    case HEARTBEAT_REPLY: on_heartbeat_reply(raft, message, now_ns); break;
    case TIMEOUT_NOW: on_timeout_now(raft, message, now_ns, output); break;
    }
}

/* Whom to hand leadership to: who was asked for, else the node that answered last; 0: nobody. */
static uint32_t successor(const struct raft *raft, uint32_t wanted)
{
    uint32_t best = 0;
    for (uint32_t id = 1; id <= raft->config.nodes; id++) {
        bool able = id != raft->config.id && !elector_is_witness(&raft->config, id);
        if (able && wanted == id)
            return id;
        if (able && (!best || raft->members[id - 1].acked_ns > raft->members[best - 1].acked_ns))
            best = id;
    }
    return wanted == 0 ? best : 0;
}

static void on_transfer(struct raft *raft, uint32_t wanted, uint64_t now_ns, struct output *output)
{
    uint32_t target = successor(raft, wanted);
    if (raft->role != ROLE_LEADER || target == 0)
        return;
    raft->transfer_ns = now_ns + raft->config.knobs.election_timeout_max;
    raft_send(raft, target, (struct message){.kind = TIMEOUT_NOW}, output);
}

static void on_command(struct raft *raft, const struct input *input, struct output *output)
{
    uint64_t now_ns = input->now_ns;
    bool leads = raft->role == ROLE_LEADER;
    switch (input->command.type) {
    case COMMAND_TRANSFER: on_transfer(raft, input->command.target, now_ns, output); break;
    case COMMAND_RESIGN:
        if (leads) {
            raft_become_follower(raft, 0, "resigned", now_ns, output);
            raft->deadline_ns += raft->config.knobs.election_timeout_max; /* others go first */
        }
        break;
    case COMMAND_STAND:
        if (!leads && !raft_is_witness(raft)) {
            raft_become_follower(raft, 0, "told to stand", now_ns, output);
            raft->transfer = true; /* as if asked to take over: section 3.10 */
            raft_stand(raft, false, now_ns, output);
        }
        break;
    case COMMAND_FORCE:
        if (!leads && !raft_is_witness(raft)) {
            raft->transfer = false;
            raft_stand(raft, false, now_ns, output);
            raft_lead(raft, now_ns);
            raft->forced = true;
        }
        break;
    }
}

static void on_start(struct raft *raft, const struct input *input)
{
    raft->durable = *input->stored;
    raft_arm(raft, input->now_ns);
    if (raft_broken(raft, BUG_RESUME) && raft->durable.word[WORD_VOTE] == raft->config.id)
        raft_lead(raft, input->now_ns);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void report(const struct raft *raft, struct output *output)
{
    bool leads = raft->role == ROLE_LEADER;
    output->belief = (struct belief){.role = raft->role,
                                     .leader = raft->leader,
                                     .term = raft_term(raft),
                                     .token = leads ? raft_term(raft) : 0,
                                     .may_act = leads && raft->transfer_ns == 0,
                                     .from_memory = raft_broken(raft, BUG_READ_FROM_MEMORY)};
    output->wake_ns = raft->deadline_ns;
    if (raft->role == ROLE_CANDIDATE)
        output->wake_ns = earlier(output->wake_ns, raft->resend_ns);
    if (leads && raft->check_ns)
        output->wake_ns = earlier(output->wake_ns, raft->check_ns);
}

static void step(void *state, const struct input *input, struct output *output)
{
    struct raft *raft = state;
    if (input->type != INPUT_START)
        check_quorum(raft, input->now_ns, output);
    switch (input->type) {
    case INPUT_START: on_start(raft, input); break;
    case INPUT_WAKE:
        if (raft->role != ROLE_LEADER)
            raft_on_election_wake(raft, input->now_ns, output);
        break;
    case INPUT_MESSAGE: on_message(raft, input->message, input->now_ns, output); break;
    case INPUT_COMMAND: on_command(raft, input, output); break;
    }
    if (raft->role == ROLE_LEADER)
        keep_leading(raft, input->now_ns, output);
    report(raft, output);
}

static size_t state_size(const struct elector_config *config)
{
    return sizeof(struct raft) + config->nodes * sizeof(struct raft_member);
}

static void init(void *state, const struct elector_config *config)
{
    struct raft *raft = state;
    raft->config = *config;
    random_init(&raft->random, config->seed, "raft", config->id);
}

/* Who hears a leader neither grants nor learns of a higher term, so nobody can depose it. */
static uint32_t traits(const struct option_values *values)
{
    bool steady = values->at[RAFT_PREVOTE] && values->at[RAFT_STICKINESS];
    bool progress = values->at[RAFT_PREVOTE] && values->at[RAFT_CHECKQUORUM];
    return 1u << TRAIT_MAJORITY | 1u << TRAIT_DURABLE | 1u << TRAIT_TOKEN |
           1u << TRAIT_LINEARIZABLE | (steady ? 1u << TRAIT_STEADY : 0) |
           (progress ? 1u << TRAIT_PROGRESS : 0);
}

static const char *const kinds[] = {"vote-request",  "vote-reply", "prevote-request",
                                    "prevote-reply", "heartbeat",  "heartbeat-reply",
                                    "timeout-now",   NULL};

static const char *const words[] = {"term", "vote", NULL};

static const struct option options[] = {
    {"prevote", OPTION_SWITCH, "on", 0, 0, NULL,
     "ask whether a majority would vote before raising the term"},
    {"checkquorum", OPTION_SWITCH, "on", 0, 0, NULL,
     "a leader stops when no majority answered within an election timeout"},
    {"stickiness", OPTION_SWITCH, "on", 0, 0, NULL,
     "ignore vote requests while the leader is heard"},
    {.name = NULL},
};

static const struct bug bugs[] = {
#define X(id, name, needs, check, faults, seeds, summary) \
    {name, summary, needs, check, faults, seeds},
    RAFT_BUGS(X)
#undef X
        {.name = NULL},
};

const struct algorithm algorithm_raft = {
    .name = "raft",
    .summary = "terms, one durable vote per term, a majority, randomised timeouts",
    .reference = "Ongaro, Consensus: Bridging Theory and Practice, 2014, chapters 3, 4, 6 and 9",
    .promises = "at most one leader per term, always; a leader while a majority is connected",
    .bears[UNDER_CRASH] =
        "terms are not shared; a leader while a majority runs, back within the bound",
    .bears[UNDER_PARTITION] =
        "the side with a majority has a leader, the other steps down; no term is shared",
    .bears[UNDER_PAUSE] =
        "the others elect; who wakes steps down, its late writes carry an old token",
    .bears[UNDER_DRIFT] = "only timeouts stretch",
    .broken_by = "disks that lose what was synced; an operator's force command",
    .kinds = kinds,
    .durable = words,
    .options = options,
    .bugs = bugs,
    .hands_on = true,
    .stands_alone = true,
    .traits = traits,
    .state_size = state_size,
    .init = init,
    .step = step,
};
