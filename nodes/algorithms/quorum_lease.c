/* A lease held of a majority (Trencseni, Gazso, Reinhardt, "PaxosLease: Diskless Paxos for Leases",
 * 2012; timing rules of Gray and Cheriton, "Leases", SOSP 1989, section 3.1): a majority promises
 * to follow nobody else for the lease's length by its own clocks; the holder counts the length from
 * the moment it ASKED, by its own clock, and stops `margin` earlier.
 *
 * With clocks that differ from true time by at most a fraction d, the holder believes for at most
 * (lease - margin) / (1 - d) true time and a promise lasts at least lease / (1 + d): no overlap
 * while margin >= 2 * d * lease. Each use looks at the clock, so a pause needs no timer to end a
 * lease.
 *
 * term = token = ballot = round * n + (id - 1). A promise's end is not durable: a node that
 * restarts with a promise on disk grants nothing for a whole lease (PaxosLease, section 4). */
#include "base/units.h"
#include "nodes/peer.h"

enum kind { REQUEST, GRANT, REFUSAL, RELEASE };
static const char *const kinds[] = {"request", "grant", "refusal", "release", NULL};

/* Of REQUEST and its answers: the asker's clock when it asked. */
enum argument { ARGUMENT_ASKED, ARGUMENT_HIGHEST };

static const char *const words[] = {"term", "vote", NULL};

enum choice { OPTION_LEASE, OPTION_MARGIN, OPTION_DRIFT };
static const struct option options[] = {
    {"lease", OPTION_DURATION, "500ms", 10 * NS_PER_MS, 600 * NS_PER_S, NULL,
     "how long a majority promises to follow nobody else"},
    {"margin", OPTION_DURATION, "50ms", 0, 600 * NS_PER_S, NULL,
     "how much earlier the holder stops; 0 shows the overlap"},
    {"drift", OPTION_PROBABILITY, "5%", 0, 300000, NULL,
     "declared bound on the difference of a clock's rate from true time"},
    {.name = NULL},
};

enum defect {
    HONEST,
    NO_EMBARGO,
    COUNT_FROM_GRANT,
    COUNT_TICKS,
    GRANT_TWICE,
    NO_MAJORITY,
    FORGET_PROMISE,
};
static const struct bug bugs[] = {
    {"no-embargo", "a restarted node forgets what it promised and grants at once (cf. nebula#5379)",
     "lease=2s,margin=200ms", "lease-exclusive",
     "at=1s fault=isolate-leader for=5s;at=1100ms fault=kill on=follower:3 for=300ms", 50},
    {"count-from-grant", "the lease is counted from the answer, not from the question", "",
     "lease-exclusive",
     "at=1s fault=message-hold to=leader kind=grant for=400ms;"
     "at=1050ms fault=message-drop from=leader kind=request for=2s",
     20},
    {"count-ticks", "the lease is counted in own wake-ups, which a pause stops (cf. tikv#964)", "",
     "lease-exclusive", "pause", 100},
    {"grant-twice", "a promise does not keep a node from following another", "", "lease-exclusive",
     "partition,link", 100},
    {"no-majority", "one grant besides its own is enough", "", "majority-support", "kill", 20},
    {"forget-promise", "ballots start over after a restart", "", "term-monotonic", "kill", 50},
    {.name = NULL},
};

enum phase { FOLLOWING, ASKING, HOLDING };

struct quorum_lease {
    struct peer peer;
    enum phase phase;
    uint32_t leader;
    uint64_t ballot;
    uint64_t promised_until_ns; /* own clock; we follow nobody else before */
    uint64_t asked_ns;          /* first question of this ballot */
    uint64_t until_ns;          /* HOLDING: we may act before */
    uint64_t beat_ns;           /* HOLDING: next renewal */
    uint64_t deadline_ns;
    /* peer.heard_ns: own clock when the question was ASKED that each member granted last */
    uint64_t storage[];
};

static bool broken(const struct quorum_lease *self, enum defect defect)
{
    return peer_broken(&self->peer, defect);
}

static uint64_t option(const struct quorum_lease *self, enum choice choice)
{
    return self->peer.config.options.at[choice];
}

static uint64_t next_ballot(const struct quorum_lease *self)
{
    uint64_t nodes = self->peer.config.nodes;
    return (self->peer.highest_seen / nodes + 1) * nodes + self->peer.config.id - 1;
}

/* Nobody can hold a lease of ours any more at the deadline; then a drawn wait, so that not all ask
 * at once. */
static void follow(struct quorum_lease *self, uint32_t leader, uint64_t now_ns, const char *reason,
                   struct output *output)
{
    const struct knobs *knobs = &self->peer.config.knobs;
    uint64_t spread = random_below(&self->peer.random, knobs->election_timeout_min);
    uint64_t free_ns = self->promised_until_ns > now_ns ? self->promised_until_ns : now_ns;
    if (self->phase == HOLDING)
        output->step_reason = reason;
    self->phase = FOLLOWING;
    self->leader = leader;
    self->deadline_ns = free_ns + spread + knobs->heartbeat;
}

/* The latest moment at which a majority had been asked that has granted since: the middle of a
 * sorted list without sorting, since n is small. */
static uint64_t majority_asked_ns(const struct quorum_lease *self)
{
    const struct elector_config *config = &self->peer.config;
    uint32_t enough = broken(self, NO_MAJORITY) && config->nodes > 1 ? 2 : elector_majority(config);
    uint64_t best = 0;
    for (uint32_t i = 0; i < config->nodes; i++) {
        uint32_t as_late = 0;
        for (uint32_t j = 0; j < config->nodes; j++)
            as_late += self->peer.heard_ns[j] >= self->peer.heard_ns[i];
        if (as_late >= enough && self->peer.heard_ns[i] > best)
            best = self->peer.heard_ns[i];
    }
    return best;
}

static void ask(struct quorum_lease *self, uint64_t now_ns, struct output *output)
{
    self->peer.heard_ns[self->peer.config.id - 1] = now_ns;
    self->promised_until_ns = now_ns + option(self, OPTION_LEASE);
    self->beat_ns = now_ns + self->peer.config.knobs.heartbeat;
    peer_send_all(&self->peer,
                  (struct message){.kind = REQUEST, .term = self->ballot, .argument = {now_ns}},
                  output);
}

static void extend(struct quorum_lease *self, uint64_t until_ns, struct output *output)
{
    self->until_ns = until_ns;
    output_note(output, (struct note){.f = F_RENEW, .term = self->ballot, .until_ns = until_ns});
}

static void hold_until(struct quorum_lease *self, uint64_t now_ns, struct output *output)
{
    uint64_t asked_ns = majority_asked_ns(self);
    uint64_t until_ns = asked_ns + option(self, OPTION_LEASE) - option(self, OPTION_MARGIN);
    if (broken(self, COUNT_FROM_GRANT))
        until_ns = now_ns + option(self, OPTION_LEASE) - option(self, OPTION_MARGIN);
    if (asked_ns == 0 || until_ns <= now_ns || until_ns <= self->until_ns)
        return;
    if (self->phase == HOLDING) {
        extend(self, until_ns, output);
        return;
    }
    self->until_ns = until_ns;
    self->phase = HOLDING;
    self->leader = self->peer.config.id;
}

static void stand(struct quorum_lease *self, uint64_t now_ns, struct output *output)
{
    follow(self, 0, now_ns, "asks anew", output);
    self->phase = ASKING;
    self->ballot = next_ballot(self);
    self->until_ns = 0;
    output_note(output, (struct note){.f = F_CAMPAIGN, .term = self->ballot});
    (void)peer_grant(&self->peer, self->ballot, self->peer.config.id, output);
    peer_heard_from(&self->peer, NULL, 0, now_ns);
    ask(self, now_ns, output);
    self->deadline_ns = now_ns + peer_timeout(&self->peer);
    hold_until(self, now_ns, output);
}

/* Ours no longer, and never again under this ballot: our own promise to ourselves is void, and so
 * are the others' (PaxosLease, section 5), or two who split the votes would block everybody for a
 * whole lease, and again in the next round. */
static void let_go(struct quorum_lease *self, uint64_t now_ns, const char *reason,
                   struct output *output)
{
    self->promised_until_ns = 0;
    follow(self, 0, now_ns, reason, output);
    self->deadline_ns = now_ns + peer_timeout(&self->peer);
    peer_send_all(&self->peer, (struct message){.kind = RELEASE, .term = self->ballot}, output);
}

static void on_wake(struct quorum_lease *self, uint64_t now_ns, struct output *output)
{
    const struct elector_config *config = &self->peer.config;
    if (self->phase == HOLDING) {
        if (broken(self, COUNT_TICKS) && now_ns > self->beat_ns + config->knobs.heartbeat)
            extend(self, self->until_ns + (now_ns - self->beat_ns), output);
        if (now_ns >= self->until_ns)
            let_go(self, now_ns, "the lease ran out", output);
        else if (now_ns >= self->beat_ns)
            ask(self, now_ns, output);
        return;
    }
    if (now_ns < self->deadline_ns)
        return;
    if (self->leader)
        output_note(output, (struct note){.f = F_SUSPECT, .term = peer_term(&self->peer)});
    if (elector_is_witness(config, config->id))
        follow(self, 0, now_ns, NULL, output);
    else if (self->phase == ASKING)
        let_go(self, now_ns, NULL, output);
    else
        stand(self, now_ns, output);
}

/* A member follows one holder at a time: another is granted only after the promise has run out. */
static void on_request(struct quorum_lease *self, const struct message *message, uint64_t now_ns,
                       struct output *output)
{
    bool same = message->source == peer_vote(&self->peer);
    bool open = now_ns >= self->promised_until_ns || broken(self, GRANT_TWICE);
    struct message answer = {
        .kind = REFUSAL,
        .term = message->term,
        .argument = {message->argument[ARGUMENT_ASKED], peer_term(&self->peer)}};
    if ((same || open) && peer_grant(&self->peer, message->term, message->source, output)) {
        self->promised_until_ns = now_ns + option(self, OPTION_LEASE);
        follow(self, message->source, now_ns, "promised to another", output);
        answer.kind = GRANT;
    }
    peer_send(&self->peer, message->source, answer, output);
}

static void on_grant(struct quorum_lease *self, const struct message *message, uint64_t now_ns,
                     struct output *output)
{
    if (self->phase == FOLLOWING || message->term != self->ballot)
        return;
    peer_heard(&self->peer, message, ARGUMENT_ASKED, now_ns);
    hold_until(self, now_ns, output);
}

/* A member that stood alone for a while has promised itself a higher ballot and would never follow
 * ours again: ask everybody anew with one above it, which those who follow us grant at once. */
static void on_refusal(struct quorum_lease *self, const struct message *message, uint64_t now_ns,
                       struct output *output)
{
    uint64_t highest = message->argument[ARGUMENT_HIGHEST];
    peer_saw(&self->peer, highest);
    if (message->term != self->ballot || highest <= self->ballot)
        return;
    if (self->phase == HOLDING)
        stand(self, now_ns, output);
    else if (self->phase == ASKING)
        let_go(self, now_ns, NULL, output);
}

static void on_release(struct quorum_lease *self, const struct message *message, uint64_t now_ns,
                       struct output *output)
{
    if (self->phase != FOLLOWING || message->term != peer_term(&self->peer) ||
        message->source != peer_vote(&self->peer))
        return;
    self->promised_until_ns = 0;
    follow(self, 0, now_ns, NULL, output);
}

static void on_message(struct quorum_lease *self, const struct message *message, uint64_t now_ns,
                       struct output *output)
{
    peer_saw(&self->peer, message->term);
    switch ((enum kind)message->kind) {
    case REQUEST: on_request(self, message, now_ns, output); break;
    case GRANT: on_grant(self, message, now_ns, output); break;
    case REFUSAL: on_refusal(self, message, now_ns, output); break;
    case RELEASE: on_release(self, message, now_ns, output); break;
    }
}

static void on_command(struct quorum_lease *self, const struct input *input, struct output *output)
{
    if (input->command.type == COMMAND_FORCE && peer_is_witness(&self->peer))
        return;
    switch (input->command.type) {
    case COMMAND_RESIGN:
        if (self->phase == HOLDING) {
            let_go(self, input->now_ns, "asked to resign", output);
            self->deadline_ns += option(self, OPTION_LEASE);
        }
        break;
    case COMMAND_STAND:
        if (self->phase == FOLLOWING && input->now_ns >= self->promised_until_ns &&
            !elector_is_witness(&self->peer.config, self->peer.config.id))
            stand(self, input->now_ns, output);
        break;
    case COMMAND_FORCE:
        stand(self, input->now_ns, output);
        self->phase = HOLDING;
        self->leader = self->peer.config.id;
        self->until_ns = input->now_ns + option(self, OPTION_LEASE);
        break;
    case COMMAND_TRANSFER: break; /* a lease is not handed on */
    }
}

/* A promise may be out that we no longer know the end of. A new disk has promised nothing. */
static void on_start(struct quorum_lease *self, const struct input *input, struct output *output)
{
    static const struct durable nothing;
    peer_start(&self->peer, broken(self, FORGET_PROMISE) ? &nothing : input->stored);
    if (peer_term(&self->peer) > 0 && !broken(self, NO_EMBARGO))
        self->promised_until_ns = input->now_ns + option(self, OPTION_LEASE);
    follow(self, 0, input->now_ns, NULL, output);
}

static uint64_t wake_ns(const struct quorum_lease *self)
{
    if (self->phase != HOLDING)
        return self->deadline_ns;
    return self->beat_ns < self->until_ns ? self->beat_ns : self->until_ns;
}

static void step(void *state, const struct input *input, struct output *output)
{
    static const enum role roles[] = {ROLE_FOLLOWER, ROLE_CANDIDATE, ROLE_LEADER};
    struct quorum_lease *self = state;
    switch (input->type) {
    case INPUT_START: on_start(self, input, output); break;
    case INPUT_WAKE: on_wake(self, input->now_ns, output); break;
    case INPUT_MESSAGE: on_message(self, input->message, input->now_ns, output); break;
    case INPUT_COMMAND: on_command(self, input, output); break;
    }
    bool leads = self->phase == HOLDING;
    output->belief = (struct belief){.role = roles[self->phase],
                                     .leader = self->leader,
                                     .term = peer_term(&self->peer),
                                     .token = leads ? self->ballot : 0,
                                     .until_ns = leads ? self->until_ns : 0,
                                     .may_act = leads && input->now_ns < self->until_ns};
    output->wake_ns = wake_ns(self);
}

static size_t state_size(const struct elector_config *config)
{
    return sizeof(struct quorum_lease) + config->nodes * sizeof(uint64_t);
}

static void init(void *state, const struct elector_config *config)
{
    struct quorum_lease *self = state;
    peer_init(&self->peer, config, "quorum-lease");
    self->peer.heard_ns = self->storage;
}

static uint32_t traits(const struct option_values *values)
{
    (void)values;
    return 1u << TRAIT_MAJORITY | 1u << TRAIT_DURABLE | 1u << TRAIT_TOKEN | 1u << TRAIT_LEASE |
           1u << TRAIT_LINEARIZABLE;
}

static int validate(const struct elector_config *config, struct error *error)
{
    uint64_t lease = config->options.at[OPTION_LEASE], margin = config->options.at[OPTION_MARGIN];
    uint64_t drift = config->options.at[OPTION_DRIFT];
    char a[UNIT_TEXT_MAX], b[UNIT_TEXT_MAX], c[UNIT_TEXT_MAX];
    if (margin + 3 * config->knobs.heartbeat > lease)
        return error_usage(error,
                           "quorum-lease: margin (%s) + 3 x heartbeat (%s) must be <= lease (%s)",
                           format_duration(margin, a), format_duration(config->knobs.heartbeat, b),
                           format_duration(lease, c));
    if (margin > 0 && margin < lease / PPM_ONE * 2 * drift)
        return error_usage(
            error,
            "quorum-lease: margin (%s) must be >= 2 x drift (%s) x lease (%s), or 0 for none",
            format_duration(margin, a), format_probability(drift, b), format_duration(lease, c));
    return 0;
}

const struct algorithm algorithm_quorum_lease = {
    .name = "quorum-lease",
    .summary = "the holder of a lease that a majority granted leads until it runs out",
    .reference = "Trencseni et al., PaxosLease, 2012; Gray and Cheriton, Leases, SOSP 1989",
    .promises = "leases do not overlap while clocks drift by no more than declared",
    .bears[UNDER_CRASH] =
        "no leader before the dead holder's lease is over; a restarted node grants "
        "nothing for one lease",
    .bears[UNDER_PARTITION] =
        "the holder stops before the others may grant; a leader beside half cut nodes "
        "is not promised",
    .bears[UNDER_PAUSE] =
        "the lease ends by the clock, not by a timer: who wakes late finds it gone",
    .bears[UNDER_DRIFT] =
        "no overlap while each clock's rate is within the option drift; beyond it, or "
        "with margin=0, leases overlap",
    .broken_by = "clocks that drift more than declared, or margin=0",
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
