/* Succession by list: the leader keeps and distributes an ordered list of successors; when it is
 * lost the first of them takes over without an election, the second if the first does not within
 * `slot`, and so on. Only when all of them are silent, or no list is known, is a leader elected, by
 * `fallback`. (Pre-designated standbys of database clusters work like this.)
 *
 * The fallback elector runs inside, sees every message of its own, and holds term, vote and
 * leadership; this file adds the list. Taking over is its COMMAND_FORCE: nobody is asked, so two
 * sides of a partition each get their successor in the same term. With quorum=on it is
 * COMMAND_STAND: an election among a majority, only begun earlier. */
#include "base/units.h"
#include "nodes/peer.h"

#include <assert.h>

enum kind { FALLBACK, SUCCESSION, PRESENT };
static const char *const kinds[] = {"fallback", "succession", "present", NULL};

/* The last argument of FALLBACK holds the inner kind; no fallback uses it. */
#define ARGUMENT_KIND (MESSAGE_ARGUMENTS - 1)

static const char *const words[] = {"term", "vote", NULL};

extern const struct algorithm algorithm_bully, algorithm_raft;
static const struct algorithm *const fallbacks[] = {&algorithm_bully, &algorithm_raft};
static const char *const fallback_names[] = {"bully", "raft", NULL};

enum choice { OPTION_FALLBACK, OPTION_QUORUM, OPTION_SLOT };
static const struct option options[] = {
    {"fallback", OPTION_WORD, "raft", 0, 0, fallback_names,
     "how a leader is elected when there is no list or all on it are silent"},
    {"quorum", OPTION_SWITCH, "off", 0, 0, NULL,
     "a successor needs a majority's votes before it acts"},
    {"slot", OPTION_DURATION, "60ms", NS_PER_MS, 60 * NS_PER_S, NULL,
     "how much longer each next successor on the list waits"},
    {.name = NULL},
};

enum defect { HONEST, SAME_TERM, STALE_LIST, ALL_FIRST };
static const struct bug bugs[] = {
    {"all-first", "every successor believes it is the first (cf. repmgr#699)", "",
     "single-leader-per-term", "kill", 50},
    {"stale-list", "a successor acts on a list of an earlier leader (cf. repmgr#821)", "",
     "single-leader-per-term",
     "at=500ms fault=jitter on=leader jitter=150ms for=8s;at=700ms fault=kill on=leader for=300ms;"
     "at=950ms fault=kill on=leader for=300ms",
     50},
    {"same-term", "a successor leads on in its predecessor's term", "", "single-leader-per-term",
     "kill", 20},
    {.name = NULL},
};

struct successors {
    struct peer peer; /* config and generator; the durable words are the inner elector's */
    const struct algorithm *inner;
    struct belief belief; /* its last */
    uint64_t inner_wake_ns;
    uint64_t beat_ns;     /* leading: next list */
    uint64_t takeover_ns; /* UINT64_MAX: not on the list, or no list */
    uint64_t list_term;
    struct members present;  /* leading: who answered the last list */
    struct members answered; /* ... and the one under way */
    bool usurped;            /* planted bug: leads beside the inner elector */
    uint64_t storage[];      /* two sets, then the inner state */
};

static bool broken(const struct successors *self, enum defect defect)
{
    return peer_broken(&self->peer, defect);
}

static void *inner_state(struct successors *self)
{
    return self->storage + 2 * members_words(self->peer.config.nodes);
}

/* The inner detector must not be faster than the last successor: its timeouts begin after them. */
static struct elector_config inner_config(const struct elector_config *config)
{
    struct elector_config inner = *config;
    uint64_t extra_ns = config->options.at[OPTION_SLOT] * config->nodes;
    bool raft = config->options.at[OPTION_FALLBACK] == 1;
    inner.bug = 0;
    inner.knobs.election_timeout_min += extra_ns;
    inner.knobs.election_timeout_max += extra_ns;
    options_defaults(fallbacks[config->options.at[OPTION_FALLBACK]]->options, &inner.options);
    if (!raft)
        inner.options.at[0] = config->options.at[OPTION_QUORUM]; /* bully's first option */
    return inner;
}

/* The inner elector's outputs are ours, but for its messages, which travel in an envelope. */
static void step_inner(struct successors *self, const struct input *input, struct output *output)
{
    uint32_t first = output->message_count;
    self->inner->step(inner_state(self), input, output);
    self->belief = output->belief;
    self->inner_wake_ns = output->wake_ns;
    for (uint32_t i = first; i < output->message_count; i++) {
        struct message *message = &output->messages[i];
        assert(message->id_count == 0 && message->argument[ARGUMENT_KIND] == 0);
        message->argument[ARGUMENT_KIND] = message->kind;
        message->kind = FALLBACK;
    }
}

static void command_inner(struct successors *self, enum command_type type, uint64_t now_ns,
                          struct output *output)
{
    struct input input = {.type = INPUT_COMMAND, .now_ns = now_ns, .command = {.type = type}};
    step_inner(self, &input, output);
}

static bool leads(const struct successors *self)
{
    return self->belief.role == ROLE_LEADER || self->usurped;
}

/* Distribute the list: those who answered the last one first, highest ids first. */
static void distribute(struct successors *self, uint64_t now_ns, struct output *output)
{
    const struct elector_config *config = &self->peer.config;
    uint32_t count = 0, electable = peer_electable(&self->peer);
    uint32_t *ids = output_ids(output, config->nodes);
    struct members swap = self->present;
    self->present = self->answered;
    self->answered = swap;
    members_clear(&self->answered, config->nodes);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t id = electable; id >= 1; id--)
            if (id != config->id && members_have(&self->present, id) == (pass == 0))
                ids[count++] = id;
    self->beat_ns = now_ns + config->knobs.heartbeat;
    peer_send_all(&self->peer,
                  (struct message){
                      .kind = SUCCESSION, .term = self->belief.term, .ids = ids, .id_count = count},
                  output);
}

static void on_succession(struct successors *self, const struct message *message, uint64_t now_ns,
                          struct output *output)
{
    if (message->term < self->belief.term && !broken(self, STALE_LIST))
        return;
    self->list_term = message->term;
    self->takeover_ns = UINT64_MAX;
    for (uint32_t rank = 0; rank < message->id_count; rank++) {
        if (message->ids[rank] != self->peer.config.id)
            continue;
        uint64_t slots = broken(self, ALL_FIRST) ? 0 : rank;
        self->takeover_ns = now_ns + self->peer.config.knobs.election_timeout_min +
                            slots * self->peer.config.options.at[OPTION_SLOT];
    }
    peer_send(&self->peer, message->source,
              (struct message){.kind = PRESENT, .term = message->term}, output);
}

static void take_over(struct successors *self, uint64_t now_ns, struct output *output)
{
    bool outdated = self->list_term != self->belief.term && !broken(self, STALE_LIST);
    bool quorum = self->peer.config.options.at[OPTION_QUORUM];
    self->takeover_ns = UINT64_MAX;
    if (outdated || leads(self))
        return;
    output_note(output, (struct note){.f = F_SUSPECT, .term = self->belief.term});
    if (broken(self, SAME_TERM))
        self->usurped = true;
    else
        command_inner(self, quorum ? COMMAND_STAND : COMMAND_FORCE, now_ns, output);
}

static void on_message(struct successors *self, const struct input *input, struct output *output)
{
    struct message message = *input->message;
    switch ((enum kind)message.kind) {
    case FALLBACK: {
        uint64_t kind = message.argument[ARGUMENT_KIND];
        if (kind >= algorithm_kind_count(self->inner) || message.id_count)
            return;
        message.kind = (uint8_t)kind;
        message.argument[ARGUMENT_KIND] = 0;
        struct input inner = *input;
        inner.message = &message;
        step_inner(self, &inner, output);
        break;
    }
    case SUCCESSION: on_succession(self, &message, input->now_ns, output); break;
    case PRESENT:
        if (leads(self) && message.term == self->belief.term)
            (void)members_add(&self->answered, message.source);
        break;
    }
}

static void on_wake(struct successors *self, const struct input *input, struct output *output)
{
    if (input->now_ns >= self->inner_wake_ns)
        step_inner(self, input, output);
    if (input->now_ns >= self->takeover_ns)
        take_over(self, input->now_ns, output);
}

static void step(void *state, const struct input *input, struct output *output)
{
    struct successors *self = state;
    switch (input->type) {
    case INPUT_START:
    case INPUT_COMMAND: step_inner(self, input, output); break;
    case INPUT_WAKE: on_wake(self, input, output); break;
    case INPUT_MESSAGE: on_message(self, input, output); break;
    }
    if (leads(self) && input->now_ns >= self->beat_ns)
        distribute(self, input->now_ns, output);
    output->belief = self->belief;
    if (self->usurped) {
        output->belief.role = ROLE_LEADER;
        output->belief.leader = self->peer.config.id;
        output->belief.token = self->belief.term;
        output->belief.may_act = true;
    }
    output->wake_ns =
        self->inner_wake_ns < self->takeover_ns ? self->inner_wake_ns : self->takeover_ns;
    if (leads(self) && self->beat_ns < output->wake_ns)
        output->wake_ns = self->beat_ns;
}

static size_t inner_offset(const struct elector_config *config)
{
    return sizeof(struct successors) + 2 * members_words(config->nodes) * sizeof(uint64_t);
}

static size_t state_size(const struct elector_config *config)
{
    struct elector_config inner = inner_config(config);
    return inner_offset(config) +
           fallbacks[config->options.at[OPTION_FALLBACK]]->state_size(&inner);
}

static void init(void *state, const struct elector_config *config)
{
    struct successors *self = state;
    struct elector_config inner = inner_config(config);
    peer_init(&self->peer, config, "successors");
    self->inner = fallbacks[config->options.at[OPTION_FALLBACK]];
    self->takeover_ns = self->inner_wake_ns = UINT64_MAX;
    self->present.bits = self->storage;
    self->answered.bits = self->storage + members_words(config->nodes);
    self->inner->init(inner_state(self), &inner);
}

static uint32_t traits(const struct option_values *values)
{
    uint32_t always = 1u << TRAIT_DURABLE | 1u << TRAIT_TOKEN;
    return values->at[OPTION_QUORUM] ? always | 1u << TRAIT_MAJORITY | 1u << TRAIT_LINEARIZABLE
                                     : always;
}

static int validate(const struct elector_config *config, struct error *error)
{
    return peer_check_wait(config, "successors", options, OPTION_SLOT, error);
}

const struct algorithm algorithm_successors = {
    .name = "successors",
    .summary = "the leader names its successors in order, the first live one takes over unasked",
    .reference = "pre-designated standby; fallback by bully or raft",
    .promises = "after a crash the first live successor leads; quorum=on: one leader per term",
    .bears[UNDER_CRASH] =
        "one crash after the other: the first live successor leads at once; else as "
        "its fallback",
    .bears[UNDER_PARTITION] =
        "a successor on each side can lead; quorum=on: only with a majority's votes, "
        "and not beside half cut nodes",
    .bears[UNDER_PAUSE] =
        "a second leader until the first one wakes and hears of it; quorum=on: it "
        "stops by itself",
    .bears[UNDER_DRIFT] = "only timeouts stretch; beyond one slot two successors may move at once",
    .broken_by = "partitions, and pauses longer than an election timeout: a successor on each side",
    .kinds = kinds,
    .durable = words,
    .options = options,
    .bugs = bugs,
    .stands_alone = true,
    .traits = traits,
    .validate = validate,
    .state_size = state_size,
    .init = init,
    .step = step,
};
