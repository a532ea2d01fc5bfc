/* One machine per fault that is under way: waiting for its target, starting, active, stopping. What
 * the world is asked is a list of requests; a fault moves on when none of its own is open. Requests
 * may be answered from within the call that made them, so a fault counts one more as open while it
 * is still asking, and faults that are over are swept only when the outermost call returns. */
#include "nemesis/engine_state.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "nemesis/message.h"
#include "nemesis/record.h"

#define RETRY_NS (10 * NS_PER_MS) /* how often a fault without a target looks again */

struct engine *engine_new(const struct schedule *schedule, uint32_t nodes,
                          const struct nemesis_world *world)
{
    struct engine *engine = must_alloc(1, sizeof *engine);
    assert(nodes >= 1 && nodes <= NODES_MAX);
    engine->schedule = schedule;
    engine->nodes = nodes;
    engine->world = *world;
    engine->matrix = link_matrix_new(nodes + 1);
    return engine;
}

static void active_free(struct active *active)
{
    injection_release(&active->injection);
    text_release(&active->details);
    free(active);
}

void engine_free(struct engine *engine)
{
    if (!engine)
        return;
    for (uint32_t i = 0; i < engine->active_count; i++)
        active_free(engine->active[i]);
    free(engine->active);
    free(engine->requests);
    link_matrix_free(engine->matrix);
    text_release(&engine->scratch[0]);
    text_release(&engine->scratch[1]);
    free(engine);
}

static void enter(struct engine *engine, uint64_t now_ns)
{
    engine->depth++;
    if (now_ns > engine->now_ns)
        engine->now_ns = now_ns;
}

static void leave(struct engine *engine)
{
    uint32_t kept = 0;
    if (--engine->depth > 0)
        return;
    for (uint32_t i = 0; i < engine->active_count; i++) {
        if (engine->active[i]->stage == STAGE_OVER)
            active_free(engine->active[i]);
        else
            engine->active[kept++] = engine->active[i];
    }
    engine->active_count = kept;
}

/* ---- recording ---- */

/* begin and end of the stage: of its actions, or now if it needed none. */
static struct fault_record record_of(const struct engine *engine, const struct active *active,
                                     const char *outcome)
{
    bool acted = active->begin_ns <= active->end_ns;
    return (struct fault_record){
        .scheduled = active->scheduled,
        .nodes = engine->nodes,
        .injection = &active->injection,
        .landed = active->landed,
        .outcome = outcome,
        .details = text_string(&active->details),
        .begin_ns = acted ? active->begin_ns : engine->now_ns,
        .end_ns = acted ? active->end_ns : engine->now_ns,
        .touched = active->touched,
        .actor = active->actor,
        .due_ns = active->actor ? active->due_ns - engine->origin_ns : 0,
    };
}

static uint64_t record_time(struct engine *engine, const struct fault_record *record)
{
    if (record->end_ns > engine->recorded_ns)
        engine->recorded_ns = record->end_ns;
    return engine->recorded_ns;
}

static void report_fault(struct engine *engine, const struct active *active, const char *outcome)
{
    struct fault_record record = record_of(engine, active, outcome);
    struct event event;
    record_fault(&record, record_time(engine, &record), engine->scratch, &event);
    engine->world.record(engine->world.context, &event);
}

static void report_heal(struct engine *engine, const struct active *active, const char *outcome)
{
    struct fault_record record = record_of(engine, active, outcome);
    struct event event;
    record_heal(&record, record_time(engine, &record), &event);
    engine->world.record(engine->world.context, &event);
}

/* ---- the stages ---- */

static void begin_stage(struct active *active, enum stage stage)
{
    active->stage = stage;
    active->begin_ns = UINT64_MAX;
    active->end_ns = 0;
}

static void settle(struct engine *engine, struct active *active);

/* What the world reports, corrected by what we did and it may not have noticed yet. */
static struct cluster_view look(const struct engine *engine)
{
    struct cluster_view view = {0};
    engine->world.view(engine->world.context, &view);
    view.nodes = engine->nodes;
    for (uint32_t i = 0; i < engine->active_count; i++) {
        const struct active *active = engine->active[i];
        bool service = view.service && active->held & node_bit(view.service);
        if (act_ends(active->injection.act.action)) {
            view.running &= ~active->held;
            view.service_running = view.service_running && !service;
        } else if (act_stops(active->injection.act.action)) {
            view.paused |= active->held;
            view.service_paused = view.service_paused || service;
        }
    }
    view.running &= nodes_all(engine->nodes);
    view.paused &= view.running;
    return view;
}

/* Its details say why. */
static void skip(struct engine *engine, struct active *active)
{
    begin_stage(active, STAGE_OVER);
    report_fault(engine, active, "skipped");
}

static uint64_t add_times(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static void install(struct engine *engine, struct active *active)
{
    const struct injection *injection = &active->injection;
    begin_stage(active, STAGE_STARTING);
    active->open++;
    if (active->waits_for) { /* late, but long enough to be noticed */
        uint64_t half_ns = add_times(engine->now_ns, active->scheduled->duration_ns / 2);
        active->stop_at_ns = half_ns > active->stop_at_ns ? half_ns : active->stop_at_ns;
    }
    if (injection->link_count) {
        if (injection->act.action == ACTION_NONE)
            ask_counters(engine, active, REQUEST_BASELINE);
        if (put_links(engine, active) == 0)
            active_detail(active, "another fault does the same to these links");
    }
    if (injection->act.action != ACTION_NONE) {
        active->held = injection->targets;
        do_act(engine, active, injection->targets);
    }
    active->open--;
    settle(engine, active);
}

/* Named nodes are meant as they are; a role may yet find somebody, a shape somebody better. */
static bool may_wait(const struct engine *engine, const struct active *active,
                     const struct cluster_view *view)
{
    return !engine->healing && !scheduled_is_named(active->scheduled) &&
           !fault_missing(active->scheduled->fault, view) &&
           engine->nodes >= scheduled_nodes_min(active->scheduled);
}

/* Others cut every link already that the fault would touch. */
static bool is_masked(const struct engine *engine, const struct injection *injection)
{
    for (uint32_t i = 0; i < injection->link_count; i++) {
        const struct link_change *link = &injection->links[i];
        struct impairment effective = link_matrix_get(engine->matrix, link->from, link->to);
        if (!impairment_cuts(&effective))
            return false;
    }
    return injection->link_count > 0;
}

static void try_start(struct engine *engine, struct active *active)
{
    const struct scheduled_fault *scheduled = active->scheduled;
    struct cluster_view view = look(engine);
    struct random random;
    const char *why = "";
    view.actor = active->actor;
    random_init(&random, scheduled->seed, "start", 0);
    node_set chosen = target_resolve(&scheduled->target, &view, &random, &why);
    if (chosen && scheduled->fault->between)
        view.to = target_resolve_other(&scheduled->to, &view, chosen, &random, &why);
    bool starts = chosen != 0 && (view.to != 0 || !scheduled->fault->between) &&
                  fault_start(scheduled->fault, &view, chosen, &scheduled->parameters, &random,
                              &active->injection, &why);
    bool masked = starts && is_masked(engine, &active->injection);
    if ((!starts || masked) && may_wait(engine, active, &view)) {
        injection_release(&active->injection);
        active->retry_ns = engine->now_ns + RETRY_NS;
        active->waits_for = masked ? "other faults cut all its links" : why;
    } else if (starts) {
        install(engine, active);
    } else {
        active_detail(active, "%s", why);
        skip(engine, active);
    }
}

static void set_time(struct active *active, uint64_t at_ns)
{
    active->stage = STAGE_WAITING;
    active->retry_ns = at_ns;
    active->stop_at_ns = add_times(at_ns, active->scheduled->duration_ns);
}

static void listen_from(struct active *active, uint64_t at_ns)
{
    active->stage = STAGE_LISTENING;
    active->begun_ns = at_ns;
}

static struct active *take_next(struct engine *engine)
{
    const struct scheduled_fault *scheduled = &engine->schedule->faults[engine->next++];
    struct active *active = must_alloc(1, sizeof *active);
    uint64_t at_ns = engine->origin_ns + scheduled->at_ns;
    active->scheduled = scheduled;
    active->flap_at_ns = UINT64_MAX;
    if (scheduled->after.nth)
        listen_from(active, at_ns);
    else
        set_time(active, at_ns);
    if (engine->active_count == engine->active_capacity) {
        engine->active_capacity = engine->active_capacity ? engine->active_capacity * 2 : 16;
        engine->active = must_grow(engine->active, engine->active_capacity, sizeof *engine->active);
    }
    engine->active[engine->active_count++] = active;
    return active;
}

static void begin_next(struct engine *engine)
{
    struct active *active = take_next(engine);
    if (active->stage == STAGE_WAITING)
        try_start(engine, active);
}

static void stop(struct engine *engine, struct active *active)
{
    begin_stage(active, STAGE_STOPPING);
    active->open++;
    if (active->injection.link_count) {
        (void)take_links(engine, active);
        if (active->installed && active->injection.act.action == ACTION_NONE)
            ask_counters(engine, active, REQUEST_COUNTERS);
    }
    undo_act(engine, active, active->held);
    active->open--;
    settle(engine, active);
}

static bool has_landed(const struct active *active)
{
    return active->injection.act.action == ACTION_NONE ? !active->failed : active->landed != 0;
}

static void started(struct engine *engine, struct active *active)
{
    active->installed = has_landed(active);
    report_fault(engine, active, active->installed ? "installed" : "failed");
    active->stage = STAGE_ACTIVE;
    active->failed = false;
    text_clear(&active->details);
    if (active->injection.flap_ns)
        active->flap_at_ns = engine->now_ns + active->injection.flap_ns;
    if (!active->installed || engine->healing)
        stop(engine, active);
}

static void stopped(struct engine *engine, struct active *active)
{
    const struct injection *injection = &active->injection;
    active->stage = STAGE_OVER;
    if (!active->installed)
        return;
    if (injection->act.action == ACTION_DISK)
        active->touched =
            active->touched > active->baseline ? active->touched - active->baseline : 0;
    else if (injection->act.action == ACTION_MESSAGES)
        active_detail(active, "%s %" PRIu64 " messages",
                      message_outcome(injection->act.message.deed), active->touched);
    else if (injection->act.action != ACTION_NONE)
        active->touched = nodes_count(active->landed);
    else if (!active->failed)
        active_detail(active, "%s %" PRIu64 " frames",
                      causes_verb(impairment_causes(&injection->links[0].impairment)),
                      active->touched);
    if (active->details.length == 0)
        active_detail(active, "nothing was left to undo");
    report_heal(engine, active, active->failed ? "failed" : "healed");
}

/* Move on when nothing is open any more. */
static void settle(struct engine *engine, struct active *active)
{
    if (active->open > 0)
        return;
    if (active->stage == STAGE_STARTING)
        started(engine, active);
    else if (active->stage == STAGE_STOPPING)
        stopped(engine, active);
}

/* Whoever was killed meanwhile is not stopped again, though he may be owed to go on. */
static node_set takes_turn(const struct engine *engine, const struct active *active)
{
    return act_stops(active->injection.act.action) ? active->held & look(engine).running
                                                   : active->landed;
}

/* A process that has not yet followed the last turn gets its time. */
static void flap(struct engine *engine, struct active *active)
{
    const struct injection *injection = &active->injection;
    bool rests = !active->flapped && injection->rest_ns;
    active->flap_at_ns = engine->now_ns + (rests ? injection->rest_ns : injection->flap_ns);
    if (active->injection.act.action != ACTION_NONE && active->open > 0)
        return;
    active->flapped = !active->flapped;
    active->open++;
    if (active->injection.act.action != ACTION_NONE)
        flap_act(engine, active, takes_turn(engine, active));
    else if (active->flapped)
        (void)take_links(engine, active);
    else
        (void)put_links(engine, active);
    active->open--;
}

/* ---- events ---- */

/* True if this was the event that it waited for. */
static bool hear(struct active *active, const struct event *event)
{
    const struct trigger *after = &active->scheduled->after;
    if (active->stage != STAGE_LISTENING || event->time_ns < active->begun_ns ||
        !trigger_matches(after, event) || ++active->seen < after->nth)
        return false;
    active->actor = trigger_node(event);
    active->due_ns = add_times(event->time_ns, after->delay_ns ? after->delay_ns : 1);
    set_time(active, active->due_ns);
    return true;
}

uint64_t engine_event(struct engine *engine, const struct event *event)
{
    uint64_t soonest_ns = UINT64_MAX;
    for (uint32_t i = 0; i < engine->active_count; i++) {
        struct active *active = engine->active[i];
        count_message(active, event);
        if (hear(active, event) && active->due_ns < soonest_ns)
            soonest_ns = active->due_ns;
    }
    return soonest_ns;
}

/* ---- answers ---- */

void engine_done(struct engine *engine, uint64_t ticket, bool ok, uint64_t begin_ns,
                 uint64_t end_ns, uint64_t touched, struct slice proof)
{
    const struct answer answer = {ok, false, begin_ns, end_ns, touched, proof};
    enter(engine, end_ns);
    for (uint32_t i = 0; i < engine->request_count; i++)
        if (engine->requests[i].ticket == ticket) {
            settle(engine, request_answered(engine, i, &answer));
            break;
        }
    leave(engine);
}

/* ---- time ---- */

enum due_kind { DUE_NOTHING, DUE_ANSWER, DUE_STOP, DUE_FLAP, DUE_RETRY, DUE_BEGIN };

struct due {
    uint64_t at_ns;
    enum due_kind kind; /* at the same time: what ends comes before what begins */
    uint32_t which;     /* request or active fault */
};

static void sooner(struct due *due, uint64_t at_ns, enum due_kind kind, uint32_t which)
{
    if (at_ns < due->at_ns || (at_ns == due->at_ns && kind < due->kind))
        *due = (struct due){at_ns, kind, which};
}

static struct due next_due(const struct engine *engine)
{
    struct due due = {UINT64_MAX, DUE_NOTHING, 0};
    for (uint32_t i = 0; i < engine->request_count; i++)
        sooner(&due, engine->requests[i].deadline_ns, DUE_ANSWER, i);
    for (uint32_t i = 0; i < engine->active_count; i++) {
        const struct active *active = engine->active[i];
        if (active->stage == STAGE_WAITING)
            sooner(&due, active->retry_ns, DUE_RETRY, i);
        if (active->stage != STAGE_ACTIVE)
            continue;
        sooner(&due, active->stop_at_ns, DUE_STOP, i);
        sooner(&due, active->flap_at_ns, DUE_FLAP, i);
    }
    if (engine->begun && engine->next < engine->schedule->count)
        sooner(&due, engine->origin_ns + engine->schedule->faults[engine->next].at_ns, DUE_BEGIN,
               0);
    return due;
}

static void do_due(struct engine *engine, const struct due *due)
{
    const struct answer none = {.late = true, /* it may have done something since it was asked */
                                .begin_ns = due->at_ns - ENGINE_ANSWER_NS,
                                .end_ns = due->at_ns,
                                .proof = slice_of("gave no answer")};
    switch (due->kind) {
    case DUE_NOTHING: break;
    case DUE_ANSWER: settle(engine, request_answered(engine, due->which, &none)); break;
    case DUE_STOP: stop(engine, engine->active[due->which]); break;
    case DUE_FLAP: flap(engine, engine->active[due->which]); break;
    case DUE_RETRY: try_start(engine, engine->active[due->which]); break;
    case DUE_BEGIN: begin_next(engine); break;
    }
}

void engine_begin(struct engine *engine, uint64_t now_ns)
{
    engine->begun = true;
    engine->origin_ns = now_ns;
}

uint64_t engine_advance(struct engine *engine, uint64_t now_ns)
{
    struct due due;
    enter(engine, now_ns);
    for (due = next_due(engine); due.kind != DUE_NOTHING && due.at_ns <= engine->now_ns;
         due = next_due(engine))
        do_due(engine, &due);
    leave(engine);
    return due.at_ns;
}

/* ---- the end ---- */

static void skip_late(struct engine *engine, struct active *active)
{
    if (active->stage == STAGE_LISTENING) {
        struct text event = {0};
        trigger_format(&active->scheduled->after, &event);
        active_detail(active, "it waited for %s and heard %" PRIu64, text_string(&event),
                      active->seen);
        text_release(&event);
        skip(engine, active);
        return;
    }
    active_detail(active, "the faults phase was over before it began%s%s",
                  active->waits_for ? ": " : "", active->waits_for ? active->waits_for : "");
    skip(engine, active);
}

void engine_heal(struct engine *engine, uint64_t now_ns)
{
    enter(engine, now_ns);
    engine->healing = true;
    for (uint32_t i = 0; i < engine->active_count; i++) {
        if (engine->active[i]->stage <= STAGE_WAITING)
            skip_late(engine, engine->active[i]);
        else if (engine->active[i]->stage == STAGE_ACTIVE)
            stop(engine, engine->active[i]);
    }
    while (engine->next < engine->schedule->count)
        skip_late(engine, take_next(engine));
    leave(engine);
}

bool engine_quiet(const struct engine *engine)
{
    return engine->active_count == 0 && engine->request_count == 0;
}
