#define _GNU_SOURCE
#include "controller/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "controller/child_argv.h"
#include "controller/freezer.h"
#include "controller/world_internal.h"
#include "nodes/clock.h"
#include "nodes/log_tail.h"

/* --- small things --- */

uint64_t world_now(const struct world *world)
{
    return clock_true_ns() - world->config.origin_ns;
}

bool world_asks_for(const struct world *world, enum facility facility)
{
    return schedule_needs(world->config.schedule, facility);
}

const struct view *world_view(const struct world *world)
{
    return &world->view;
}

/* Whoever wants to know of it hears of it. The engine is advanced every few ms anyway. */
static void observe(struct world *world, const struct event *event)
{
    view_event(&world->view, event);
    messages_event(world, event);
    if (world->engine)
        (void)engine_event(world->engine, event);
    recorder_add(world->config.recorder, event);
}

void world_record(struct world *world, struct event *event)
{
    event->time_ns = world_now(world);
    event->type = EVENT_INFO;
    observe(world, event);
}

void world_fail(struct world *world, const struct error *error)
{
    if (world->broken)
        return;
    world->broken = true;
    world->config.failed(world->config.context, error);
}

static uint32_t slot_of(const struct world *world, const struct child *child)
{
    return (uint32_t)(child - children_at(world->children, 0));
}

void world_path(const struct world *world, const char *kind, uint32_t process, const char *ending,
                struct text *out)
{
    char name[PROCESS_NAME_MAX];
    text_add(out, "%s/%s/%s%s", world->config.folder, kind, process_name(process, name), ending);
}

/* --- processes --- */

static void record_spawn(struct world *world, const struct child *child, uint64_t time_ns)
{
    struct event event = {.process = child->process, .f = F_SPAWN, .time_ns = time_ns};
    event.type = EVENT_INFO;
    event_set(&event, FIELD_PID, (uint64_t)child->pid);
    event_set(&event, FIELD_INCARNATION, child->incarnation);
    observe(world, &event);
}

static int start_child(struct world *world, struct child *child, struct error *error)
{
    struct text state = {0}, copied = {0}, log = {0};
    struct child_argv words = {0};
    bool twin = child == world->twin;
    if (twin)
        twin_folder(world, &state);
    else
        world_path(world, "state", child->process, "", &state);
    world_path(world, "state", process_identity(child->process), "", &copied);
    text_add(&log, "%s/logs/service.log", world->config.folder);
    struct child_argv_request request = {
        .run = world->config.run,
        .process = child->process,
        .incarnation = child->incarnation + 1,
        .run_number = world->config.run_number,
        .origin_ns = world->config.origin_ns,
        .address_base = world->address_base,
        .state = text_string(&state),
        .log = text_string(&log),
        .copy = twin ? text_string(&copied) : NULL,
    };
    child_argv_build(&request, &words);
    int rc = clocks_starting(world, child, error);
    uint64_t before_ns = world_now(world); /* its own first event is later */
    if (rc == 0)
        rc = child_start(child, words.argv, error);
    if (rc == 0) {
        clocks_started(world, child);
        messages_started(world, child);
        world->restart_ns[slot_of(world, child)] = 0;
        record_spawn(world, child, before_ns);
    }
    child_argv_release(&words);
    text_release(&state);
    text_release(&log);
    text_release(&copied);
    return rc;
}

void world_start(struct world *world, struct child *child)
{
    struct error error;
    if (world->finishing || child->pid != 0) /* another fault may have started it already */
        return;
    if (child->link) /* it is not wholly gone yet: the next tick looks again */
        world->restart_ns[slot_of(world, child)] = world_now(world);
    else if (start_child(world, child, &error) < 0)
        world_fail(world, &error);
}

static void record_exit(struct world *world, const struct child *child, const struct child_end *end)
{
    struct event event = {.process = child->process, .f = F_EXIT};
    event_set(&event, end->signal ? FIELD_SIGNAL : FIELD_STATUS,
              (uint64_t)(end->signal ? end->signal : end->status));
    event_set(&event, FIELD_INCARNATION, child->incarnation);
    event_set_text(&event, FIELD_BY, slice_of(child_end_by_name(end->by)));
    world_record(world, &event);
}

/* An end that is our failure, not the cluster's: the program says that the machine failed it (3) or
 * that it was told something wrong (64), leaves before it has begun, or was killed by somebody
 * else. A node that crashes as it starts is the cluster's matter. */
static bool is_harness_failure(const struct world *world, const struct child *child,
                               const struct child_end *end)
{
    if (end->by == BY_OUTSIDE)
        return true;
    if (end->by == BY_SCHEDULE || end->signal != 0)
        return false;
    if (end->status == EXIT_HARNESS && disks_explain(world, child))
        return false;
    bool never_began = !world->ever_ready[slot_of(world, child)];
    bool ours = !process_elects(child->process);
    return end->status == EXIT_HARNESS || end->status == EXIT_USAGE_BAD ||
           (never_began && (ours || end->status == 0));
}

/* Who dies of a full disk cannot log it either. */
static bool is_full(const char *folder)
{
    struct statvfs disk;
    return statvfs(folder, &disk) == 0 && (disk.f_bavail == 0 || disk.f_favail == 0);
}

static void fail_by_end(struct world *world, const struct child *child, const struct child_end *end)
{
    struct error error;
    struct text words = {0};
    char name[PROCESS_NAME_MAX];
    (void)process_name(child->process, name);
    log_tail(child->log_path, &words);
    if (words.length == 0)
        text_add(&words, "%s",
                 is_full(world->config.folder) ? strerror(ENOSPC) : "it logged nothing");
    if (end->by == BY_OUTSIDE)
        (void)error_set(&error, -1, "%s was killed by signal %d from outside coup (out of memory?)",
                        name, end->signal);
    else
        (void)error_set(&error, -1, "%s ended with status %d: %.300s", name, end->status,
                        text_string(&words));
    text_release(&words);
    world_fail(world, &error);
}

static void on_ended(void *context, struct child *child, const struct child_end *end)
{
    struct world *world = context;
    clocks_ended(world, child);
    record_exit(world, child, end);
    actions_ended(world, child, end);
    if (is_harness_failure(world, child, end))
        fail_by_end(world, child, end);
    else if (end->by == BY_ITSELF && !world->finishing) {
        world->crashed = true;
        world->restart_ns[slot_of(world, child)] =
            world_now(world) + world->config.run->elector.knobs.restart_after;
    }
}

static void on_ready(void *context, struct child *child, struct slice address)
{
    struct world *world = context;
    (void)address; /* it follows from the plan of addresses */
    world->ever_ready[slot_of(world, child)] = true;
    actions_ready(world, child);
    twin_ready(world, child);
    if (process_kind(child->process) == PROCESS_CLIENT && world->client_words)
        child_send(child, &(struct control){.verb = CONTROL_COMMAND,
                                            .text = slice_of(world->client_words)});
}

static void on_event(void *context, struct child *child, const struct event *event)
{
    struct world *world = context;
    (void)child;
    observe(world, event);
}

/* The number of a command that is no action's. */
#define FREEZE_ID UINT64_MAX

static void on_done(void *context, struct child *child, const struct control *done)
{
    if (done->id == FREEZE_ID)
        (void)child_pause(child); /* its server stands still */
    else
        actions_done(context, done);
}

static void on_stopped(void *context, struct child *child)
{
    struct world *world = context;
    if (process_kind(child->process) == PROCESS_NODE)
        view_paused(&world->view, process_index(child->process), true);
    actions_stopped(world, child);
}

static void on_resumed(void *context, struct child *child)
{
    struct world *world = context;
    if (process_kind(child->process) == PROCESS_NODE)
        view_paused(&world->view, process_index(child->process), false);
    actions_resumed(world, child);
}

static void on_garbled(void *context, struct child *child, const struct error *cause)
{
    struct error error = *cause;
    char name[PROCESS_NAME_MAX];
    error_prefix(&error, "%s said something unreadable", process_name(child->process, name));
    world_fail(context, &error);
}

/* --- from the first to the last --- */

static int start_all(struct world *world, struct error *error)
{
    int rc = 0;
    for (uint32_t i = 0; i < children_count(world->children) && rc == 0; i++)
        if (children_at(world->children, i) != world->twin)
            rc = start_child(world, children_at(world->children, i), error);
    return rc;
}

int world_open(const struct world_config *config, struct world **out, struct error *error)
{
    static const struct child_callbacks callbacks = {
        .ready = on_ready,
        .event = on_event,
        .done = on_done,
        .stopped = on_stopped,
        .resumed = on_resumed,
        .ended = on_ended,
        .garbled = on_garbled,
    };
    struct world *world = must_alloc(1, sizeof *world);
    struct child_callbacks ours = callbacks;
    world->config = *config;
    world->backend = config->run->network;
    ours.context = world;
    stalls_init(&world->stalls);
    view_init(&world->view, config->run->elector.nodes, config->run->elector.witnesses);
    int rc = children_open(config->loop, WORLD_CHILDREN_MAX, &ours, &world->children, error);
    clocks_open(world);
    if (rc == 0)
        rc = world_build(world, error);
    if (rc == 0)
        rc = disks_open(world, error);
    if (rc == 0)
        rc = start_all(world, error);
    if (rc < 0) {
        world_close(world);
        return rc;
    }
    *out = world;
    return 0;
}

/* --- living --- */

bool world_ready(const struct world *world)
{
    return world_unready(world) == WORLD_NOBODY;
}

uint32_t world_unready(const struct world *world)
{
    for (uint32_t i = 0; i < children_count(world->children); i++) {
        const struct child *child = children_at(world->children, i);
        if (!child->ready && child != world->twin)
            return child->process;
    }
    return WORLD_NOBODY;
}

bool world_crashed(const struct world *world)
{
    return world->crashed;
}

uint64_t world_waited(struct world *world)
{
    return stalls_sample(&world->stalls, world->children);
}

void world_tick(struct world *world)
{
    children_read(world->children);
    actions_tick(world);
    uint64_t now_ns = world_now(world);
    for (uint32_t i = 0; i < children_count(world->children); i++) {
        uint64_t due_ns = world->restart_ns[i];
        if (due_ns == 0 || due_ns > now_ns || world->finishing || world->broken)
            continue;
        world->restart_ns[i] = 0;
        if (children_at(world->children, i) == world->twin && world->twin_of == 0)
            continue; /* the fault is over */
        if (children_at(world->children, i)->pid == 0)
            world_start(world, children_at(world->children, i));
    }
}

void world_tell_clients(struct world *world, const char *words)
{
    struct control command = {.verb = CONTROL_COMMAND, .text = slice_of(words)};
    world->client_words = words;
    for (uint32_t i = 0; i < children_count(world->children); i++) {
        struct child *child = children_at(world->children, i);
        if (process_kind(child->process) == PROCESS_CLIENT && child->ready)
            child_send(child, &command);
    }
}

void world_finish(struct world *world)
{
    world->finishing = true;
    for (uint32_t i = 0; i < children_count(world->children); i++)
        child_finish(children_at(world->children, i));
}

void world_freeze(struct world *world)
{
    world->finishing = true;
    for (uint32_t i = 0; i < children_count(world->children); i++) {
        struct child *child = children_at(world->children, i);
        if (child->ready && !child->stopped && world_keeps(world, child))
            child_send(child, &(struct control){.verb = CONTROL_COMMAND,
                                                .id = FREEZE_ID,
                                                .text = slice_of("freeze")});
        else if (child->pid != 0 && !child->stopped)
            (void)child_pause(child); /* it may be gone by now */
    }
}

uint32_t world_moving(const struct world *world)
{
    for (uint32_t i = 0; i < children_count(world->children); i++) {
        const struct child *child = children_at(world->children, i);
        if (child->pid != 0 && !child->stopped)
            return child->process;
    }
    return WORLD_NOBODY;
}

uint32_t world_left(const struct world *world)
{
    for (uint32_t i = 0; i < children_count(world->children); i++)
        if (children_at(world->children, i)->pid != 0)
            return children_at(world->children, i)->process;
    return WORLD_NOBODY;
}

void world_close(struct world *world)
{
    if (!world)
        return;
    if (world->network)
        world->backend->close(world->network);
    children_close(world->children);
    world_throw_away(world);
    disks_close(world);
    freezer_close(world->freezer);
    clocks_close(world);
    free(world->actions);
    free(world->rules);
    text_release(&world->programs);
    free(world);
}
