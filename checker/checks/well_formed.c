/* The history keeps to what the other checks take for granted; where it does not, their verdicts
 * mean little, so this one says unknown and where. It never says invalid: a broken record is the
 * recorder's fault, not the algorithm's. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "checker/table.h"
#include "checker/words.h"

struct teller {
    uint64_t last_ns;
    bool ended; /* its exit was recorded, and no spawn since */
};

struct open_operation {
    uint64_t index;
    uint8_t f;
};

/* Guarded writes of one node under one token: begun, and taken by the resource. */
struct guarded {
    uint64_t begun, accepted;
    uint64_t time_ns, index; /* of the first accept */
};

struct well_formed {
    uint32_t nodes, clients;
    uint64_t registers;
    struct teller *tellers; /* by story, then clients, then the others by kind */
    struct table open;      /* (process, id) -> struct open_operation */
    struct table guarded;   /* (node, token) -> struct guarded */
};

static void begin(void *state, const struct history_header *header)
{
    struct well_formed *check = state;
    check->nodes = header->nodes;
    check->clients = header->clients < SIMULATED_NODES_MAX ? header->clients : SIMULATED_NODES_MAX;
    check->registers = header->knobs.registers;
    check->tellers =
        must_alloc(STORIES(check->nodes) + check->clients + PROCESS_KINDS, sizeof(struct teller));
    table_init(&check->open, sizeof(struct open_operation));
    table_init(&check->guarded, sizeof(struct guarded));
}

static void odd(const struct event *event, struct finding *finding, const char *what)
{
    struct words words = {0};
    finding_unknown(finding, &event->index, 1, "event %" PRIu64 " (%s by %s at %s): %s",
                    event->index, event_f_name((enum event_f)event->f),
                    word_process(&words, event->process), word_time(&words, event->time_ns), what);
}

/* NULL for a process the header does not speak of. */
static struct teller *teller_of(const struct well_formed *check, uint32_t process)
{
    uint32_t index = process_index(process), story = story_of(process, check->nodes);
    struct teller *clients = &check->tellers[STORIES(check->nodes)];
    if (process_elects(process))
        return story ? &check->tellers[story - 1] : NULL;
    if (process_kind(process) == PROCESS_CLIENT)
        return index >= 1 && index <= check->clients ? &clients[index - 1] : NULL;
    return process_kind(process) < PROCESS_KINDS ? &clients[check->clients + process_kind(process)]
                                                 : NULL;
}

/* The nemesis reports intervals when they are confirmed; its order says nothing. */
static void check_teller(struct teller *teller, const struct event *event, struct finding *finding)
{
    if (event->time_ns < teller->last_ns && process_kind(event->process) != PROCESS_NEMESIS)
        odd(event, finding, "time runs back within the process");
    if (event->time_ns > teller->last_ns)
        teller->last_ns = event->time_ns;
    if (event->f == F_SPAWN)
        teller->ended = false;
    else if (teller->ended && process_elects(event->process))
        odd(event, finding, "the process speaks after its end");
    else if (event->f == F_EXIT)
        teller->ended = true;
}

/* Fields this version does not know are a newer writer's business; missing ones are not. */
static void check_form(const struct event *event, struct finding *finding)
{
    struct error error = {0};
    const struct event_form *form =
        event_form((enum event_f)event->f, (enum event_type)event->type);
    if ((form->processes >> process_kind(event->process) & 1) && !(form->must & ~event->present))
        return;
    (void)event_check(event, &error);
    odd(event, finding, error.text);
}

static void check_operation(struct well_formed *check, const struct event *event,
                            struct finding *finding)
{
    bool fresh;
    uint64_t id = event_number(event, FIELD_ID);
    if (event->type != EVENT_INVOKE) {
        const struct open_operation *open = table_find(&check->open, event->process, id);
        if (!open || open->f != event->f)
            odd(event, finding, "a completion without invocation");
        else
            (void)table_remove(&check->open, event->process, id);
        return;
    }
    struct open_operation *open = table_put(&check->open, event->process, id, &fresh);
    if (!fresh)
        odd(event, finding, "an operation of this id is open already");
    *open = (struct open_operation){event->index, event->f};
    if (process_kind(event->process) == PROCESS_CLIENT && check->registers &&
        event_number(event, FIELD_REGISTER) > check->registers)
        odd(event, finding, "unknown register");
}

/* A leader's own writes go to register 0; of others the client tells. */
static void check_guarded(struct well_formed *check, const struct event *event)
{
    bool accepted = event->f == F_ACCEPT;
    uint64_t holder = accepted ? event_number(event, FIELD_HOLDER) : event->process;
    if (event_number(event, FIELD_REGISTER) != 0 || (!accepted && event->type != EVENT_INVOKE))
        return;
    struct guarded *guarded =
        table_put(&check->guarded, holder, event_number(event, FIELD_TOKEN), NULL);
    if (accepted && guarded->accepted++ == 0) {
        guarded->time_ns = event->time_ns;
        guarded->index = event->index;
    }
    guarded->begun += !accepted;
}

/* Judged at the end, for a write may be recorded after its accept. */
static void judge_guarded(void *context, void *value)
{
    const struct guarded *guarded = value;
    struct event first = {.index = guarded->index,
                          .time_ns = guarded->time_ns,
                          .process = PROCESS_NUMBER(PROCESS_RESOURCE, 0),
                          .f = F_ACCEPT};
    if (guarded->accepted > guarded->begun)
        odd(&first, context, "under this token more writes were accepted than its holder began");
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct well_formed *check = state;
    struct teller *teller = teller_of(check, event->process);
    finding->judged++;
    if (!teller) {
        odd(event, finding, "the header knows no such process");
        return;
    }
    check_teller(teller, event, finding);
    check_form(event, finding);
    if (event->f == F_ACCEPT || event->f == F_GUARDED_WRITE)
        check_guarded(check, event);
    switch ((enum event_f)event->f) {
    case F_GUARDED_WRITE:
    case F_READ:
    case F_WRITE:
    case F_CAS: check_operation(check, event, finding); break;
    case F_SPAWN:
    case F_EXIT: table_remove_all(&check->open, event->process); break;
    default: break;
    }
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct well_formed *check = state;
    (void)end_ns;
    table_each(&check->guarded, judge_guarded, finding);
    table_release(&check->guarded);
    free(check->tellers);
    table_release(&check->open);
}

const struct check check_well_formed = {
    .name = "well-formed",
    .summary = "the history keeps to what the other checks take for granted",
    .judges = "event",
    .events = (1u << EVENT_FS) - 1,
    .state_bytes = sizeof(struct well_formed),
    .begin = begin,
    .step = step,
    .end = end,
};
