/* Raft leader election without a log (Ongaro, "Consensus: Bridging Theory and Practice", 2014,
 * chapter 3): terms, one durable vote per term, a majority, randomised timeouts, heartbeats. */
#include "nodes/elector.h"

#include <string.h>

enum kind { VOTE_REQUEST, VOTE_REPLY, HEARTBEAT, HEARTBEAT_REPLY };
static const char *const kinds[] = {"vote-request", "vote-reply", "heartbeat", "heartbeat-reply",
                                    NULL};

enum word { WORD_TERM, WORD_VOTE };
static const char *const words[] = {"term", "vote", NULL};

struct raft {
    struct elector_config config;
    struct random random;
    struct durable durable;
    enum role role;
    uint32_t leader;
    uint64_t deadline_ns;
    uint32_t granted_count;
    uint8_t granted[]; /* by id - 1 */
};

static uint64_t term_of(const struct raft *raft)
{
    return raft->durable.word[WORD_TERM];
}

static void arm(struct raft *raft, uint64_t now_ns)
{
    const struct knobs *knobs = &raft->config.knobs;
    raft->deadline_ns = now_ns + random_between(&raft->random, knobs->election_timeout_min,
                                                knobs->election_timeout_max);
}

static void send(const struct raft *raft, uint32_t target, enum kind kind, uint64_t argument,
                 struct output *output)
{
    output_send(output, (struct message){.source = raft->config.id,
                                         .target = target,
                                         .kind = (uint8_t)kind,
                                         .term = term_of(raft),
                                         .argument[0] = argument});
}

static void send_all(const struct raft *raft, enum kind kind, struct output *output)
{
    for (uint32_t id = 1; id <= raft->config.nodes; id++)
        if (id != raft->config.id)
            send(raft, id, kind, 0, output);
}

/* Section 3.3: a larger term makes anybody a follower of it. */
static void adopt_term(struct raft *raft, uint64_t term, struct output *output)
{
    if (raft->role == ROLE_LEADER)
        output->step_reason = "higher term";
    raft->role = ROLE_FOLLOWER;
    raft->leader = 0;
    raft->durable.word[WORD_TERM] = term;
    raft->durable.word[WORD_VOTE] = 0;
    output_persist(output, &raft->durable);
}

static void cast_vote(struct raft *raft, uint32_t candidate, struct output *output)
{
    raft->durable.word[WORD_VOTE] = candidate;
    output_persist(output, &raft->durable);
    output_note(output, (struct note){.f = F_VOTE, .term = term_of(raft), .peer = candidate});
}

static void count_vote(struct raft *raft, uint32_t voter, uint64_t now_ns, struct output *output)
{
    if (raft->granted[voter - 1])
        return;
    raft->granted[voter - 1] = 1;
    if (++raft->granted_count < elector_majority(&raft->config))
        return;
    raft->role = ROLE_LEADER;
    raft->leader = raft->config.id;
    raft->deadline_ns = now_ns + raft->config.knobs.heartbeat;
    send_all(raft, HEARTBEAT, output);
}

static void campaign(struct raft *raft, uint64_t now_ns, struct output *output)
{
    adopt_term(raft, term_of(raft) + 1, output);
    raft->role = ROLE_CANDIDATE;
    raft->granted_count = 0;
    memset(raft->granted, 0, raft->config.nodes);
    output_note(output, (struct note){.f = F_CAMPAIGN, .term = term_of(raft)});
    cast_vote(raft, raft->config.id, output);
    arm(raft, now_ns);
    send_all(raft, VOTE_REQUEST, output);
    count_vote(raft, raft->config.id, now_ns, output);
}

static void on_wake(struct raft *raft, uint64_t now_ns, struct output *output)
{
    if (now_ns < raft->deadline_ns)
        return;
    if (raft->role == ROLE_LEADER) {
        raft->deadline_ns = now_ns + raft->config.knobs.heartbeat;
        send_all(raft, HEARTBEAT, output);
    } else if (elector_is_witness(&raft->config, raft->config.id)) {
        raft->leader = 0;
        arm(raft, now_ns);
    } else {
        if (raft->role == ROLE_FOLLOWER)
            output_note(output, (struct note){.f = F_SUSPECT, .term = term_of(raft)});
        campaign(raft, now_ns, output);
    }
}

static void on_vote_request(struct raft *raft, const struct message *message, uint64_t now_ns,
                            struct output *output)
{
    uint64_t vote = raft->durable.word[WORD_VOTE];
    bool grant = message->term == term_of(raft) && (vote == 0 || vote == message->source);
    if (grant && vote == 0) {
        cast_vote(raft, message->source, output);
        arm(raft, now_ns);
    }
    send(raft, message->source, VOTE_REPLY, grant, output);
}

static void on_heartbeat(struct raft *raft, const struct message *message, uint64_t now_ns,
                         struct output *output)
{
    if (message->term == term_of(raft)) {
        raft->role = ROLE_FOLLOWER;
        raft->leader = message->source;
        arm(raft, now_ns);
    }
    send(raft, message->source, HEARTBEAT_REPLY, 0, output);
}

static void on_message(struct raft *raft, const struct message *message, uint64_t now_ns,
                       struct output *output)
{
    if (message->term > term_of(raft)) {
        if (raft->role == ROLE_LEADER)
            arm(raft, now_ns);
        adopt_term(raft, message->term, output);
    }
    switch ((enum kind)message->kind) {
    case VOTE_REQUEST: on_vote_request(raft, message, now_ns, output); break;
    case VOTE_REPLY:
        if (raft->role == ROLE_CANDIDATE && message->term == term_of(raft) && message->argument[0])
            count_vote(raft, message->source, now_ns, output);
        break;
    case HEARTBEAT: on_heartbeat(raft, message, now_ns, output); break;
    case HEARTBEAT_REPLY: break;
    }
}

static void step(void *state, const struct input *input, struct output *output)
{
    struct raft *raft = state;
    switch (input->type) {
    case INPUT_START:
        raft->durable = *input->stored;
        arm(raft, input->now_ns);
        break;
    case INPUT_WAKE: on_wake(raft, input->now_ns, output); break;
    case INPUT_MESSAGE: on_message(raft, input->message, input->now_ns, output); break;
    case INPUT_COMMAND: break;
    }
    bool leads = raft->role == ROLE_LEADER;
    output->belief = (struct belief){.role = raft->role,
                                     .leader = raft->leader,
                                     .term = term_of(raft),
                                     .token = leads ? term_of(raft) : 0,
                                     .may_act = leads};
    output->wake_ns = raft->deadline_ns;
}

static size_t state_size(const struct elector_config *config)
{
    return sizeof(struct raft) + config->nodes;
}

static void init(void *state, const struct elector_config *config)
{
    struct raft *raft = state;
    raft->config = *config;
    random_init(&raft->random, config->seed, "raft", config->id);
}

static uint32_t traits(const struct option_values *options)
{
    (void)options;
    return 1u << TRAIT_MAJORITY | 1u << TRAIT_DURABLE | 1u << TRAIT_TOKEN |
           1u << TRAIT_LINEARIZABLE;
}

const struct algorithm algorithm_raft = {
    .name = "raft",
    .summary = "terms, one durable vote per term, a majority, randomised timeouts",
    .reference = "Ongaro, Consensus: Bridging Theory and Practice, 2014, chapters 3 and 4",
    .promises = "at most one leader per term; a leader while a majority is connected",
    .broken_by = "a majority that lost its disks",
    .kinds = kinds,
    .durable = words,
    .traits = traits,
    .state_size = state_size,
    .init = init,
    .step = step,
};
