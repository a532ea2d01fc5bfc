/* A second process under the id of a node, from a copy of its state folder. It has a network
 * namespace and an address of its own, where no link fault reaches it, and speaks as the node from
 * there; the others are told that the id has a second address. Which of the two they reach is
 * theirs to know, as it is where a name resolves to two addresses. */
#define _GNU_SOURCE
#include "controller/world_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* Of this copy: the one before is somebody else's disk. */
void twin_folder(const struct world *world, struct text *out)
{
    struct text ending = {0};
    text_add(&ending, ".%" PRIu32, world->twin_copies);
    world_path(world, "state", world->twin->process, text_string(&ending), out);
    text_release(&ending);
}

uint32_t twin_node(const struct world *world)
{
    bool there = world->twin && (world->twin->pid || world->twin->link);
    return there ? process_index(world->twin->process) : world->twin_of;
}

/* Clients ask one process; other nodes may be apart; whoever answers both gives both the answer. */
static const char *reach_of(const struct world *world, uint32_t process)
{
    bool node = process_kind(process) == PROCESS_NODE;
    bool one = process_kind(process) == PROCESS_CLIENT || (node && world->twin_is_apart);
    return !one ? "both" : twin_takes(process_index(process)) ? "only" : "off";
}

/* Neither of the two speaks with the other. */
static void tell(struct world *world, struct child *child, uint32_t node, bool on)
{
    struct text words = {0};
    if (!child->ready || process_identity(child->process) == node)
        return;
    text_add(&words, "twin %" PRIu32 " %s", node, on ? reach_of(world, child->process) : "off");
    child_send(child, &(struct control){.verb = CONTROL_COMMAND, .text = {words.at, words.length}});
    text_release(&words);
}

static void tell_all(struct world *world, uint32_t node, bool on)
{
    for (uint32_t i = 0; i < children_count(world->children); i++)
        tell(world, children_at(world->children, i), node, on);
}

static void begin(struct world *world, struct action action, const struct act *act)
{
    struct text folder = {0};
    struct child *twin = world->twin;
    if (twin_node(world)) {
        action_answer(world, &action, false, "another has a twin");
        return;
    }
    twin->process = PROCESS_NUMBER(PROCESS_TWIN, action.node);
    world->twin_copies++;
    twin_folder(world, &folder);
    if (mkdir(text_string(&folder), 0777) < 0 && errno != EEXIST) {
        action_answer(world, &action, false, strerror(errno));
    } else {
        world->twin_of = action.node;
        world->twin_is_apart = act->apart;
        action_wait(world, action);
        world_start(world, twin);
    }
    text_release(&folder);
}

void twin_act(struct world *world, uint64_t ticket, uint32_t node, const struct act *act)
{
    struct action action = action_begin(world, DO_TWIN, ticket, node);
    if (!act->undo) {
        begin(world, action, act);
        return;
    }
    if (world->twin_of != node) {
        action_answer(world, &action, true, "has no twin");
        return;
    }
    world->twin_of = 0;
    tell_all(world, node, false);
    if (child_kill(world->twin) < 0)
        action_answer(world, &action, true, "the twin had ended");
    else
        action_wait(world, action);
}

/* Whoever comes up while there is a twin is told of it. */
void twin_ready(struct world *world, struct child *child)
{
    struct text proof = {0};
    uint32_t node = world->twin_of;
    if (node == 0)
        return;
    if (child != world->twin) {
        tell(world, child, node, true);
        return;
    }
    tell_all(world, node, true);
    text_add(&proof, "has a twin, pid %d beside pid %d", (int)child->pid,
             (int)children_at(world->children, node - 1)->pid);
    action_settle(world, DO_TWIN, node, true, text_string(&proof));
    text_release(&proof);
}

/* Ended by us it is what was asked for, by itself it is not. */
void twin_ended(struct world *world, const struct child *child, const char *how)
{
    struct text proof = {0};
    if (child != world->twin)
        return;
    text_add(&proof, "twin %s", how);
    action_settle(world, DO_TWIN, process_index(child->process), world->twin_of == 0,
                  text_string(&proof));
    text_release(&proof);
}
