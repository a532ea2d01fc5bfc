/* Rules for election messages, which each process keeps at its edge (nodes/edge.h). A rule belongs
 * to the network: it is told to whoever starts on that machine while the fault lasts, and what it
 * has done already it does not do again. */
#define _GNU_SOURCE
#include "controller/world_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "controller/service_use.h"
#include "simulator/suited.h"

const char *messages_missing(const struct world *world)
{
    const struct service_use *service = world->config.run->service;
    return service && service->kind->program ? "what is said to a real service is not ours to hold"
                                             : NULL;
}

static struct child *child_of(const struct world *world, uint32_t node)
{
    return children_at(world->children, node - 1);
}

static void remember(struct world *world, uint32_t node, const struct filter_rule *rule)
{
    if (world->rule_count == world->rule_capacity) {
        world->rule_capacity = world->rule_capacity ? world->rule_capacity * 2 : 16;
        world->rules = must_grow(world->rules, world->rule_capacity, sizeof *world->rules);
    }
    world->rules[world->rule_count++] = (struct standing_rule){node, *rule};
}

static void forget(struct world *world, uint32_t node, uint64_t fault)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < world->rule_count; i++)
        if (world->rules[i].node != node || world->rules[i].rule.fault != fault)
            world->rules[kept++] = world->rules[i];
    world->rule_count = kept;
}

static void words_of(const struct world *world, const struct filter_rule *rule, struct text *out)
{
    text_add(out, "message ");
    filter_rule_format(rule, world->config.run->algorithm->kinds, out);
}

/* One that stands still or is not there confirms nothing: the words wait for it in its pipe, or are
 * said when it starts. */
static void tell(struct world *world, struct action action, bool releases, const char *words)
{
    struct child *child = child_of(world, action.node);
    if (child->ready && !child->stopped) {
        act_tell(world, action, child, words);
        return;
    }
    if (child->pid)
        child_send(child, &(struct control){.verb = CONTROL_COMMAND, .text = slice_of(words)});
    if (child->pid)
        action_answer(world, &action, true, "told, has not answered yet");
    else
        action_answer(world, &action, !releases, releases ? "not running" : "when it starts");
}

void messages_act(struct world *world, uint64_t ticket, uint32_t node, const struct act *act)
{
    struct action action = action_begin(world, DO_MESSAGES, ticket, node);
    struct filter_rule rule;
    struct text words = {0};
    if (!suited_rule(world->config.run->algorithm, &act->message, &rule)) {
        action_answer(world, &action, false, "the algorithm sends no such message");
        return;
    }
    bool releases = rule.deed == FILTER_RELEASE;
    if (act->undo)
        text_add(&words, "message %" PRIu64 " off", rule.fault);
    else
        words_of(world, &rule, &words);
    if (act->undo)
        forget(world, node, rule.fault);
    else if (!releases)
        remember(world, node, &rule);
    tell(world, action, releases && !act->undo, text_string(&words));
    text_release(&words);
}

void messages_started(struct world *world, struct child *child)
{
    struct text words = {0};
    for (uint32_t i = 0; i < world->rule_count; i++) {
        const struct standing_rule *standing = &world->rules[i];
        if (child_of(world, standing->node) != child || standing->rule.left == 0)
            continue;
        text_clear(&words);
        words_of(world, &standing->rule, &words);
        child_send(child, &(struct control){.verb = CONTROL_COMMAND,
                                            .text = slice_of(text_string(&words))});
    }
    text_release(&words);
}

void messages_event(struct world *world, const struct event *event)
{
    struct slice outcome = event_text(event, FIELD_OUTCOME);
    bool met = !slice_equals(outcome, "released") && !slice_equals(outcome, "overtaken");
    for (uint32_t i = 0; event->f == F_MESSAGE && met && i < world->rule_count; i++) {
        struct standing_rule *standing = &world->rules[i];
        bool own = child_of(world, standing->node)->process == event->process &&
                   standing->rule.fault == event_number(event, FIELD_ID);
        if (own && standing->rule.left > 0 && standing->rule.left != FILTER_NO_BOUND)
            standing->rule.left--;
    }
}
