#include "nemesis/engine_state.h"

#include <assert.h>
#include <inttypes.h>

#include "nemesis/message.h"

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

static bool holds(const struct active *active, uint32_t node)
{
    bool lasts = active->stage == STAGE_STARTING || active->stage == STAGE_ACTIVE;
    return lasts && active->held & node_bit(node);
}

/* What all active faults together make of the node's clocks. */
static struct clock_bend bend_of(const struct engine *engine, uint32_t node)
{
    struct clock_bend bend = {.rate_ppm = CLOCK_TRUE_PPM};
    for (uint32_t i = 0; i < engine->active_count; i++) {
        const struct active *active = engine->active[i];
        const struct act *act = &active->injection.act;
        if (act->action != ACTION_CLOCK || !holds(active, node))
            continue;
        bend.step_ns += active->flapped ? -act->clock.step_ns : act->clock.step_ns;
        bend.rate_ppm = bend.rate_ppm * act->clock.rate_ppm / CLOCK_TRUE_PPM;
    }
    return bend;
}

/* The worst that all active faults together make of the node's disk. */
static struct disk_trouble trouble_of(const struct engine *engine, uint32_t node)
{
    struct disk_trouble sum = {0};
    for (uint32_t i = 0; i < engine->active_count; i++) {
        const struct active *active = engine->active[i];
        const struct disk_trouble *own = &active->injection.act.disk;
        if (active->injection.act.action != ACTION_DISK || !holds(active, node))
            continue;
        sum.fsync_delay_ns += own->fsync_delay_ns;
        if (own->full && (!sum.full || own->room_bytes < sum.room_bytes))
            sum.room_bytes = own->room_bytes;
        if (own->error_ppm > sum.error_ppm)
            sum.error_ppm = own->error_ppm;
        sum.full = sum.full || own->full;
        sum.stalled = sum.stalled || own->stalled;
    }
    return sum;
}

static void ask_act(struct engine *engine, struct active *active, bool undo, uint32_t node)
{
    struct act act = active->injection.act;
    uint64_t ticket = new_request(engine, active, undo ? REQUEST_UNDO : REQUEST_ACT, node);
    act.undo = undo;
    if (act.action == ACTION_CLOCK)
        act.clock = bend_of(engine, node);
    if (act.action == ACTION_DISK)
        act.disk = trouble_of(engine, node);
    if (act.action == ACTION_MESSAGES) {
        act.message.from = message_senders(&act.message, node);
        act.message.fault = active->scheduled->id;
    }
    engine->world.act(engine->world.context, ticket, node, &act);
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
    case REQUEST_NOTHING:
    case REQUEST_ACT:
    case REQUEST_UNDO:
    case REQUEST_LINKS:
    case REQUEST_BASELINE:
    case REQUEST_COUNTERS: assert(false); break;
    }
}

/* How an action is asked for and taken back. */
static const struct {
    enum request_kind act, undo;
} requests[] = {
    [ACTION_KILL] = {REQUEST_KILL, REQUEST_RESTART},
    [ACTION_TERMINATE] = {REQUEST_ACT, REQUEST_RESTART},
    [ACTION_CRASH] = {REQUEST_ACT, REQUEST_RESTART},
    [ACTION_PAUSE] = {REQUEST_PAUSE, REQUEST_RESUME},
    [ACTION_HALT] = {REQUEST_ACT, REQUEST_RESUME},
    [ACTION_FREEZE] = {REQUEST_ACT, REQUEST_RESUME},
    [ACTION_CLOCK] = {REQUEST_ACT, REQUEST_UNDO},
    [ACTION_DISK] = {REQUEST_ACT, REQUEST_UNDO},
    [ACTION_POWER] = {REQUEST_ACT, REQUEST_RESTART},
    [ACTION_WIPE] = {REQUEST_ACT, REQUEST_RESTART},
    [ACTION_SESSION] = {REQUEST_ACT, REQUEST_UNDO},
    [ACTION_TWIN] = {REQUEST_ACT, REQUEST_UNDO},
    [ACTION_COMMAND] = {REQUEST_ACT, REQUEST_NOTHING},
    [ACTION_MESSAGES] = {REQUEST_ACT, REQUEST_UNDO},
};

static void ask(struct engine *engine, struct active *active, enum request_kind kind,
                node_set nodes)
{
    for (; nodes; nodes &= nodes - 1) {
        if (kind == REQUEST_ACT || kind == REQUEST_UNDO)
            ask_act(engine, active, kind == REQUEST_UNDO, nodes_first(nodes));
        else
            ask_process(engine, active, kind, nodes_first(nodes));
    }
}

void do_act(struct engine *engine, struct active *active, node_set nodes)
{
    ask(engine, active, requests[active->injection.act.action].act, nodes);
}

void undo_act(struct engine *engine, struct active *active, node_set nodes)
{
    enum request_kind undo = requests[active->injection.act.action].undo;
    if (undo != REQUEST_NOTHING)
        ask(engine, active, undo, nodes);
}

void flap_act(struct engine *engine, struct active *active, node_set nodes)
{
    enum process_action action = active->injection.act.action;
    if (active->flapped && (act_ends(action) || act_stops(action)))
        undo_act(engine, active, nodes);
    else
        do_act(engine, active, nodes);
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
        if (act_stops(engine->active[i]->injection.act.action))
            engine->active[i]->held &= ~node_bit(node);
}

static bool undoes(enum request_kind kind)
{
    return kind == REQUEST_RESTART || kind == REQUEST_RESUME || kind == REQUEST_UNDO;
}

void count_message(struct active *active, const struct event *event)
{
    const struct act *act = &active->injection.act;
    if (event->f == F_MESSAGE && act->action == ACTION_MESSAGES &&
        event_number(event, FIELD_ID) == active->scheduled->id &&
        slice_equals(event_text(event, FIELD_OUTCOME), message_outcome(act->message.deed)))
        active->touched++;
}

/* What went unanswered may have happened, and a clock that is not as asked is bent all the same, a
 * disk that did not confirm may be in trouble: all are undone as well. Else nothing has happened
 * where it was refused. */
static bool is_owed(const struct active *active, const struct answer *answer)
{
    enum process_action action = active->injection.act.action;
    return answer->ok || answer->late || action == ACTION_CLOCK || action == ACTION_DISK;
}

/* A disk's requests that showed the symptom are counted from before the fault to after it. */
static void on_disk(struct active *active, const struct request *request,
                    const struct answer *answer)
{
    if (active->stage == STAGE_STARTING)
        active->baseline += answer->touched;
    else if (request->kind == REQUEST_UNDO)
        active->touched += answer->touched;
}

static void on_process(struct engine *engine, const struct request *request,
                       const struct answer *answer)
{
    struct active *active = request->active;
    node_set bit = node_bit(request->node);
    if (answer->ok && !undoes(request->kind) && act_ends(active->injection.act.action))
        forget_pause(engine, request->node);
    if (active->injection.act.action == ACTION_DISK && answer->ok)
        on_disk(active, request, answer);
    if (active->stage == STAGE_ACTIVE && answer->ok) /* one turn of many */
        return;
    char name[PROCESS_NAME_MAX];
    active_detail(active, "%s %.*s", party_name(request->node, engine->nodes, name),
                  (int)answer->proof.length, answer->proof.at);
    if (active->stage == STAGE_STOPPING && undoes(request->kind))
        active->held &= ~bit;
    if (active->stage != STAGE_STARTING)
        return;
    if (answer->ok)
        active->landed |= bit;
    if (!is_owed(active, answer))
        active->held &= ~bit;
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

static const char *const request_names[] = {
    [REQUEST_KILL] = "kill",     [REQUEST_RESTART] = "restart",   [REQUEST_PAUSE] = "pause",
    [REQUEST_RESUME] = "resume", [REQUEST_ACT] = "act",           [REQUEST_UNDO] = "undo",
    [REQUEST_LINKS] = "links",   [REQUEST_BASELINE] = "counters", [REQUEST_COUNTERS] = "counters",
};

void engine_pending(const struct engine *engine, struct text *out)
{
    char name[PROCESS_NAME_MAX];
    for (uint32_t i = 0; i < engine->request_count; i++) {
        const struct request *request = &engine->requests[i];
        const struct scheduled_fault *scheduled = request->active->scheduled;
        text_add(out, "%s%s", i ? ", " : "", request_names[request->kind]);
        if (request->node)
            text_add(out, " %s", party_name(request->node, engine->nodes, name));
        text_add(out, " (%s, fault %" PRIu64 ")", scheduled->fault->name, scheduled->id);
    }
}

#define SHOWN_TARGETS_MAX 3

void engine_active(const struct engine *engine, struct text *out)
{
    bool first = true;
    for (uint32_t i = 0; i < engine->active_count; i++) {
        const struct active *active = engine->active[i];
        if (active->stage != STAGE_ACTIVE)
            continue;
        text_add(out, "%s%s", first ? "" : " ", active->scheduled->fault->name);
        first = false;
        if (nodes_count(active->injection.targets) > SHOWN_TARGETS_MAX)
            continue;
        text_add(out, "(");
        parties_format(active->injection.targets, engine->nodes, ',', out);
        text_add(out, ")");
    }
}
