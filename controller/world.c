#define _GNU_SOURCE
#include "controller/world.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "controller/child_argv.h"
#include "controller/programs.h"
#include "controller/world_internal.h"
#include "nodes/address.h"
#include "nodes/clock.h"

/* --- small things --- */

uint64_t world_now(const struct world *world)
{
    return clock_true_ns() - world->config.origin_ns;
}

const struct view *world_view(const struct world *world)
{
    return &world->view;
}

void world_record(struct world *world, struct event *event)
{
    event->time_ns = world_now(world);
    event->type = EVENT_INFO;
    view_event(&world->view, event);
    recorder_add(world->config.recorder, event);
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

static void run_path(const struct world *world, const char *kind, uint32_t process,
                     const char *ending, struct text *out)
{
    char name[PROCESS_NAME_MAX];
    text_add(out, "%s/%s/%s%s", world->config.folder, kind, process_name(process, name), ending);
}

/* The last line a process logged: what it has to say about its own end. */
static void last_words(const char *log_path, struct text *out)
{
    char tail[512];
    int fd = open(log_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    off_t length = lseek(fd, 0, SEEK_END);
    off_t from = length > (off_t)sizeof tail ? length - (off_t)sizeof tail : 0;
    ssize_t got = pread(fd, tail, sizeof tail, from);
    (void)close(fd); /* read only */
    while (got > 0 && tail[got - 1] == '\n')
        got--;
    ssize_t start = got > 0 ? got : 0;
    while (start > 0 && tail[start - 1] != '\n')
        start--;
    if (got > start)
        text_add_bytes(out, tail + start, (size_t)(got - start));
}

/* --- processes --- */

static void record_spawn(struct world *world, const struct child *child, uint64_t time_ns)
{
    struct event event = {.process = child->process, .f = F_SPAWN, .time_ns = time_ns};
    event.type = EVENT_INFO;
    event_set(&event, FIELD_PID, (uint64_t)child->pid);
    event_set(&event, FIELD_INCARNATION, child->incarnation);
    view_event(&world->view, &event);
    recorder_add(world->config.recorder, &event);
}

static int start_child(struct world *world, struct child *child, struct error *error)
{
    struct text state = {0};
    struct child_argv words = {0};
    run_path(world, "state", child->process, "", &state);
    struct child_argv_request request = {
        .run = world->config.run,
        .process = child->process,
        .incarnation = child->incarnation + 1,
        .run_number = world->config.run_number,
        .origin_ns = world->config.origin_ns,
        .address_base = world->address_base,
        .state = text_string(&state),
    };
    child_argv_build(&request, &words);
    uint64_t before_ns = world_now(world); /* its own first event is later */
    int rc = child_start(child, words.argv, error);
    if (rc == 0) {
        world->restart_ns[slot_of(world, child)] = 0;
        record_spawn(world, child, before_ns);
    }
    child_argv_release(&words);
    text_release(&state);
    return rc;
}

void world_start(struct world *world, struct child *child)
{
    struct error error;
    if (!world->finishing && start_child(world, child, &error) < 0)
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
 * else. */
static bool is_harness_failure(const struct world *world, const struct child *child,
                               const struct child_end *end)
{
    if (end->by == BY_OUTSIDE)
        return true;
    if (end->by == BY_SCHEDULE || end->signal != 0)
        return false;
    return end->status == EXIT_HARNESS || end->status == EXIT_USAGE_BAD ||
           (end->status == 0 && !world->ever_ready[slot_of(world, child)]);
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
    last_words(child->log_path, &words);
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
    if (process_kind(child->process) == PROCESS_CLIENT && world->client_words)
        child_send(child, &(struct control){.verb = CONTROL_COMMAND,
                                            .text = slice_of(world->client_words)});
}

static void on_event(void *context, struct child *child, const struct event *event)
{
    struct world *world = context;
    (void)child;
    view_event(&world->view, event);
    recorder_add(world->config.recorder, event);
}

static void on_done(void *context, struct child *child, const struct control *done)
{
    (void)context; /* commands whose answer matters come with the faults that need them */
    (void)child;
    (void)done;
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

/* --- building --- */

/* A fresh network namespace; ours stays what it was. */
static int new_netns(int home, int *ret_netns, struct error *error)
{
    if (unshare(CLONE_NEWNET) < 0)
        return error_set(error, -errno, "create a network namespace: %s", strerror(errno));
    int netns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    int code = netns < 0 ? errno : 0;
    if (setns(home, CLONE_NEWNET) < 0 && code == 0)
        code = errno;
    if (code != 0) {
        if (netns >= 0)
            (void)close(netns);
        return error_set(error, -code, "keep a network namespace: %s", strerror(code));
    }
    *ret_netns = netns;
    return 0;
}

static int make_folder(const char *path, struct error *error)
{
    if (mkdir(path, 0777) < 0 && errno != EEXIST)
        return error_set(error, -errno, "create %s: %s", path, strerror(errno));
    return 0;
}

static int add_process(struct world *world, uint32_t process, int home, struct error *error)
{
    struct text program = {0}, log = {0}, state = {0};
    int netns = -1;
    run_path(world, "logs", process, ".log", &log);
    run_path(world, "state", process, "", &state);
    text_add(&program, "%s/%s", text_string(&world->programs), child_program(process));
    int rc = make_folder(text_string(&state), error);
    if (rc == 0)
        rc = new_netns(home, &netns, error);
    if (rc == 0)
        (void)children_add(world->children, process, text_string(&program), text_string(&log),
                           netns);
    text_release(&program);
    text_release(&log);
    text_release(&state);
    return rc;
}

static int add_kind(struct world *world, enum process_kind kind, uint32_t count, int home,
                    struct error *error)
{
    int rc = 0;
    for (uint32_t i = 1; i <= count && rc == 0; i++)
        rc = add_process(world, PROCESS_NUMBER(kind, i), home, error);
    return rc;
}

static int add_processes(struct world *world, struct error *error)
{
    const struct run_config *run = world->config.run;
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (home < 0)
        return error_set(error, -errno, "open /proc/self/ns/net: %s", strerror(errno));
    int rc = add_kind(world, PROCESS_NODE, run->elector.nodes, home, error);
    if (rc == 0)
        rc = add_process(world, PROCESS_NUMBER(PROCESS_RESOURCE, 0), home, error);
    if (rc == 0)
        rc = add_kind(world, PROCESS_CLIENT, run->clients, home, error);
    (void)close(home); /* a namespace's descriptor has nothing to write */
    return rc;
}

static void on_note(void *context, const char *text)
{
    struct event event = {.process = PROCESS_NUMBER(PROCESS_SWITCH, 0), .f = F_NOTE};
    event_set_text(&event, FIELD_TEXT, slice_of(text));
    world_record(context, &event);
}

static void on_network_failed(void *context, const struct error *error)
{
    world_fail(context, error);
}

static int open_network(struct world *world, struct error *error)
{
    uint32_t count = children_count(world->children);
    struct endpoint *endpoints = must_alloc(count, sizeof *endpoints);
    struct text log = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct child *child = children_at(world->children, i);
        endpoints[i] = (struct endpoint){
            .process = child->process,
            .netns = child->netns,
            .ipv4 = address_of(world->address_base, child->process),
        };
    }
    text_add(&log, "%s/logs/network.log", world->config.folder);
    struct network_config config = {
        .endpoints = endpoints,
        .endpoint_count = count,
        .prefix_bits = ADDRESS_PREFIX_BITS,
        .seed = world->config.run->seed,
        .program_folder = text_string(&world->programs),
        .log_path = text_string(&log),
        .origin_ns = world->config.origin_ns,
    };
    struct network_listener listener = {
        .context = world,
        .answer = actions_network,
        .note = on_note,
        .failed = on_network_failed,
    };
    int rc = world->backend->open(&config, world->config.loop, &listener, &world->network, error);
    free(endpoints);
    text_release(&log);
    return rc;
}

static int find_programs(struct world *world, struct error *error)
{
    int rc = programs_folder(&world->programs, error);
    for (int i = 0; program_names[i] && rc == 0; i++)
        rc = program_check(text_string(&world->programs), program_names[i], error);
    return rc;
}

static int make_folders(const struct world *world, struct error *error)
{
    static const char *const names[] = {"logs", "state"};
    int rc = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && rc == 0; i++) {
        struct text path = {0};
        text_add(&path, "%s/%s", world->config.folder, names[i]);
        rc = make_folder(text_string(&path), error);
        text_release(&path);
    }
    return rc;
}

static int start_all(struct world *world, struct error *error)
{
    int rc = 0;
    for (uint32_t i = 0; i < children_count(world->children) && rc == 0; i++)
        rc = start_child(world, children_at(world->children, i), error);
    return rc;
}

/* 10.x.y.0, from the run's number: the run's namespaces are its own, the addresses tell runs apart
 * in logs and captures. */
static uint32_t address_base_of(uint64_t run_number)
{
    return UINT32_C(10) << 24 | (uint32_t)(run_number & 0xffff) << 8;
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
    world->address_base = address_base_of(config->run_number);
    ours.context = world;
    view_init(&world->view, config->run->elector.nodes, config->run->elector.witnesses);
    int rc = find_programs(world, error);
    if (rc == 0)
        rc = make_folders(world, error);
    if (rc == 0)
        rc = children_open(config->loop, WORLD_CHILDREN_MAX, &ours, &world->children, error);
    if (rc == 0)
        rc = add_processes(world, error);
    if (rc == 0)
        rc = open_network(world, error);
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
    for (uint32_t i = 0; i < children_count(world->children); i++)
        if (!children_at(world->children, i)->ready)
            return false;
    return true;
}

uint32_t world_unready(const struct world *world)
{
    uint32_t i = 0;
    while (children_at(world->children, i)->ready)
        i++;
    return children_at(world->children, i)->process;
}

bool world_crashed(const struct world *world)
{
    return world->crashed;
}

void world_tick(struct world *world)
{
    children_read(world->children);
    uint64_t now_ns = world_now(world);
    for (uint32_t i = 0; i < children_count(world->children); i++) {
        uint64_t due_ns = world->restart_ns[i];
        if (due_ns == 0 || due_ns > now_ns || world->finishing || world->broken)
            continue;
        world->restart_ns[i] = 0;
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
    free(world->actions);
    text_release(&world->programs);
    free(world);
}
