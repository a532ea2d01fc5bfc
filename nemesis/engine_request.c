#include "nemesis/engine_state.h"

#include <assert.h>
#include <inttypes.h>

void active_detail(struct active *active, const char *format, ...)
{
    va_list arguments;
    if (active->details.length)
        text_add(&active->details, "; ");
    va_start(arguments, format);
    text_add_va(&active->details, format, arguments);
    va_end(arguments);
}

static uint64_t new_request(struct engine *engine, struct active *active, enum request_kind kind,
                            uint32_t node)
{
    if (engine->request_count == engine->request_capacity) {
        engine->request_capacity = engine->request_capacity ? engine->request_capacity * 2 : 16;
        engine->requests =
            must_grow(engine->requests, engine->request_capacity, sizeof *engine->requests);
    }
    engine->requests[engine->request_count++] = (struct request){
        ++engine->last_ticket, engine->now_ns + ENGINE_ANSWER_NS, kind, node, active};
    active->open++;
    return engine->last_ticket;
}

static void ask_process(struct engine *engine, struct active *active, enum request_kind kind,
                        uint32_t node)
{
    const struct nemesis_world *world = &engine->world;
    uint64_t ticket = new_request(engine, active, kind, node);
    switch (kind) {
    case REQUEST_KILL: world->kill(world->context, ticket, node); break;
    case REQUEST_RESTART: world->restart(world->context, ticket, node); break;
    case REQUEST_PAUSE: world->pause(world->context, ticket, node); break;
    case REQUEST_RESUME: world->resume(world->context, ticket, node); break;
    case REQUEST_LINKS:
    case REQUEST_BASELINE:
    case REQUEST_COUNTERS: assert(false); break;
    }
}

void ask_processes(struct engine *engine, struct active *active, enum request_kind kind,
                   node_set nodes)
{
    for (; nodes; nodes &= nodes - 1)
        ask_process(engine, active, kind, nodes_first(nodes));
}

void ask_counters(struct engine *engine, struct active *active, enum request_kind kind)
{
    const struct injection *injection = &active->injection;
    uint64_t ticket = new_request(engine, active, kind, 0);
    engine->world.counters(engine->world.context, ticket, injection->links, injection->link_count);
}

static uint32_t push_links(struct engine *engine, struct active *active)
{
    const struct link_change *changes;
    uint32_t count = link_matrix_changes(engine->matrix, &changes);
    if (count == 0)
        return 0;
    uint64_t ticket = new_request(engine, active, REQUEST_LINKS, 0);
    engine->world.links(engine->world.context, ticket, changes, count);
    return count;
}

uint32_t put_links(struct engine *engine, struct active *active)
{
    for (uint32_t i = 0; i < active->injection.link_count; i++) {
        const struct link_change *link = &active->injection.links[i];
        link_matrix_add(engine->matrix, active->scheduled->id, link->from, link->to,
                        link->impairment);
    }
    return push_links(engine, active);
}

uint32_t take_links(struct engine *engine, struct active *active)
{
    link_matrix_remove(engine->matrix, active->scheduled->id);
    return push_links(engine, active);
}

/* A killed process cannot be resumed: whoever paused it owes it nothing any more. */
static void forget_pause(struct engine *engine, uint32_t node)
{
    for (uint32_t i = 0; i < engine->active_count; i++)
        if (engine->active[i]->injection.action == ACTION_PAUSE)
            engine->active[i]->held &= ~node_bit(node);
}

static void on_process(struct engine *engine, const struct request *request,
                       const struct answer *answer)
{
    struct active *active = request->active;
    bool undo = request->kind == REQUEST_RESTART || request->kind == REQUEST_RESUME;
    active_detail(active, "n%u %.*s", request->node, (int)answer->proof.length, answer->proof.at);
    if (undo)
        active->held &= ~node_bit(request->node);
    else if (answer->ok)
        active->landed |= node_bit(request->node);
    else if (!answer->late) /* what went unanswered may have happened and is undone as well */
        active->held &= ~node_bit(request->node);
    if (request->kind == REQUEST_KILL && answer->ok)
        forget_pause(engine, request->node);
}

static void on_links(const struct request *request, const struct answer *answer)
{
    struct active *active = request->active;
    if (!answer->ok || active->stage == STAGE_STARTING)
        active_detail(active, "links %.*s", (int)answer->proof.length, answer->proof.at);
}

static void on_counters(const struct request *request, const struct answer *answer)
{
    struct active *active = request->active;
    if (!answer->ok) {
        active_detail(active, "counters %.*s", (int)answer->proof.length, answer->proof.at);
        return;
    }
    if (request->kind == REQUEST_BASELINE)
        active->baseline = answer->touched;
    else if (answer->touched >= active->baseline)
        active->touched = answer->touched - active->baseline;
    else /* the counters began anew: a helper was replaced */
        active->touched = answer->touched;
}

struct active *request_answered(struct engine *engine, uint32_t at, const struct answer *answer)
{
    struct request request = engine->requests[at];
    struct active *active = request.active;
    engine->requests[at] = engine->requests[--engine->request_count];
    active->open--;
    if (request.kind == REQUEST_BASELINE || request.kind == REQUEST_COUNTERS) {
        on_counters(&request, answer);
        return active;
    }
    active->failed = active->failed || !answer->ok;
    if (answer->begin_ns < active->begin_ns)
        active->begin_ns = answer->begin_ns;
    if (answer->end_ns > active->end_ns)
        active->end_ns = answer->end_ns;
    if (request.kind == REQUEST_LINKS)
        on_links(&request, answer);
    else
        on_process(engine, &request, answer);
    return active;
}

static const char *const request_names[] = {"kill",  "restart",  "pause",   "resume",
                                            "links", "counters", "counters"};

void engine_pending(const struct engine *engine, struct text *out)
{
    for (uint32_t i = 0; i < engine->request_count; i++) {
        const struct request *request = &engine->requests[i];
        const struct scheduled_fault *scheduled = request->active->scheduled;
        text_add(out, "%s%s", i ? ", " : "", request_names[request->kind]);
        if (request->node)
            text_add(out, " n%u", request->node);
        text_add(out, " (%s, fault %" PRIu64 ")", scheduled->fault->name, scheduled->id);
    }
}
