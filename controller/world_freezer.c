/* Pauses by the kernel's freezer: asked for by a write, done when the group says so, which is
 * looked at on the spot and then every few milliseconds. */
#define _GNU_SOURCE
#include <stdio.h>

#include "controller/freezer.h"
#include "controller/world_internal.h"

static void set_frozen(struct world *world, struct child *child, bool frozen)
{
    child->frozen = frozen;
    if (process_kind(child->process) == PROCESS_NODE)
        view_paused(&world->view, process_index(child->process), frozen);
}

/* Made when it is first needed: most runs never do. */
static int want_freezer(struct world *world, struct error *error)
{
    return world->freezer ? 0 : freezer_open(world->config.run_number, &world->freezer, error);
}

void freezer_act(struct world *world, uint64_t ticket, uint32_t node)
{
    struct action action = action_begin(world, DO_FREEZE, ticket, node);
    struct child *child = children_at(world->children, node - 1);
    struct error error;
    if (child->pid == 0 || child->stopped) {
        action_answer(world, &action, false, child->pid ? "stopped already" : "not running");
    } else if (want_freezer(world, &error) < 0 ||
               freezer_freeze(world->freezer, node, child->pid, &error) < 0) {
        action_answer(world, &action, false, error.text);
    } else {
        action_wait(world, action);
        freezer_tick(world);
    }
}

bool freezer_resume(struct world *world, uint64_t ticket, uint32_t node)
{
    struct action action = action_begin(world, DO_THAW, ticket, node);
    struct child *child = children_at(world->children, node - 1);
    struct error error;
    if (!child->frozen && !action_waits(world, DO_FREEZE, node))
        return false;
    action_settle(world, DO_FREEZE, node, false, "thawed before it was frozen");
    if (freezer_thaw(world->freezer, node, &error) < 0) {
        action_answer(world, &action, false, error.text);
        return true;
    }
    action_wait(world, action);
    freezer_tick(world);
    return true;
}

void freezer_tick(struct world *world)
{
    struct text proof = {0};
    for (uint32_t i = 0; i < world->action_count; i++) {
        struct action action = world->actions[i];
        bool freezes = action.kind == DO_FREEZE;
        if ((!freezes && action.kind != DO_THAW) ||
            freezer_holds(world->freezer, action.node) != freezes)
            continue;
        struct child *child = children_at(world->children, action.node - 1);
        text_clear(&proof);
        text_add(&proof, "pid %d, its group is %s", (int)child->pid, freezes ? "frozen" : "thawed");
        set_frozen(world, child, freezes);
        action_settle_ticket(world, action.ticket, true, text_string(&proof));
        i = UINT32_MAX; /* from the beginning: an answer may bring new requests */
    }
    text_release(&proof);
}

void freezer_ended(struct world *world, struct child *child, uint32_t party, const char *how)
{
    struct error error;
    if (child->frozen) {
        set_frozen(world, child, false);
        (void)freezer_thaw(world->freezer, party, &error); /* for who comes next */
    }
    action_settle(world, DO_FREEZE, party, false, how);
    action_settle(world, DO_THAW, party, true, how);
}

const char *freezer_missing(const struct world *world)
{
    static char why[sizeof(((struct error *)NULL)->text)];
    struct error error;
    const char *fix;
    if (world->freezer || freezer_probe(&error, &fix) == 0)
        return NULL;
    (void)snprintf(why, sizeof why, "%s", error.text);
    return why;
}
