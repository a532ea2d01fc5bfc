/* The queue recipe of ZooKeeper (Hunt et al., "ZooKeeper", USENIX ATC 2010, section 2.4, locks
 * without herd effect; leader election in its recipes): everybody puts an ephemeral sequential
 * record; whose is the lowest leads; every other watches the one right before its own and looks
 * again when that goes. With watch=leader all watch the first and all wake up at once.
 *
 * term = token = the leader's record, numbered by the service. The session bounds a reign as in the
 * lease recipe (nodes/contender.h). When the answer to putting the record is lost, the node looks
 * through the queue for the record of its own SESSION before it puts another; should both exist,
 * the earlier counts. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "nodes/contender.h"

static const char *const watch_words[] = {"predecessor", "leader", NULL};
enum watched { WATCH_PREDECESSOR, WATCH_LEADER };

enum choice { OPTION_WATCH = CONTENDER_OPTIONS };
static const struct option options[] = {
    CONTENDER_OPTION_ROWS,
    {"watch", OPTION_WORD, "predecessor", 0, 0, watch_words,
     "whose record wakes a waiter up: one a failover, or all of them"},
    {.name = NULL},
};

enum defect { HONEST, ORPHAN_RECORD, ADOPT_DEAD, PREFIX_NAME, NO_RECHECK, ZOMBIE_WAITER };
static const struct bug bugs[] = {
    {"orphan-record",
     "after a lost answer it puts a second record and waits behind its own (Netflix/curator#3)", "",
     "recovers",
     "at=499ms fault=message-drop to=leader kind=ok count=1 for=2s;"
     "at=500ms fault=kill on=leader for=100ms;at=3s fault=kill on=leader for=7s;"
     "at=4500ms fault=kill on=leader for=5s;at=6s fault=kill on=leader for=4s;"
     "at=7500ms fault=kill on=leader for=3s",
     50},
    {"adopt-dead",
     "it takes up the record of its former, dying session (apache/curator#1018, CURATOR-498)", "",
     "leader-without-grant", "kill", 100},
    {"prefix-name", "it looks for its record by a name's beginning: n1 takes up n10's", "",
     "single-leader-per-term", "kill", 200},
    {"no-recheck", "when the record before its own goes it leads, though others are still ahead",
     "", "fenced-lock", "kill,pause", 100},
    {"zombie-waiter",
     "its session dies while it waits, and it leads when its turn comes (etcd-io/etcd#22387)", "",
     "leader-without-grant", "pause,partition", 200},
    {.name = NULL},
};

enum stage {
    OUTSIDE,  /* no record, none asked for */
    ENTERING, /* `asked` puts it */
    FINDING,  /* `asked` looks whether it is there already */
    CHECKING, /* `asked` looks who is before it */
    WAITING,  /* behind `ahead`; a witness behind nobody */
    HOLDING,
    LEAVING, /* `asked` takes our record out of the queue */
};

struct queue {
    struct contender contender;
    enum stage stage;
    uint32_t leader;
    uint64_t term;     /* the newest leader's record we heard of */
    uint64_t record;   /* our own; 0: none */
    uint64_t ahead;    /* WAITING: the record we watch; 0: none yet */
    uint64_t asked;    /* what the stage waits for; 0: nothing */
    uint64_t entering; /* id of the newest put: its answer may come late */
    uint64_t looking;  /* WAITING: id of the question who leads */
    uint64_t watching; /* WAITING: id of the newest watch */
    uint64_t retry_ns;
};

static bool broken(const struct queue *self, enum defect defect)
{
    return peer_broken(&self->contender.peer, defect);
}

static uint64_t ask(struct queue *self, enum coordination_kind kind, uint64_t record,
                    uint64_t now_ns, struct output *output)
{
    return contender_ask(&self->contender, (struct ask){.kind = kind, .record = record}, now_ns,
                         output);
}

/* The question on which the stage's progress hangs. */
static void proceed(struct queue *self, enum stage stage, enum coordination_kind kind,
                    uint64_t record, uint64_t now_ns, struct output *output)
{
    self->stage = stage;
    self->asked = ask(self, kind, record, now_ns, output);
    self->retry_ns = now_ns + contender_patience_ns(&self->contender);
}

static void enter(struct queue *self, uint64_t now_ns, struct output *output)
{
    proceed(self, ENTERING, ASK_ENQUEUE, 0, now_ns, output);
    self->entering = self->asked;
}

static void check(struct queue *self, uint64_t now_ns, struct output *output)
{
    proceed(self, CHECKING, ASK_BEFORE, self->record, now_ns, output);
}

static void watch(struct queue *self, uint64_t record, uint64_t now_ns, struct output *output)
{
    self->ahead = record;
    self->watching = ask(self, ASK_WATCH, record, now_ns, output);
}

static void leave(struct queue *self, uint64_t now_ns, struct output *output)
{
    proceed(self, LEAVING, ASK_RELEASE, self->record, now_ns, output);
}

/* Ask again for the watch, which may be lost, and who leads, which a watch does not tell. */
static void refresh(struct queue *self, uint64_t now_ns, struct output *output)
{
    self->stage = WAITING;
    self->asked = 0;
    self->retry_ns = now_ns + contender_patience_ns(&self->contender);
    self->looking = ask(self, ASK_AFTER, 0, now_ns, output);
    if (self->ahead)
        watch(self, self->ahead, now_ns, output);
}

static void lose(struct queue *self, uint64_t now_ns, const char *reason, struct output *output)
{
    bool keeps = broken(self, ZOMBIE_WAITER) && self->stage == WAITING;
    contender_lost(&self->contender, now_ns);
    if (keeps)
        return;
    if (self->record)
        (void)ask(self, ASK_RELEASE, self->record, now_ns, output);
    if (self->stage == HOLDING)
        output->step_reason = reason;
    self->stage = OUTSIDE;
    self->leader = 0;
    self->record = self->ahead = self->asked = self->entering = 0;
}

static void begin(struct queue *self, uint64_t now_ns, struct output *output)
{
    if (self->record)
        return; /* a planted bug's */
    if (!contender_stands(&self->contender))
        refresh(self, now_ns, output);
    else if (broken(self, ADOPT_DEAD) || broken(self, PREFIX_NAME))
        proceed(self, FINDING, ASK_AFTER, 0, now_ns, output);
    else
        enter(self, now_ns, output);
}

static bool is_prefix(uint32_t name, uint32_t of)
{
    char a[16], b[16];
    (void)snprintf(a, sizeof a, "%" PRIu32, name);
    (void)snprintf(b, sizeof b, "%" PRIu32, of);
    return strncmp(a, b, strlen(a)) == 0;
}

static bool is_ours(const struct queue *self, const struct answer *answer)
{
    uint32_t id = self->contender.peer.config.id;
    if (broken(self, ADOPT_DEAD))
        return answer->holder == id;
    if (broken(self, PREFIX_NAME))
        return is_prefix(id, answer->holder);
    return answer->session == self->contender.session;
}

static void on_entered(struct queue *self, const struct answer *answer, uint64_t now_ns,
                       struct output *output)
{
    self->record = answer->record;
    self->entering = 0;
    check(self, now_ns, output);
}

static void on_found(struct queue *self, const struct answer *answer, uint64_t now_ns,
                     struct output *output)
{
    if (answer->record == 0)
        enter(self, now_ns, output);
    else if (is_ours(self, answer))
        on_entered(self, answer, now_ns, output);
    else
        proceed(self, FINDING, ASK_AFTER, answer->record, now_ns, output);
}

static void hold(struct queue *self)
{
    self->stage = HOLDING;
    self->leader = self->contender.peer.config.id;
    self->term = self->record;
    self->asked = 0;
    self->retry_ns = UINT64_MAX;
}

/* Behind our own earlier record there is nothing to wait for. */
static void on_checked(struct queue *self, const struct answer *answer, uint64_t now_ns,
                       struct output *output)
{
    bool earlier = answer->record && answer->session == self->contender.session;
    if (answer->record == 0) {
        hold(self);
    } else if (earlier && !broken(self, ORPHAN_RECORD)) {
        self->record = answer->record;
        check(self, now_ns, output);
    } else {
        bool last = contender_value(&self->contender, OPTION_WATCH) == WATCH_PREDECESSOR;
        self->ahead = last ? answer->record : 0;
        refresh(self, now_ns, output);
    }
}

/* The first record there is. */
static void on_looked(struct queue *self, const struct answer *answer, uint64_t now_ns,
                      struct output *output)
{
    bool all = contender_value(&self->contender, OPTION_WATCH) == WATCH_LEADER || !self->record;
    self->looking = 0;
    /* Who was ahead went before we could watch it: nobody else will tell us. */
    if (self->record && answer->record == self->record)
        check(self, now_ns, output);
    if (answer->holder == self->contender.peer.config.id)
        return;
    self->leader = answer->holder;
    if (answer->record > self->term)
        self->term = answer->record;
    if (all && answer->record && answer->record != self->ahead)
        watch(self, answer->record, now_ns, output);
}

static void on_changed(struct queue *self, uint64_t now_ns, struct output *output)
{
    output_note(output, (struct note){.f = F_SUSPECT, .term = self->term});
    self->leader = 0;
    self->ahead = 0;
    if (!self->record) {
        refresh(self, now_ns, output);
        return;
    }
    output_note(output, (struct note){.f = F_CAMPAIGN});
    if (broken(self, NO_RECHECK))
        hold(self);
    else
        check(self, now_ns, output);
}

static void on_alive(struct queue *self, const struct answer *answer, uint64_t now_ns,
                     struct output *output)
{
    uint64_t before_ns = self->contender.until_ns;
    if (contender_alive(&self->contender, answer, now_ns))
        begin(self, now_ns, output);
    else if (self->stage == HOLDING && self->contender.until_ns > before_ns)
        output_note(
            output,
            (struct note){.f = F_RENEW, .term = self->term, .until_ns = self->contender.until_ns});
}

static void on_ok(struct queue *self, const struct answer *answer, uint64_t now_ns,
                  struct output *output)
{
    bool entered = self->entering && answer->id == self->entering;
    if (entered && (self->stage == ENTERING || self->stage == FINDING)) {
        on_entered(self, answer, now_ns, output);
    } else if (self->stage == WAITING && answer->id == self->looking) {
        on_looked(self, answer, now_ns, output);
    } else if (self->asked && answer->id == self->asked) {
        if (self->stage == FINDING)
            on_found(self, answer, now_ns, output);
        else if (self->stage == CHECKING)
            on_checked(self, answer, now_ns, output);
        else if (self->stage == LEAVING)
            enter(self, now_ns, output);
    }
}

static void on_answer(struct queue *self, const struct answer *answer, uint64_t now_ns,
                      struct output *output)
{
    switch (answer->kind) {
    case ANSWER_ALIVE: on_alive(self, answer, now_ns, output); break;
    case ANSWER_GONE:
        if (self->contender.session && answer->session == self->contender.session)
            lose(self, now_ns, "the session is gone", output);
        break;
    case ANSWER_CHANGED:
        if (self->contender.session && self->stage == WAITING && answer->id == self->watching)
            on_changed(self, now_ns, output);
        break;
    case ANSWER_OK:
        if (self->contender.session)
            on_ok(self, answer, now_ns, output);
        break;
    default: break;
    }
}

/* No answer came: a put may have succeeded all the same. */
static void retry(struct queue *self, uint64_t now_ns, struct output *output)
{
    switch (self->stage) {
    case ENTERING:
    case FINDING:
        if (broken(self, ORPHAN_RECORD))
            enter(self, now_ns, output);
        else
            proceed(self, FINDING, ASK_AFTER, 0, now_ns, output);
        break;
    case CHECKING: check(self, now_ns, output); break;
    case WAITING: refresh(self, now_ns, output); break;
    case LEAVING: leave(self, now_ns, output); break;
    case OUTSIDE:
    case HOLDING: break;
    }
}

static void on_wake(struct queue *self, uint64_t now_ns, struct output *output)
{
    contender_keep(&self->contender, now_ns, output);
    if (self->contender.session && now_ns >= self->retry_ns)
        retry(self, now_ns, output);
}

/* Its session goes on, its record does not: a new one will stand at the end of the queue, but not
 * before the old one is known to be gone, or the others would wait for it for ever. */
static void resign(struct queue *self, uint64_t now_ns, struct output *output)
{
    output->step_reason = "asked to resign";
    leave(self, now_ns, output);
    self->leader = 0;
}

static void step(void *state, const struct input *input, struct output *output)
{
    static const enum role roles[] = {
        [CHECKING] = ROLE_CANDIDATE, [HOLDING] = ROLE_LEADER, [LEAVING] = ROLE_FOLLOWER};
    struct queue *self = state;
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
    case INPUT_COMMAND: {
        enum command_type type = input->command.type;
        if (self->stage == HOLDING && (type == COMMAND_RESIGN || type == COMMAND_TRANSFER))
            resign(self, input->now_ns, output);
        break;
    }
    }
    contender_believe(&self->contender,
                      (struct belief){.role = roles[self->stage],
                                      .leader = self->leader,
                                      .term = self->term,
                                      .token = self->record},
                      self->retry_ns, input->now_ns, output);
}

static size_t state_size(const struct elector_config *config)
{
    (void)config;
    return sizeof(struct queue);
}

static void init(void *state, const struct elector_config *config)
{
    struct queue *self = state;
    peer_init(&self->contender.peer, config, "queue");
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
    return 1u << NEED_QUEUE;
}

static int validate(const struct elector_config *config, struct error *error)
{
    return contender_validate(config, "queue", error);
}

const struct algorithm algorithm_queue = {
    .name = "queue",
    .summary = "whose record is the first in the queue that a coordination service keeps leads",
    .reference = "Hunt et al., ZooKeeper, USENIX ATC 2010; its recipe for leader election",
    .promises = "leases do not overlap while clocks drift by no more than declared",
    .bears[UNDER_CRASH] = "no leader before the dead holder's lease is over at the service; then "
                          "the next in the queue",
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
    .selftest_nodes = 12,
    .traits = traits,
    .needs = needs,
    .validate = validate,
    .state_size = state_size,
    .init = init,
    .step = step,
};
