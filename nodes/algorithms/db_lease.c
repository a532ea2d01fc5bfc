/* A lease in a database: one row with holder, token and time of expiry, and one statement that
 * extends the own row or takes it when it has run out, and mints the token with it. The database's
 * clock decides (clock=db); with clock=client the statement carries the asker's wall clock, and
 * whoever's is ahead takes a lease that is still held (cf. lukas-krecan/ShedLock#231).
 *
 * The holder counts the lease from the moment it asked, by its own monotonic clock, and stops
 * `margin` earlier (nodes/contender.h). A restarted holder takes its row at once, with a new token.
 * With identity=host two nodes share a name, and each takes the other's row for its own. */
#include "base/units.h"
#include "nodes/contender.h"

static const char *const clock_words[] = {"db", "client", NULL};
enum by_clock { CLOCK_DB, CLOCK_CLIENT };
static const char *const identity_words[] = {"node", "host", NULL};
enum identity { IDENTITY_NODE, IDENTITY_HOST };

enum choice { OPTION_CLOCK = CONTENDER_OPTIONS, OPTION_IDENTITY };
static const struct option options[] = {
    CONTENDER_OPTION_ROWS,
    {"clock", OPTION_WORD, "db", 0, 0, clock_words,
     "whose clock says whether the row has run out; client breaks under skew"},
    {"identity", OPTION_WORD, "node", 0, 0, identity_words,
     "the name a node holds the row by; host: two nodes share one, and both hold it"},
    {.name = NULL},
};

enum defect { HONEST, RELEASE_ANY, CACHED_LOCK, COUNT_FROM_ANSWER, LATE_STATEMENT };
static const struct bug bugs[] = {
    {"unconditional-release",
     "who lost its lease gives the row up without looking whose it is (apache/superset#43462)", "",
     "lease-exclusive", "pause", 100},
    {"cached-lock",
     "it once had the row and never looks again whether it has (JasperFx/wolverine#2602)", "",
     "lease-exclusive", "pause", 100},
    {"count-from-answer", "the lease is counted from the answer, not from the question", "",
     "lease-exclusive",
     "at=1s fault=message-hold to=leader kind=ok for=400ms;"
     "at=1050ms fault=message-drop from=leader kind=update for=2s",
     20},
    {"late-statement",
     "the statement carries a time that was read long before (lukas-krecan/ShedLock#132)", "",
     "lease-exclusive", "pause", 100},
    {.name = NULL},
};

struct db_lease {
    struct contender contender;
    bool holds;
    uint32_t leader;
    uint64_t term, token; /* token: of the row we hold; 0: none */
    uint64_t until_ns;
    uint64_t valid_from; /* answers to earlier asks do not count */
    uint64_t newest;     /* id of the last statement: each may take the row with a new token */
    uint64_t free_ns;    /* when the row runs out for all we know; 0: it is not known */
    uint64_t ask_ns;     /* next statement */
    uint64_t wall_ns;    /* the planted bug's */
};

static bool broken(const struct db_lease *self, enum defect defect)
{
    return peer_broken(&self->contender.peer, defect);
}

static uint32_t own_name(const struct db_lease *self)
{
    uint32_t id = self->contender.peer.config.id;
    return contender_value(&self->contender, OPTION_IDENTITY) == IDENTITY_HOST ? (id + 1) / 2 : id;
}

static uint64_t statement_clock(struct db_lease *self, uint64_t wall_ns)
{
    uint64_t before_ns = self->wall_ns ? self->wall_ns : wall_ns;
    self->wall_ns = wall_ns;
    if (broken(self, LATE_STATEMENT))
        return before_ns;
    return contender_value(&self->contender, OPTION_CLOCK) == CLOCK_CLIENT ? wall_ns : 0;
}

/* A witness only reads the row. */
static void update(struct db_lease *self, const struct input *input, struct output *output)
{
    bool stands = contender_stands(&self->contender);
    const struct ask ask = {.kind = stands ? ASK_UPDATE : ASK_AFTER,
                            .record = stands ? self->token : 0,
                            .ttl_ns = contender_value(&self->contender, CONTENDER_LEASE),
                            .now_ns = statement_clock(self, input->wall_ns),
                            .name = own_name(self)};
    self->ask_ns = input->now_ns + (self->holds ? self->contender.peer.config.knobs.heartbeat
                                                : contender_patience_ns(&self->contender));
    self->newest = contender_ask(&self->contender, ask, input->now_ns, output);
}

static void release(struct db_lease *self, uint64_t record, uint64_t now_ns, struct output *output)
{
    (void)contender_ask(&self->contender, (struct ask){.kind = ASK_RELEASE, .record = record},
                        now_ns, output);
}

static void let_go(struct db_lease *self, uint64_t now_ns, const char *reason,
                   struct output *output)
{
    release(self, broken(self, RELEASE_ANY) ? 0 : self->token, now_ns, output);
    output->step_reason = reason;
    self->holds = false;
    self->leader = 0;
    self->token = 0;
    self->free_ns = 0;
    self->valid_from = self->contender.last_id + 1;
    self->ask_ns = now_ns + contender_patience_ns(&self->contender);
}

static void renew(struct db_lease *self, uint64_t until_ns, struct output *output)
{
    self->until_ns = until_ns;
    output_note(output, (struct note){.f = F_RENEW, .term = self->term, .until_ns = until_ns});
}

static void on_granted(struct db_lease *self, const struct answer *answer, uint64_t now_ns,
                       struct output *output)
{
    uint64_t until_ns = contender_until(&self->contender, answer->id, now_ns);
    bool renews = self->holds && answer->record == self->token;
    if (until_ns <= now_ns || answer->record < self->term ||
        (renews ? until_ns <= self->until_ns : answer->id != self->newest))
        return;
    if (renews) {
        renew(self, until_ns, output);
        return;
    }
    self->until_ns = until_ns;
    self->holds = true;
    self->leader = self->contender.peer.config.id;
    self->term = self->token = answer->record;
    self->ask_ns = now_ns + self->contender.peer.config.knobs.heartbeat;
}

static void on_refused(struct db_lease *self, const struct answer *answer, uint64_t now_ns,
                       struct output *output)
{
    uint64_t patience_ns = contender_patience_ns(&self->contender);
    if (answer->record < self->term || (self->holds && broken(self, CACHED_LOCK)))
        return;
    if (self->holds && answer->record != self->token)
        let_go(self, now_ns, "another has the row", output);
    if (self->holds)
        return;
    self->leader = answer->holder == self->contender.peer.config.id ? 0 : answer->holder;
    self->term = answer->record;
    self->free_ns = now_ns + answer->left_ns;
    if (answer->left_ns && answer->left_ns < patience_ns)
        self->ask_ns = self->free_ns;
}

static void on_answer(struct db_lease *self, const struct answer *answer, uint64_t now_ns,
                      struct output *output)
{
    if (answer->id < self->valid_from)
        return;
    bool stands = contender_stands(&self->contender);
    if (answer->kind == ANSWER_OK && answer->record && stands)
        on_granted(self, answer, now_ns, output);
    else if (answer->kind == ANSWER_REFUSED || (answer->kind == ANSWER_OK && !stands))
        on_refused(self, answer, now_ns, output);
}

static void on_wake(struct db_lease *self, const struct input *input, struct output *output)
{
    uint64_t now_ns = input->now_ns;
    if (self->holds && now_ns >= self->until_ns) {
        if (broken(self, CACHED_LOCK))
            renew(self, contender_until(&self->contender, now_ns, now_ns), output);
        else
            let_go(self, now_ns, "the lease ran out", output);
    }
    if (now_ns < self->ask_ns)
        return;
    if (!self->holds && contender_stands(&self->contender) && self->free_ns &&
        now_ns >= self->free_ns) {
        output_note(output, (struct note){.f = F_SUSPECT, .term = self->term});
        output_note(output, (struct note){.f = F_CAMPAIGN});
        self->free_ns = 0;
    }
    update(self, input, output);
}

static void on_command(struct db_lease *self, const struct input *input, struct output *output)
{
    enum command_type type = input->command.type;
    if (!self->holds || (type != COMMAND_RESIGN && type != COMMAND_TRANSFER))
        return;
    let_go(self, input->now_ns, "asked to resign", output);
    self->ask_ns = input->now_ns + contender_value(&self->contender, CONTENDER_LEASE);
}

static void step(void *state, const struct input *input, struct output *output)
{
    struct db_lease *self = state;
    struct answer answer;
    switch (input->type) {
    case INPUT_START:
        self->valid_from = input->now_ns;
        update(self, input, output);
        break;
    case INPUT_WAKE: on_wake(self, input, output); break;
    case INPUT_MESSAGE:
        if (contender_hears(&self->contender, input, &answer))
            on_answer(self, &answer, input->now_ns, output);
        break;
    case INPUT_COMMAND: on_command(self, input, output); break;
    }
    output->belief = (struct belief){.role = self->holds ? ROLE_LEADER : ROLE_FOLLOWER,
                                     .leader = self->leader,
                                     .term = self->term,
                                     .token = self->token,
                                     .until_ns = self->holds ? self->until_ns : 0,
                                     .may_act = self->holds && input->now_ns < self->until_ns};
    output->wake_ns = self->holds && self->until_ns < self->ask_ns ? self->until_ns : self->ask_ns;
}

static size_t state_size(const struct elector_config *config)
{
    (void)config;
    return sizeof(struct db_lease);
}

static void init(void *state, const struct elector_config *config)
{
    struct db_lease *self = state;
    peer_init(&self->contender.peer, config, "db-lease");
    self->contender.from_answer = broken(self, COUNT_FROM_ANSWER);
}

static uint32_t traits(const struct option_values *values)
{
    (void)values;
    return CONTENDER_TRAITS;
}

static uint32_t needs(const struct option_values *values)
{
    bool by_db = values->at[OPTION_CLOCK] == CLOCK_DB;
    return 1u << NEED_ROW | (by_db ? 1u << NEED_CLOCK : 0);
}

static int validate(const struct elector_config *config, struct error *error)
{
    return contender_validate(config, "db-lease", error);
}

const struct algorithm algorithm_db_lease = {
    .name = "db-lease",
    .summary = "who takes the row of a database in one conditional statement leads until it ends",
    .reference = "Gray and Cheriton, Leases, SOSP 1989; a lease as a row, as job schedulers do it",
    .promises = "leases do not overlap while clocks drift by no more than declared",
    .bears[UNDER_CRASH] =
        "no leader before the dead holder's row runs out; a restarted holder takes its own at once",
    .bears[UNDER_PARTITION] =
        "who reaches the service leads, wherever the others are; without the service nobody",
    .bears[UNDER_PAUSE] =
        "the lease ends by the clock: who wakes late finds it gone, its late writes "
        "carry an old token",
    .bears[UNDER_DRIFT] =
        "no overlap while each clock's rate is within the option drift; beyond it, "
        "or with margin=0, leases overlap",
    .broken_by = "clocks that drift more than declared, or margin=0; clock=client under any skew",
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
