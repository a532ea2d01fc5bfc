/* The invitation algorithm (Garcia-Molina, "Elections in a Distributed Computing System", IEEE
 * Trans. Computers C-31(1), 1982, section IV and its appendix), made for networks that partition:
 * every node begins as leader of a group of its own; leaders look for other leaders and merge
 * groups. Accepting takes two phases: an invited node leaves its group when invited and joins the
 * new one only when told that it is ready.
 *
 * Of the leaders that find each other the one with the largest group (then the highest id) invites.
 * term = group number = counter * n + (id - 1), unique per leader and kept on disk: several leaders
 * at a time are normal here, but never two of one term; what excludes the older is fencing. */
#include "base/units.h"
#include "nodes/peer.h"

enum kind { QUERY, ANSWER, INVITE, ACCEPT, READY, HEARTBEAT, HEARTBEAT_REPLY };
static const char *const kinds[] = {"query", "answer",    "invite",          "accept",
                                    "ready", "heartbeat", "heartbeat-reply", NULL};

static const char *const words[] = {"term", "vote", NULL};

enum choice { OPTION_ANSWER };
static const struct option options[] = {
    {"answer", OPTION_DURATION, "60ms", NS_PER_MS, 60 * NS_PER_S, NULL,
     "how long an answer may take before its sender counts as dead"},
    {.name = NULL},
};

enum defect { HONEST, SHARED_NUMBER, SINGLE_PHASE, FORGET_NUMBER };
static const struct bug bugs[] = {
    {"shared-number", "group numbers are the bare counter, so two groups can bear one", "",
     "single-leader-per-term", "kill", 20},
    {"single-phase",
     "an inviter counts those it invited as members for good (cf. habitat-sh/habitat#5901)", "",
     "converges", "kill,link", 100},
    {"forget-number", "group numbers start over after a restart", "", "term-monotonic", "kill", 50},
    {.name = NULL},
};

/* MEMBER without a leader waits to be found (witnesses only). */
enum phase { MEMBER, ACCEPTED, INVITING, LEADING };

struct invitation {
    struct peer peer;
    enum phase phase;
    uint32_t leader;
    uint32_t size;         /* of our group, as leader */
    bool gathering;        /* our query is out */
    bool outranked;        /* a leader that should invite us answered it */
    uint64_t proposal;     /* INVITING, ACCEPTED: number of the group to be */
    uint64_t deadline_ns;  /* next phase: check, answers in, leader lost */
    uint64_t beat_ns;      /* LEADING: next heartbeat */
    struct members group;  /* LEADING: who belongs to us */
    struct members found;  /* gathering: leaders that answered; INVITING: who accepted;
                            * LEADING: who answered a heartbeat since the last check */
    struct members others; /* leaders to invite */
    uint64_t storage[];
};

static bool broken(const struct invitation *self, enum defect defect)
{
    return peer_broken(&self->peer, defect);
}

static uint64_t next_number(const struct invitation *self)
{
    uint64_t nodes = self->peer.config.nodes;
    if (broken(self, SHARED_NUMBER))
        return self->peer.highest_seen + 1;
    return (self->peer.highest_seen / nodes + 1) * nodes + self->peer.config.id - 1;
}

static bool witness(const struct invitation *self)
{
    return elector_is_witness(&self->peer.config, self->peer.config.id);
}

static void clear(struct invitation *self, struct members *members)
{
    members_clear(members, self->peer.config.nodes);
}

/* How long an inviter waits for those it invited. */
static uint64_t inviting_ns(const struct invitation *self)
{
    return 2 * self->peer.config.options.at[OPTION_ANSWER];
}

static void leave(struct invitation *self, const char *reason, struct output *output)
{
    if (self->phase == LEADING)
        output->step_reason = reason;
    self->leader = 0;
    self->gathering = false;
}

/* Send to every member of the set but ourselves. */
static void send_to(struct invitation *self, const struct members *set, struct message message,
                    struct output *output)
{
    for (uint32_t id = 1; id <= self->peer.config.nodes; id++)
        if (id != self->peer.config.id && members_have(set, id))
            peer_send(&self->peer, id, message, output);
}

/* Lead the group of those in `found`, who have accepted, and ourselves. */
static void lead(struct invitation *self, uint64_t number, uint64_t now_ns, struct output *output)
{
    struct members joined = self->found;
    self->found = self->group;
    self->group = joined;
    (void)members_add(&self->group, self->peer.config.id);
    clear(self, &self->found);
    peer_keep(&self->peer, number, self->peer.config.id, output);
    self->phase = LEADING;
    self->leader = self->peer.config.id;
    self->size = self->group.count;
    self->beat_ns = now_ns + self->peer.config.knobs.heartbeat;
    self->deadline_ns = now_ns + peer_timeout(&self->peer);
    send_to(self, &self->group, (struct message){.kind = READY, .term = number}, output);
}

/* Members that have not answered since the last check are no longer ours. */
static void drop_silent(struct invitation *self)
{
    struct members answered = self->found;
    self->found = self->group;
    self->group = answered;
    (void)members_add(&self->group, self->peer.config.id);
    self->size = self->group.count;
    clear(self, &self->found);
}

/* Appendix, procedure Check: look for other leaders, also among those who were members: one that
 * restarted leads a group of its own. */
static void check(struct invitation *self, uint64_t now_ns, struct output *output)
{
    const struct message query = {.kind = QUERY, .term = peer_term(&self->peer)};
    if (!broken(self, SINGLE_PHASE))
        drop_silent(self);
    clear(self, &self->others);
    self->gathering = true;
    self->outranked = false;
    self->deadline_ns = now_ns + self->peer.config.options.at[OPTION_ANSWER];
    for (uint32_t id = 1; id <= self->peer.config.nodes; id++)
        if (id != self->peer.config.id &&
            !(broken(self, SINGLE_PHASE) && members_have(&self->group, id)))
            peer_send(&self->peer, id, query, output);
}

/* Appendix, procedure Recovery: form a group of one's own, and look for others at once: a larger
 * number than theirs may be used already when this node is gone again, and they must hear of it. */
static void recover(struct invitation *self, uint64_t now_ns, struct output *output)
{
    leave(self, "forms a group of its own", output);
    clear(self, &self->found);
    if (witness(self)) {
        self->phase = MEMBER;
        self->deadline_ns = now_ns + peer_timeout(&self->peer);
        return;
    }
    output_note(output, (struct note){.f = F_CAMPAIGN});
    lead(self, next_number(self), now_ns, output);
    check(self, now_ns, output);
}

/* Appendix, procedure Merge: invite the leaders found and our own members to a new group. */
static void invite(struct invitation *self, uint64_t now_ns, struct output *output)
{
    leave(self, "merges groups", output);
    self->phase = INVITING;
    self->proposal = next_number(self);
    self->deadline_ns = now_ns + inviting_ns(self);
    output_note(output, (struct note){.f = F_CAMPAIGN});
    struct message message = {
        .kind = INVITE, .term = self->proposal, .argument = {self->peer.config.id}};
    send_to(self, &self->others, message, output);
    send_to(self, &self->group, message, output);
    clear(self, &self->found);
    if (!broken(self, SINGLE_PHASE))
        return;
    for (uint32_t id = 1; id <= self->peer.config.nodes; id++)
        if (members_have(&self->others, id) || members_have(&self->group, id))
            (void)members_add(&self->found, id);
    lead(self, self->proposal, now_ns, output);
}

/* A group of a larger number that answers no more may have left its token behind, which fences ours
 * off: then the own group gets a new number too. */
static void answers_in(struct invitation *self, uint64_t now_ns, struct output *output)
{
    bool overtaken = self->peer.highest_seen > peer_term(&self->peer);
    self->gathering = false;
    if ((self->others.count > 0 || overtaken) && !self->outranked)
        invite(self, now_ns, output);
    else
        self->deadline_ns = now_ns + peer_timeout(&self->peer);
}

static void on_deadline(struct invitation *self, uint64_t now_ns, struct output *output)
{
    switch (self->phase) {
    case LEADING:
        if (self->gathering)
            answers_in(self, now_ns, output);
        else
            check(self, now_ns, output);
        return;
    case INVITING:
        if (peer_term(&self->peer) < self->proposal)
            lead(self, self->proposal, now_ns, output);
        else
            recover(self, now_ns, output);
        return;
    case MEMBER:
        if (self->leader)
            output_note(output, (struct note){.f = F_SUSPECT, .term = peer_term(&self->peer)});
        recover(self, now_ns, output);
        return;
    case ACCEPTED: recover(self, now_ns, output); return;
    }
}

static void beat(struct invitation *self, uint64_t now_ns, struct output *output)
{
    self->beat_ns = now_ns + self->peer.config.knobs.heartbeat;
    send_to(self, &self->group, (struct message){.kind = HEARTBEAT, .term = peer_term(&self->peer)},
            output);
}

static void on_query(struct invitation *self, const struct message *message, struct output *output)
{
    bool lonely = self->phase == MEMBER && self->leader == 0;
    if (self->phase == LEADING || lonely)
        peer_send(&self->peer, message->source,
                  (struct message){.kind = ANSWER,
                                   .term = self->peer.highest_seen,
                                   .argument = {lonely ? 0 : self->size}},
                  output);
}

static void on_answer(struct invitation *self, const struct message *message)
{
    uint64_t size = message->argument[0];
    if (self->phase != LEADING || !self->gathering)
        return;
    (void)members_add(&self->others, message->source);
    if (size > self->size || (size == self->size && message->source > self->peer.config.id))
        self->outranked = true;
}

/* A leader that is invited brings its members along. Who accepts must not lose patience before the
 * inviter has heard of everybody, or groups would fall apart as fast as they merge. */
static void on_invite(struct invitation *self, const struct message *message, uint64_t now_ns,
                      struct output *output)
{
    uint64_t inviter = message->argument[0];
    bool newer = message->term > peer_term(&self->peer) &&
                 (self->phase != ACCEPTED || message->term > self->proposal);
    if (!newer || inviter == 0 || inviter > self->peer.config.nodes ||
        inviter == self->peer.config.id)
        return;
    if (self->phase == LEADING)
        send_to(self, &self->group, *message, output);
    leave(self, "accepts an invitation", output);
    self->phase = ACCEPTED;
    self->proposal = message->term;
    self->deadline_ns = now_ns + inviting_ns(self) + peer_timeout(&self->peer);
    peer_send(&self->peer, (uint32_t)inviter,
              (struct message){.kind = ACCEPT, .term = message->term}, output);
}

static void on_ready(struct invitation *self, const struct message *message, uint64_t now_ns,
                     struct output *output)
{
    bool awaited = self->phase == ACCEPTED && message->term == self->proposal;
    if (!awaited || message->term <= peer_term(&self->peer))
        return;
    peer_keep(&self->peer, message->term, message->source, output);
    self->phase = MEMBER;
    self->leader = message->source;
    self->deadline_ns = now_ns + peer_timeout(&self->peer);
}

static void on_heartbeat(struct invitation *self, const struct message *message, uint64_t now_ns,
                         struct output *output)
{
    if (self->phase != MEMBER || message->source != self->leader ||
        message->term != peer_term(&self->peer))
        return;
    self->deadline_ns = now_ns + peer_timeout(&self->peer);
    peer_send(&self->peer, message->source,
              (struct message){.kind = HEARTBEAT_REPLY, .term = message->term}, output);
}

static void on_message(struct invitation *self, const struct message *message, uint64_t now_ns,
                       struct output *output)
{
    peer_saw(&self->peer, message->term);
    switch ((enum kind)message->kind) {
    case QUERY: on_query(self, message, output); break;
    case ANSWER: on_answer(self, message); break;
    case INVITE: on_invite(self, message, now_ns, output); break;
    case ACCEPT:
        if (self->phase == INVITING && message->term == self->proposal)
            (void)members_add(&self->found, message->source);
        break;
    case READY: on_ready(self, message, now_ns, output); break;
    case HEARTBEAT: on_heartbeat(self, message, now_ns, output); break;
    case HEARTBEAT_REPLY:
        if (self->phase == LEADING && message->term == peer_term(&self->peer))
            (void)members_add(&self->found, message->source);
        break;
    }
}

static void on_command(struct invitation *self, const struct input *input, struct output *output)
{
    if (input->command.type == COMMAND_FORCE && peer_is_witness(&self->peer))
        return;
    switch (input->command.type) {
    case COMMAND_RESIGN:
        if (self->phase == LEADING) {
            leave(self, "asked to resign", output);
            self->phase = ACCEPTED;
            self->proposal = peer_term(&self->peer);
            self->deadline_ns = input->now_ns + peer_timeout(&self->peer);
        }
        break;
    case COMMAND_FORCE:
        leave(self, "forced anew", output);
        clear(self, &self->found);
        lead(self, next_number(self), input->now_ns, output);
        break;
    case COMMAND_STAND:           /* every leader looks for others all the time */
    case COMMAND_TRANSFER: break; /* the inviter leads */
    }
}

static void on_start(struct invitation *self, const struct input *input, struct output *output)
{
    static const struct durable nothing;
    peer_start(&self->peer, broken(self, FORGET_NUMBER) ? &nothing : input->stored);
    recover(self, input->now_ns, output);
}

static void step(void *state, const struct input *input, struct output *output)
{
    static const enum role roles[] = {ROLE_FOLLOWER, ROLE_FOLLOWER, ROLE_CANDIDATE, ROLE_LEADER};
    struct invitation *self = state;
    switch (input->type) {
    case INPUT_START: on_start(self, input, output); break;
    case INPUT_WAKE:
        if (self->phase == LEADING && input->now_ns >= self->beat_ns)
            beat(self, input->now_ns, output);
        if (input->now_ns >= self->deadline_ns)
            on_deadline(self, input->now_ns, output);
        break;
    case INPUT_MESSAGE: on_message(self, input->message, input->now_ns, output); break;
    case INPUT_COMMAND: on_command(self, input, output); break;
    }
    bool leads = self->phase == LEADING;
    output->belief = (struct belief){.role = roles[self->phase],
                                     .leader = self->leader,
                                     .term = peer_term(&self->peer),
                                     .token = leads ? peer_term(&self->peer) : 0,
                                     .may_act = leads};
    output->wake_ns = self->deadline_ns;
    if (leads && self->beat_ns < output->wake_ns)
        output->wake_ns = self->beat_ns;
}

static size_t state_size(const struct elector_config *config)
{
    return sizeof(struct invitation) + 3 * members_words(config->nodes) * sizeof(uint64_t);
}

static void init(void *state, const struct elector_config *config)
{
    struct invitation *self = state;
    size_t words_each = members_words(config->nodes);
    peer_init(&self->peer, config, "invitation");
    self->group.bits = self->storage;
    self->found.bits = self->storage + words_each;
    self->others.bits = self->storage + 2 * words_each;
}

static uint32_t traits(const struct option_values *values)
{
    (void)values;
    return 1u << TRAIT_DURABLE; /* group numbers are unique, but not in order of time */
}

static int validate(const struct elector_config *config, struct error *error)
{
    return peer_check_wait(config, "invitation", options, OPTION_ANSWER, error);
}

const struct algorithm algorithm_invitation = {
    .name = "invitation",
    .summary = "every node leads a group of its own, and groups that find each other merge",
    .reference = "Garcia-Molina, Elections in a Distributed Computing System, 1982, section IV",
    .promises = "connected nodes end in one group; group numbers are never shared or reused",
    .bears[UNDER_CRASH] = "live nodes end in one group; group numbers are never shared",
    .bears[UNDER_PARTITION] =
        "a leader on each side, never of one number: the larger one fences the other side "
        "off, a majority too; merged again after the heal",
    .bears[UNDER_PAUSE] = "its members form a group of their own and merge with it when it wakes",
    .bears[UNDER_DRIFT] = "only timeouts stretch",
    .broken_by = "partitions: one leader per side, and several while groups merge",
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
