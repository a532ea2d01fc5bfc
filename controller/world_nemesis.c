/* What the nemesis asks of real processes and links, and when it counts as done: a kill when the
 * process is reaped, a pause when the kernel says it stands still, a restart when the new process
 * reports that it listens. */
#define _GNU_SOURCE
#include "controller/world_internal.h"
#include "simulator/suited.h"

#include <inttypes.h>
#include <string.h>

void action_answer(struct world *world, const struct action *action, bool ok, const char *proof)
{
    if (world->engine)
        engine_done(world->engine, action->ticket, ok, action->begin_ns, world_now(world),
                    action->touched, slice_of(proof));
}

struct action action_begin(const struct world *world, enum action_kind kind, uint64_t ticket,
                           uint32_t node)
{
    return (struct action){
        .ticket = ticket, .kind = kind, .node = node, .begin_ns = world_now(world)};
}

void action_wait(struct world *world, struct action action)
{
    if (world->action_count == world->action_capacity) {
        world->action_capacity = world->action_capacity ? world->action_capacity * 2 : 16;
        world->actions = must_grow(world->actions, world->action_capacity, sizeof *world->actions);
    }
    world->actions[world->action_count++] = action;
}

bool action_waits(const struct world *world, enum action_kind kind, uint32_t node)
{
    for (uint32_t i = 0; i < world->action_count; i++)
        if (world->actions[i].kind == kind && world->actions[i].node == node)
            return true;
    return false;
}

struct action *action_find(struct world *world, uint64_t ticket)
{
    for (uint32_t i = 0; i < world->action_count; i++)
        if (world->actions[i].ticket == ticket)
            return &world->actions[i];
    return NULL;
}

/* Taken out before it is answered: an answer may bring new requests. */
void action_settle_ticket(struct world *world, uint64_t ticket, bool ok, const char *proof)
{
    struct action *at = action_find(world, ticket), action = *at;
    struct action *end = world->actions + world->action_count--;
    memmove(at, at + 1, (size_t)(end - (at + 1)) * sizeof action);
    action_answer(world, &action, ok, proof);
}

void action_settle(struct world *world, enum action_kind kind, uint32_t node, bool ok,
                   const char *proof)
{
    for (uint32_t i = 0; i < world->action_count;) {
        const struct action *action = &world->actions[i];
        if (action->kind == kind && action->node == node) {
            action_settle_ticket(world, action->ticket, ok, proof);
            i = 0;
        } else {
            i++;
        }
    }
}

/* The id by which the nemesis speaks of a process. */
static uint32_t party_of(const struct world *world, const struct child *child)
{
    return (uint32_t)(child - children_at(world->children, 0)) + 1;
}

static struct child *node_of(struct world *world, uint32_t node)
{
    return children_at(world->children, node - 1);
}

static void on_kill(void *context, uint64_t ticket, uint32_t node)
{
    struct world *world = context;
    struct action action = action_begin(world, DO_KILL, ticket, node);
    if (child_kill(node_of(world, node)) < 0)
        action_answer(world, &action, false, "not running");
    else
        action_wait(world, action);
}

static void on_restart(void *context, uint64_t ticket, uint32_t node)
{
    struct world *world = context;
    struct action action = action_begin(world, DO_RESTART, ticket, node);
    struct child *child = node_of(world, node);
    act_disarm(world, DO_CRASH, node);
    if (child->ready) {
        action_answer(world, &action, true, "running");
        return;
    }
    action_wait(world, action);
    if (child->pid == 0)
        world_start(world, child);
}

static void on_pause(void *context, uint64_t ticket, uint32_t node)
{
    struct world *world = context;
    struct action action = action_begin(world, DO_PAUSE, ticket, node);
    struct child *child = node_of(world, node);
    if (child->stopped)
        action_answer(world, &action, true, "already stopped");
    else if (world_keeps(world, child) && child->ready) /* the server first */
        act_tell(world, action, child, "freeze");
    else if (world_keeps(world, child) || child_pause(child) < 0)
        action_answer(world, &action, false, "not running");
    else
        action_wait(world, action);
}

/* A stop that is still on its way is waited for: continued too early it would never be reported. */
static void on_resume(void *context, uint64_t ticket, uint32_t node)
{
    struct world *world = context;
    struct action action = action_begin(world, DO_RESUME, ticket, node);
    struct child *child = node_of(world, node);
    if (freezer_resume(world, ticket, node))
        return;
    act_disarm(world, DO_HALT, node);
    bool stopping = action_waits(world, DO_PAUSE, node);
    if (child->pid == 0 || (!child->stopped && !stopping)) {
        action_answer(world, &action, true, "not stopped");
        return;
    }
    action_wait(world, action);
    if (child->stopped)
        (void)child_resume(child); /* if it just ended, its end answers */
}

void actions_ready(struct world *world, const struct child *child)
{
    struct text proof = {0};
    text_add(&proof, "pid %d ready", (int)child->pid);
    action_settle(world, DO_RESTART, party_of(world, child), true, text_string(&proof));
    text_release(&proof);
}

void actions_stopped(struct world *world, struct child *child)
{
    struct text proof = {0};
    if (act_stopped(world, child))
        return;
    text_add(&proof, "pid %d stopped", (int)child->pid);
    if (action_waits(world, DO_RESUME, party_of(world, child)))
        (void)child_resume(child);
    action_settle(world, DO_PAUSE, party_of(world, child), true, text_string(&proof));
    action_settle(world, DO_CLOCK, party_of(world, child), true,
                  "set; stopped before it was read back");
    action_settle(world, DO_MESSAGES, party_of(world, child), true, "told, has not answered yet");
    text_release(&proof);
}

void actions_resumed(struct world *world, const struct child *child)
{
    struct text proof = {0};
    text_add(&proof, "pid %d continued", (int)child->pid);
    action_settle(world, DO_PAUSE, party_of(world, child), false, "continued before it stopped");
    action_settle(world, DO_RESUME, party_of(world, child), true, text_string(&proof));
    text_release(&proof);
}

void actions_ended(struct world *world, struct child *child, const struct child_end *end)
{
    struct text proof = {0};
    if (end->signal)
        text_add(&proof, "ended by signal %d", end->signal);
    else
        text_add(&proof, "ended with status %d", end->status);
    action_settle(world, DO_KILL, party_of(world, child), end->by == BY_SCHEDULE,
                  text_string(&proof));
    action_settle(world, DO_PAUSE, party_of(world, child), false, text_string(&proof));
    action_settle(world, DO_RESUME, party_of(world, child), true, text_string(&proof));
    freezer_ended(world, child, party_of(world, child), text_string(&proof));
    disks_ended(world, child);
    twin_ended(world, child, text_string(&proof));
    act_ended(world, child, end->by == BY_SCHEDULE, text_string(&proof));
    if (end->by == BY_SCHEDULE && action_waits(world, DO_RESTART, party_of(world, child)))
        world_start(world, child); /* asked for while it was still ending */
    else
        action_settle(world, DO_RESTART, party_of(world, child), false, text_string(&proof));
    action_settle(world, DO_CLOCK, party_of(world, child), true,
                  "set; ended before it was read back");
    action_settle(world, DO_MESSAGES, party_of(world, child), true, "ended before it answered");
    text_release(&proof);
}

/* The coordinator comes behind the nodes; NULL: there is none. */
static struct child *coordinator_of(const struct world *world)
{
    struct child *child = children_at(world->children, world->config.run->elector.nodes);
    return process_kind(child->process) == PROCESS_COORDINATOR ? child : NULL;
}

static void drop_sessions(struct world *world, uint64_t ticket, uint32_t node, bool undo)
{
    struct action action = action_begin(world, DO_COMMAND, ticket, node);
    struct child *coordinator = coordinator_of(world);
    struct text line = {0};
    text_add(&line, "drop %" PRIu32, node);
    if (undo)
        action_answer(world, &action, true, "cannot be undone");
    else if (coordinator && coordinator->ready && !coordinator->stopped)
        act_tell(world, action, coordinator, text_string(&line));
    else
        action_answer(world, &action, false, "the service is not running");
    text_release(&line);
}

static void on_act(void *context, uint64_t ticket, uint32_t node, const struct act *act)
{
    if (act->action == ACTION_CLOCK)
        clocks_bend(context, ticket, node, &act->clock);
    else if (act->action == ACTION_MESSAGES)
        messages_act(context, ticket, node, act);
    else if (act->action == ACTION_FREEZE)
        freezer_act(context, ticket, node);
    else if (act->action == ACTION_TWIN)
        twin_act(context, ticket, node, act);
    else if (act->action == ACTION_SESSION)
        drop_sessions(context, ticket, node, act->undo);
    else if (act->action == ACTION_DISK || act->action == ACTION_POWER ||
             act->action == ACTION_WIPE)
        disks_act(context, ticket, node, act);
    else
        act_begin(context, ticket, node, act);
}

void actions_done(struct world *world, const struct control *done)
{
    struct action *action = action_find(world, done->id);
    if (action && action->kind == DO_PAUSE)
        (void)child_pause(node_of(world, action->node)); /* its end answers if it is gone */
    else if (action && action->kind == DO_CLOCK)
        clocks_read(world, action, done->text);
    else if (action)
        act_told(world, action, done->text);
}

void actions_tick(struct world *world)
{
    clocks_tick(world);
    freezer_tick(world);
}

static void on_links(void *context, uint64_t ticket, const struct link_change *changes,
                     uint32_t count)
{
    struct world *world = context;
    world->backend->apply(world->network, ticket, changes, count);
}

static void on_counters(void *context, uint64_t ticket, const struct link_change *links,
                        uint32_t count)
{
    struct world *world = context;
    world->backend->counters(world->network, ticket, links, count);
}

void actions_network(void *context, uint64_t ticket, const char *failure, uint64_t begin_ns,
                     uint64_t end_ns, uint64_t touched, const char *proof)
{
    struct world *world = context;
    const char *text = failure ? failure : proof ? proof : "";
    if (world->engine)
        engine_done(world->engine, ticket, !failure, begin_ns, end_ns, touched, slice_of(text));
}

static void view_service(const struct world *world, struct cluster_view *out)
{
    const struct child *coordinator = coordinator_of(world);
    if (!coordinator)
        return;
    out->service = party_of(world, coordinator);
    out->service_running =
        world_keeps(world, coordinator) ? coordinator->ready : coordinator->pid != 0;
    out->service_paused = coordinator->stopped;
}

static void on_view(void *context, struct cluster_view *out)
{
    const struct world *world = context;
    view_cluster(&world->view, out);
    clocks_view(world, out);
    view_service(world, out);
    out->missing[FACILITY_DISK] = disks_missing(world);
    out->missing[FACILITY_MESSAGES] = messages_missing(world);
    out->missing[FACILITY_FREEZER] = freezer_missing(world);
    suited_view(world->config.run->algorithm, out);
    out->twin = twin_node(world);
}

/* The engine stamped it when it happened. */
static void on_record(void *context, const struct event *event)
{
    struct world *world = context;
    view_event(&world->view, event);
    recorder_add(world->config.recorder, event);
}

void world_nemesis(struct world *world, struct nemesis_world *out)
{
    *out = (struct nemesis_world){
        .context = world,
        .view = on_view,
        .kill = on_kill,
        .restart = on_restart,
        .pause = on_pause,
        .resume = on_resume,
        .act = on_act,
        .links = on_links,
        .counters = on_counters,
        .record = on_record,
    };
}

void world_attach(struct world *world, struct engine *engine)
{
    world->engine = engine;
}
