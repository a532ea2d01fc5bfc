/* The disks of real nodes: their state folders are file systems of ours, which coup-disk serves,
 * and which lose, refuse or hold up what a fault wants. */
#define _GNU_SOURCE
#include "controller/world_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "controller/fuse_mount.h"
#include "nemesis/disk/disk_command.h"
#include "nemesis/network/helper.h"

/* From a request that failed to the end that is seen, on a busy machine. */
#define LAST_WORDS_NS (2 * NS_PER_S)

static struct child *node_of(struct world *world, uint32_t node)
{
    return children_at(world->children, node - 1);
}

/* ---- what coup-disk says ---- */

/* "ok TOUCHED PROOF", or why not. A process that was ended for it is part of the proof. */
static void on_frame(void *context, const struct control *control)
{
    struct world *world = context;
    struct text text = {0}, proof = {0};
    const char *rest;
    struct action *action = action_find(world, control->id);
    if (control->verb != CONTROL_DONE || !action || action->kind != DO_DISK)
        return;
    text_add_bytes(&text, control->text.at, control->text.length);
    bool ok = helper_answer(text_string(&text), &action->touched, &rest);
    text_add(&proof, "%s%s", act_ends(action->act.action) ? "ended, " : "", rest);
    action_settle_ticket(world, control->id, ok, text_string(&proof));
    text_release(&text);
    text_release(&proof);
}

/* With it went what the nodes had written. */
static void on_helper_ended(void *context, int64_t status, int signal)
{
    struct world *world = context;
    struct error error;
    helper_close(world->disks);
    world->disks = NULL;
    (void)error_set(&error, -EPIPE, "coup-disk ended (%s %d), see logs/disk.log",
                    signal ? "signal" : "status", signal ? signal : (int)status);
    world_fail(world, &error);
}

/* ---- open and close ---- */

/* The connections first, behind them the folders that they hide. */
static int mount_all(struct world *world, int *descriptors, struct error *error,
                     const char **ret_fix)
{
    uint32_t count = world->config.run->elector.nodes;
    int rc = 0;
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        struct text folder = {0};
        world_path(world, "state", i + 1, "", &folder);
        descriptors[count + i] = open(text_string(&folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (descriptors[count + i] < 0)
            rc = error_set(error, -errno, "open %s: %s", text_string(&folder), strerror(errno));
        else
            rc = fuse_mount(text_string(&folder), &descriptors[i], error, ret_fix);
        text_release(&folder);
    }
    return rc;
}

static int start_helper(struct world *world, const int *descriptors, struct error *error)
{
    uint32_t count = world->config.run->elector.nodes;
    struct text program = {0}, log = {0}, nodes = {0}, seed = {0};
    text_add(&program, "%s/coup-disk", text_string(&world->programs));
    text_add(&log, "%s/logs/disk.log", world->config.folder);
    text_add(&nodes, "nodes=%" PRIu32, count);
    text_add(&seed, "seed=%" PRIu64, world->config.run->seed);
    char *const arguments[] = {program.at, nodes.at, seed.at, NULL};
    const struct helper_config config = {.program = program.at,
                                         .arguments = arguments,
                                         .log_path = log.at,
                                         .descriptors = descriptors,
                                         .descriptor_count = 2 * count};
    const struct helper_listener listener = {world, on_frame, on_helper_ended};
    int rc = helper_start(&config, world->config.loop, &listener, &world->disks, error);
    text_release(&program);
    text_release(&log);
    text_release(&nodes);
    text_release(&seed);
    return rc;
}

/* What this machine cannot do is no failure: the faults are skipped. */
static int set_problem(struct world *world, const struct error *error, const char *fix)
{
    text_add(&world->disks_problem, "%s%s%s%s", error->text, fix ? " (" : "", fix ? fix : "",
             fix ? ")" : "");
    return 0;
}

/* Only coup-disk keeps the connections: when it ends, however it does, nobody waits for it. */
static int open_all(struct world *world, struct error *error)
{
    uint32_t count = 2 * world->config.run->elector.nodes;
    int *descriptors = must_alloc(count, sizeof *descriptors);
    const char *fix = NULL;
    for (uint32_t i = 0; i < count; i++)
        descriptors[i] = -1;
    int rc = mount_all(world, descriptors, error, &fix);
    if (rc == 0)
        rc = start_helper(world, descriptors, error);
    else if (descriptors[0] < 0)
        rc = set_problem(world, error, fix);
    for (uint32_t i = 0; i < count; i++)
        if (descriptors[i] >= 0)
            (void)close(descriptors[i]); /* lent, not written */
    free(descriptors);
    return rc;
}

int disks_open(struct world *world, struct error *error)
{
    const char *fix = NULL;
    if (!world_asks_for(world, FACILITY_DISK))
        return 0;
    return fuse_program(error, &fix) < 0 ? set_problem(world, error, fix) : open_all(world, error);
}

void disks_close(struct world *world)
{
    helper_close(world->disks);
    world->disks = NULL;
    text_release(&world->disks_problem);
}

/* ---- acts ---- */

static void ask(struct world *world, struct action *action)
{
    struct text words = {0};
    action->asked = true;
    disk_command_format(action->node, &action->act, &words);
    helper_send(world->disks, &(struct control){.verb = CONTROL_COMMAND,
                                                .id = action->ticket,
                                                .text = {words.at, words.length}});
    text_release(&words);
}

static bool is_troubled(const struct disk_trouble *trouble)
{
    return trouble->fsync_delay_ns || trouble->full || trouble->error_ppm || trouble->stalled;
}

void disks_act(struct world *world, uint64_t ticket, uint32_t node, const struct act *act)
{
    struct action action = action_begin(world, DO_DISK, ticket, node);
    action.act = *act;
    if (!world->disks) {
        action_answer(world, &action, false, "coup-disk does not run");
        return;
    }
    if (act_ends(act->action)) {
        if (child_kill(node_of(world, node)) < 0)
            action_answer(world, &action, false, "not running");
        else
            action_wait(world, action);
        return;
    }
    world->failing_until_ns[node - 1] =
        is_troubled(&act->disk) ? UINT64_MAX : world_now(world) + LAST_WORDS_NS;
    ask(world, &action);
    action_wait(world, action);
}

/* The kernel is done with the process, so nothing of it is on its way to the disk any more. */
void disks_ended(struct world *world, const struct child *child)
{
    for (uint32_t i = 0; i < world->action_count && world->disks; i++) {
        struct action *action = &world->actions[i];
        if (action->kind == DO_DISK && action->node == child->process && !action->asked)
            ask(world, action);
    }
}

bool disks_explain(const struct world *world, const struct child *child)
{
    return process_kind(child->process) == PROCESS_NODE &&
           world_now(world) < world->failing_until_ns[process_index(child->process) - 1];
}

const char *disks_missing(const struct world *world)
{
    return world->disks_problem.length ? world->disks_problem.at : NULL;
}
