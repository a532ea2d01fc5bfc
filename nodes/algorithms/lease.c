/* The lease recipe of etcd (its documentation of leases and elections; timing rules of Gray and
 * Cheriton, "Leases", SOSP 1989): everybody keeps a session with the service; who puts the one
 * record that is bound to its session leads until the session ends; the others watch the record and
 * compete when it goes. The holder stops by its own clock, `margin` before the service can end its
 * session (nodes/contender.h).
 *
 * term = token = the record's number, the service's revision when it was put. A put whose answer
 * was lost is asked again and finds the record of its own session. Watches may be lost with the
 * service or on the way: they are asked again, and name the record, so none is missed. */
#include "base/units.h"
#include "nodes/contender.h"

static const struct option options[] = {
    CONTENDER_OPTION_ROWS,
    {.name = NULL},
};

enum defect {
    HONEST,
    RELEASE_ANY,
    RELEASE_BEFORE_STOP,
    SILENT_SESSION,
    COUNT_FROM_ANSWER,
    WATCH_ONCE,
    DEAD_SESSION,
};
static const struct bug bugs[] = {
    {"unconditional-release",
     "who lost its lease deletes the record without looking whose it is (twentyhq/twenty#25661)",
     "", "lease-exclusive", "pause", 100},
    {"release-before-stop",
     "who cannot renew gives the record up and acts on to the end (kubernetes/client-go#728)", "",
     "lease-exclusive", "link,partition", 200},
    {"silent-session",
     "a lost session is replaced by a new one and nobody told (ClickHouse/ClickHouse#116690)", "",
     "lease-exclusive", "pause", 100},
    {"count-from-answer", "the lease is counted from the answer, not from the question", "",
     "lease-exclusive",
     "at=1s fault=message-hold to=leader kind=alive for=400ms;"
     "at=1050ms fault=message-drop from=leader kind=keepalive for=2s",
     20},
    {"watch-once", "a watch that got lost is never asked again (python-zk/kazoo#170)", "",
     "recovers", "partition,kill", 200},
    {"dead-session",
     "who was away for too long goes on with its dead session (pingcap/tiflow#5753)", "",
     "recovers", "pause", 200},
    {.name = NULL},
};

enum phase { FOLLOWING, ASKING, HOLDING };

struct lease {
    struct contender contender;
    enum phase phase;
    uint32_t leader;
    uint64_t term;     /* the newest record we heard of */
    uint64_t record;   /* held, or watched; 0: none */
    uint64_t asked;    /* id of the put, or look, that is open; 0: none */
    uint64_t watching; /* id of the newest watch */
    uint64_t retry_ns; /* FOLLOWING: next watch; ASKING: next attempt */
};

static bool broken(const struct lease *self, enum defect defect)
{
    return peer_broken(&self->contender.peer, defect);
}

static void follow(struct lease *self, uint32_t leader, const char *reason, struct output *output)
{
    if (self->phase != FOLLOWING)
        output->step_reason = reason;
    self->phase = FOLLOWING;
    self->leader = leader;
    self->asked = 0;
}

/* Put the record, or, as a witness, see who has it. */
static void compete(struct lease *self, uint64_t now_ns, struct output *output)
{
    bool stands = contender_stands(&self->contender);
    const struct ask ask = {.kind = stands ? ASK_ACQUIRE : ASK_AFTER};
    self->phase = stands ? ASKING : FOLLOWING;
    self->leader = 0;
    self->retry_ns = now_ns + contender_patience_ns(&self->contender);
    self->record = 0;
    self->asked = contender_ask(&self->contender, ask, now_ns, output);
}

static void watch(struct lease *self, uint64_t now_ns, struct output *output)
{
    const struct ask ask = {.kind = ASK_WATCH, .record = self->record};
    self->retry_ns =
        broken(self, WATCH_ONCE) ? UINT64_MAX : now_ns + contender_patience_ns(&self->contender);
    self->watching = contender_ask(&self->contender, ask, now_ns, output);
}

static void release(struct lease *self, uint64_t record, uint64_t now_ns, struct output *output)
{
    (void)contender_ask(&self->contender, (struct ask){.kind = ASK_RELEASE, .record = record},
                        now_ns, output);
}

/* Stopped before it is said: the events of a step come before what it sends. */
static void lose(struct lease *self, uint64_t now_ns, const char *reason, struct output *output)
{
    if (self->phase == HOLDING && broken(self, SILENT_SESSION)) {
        contender_lost(&self->contender, now_ns);
        return;
    }
    if (self->phase == HOLDING)
        release(self, broken(self, RELEASE_ANY) ? 0 : self->record, now_ns, output);
    follow(self, 0, reason, output);
    self->record = 0;
    self->retry_ns = UINT64_MAX; /* the new session's beginning is the next thing to happen */
    if (broken(self, DEAD_SESSION))
        self->contender.until_ns = UINT64_MAX;
    else
        contender_lost(&self->contender, now_ns);
}

static void resign(struct lease *self, uint64_t now_ns, const char *reason, struct output *output)
{
    release(self, self->record, now_ns, output);
    follow(self, 0, reason, output);
    self->record = 0;
    self->retry_ns = now_ns + contender_value(&self->contender, CONTENDER_LEASE);
}

static void hold(struct lease *self, const struct answer *answer)
{
    self->phase = HOLDING;
    self->leader = self->contender.peer.config.id;
    self->term = self->record = answer->record;
    self->asked = 0;
    self->retry_ns = UINT64_MAX;
}

/* Another's record, or our own of a session that is over: it goes with that session. */
static void see(struct lease *self, const struct answer *answer, uint64_t now_ns,
                struct output *output)
{
    bool ours = answer->holder == self->contender.peer.config.id;
    follow(self, ours ? 0 : answer->holder, NULL, output);
    self->record = answer->record;
    if (answer->record > self->term)
        self->term = answer->record;
    if (answer->record)
        watch(self, now_ns, output);
    else
        self->retry_ns = now_ns + contender_patience_ns(&self->contender);
}

static void on_asked(struct lease *self, const struct answer *answer, uint64_t now_ns,
                     struct output *output)
{
    bool ours = answer->session == self->contender.session;
    if (contender_stands(&self->contender) && ours)
        hold(self, answer);
    else
        see(self, answer, now_ns, output);
}

static void on_alive(struct lease *self, const struct answer *answer, uint64_t now_ns,
                     struct output *output)
{
    uint64_t before_ns = self->contender.until_ns;
    if (contender_alive(&self->contender, answer, now_ns) && self->phase != HOLDING)
        compete(self, now_ns, output);
    else if (self->phase == HOLDING && self->contender.until_ns > before_ns)
        output_note(
            output,
            (struct note){.f = F_RENEW, .term = self->term, .until_ns = self->contender.until_ns});
}

static void on_changed(struct lease *self, uint64_t now_ns, struct output *output)
{
    output_note(output, (struct note){.f = F_SUSPECT, .term = self->term});
    if (contender_stands(&self->contender))
        output_note(output, (struct note){.f = F_CAMPAIGN});
    compete(self, now_ns, output);
}

static void on_answer(struct lease *self, const struct answer *answer, uint64_t now_ns,
                      struct output *output)
{
    switch (answer->kind) {
    case ANSWER_ALIVE: on_alive(self, answer, now_ns, output); break;
    case ANSWER_GONE:
        if (self->contender.session && answer->session == self->contender.session)
            lose(self, now_ns, "the session is gone", output);
        break;
    case ANSWER_CHANGED:
        if (self->phase == FOLLOWING && answer->id == self->watching && self->contender.session &&
            answer->record == self->record)
            on_changed(self, now_ns, output);
        break;
    default:
        if (self->asked && answer->id == self->asked && self->contender.session)
            on_asked(self, answer, now_ns, output);
    }
}

static void on_wake(struct lease *self, uint64_t now_ns, struct output *output)
{
    contender_keep(&self->contender, now_ns, output);
    if (self->phase == HOLDING && broken(self, RELEASE_BEFORE_STOP) &&
        self->contender.until_ns < now_ns + contender_value(&self->contender, CONTENDER_LEASE) / 2)
        release(self, self->record, now_ns, output);
    if (self->phase == HOLDING || !self->contender.session || now_ns < self->retry_ns)
        return;
    if (self->phase == FOLLOWING && self->record)
        watch(self, now_ns, output);
    else
        compete(self, now_ns, output);
}

static void on_command(struct lease *self, const struct input *input, struct output *output)
{
    switch (input->command.type) {
    case COMMAND_RESIGN:
    case COMMAND_TRANSFER: /* to whoever comes first */
        if (self->phase == HOLDING)
            resign(self, input->now_ns, "asked to resign", output);
        break;
    case COMMAND_STAND: /* the service decides; there is nothing to hasten */
    case COMMAND_FORCE: break;
    }
}

static void step(void *state, const struct input *input, struct output *output)
{
    static const enum role roles[] = {ROLE_FOLLOWER, ROLE_CANDIDATE, ROLE_LEADER};
    struct lease *self = state;
    struct answer answer;
    /* Whatever came may have come late, after a pause. */
    if (contender_expired(&self->contender, input->now_ns))
        lose(self, input->now_ns, "the session ran out", output);
    switch (input->type) {
    case INPUT_START: contender_keep(&self->contender, input->now_ns, output); break;
    case INPUT_WAKE: on_wake(self, input->now_ns, output); break;
    case INPUT_MESSAGE:
        if (contender_hears(&self->contender, input, &answer))
            on_answer(self, &answer, input->now_ns, output);
        break;
    case INPUT_COMMAND: on_command(self, input, output); break;
    }
    contender_believe(&self->contender,
                      (struct belief){.role = roles[self->phase],
                                      .leader = self->leader,
                                      .term = self->term,
                                      .token = self->record},
                      self->retry_ns, input->now_ns, output);
}

static size_t state_size(const struct elector_config *config)
{
    (void)config;
    return sizeof(struct lease);
}

static void init(void *state, const struct elector_config *config)
{
    struct lease *self = state;
    peer_init(&self->contender.peer, config, "lease");
    self->contender.from_answer = broken(self, COUNT_FROM_ANSWER);
    self->retry_ns = UINT64_MAX;
}

static uint32_t traits(const struct option_values *values)
{
    (void)values;
    return CONTENDER_TRAITS;
}

static uint32_t needs(const struct option_values *values)
{
    (void)values;
    return 1u << NEED_LEASE;
}

static int validate(const struct elector_config *config, struct error *error)
{
    return contender_validate(config, "lease", error);
}

const struct algorithm algorithm_lease = {
    .name = "lease",
    .summary = "who puts the record that a coordination service keeps for its session leads",
    .reference = "etcd, leases and elections; Gray and Cheriton, Leases, SOSP 1989",
    .promises = "leases do not overlap while clocks drift by no more than declared",
    .bears[UNDER_CRASH] =
        "no leader before the dead holder's lease is over at the service; then the first to ask",
    .bears[UNDER_PARTITION] =
        "who reaches the service leads, wherever the others are; without the service nobody",
    .bears[UNDER_PAUSE] =
        "the lease ends by the clock: who wakes late finds it gone, its late writes "
        "carry an old token",
    .bears[UNDER_DRIFT] =
        "no overlap while each clock's rate is within the option drift; beyond it, "
        "or with margin=0, leases overlap",
    .broken_by = "clocks that drift more than declared, or margin=0; without the service nobody "
                 "leads",
    .kinds = coordination_kinds,
    .options = options,
    .bugs = bugs,
    .traits = traits,
    .needs = needs,
    .validate = validate,
    .state_size = state_size,
    .init = init,
    .step = step,
};
