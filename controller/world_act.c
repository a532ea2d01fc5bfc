/* Faults that a node carries out on itself: what an operator tells it, and points in its code at
 * which it stops, to be killed or left standing there. */
#define _GNU_SOURCE
#include "controller/world_internal.h"

#include <inttypes.h>
#include <string.h>

static const char *const operators[] = {
    [OPERATOR_RESIGN] = "resign", [OPERATOR_TRANSFER] = "transfer", [OPERATOR_FORCE] = "force"};
static const char *const points[] = {
    [WRITE_BEFORE] = "before", [WRITE_DURING] = "during", [WRITE_AFTER] = "after"};
static const struct {
    const char *word, *where;
} halts[] = {[HALT_AFTER_CHECK] = {"check", "having found that it may write"},
             [HALT_BEFORE_WRITE] = {"write", "before a write"},
             [HALT_BEFORE_SEND] = {"send", "before it sent anything"}};

static const enum action_kind kinds[] = {[ACTION_TERMINATE] = DO_TERMINATE,
                                         [ACTION_CRASH] = DO_CRASH,
                                         [ACTION_HALT] = DO_HALT,
                                         [ACTION_COMMAND] = DO_COMMAND};

static void command_of(const struct act *act, struct text *out)
{
    if (act->action == ACTION_CRASH)
        text_add(out, "crash %" PRIu32 " %s", act->write, points[act->point]);
    else if (act->action == ACTION_HALT)
        text_add(out, "halt %s", halts[act->halt].word);
    else
        text_add(out, "%s", operators[act->command]);
    if (act->action == ACTION_COMMAND && act->command == OPERATOR_TRANSFER)
        text_add(out, " %" PRIu32, act->successor);
}

static void tell(struct child *child, uint64_t id, const char *words)
{
    child_send(child,
               &(struct control){.verb = CONTROL_COMMAND, .id = id, .text = slice_of(words)});
}

void act_tell(struct world *world, struct action action, struct child *child, const char *words)
{
    action_wait(world, action);
    tell(child, action.ticket, words);
}

void act_begin(struct world *world, uint64_t ticket, uint32_t node, const struct act *act)
{
    struct child *child = children_at(world->children, node - 1);
    struct action action = action_begin(world, kinds[act->action], ticket, node);
    struct text words = {0};
    action.act = *act;
    if (!child->ready) {
        action_answer(world, &action, false, "not running");
        return;
    }
    world->disarmed &= ~node_bit(node);
    command_of(act, &words);
    if (act->action != ACTION_TERMINATE) {
        act_tell(world, action, child, text_string(&words));
        if (act->resigner) /* whether it does shows in its events; nobody waits for its word */
            tell(children_at(world->children, act->resigner - 1), 0, "resign");
    } else {
        action_wait(world, action);
        (void)child_terminate(child); /* it is there: unreaped */
    }
    text_release(&words);
}

/* "done leads in term 7", or why not. Who is to stop says so by stopping. */
void act_told(struct world *world, const struct action *action, struct slice said)
{
    static const char done[] = "done";
    struct text proof = {0};
    bool ok = said.length >= sizeof done - 1 && memcmp(said.at, done, sizeof done - 1) == 0;
    size_t skip = ok ? said.length < sizeof done ? said.length : sizeof done : 0;
    text_add_bytes(&proof, said.at + skip, said.length - skip);
    if (!ok || action->kind == DO_COMMAND || action->kind == DO_MESSAGES)
        action_settle_ticket(world, action->ticket, ok, text_string(&proof));
    text_release(&proof);
}

/* A stop that was called off too late is nobody's: it is undone. */
bool act_stopped(struct world *world, struct child *child)
{
    uint32_t node = child->process;
    const char *where = "";
    struct text proof = {0};
    if (action_waits(world, DO_PAUSE, node))
        return false; /* ours: no point of its code */
    if (action_waits(world, DO_CRASH, node)) {
        (void)child_kill(child);
        return true;
    }
    if (!action_waits(world, DO_HALT, node)) {
        bool late = process_kind(node) == PROCESS_NODE && (world->disarmed & node_bit(node)) &&
                    !action_waits(world, DO_PAUSE, node);
        if (late)
            (void)child_resume(child);
        return late;
    }
    for (uint32_t i = 0; i < world->action_count; i++)
        if (world->actions[i].kind == DO_HALT && world->actions[i].node == node)
            where = halts[world->actions[i].act.halt].where;
    text_add(&proof, "pid %d stopped %s", (int)child->pid, where);
    action_settle(world, DO_HALT, node, true, text_string(&proof));
    text_release(&proof);
    return true;
}

void act_ended(struct world *world, const struct child *child, bool by_schedule, const char *how)
{
    struct text where = {0};
    for (uint32_t i = 0; i < world->action_count; i++) {
        const struct action *action = &world->actions[i];
        if (action->kind == DO_CRASH && action->node == child->process)
            text_add(&where, "%s, %s write %" PRIu32, how, points[action->act.point],
                     action->act.write);
    }
    action_settle(world, DO_CRASH, child->process, by_schedule, text_string(&where));
    action_settle(world, DO_TERMINATE, child->process, by_schedule, how);
    action_settle(world, DO_HALT, child->process, false, how);
    action_settle(world, DO_COMMAND, child->process, false, how);
    text_release(&where);
}

void act_disarm(struct world *world, enum action_kind kind, uint32_t node)
{
    if (!action_waits(world, kind, node))
        return;
    action_settle(world, kind, node, false, "never came to that point");
    world->disarmed |= node_bit(node);
    tell(children_at(world->children, node - 1), 0,
         kind == DO_CRASH ? "crash 0 before" : "halt off");
}
