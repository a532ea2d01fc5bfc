#include "report/pauses.h"

#include <stdlib.h>

#include "base/error.h"
#include "checker/fault_kinds.h"

/* One that is not healed yet. */
struct pause {
    uint64_t id;
    struct text targets;
};

struct visitor {
    void (*visit)(void *context, uint32_t node, bool begins);
    void *context;
    bool begins;
};

static void visit_node(void *context, uint32_t node)
{
    const struct visitor *visitor = context;
    visitor->visit(visitor->context, node, visitor->begins);
}

static void begin(struct pauses *pauses, const struct event *event)
{
    if (pauses->count == pauses->capacity) {
        pauses->capacity = pauses->capacity ? 2 * pauses->capacity : 8;
        pauses->at = must_grow(pauses->at, pauses->capacity, sizeof *pauses->at);
    }
    struct pause *pause = &pauses->at[pauses->count++];
    struct slice targets = event_text(event, FIELD_TARGETS);
    *pause = (struct pause){.id = event_number(event, FIELD_ID)};
    text_add_bytes(&pause->targets, targets.at, targets.length);
}

static void end(struct pauses *pauses, uint64_t id, struct visitor *visitor)
{
    uint32_t i = 0;
    while (i < pauses->count && pauses->at[i].id != id)
        i++;
    if (i == pauses->count)
        return;
    struct event healed = {0};
    struct text targets = pauses->at[i].targets;
    event_set_text(&healed, FIELD_TARGETS, (struct slice){text_string(&targets), targets.length});
    pauses->at[i] = pauses->at[--pauses->count];
    fault_targets(&healed, visit_node, visitor);
    text_release(&targets);
}

void pauses_see(struct pauses *pauses, const struct event *event,
                void (*visit)(void *context, uint32_t node, bool begins), void *context)
{
    struct visitor visitor = {visit, context, event->f == F_FAULT};
    if (event->f == F_HEAL) {
        end(pauses, event_number(event, FIELD_ID), &visitor);
    } else if (event->f == F_FAULT && fault_installed(event) &&
               fault_effect(event) == EFFECT_PAUSE) {
        begin(pauses, event);
        fault_targets(event, visit_node, &visitor);
    }
}

void pauses_release(struct pauses *pauses)
{
    for (uint32_t i = 0; i < pauses->count; i++)
        text_release(&pauses->at[i].targets);
    free(pauses->at);
    *pauses = (struct pauses){0};
}
