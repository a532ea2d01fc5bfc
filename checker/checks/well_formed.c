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

struct well_formed {
    uint32_t nodes, clients;
    uint64_t registers;
    struct teller *tellers; /* nodes, then clients, then the others by kind */
    struct table open;      /* (process, id) -> struct open_operation */
};

static void begin(void *state, const struct history_header *header)
{
    struct well_formed *check = state;
    check->nodes = header->nodes;
    check->clients = header->clients < SIMULATED_NODES_MAX ? header->clients : SIMULATED_NODES_MAX;
    check->registers = header->knobs.registers;
    check->tellers =
        must_alloc(check->nodes + check->clients + PROCESS_KINDS, sizeof(struct teller));
    table_init(&check->open, sizeof(struct open_operation));
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
    uint32_t index = process_index(process);
    switch (process_kind(process)) {
    case PROCESS_NODE:
        return index >= 1 && index <= check->nodes ? &check->tellers[index - 1] : NULL;
    case PROCESS_CLIENT:
        return index >= 1 && index <= check->clients ? &check->tellers[check->nodes + index - 1]
                                                     : NULL;
    default:
        return process_kind(process) < PROCESS_KINDS
                   ? &check->tellers[check->nodes + check->clients + process_kind(process)]
                   : NULL;
    }
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
    else if (teller->ended && process_kind(event->process) == PROCESS_NODE)
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

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct well_formed *check = state;
    struct teller *teller = teller_of(check, event->process);
    if (!teller) {
        odd(event, finding, "the header knows no such process");
        return;
    }
    check_teller(teller, event, finding);
    check_form(event, finding);
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
    (void)finding;
    free(check->tellers);
    table_release(&check->open);
}

const struct check check_well_formed = {
    .name = "well-formed",
    .summary = "the history keeps to what the other checks take for granted",
    .events = (1u << EVENT_FS) - 1,
    .state_bytes = sizeof(struct well_formed),
    .begin = begin,
    .step = step,
    .end = end,
};
