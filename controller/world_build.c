/* What stands before any process does: the programs are there, folders, a network namespace for
 * each process, and the network between them. */
#define _GNU_SOURCE
#include "controller/world_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "controller/child_argv.h"
#include "controller/programs.h"
#include "controller/service_use.h"
#include "nodes/address.h"

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

bool world_keeps(const struct world *world, const struct child *child)
{
    return process_kind(child->process) == PROCESS_COORDINATOR &&
           world->config.run->service->kind->program;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    (void)remove(path); /* what cannot be removed stays in the run's folder */
    return 0;
}

void world_throw_away(const struct world *world)
{
    struct text path = {0};
    world_path(world, "state", PROCESS_NUMBER(PROCESS_COORDINATOR, 0), "/data", &path);
    if (world->config.run->service && world->config.run->service->kind->program)
        (void)nftw(text_string(&path), remove_one, 16, FTW_DEPTH | FTW_PHYS);
    text_release(&path);
}

static int add_process(struct world *world, uint32_t process, int home, struct error *error)
{
    struct text program = {0}, log = {0}, state = {0};
    int netns = -1;
    world_path(world, "logs", process, ".log", &log);
    world_path(world, "state", process, "", &state);
    text_add(&program, "%s/%s", text_string(&world->programs),
             child_program(world->config.run, process));
    int rc = make_folder(text_string(&state), error);
    if (rc == 0)
        rc = new_netns(home, &netns, error);
    if (rc == 0) {
        struct child *child =
            children_add(world->children, process, text_string(&program), text_string(&log), netns);
        child->own_pids = world_keeps(world, child);
    }
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

/* Whose twin it is shows when it starts; it gets a state folder then. */
static int add_twin(struct world *world, int home, struct error *error)
{
    struct text program = {0}, log = {0};
    uint32_t process = PROCESS_NUMBER(PROCESS_TWIN, 1);
    int netns = -1;
    int rc = new_netns(home, &netns, error);
    text_add(&program, "%s/%s", text_string(&world->programs),
             child_program(world->config.run, process));
    text_add(&log, "%s/logs/twin.log", world->config.folder);
    if (rc == 0)
        world->twin =
            children_add(world->children, process, text_string(&program), text_string(&log), netns);
    text_release(&program);
    text_release(&log);
    return rc;
}

static int add_processes(struct world *world, struct error *error)
{
    const struct run_config *run = world->config.run;
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (home < 0)
        return error_set(error, -errno, "open /proc/self/ns/net: %s", strerror(errno));
    int rc = add_kind(world, PROCESS_NODE, run->elector.nodes, home, error);
    if (rc == 0 && run->service) /* where the nemesis looks for it */
        rc = add_process(world, PROCESS_NUMBER(PROCESS_COORDINATOR, 0), home, error);
    if (rc == 0)
        rc = add_process(world, PROCESS_NUMBER(PROCESS_RESOURCE, 0), home, error);
    if (rc == 0)
        rc = add_kind(world, PROCESS_CLIENT, run->clients, home, error);
    if (rc == 0 && world_asks_for(world, FACILITY_TWIN))
        rc = add_twin(world, home, error);
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
        .tcp_as_kernel = !world->config.run->elector.knobs.tcp_fast,
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
    const struct run_config *run = world->config.run;
    const char *service =
        run->service ? child_program(run, PROCESS_NUMBER(PROCESS_COORDINATOR, 0)) : "";
    int rc = programs_folder(&world->programs, error);
    for (int i = 0; program_names[i] && rc == 0; i++)
        if (!program_is_service(program_names[i]) || strcmp(program_names[i], service) == 0)
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

/* 10.x.y.0, from the run's number: the run's namespaces are its own, the addresses tell runs apart
 * in logs and captures. */
static uint32_t address_base_of(uint64_t run_number)
{
    return UINT32_C(10) << 24 | (uint32_t)(run_number & 0xffff) << 8;
}

int world_build(struct world *world, struct error *error)
{
    world->address_base = address_base_of(world->config.run_number);
    int rc = find_programs(world, error);
    if (rc == 0)
        rc = make_folders(world, error);
    if (rc == 0)
        rc = add_processes(world, error);
    if (rc == 0)
        rc = open_network(world, error);
    return rc;
}
