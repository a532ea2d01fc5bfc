#include "nodes/filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kept_message {
    uint64_t fault;
    enum filter_deed deed;
    struct message message; /* ids are ours */
    uint32_t *ids;
};

static const struct {
    const char *word;
    const char *outcome; /* as the message is met */
    const char *counted; /* when it has been touched */
} deeds[FILTER_DEEDS] = {
    [FILTER_DROP] = {"drop", "dropped", "dropped"},
    [FILTER_HOLD] = {"hold", "held", "held"},
    [FILTER_DUPLICATE] = {"duplicate", "duplicated", "duplicated"},
    [FILTER_ECHO] = {"echo", "duplicated", "duplicated"},
    [FILTER_REORDER] = {"reorder", "held", "overtaken"},
    [FILTER_RELEASE] = {"release", "released", "released"},
};

const char *filter_outcome(enum filter_deed deed)
{
    return deeds[deed].counted;
}

/* ---- what is kept, and what passes ---- */

static void clear_passed(struct filter *filter)
{
    while (filter->owned_count)
        free(filter->owned[--filter->owned_count]);
    filter->passed_count = 0;
}

static void pass(struct filter *filter, const char *outcome, uint64_t fault,
                 const struct message *message, bool delivered)
{
    if (filter->passed_count == filter->passed_capacity) {
        filter->passed_capacity = filter->passed_capacity ? filter->passed_capacity * 2 : 8;
        filter->passed = must_grow(filter->passed, filter->passed_capacity, sizeof *filter->passed);
    }
    filter->passed[filter->passed_count++] = (struct filtered){outcome, fault, *message, delivered};
}

static void keep(struct filter *filter, const struct filter_rule *rule,
                 const struct message *message)
{
    if (filter->kept_count == filter->kept_capacity) {
        filter->kept_capacity = filter->kept_capacity ? filter->kept_capacity * 2 : 8;
        filter->kept = must_grow(filter->kept, filter->kept_capacity, sizeof *filter->kept);
    }
    struct kept_message *kept = &filter->kept[filter->kept_count++];
    *kept = (struct kept_message){.fault = rule->fault, .deed = rule->deed, .message = *message};
    if (message->id_count) {
        kept->ids = must_alloc(message->id_count, sizeof *kept->ids);
        memcpy(kept->ids, message->ids, message->id_count * sizeof *kept->ids);
    }
    kept->message.ids = kept->ids;
}

/* Its ids stay until the next call. */
static void let_go(struct filter *filter, uint32_t at, const char *outcome, uint64_t fault)
{
    struct kept_message kept = filter->kept[at];
    uint32_t behind = --filter->kept_count - at;
    memmove(&filter->kept[at], &filter->kept[at + 1], behind * sizeof kept);
    pass(filter, outcome, fault, &kept.message, true);
    if (!kept.ids)
        return;
    if (filter->owned_count == filter->owned_capacity) {
        filter->owned_capacity = filter->owned_capacity ? filter->owned_capacity * 2 : 8;
        filter->owned = must_grow(filter->owned, filter->owned_capacity, sizeof(uint32_t *));
    }
    filter->owned[filter->owned_count++] = kept.ids;
}

void filter_forget_kept(struct filter *filter)
{
    clear_passed(filter);
    while (filter->kept_count)
        free(filter->kept[--filter->kept_count].ids);
}

void filter_release(struct filter *filter)
{
    filter_forget_kept(filter);
    free(filter->rules);
    free(filter->kept);
    free(filter->passed);
    free(filter->owned);
    *filter = (struct filter){0};
}

/* ---- rules ---- */

static bool matches(const struct filter_rule *rule, const struct message *message)
{
    return rule->left > 0 && message->source <= NODES_MAX &&
           (rule->senders >> message->source & 1) &&
           (rule->kind == FILTER_ANY_KIND || rule->kind == message->kind) &&
           (rule->term == 0 || rule->term == message->term);
}

static void let_go_matching(struct filter *filter, struct filter_rule rule)
{
    for (uint32_t i = 0; i < filter->kept_count;) {
        if (!matches(&rule, &filter->kept[i].message)) {
            i++;
            continue;
        }
        let_go(filter, i, filter_outcome(FILTER_RELEASE), rule.fault);
        rule.left -= rule.left != FILTER_NO_BOUND;
    }
}

void filter_put(struct filter *filter, const struct filter_rule *rule)
{
    clear_passed(filter);
    if (rule->deed == FILTER_RELEASE) {
        let_go_matching(filter, *rule);
        return;
    }
    if (filter->rule_count == filter->rule_capacity) {
        filter->rule_capacity = filter->rule_capacity ? filter->rule_capacity * 2 : 4;
        filter->rules = must_grow(filter->rules, filter->rule_capacity, sizeof *filter->rules);
    }
    filter->rules[filter->rule_count++] = *rule;
}

void filter_take_out(struct filter *filter, uint64_t fault)
{
    uint32_t stay = 0;
    clear_passed(filter);
    for (uint32_t i = 0; i < filter->rule_count; i++)
        if (filter->rules[i].fault != fault)
            filter->rules[stay++] = filter->rules[i];
    filter->rule_count = stay;
    for (uint32_t i = 0; i < filter->kept_count;) {
        if (filter->kept[i].fault == fault)
            let_go(filter, i, filter_outcome(FILTER_RELEASE), fault);
        else
            i++;
    }
}

/* ---- a message ---- */

/* What waited for the next message of this sender was overtaken by it. */
static void follow_up(struct filter *filter, uint32_t sender)
{
    for (uint32_t i = 0; i < filter->kept_count;) {
        const struct kept_message *kept = &filter->kept[i];
        if (kept->deed == FILTER_REORDER && kept->message.source == sender)
            let_go(filter, i, filter_outcome(FILTER_REORDER), kept->fault);
        else
            i++;
    }
}

static bool waits_for_next(const struct filter *filter, uint32_t sender)
{
    for (uint32_t i = 0; i < filter->kept_count; i++)
        if (filter->kept[i].deed == FILTER_REORDER && filter->kept[i].message.source == sender)
            return true;
    return false;
}

static struct filter_rule *find_rule(struct filter *filter, const struct message *message)
{
    for (uint32_t i = 0; i < filter->rule_count; i++) {
        struct filter_rule *rule = &filter->rules[i];
        bool swaps = rule->deed == FILTER_REORDER && waits_for_next(filter, message->source);
        if (matches(rule, message) && !swaps)
            return rule;
    }
    return NULL;
}

void filter_message(struct filter *filter, const struct message *message)
{
    struct filter_rule *rule = find_rule(filter, message);
    clear_passed(filter);
    if (!rule) {
        pass(filter, NULL, 0, message, true);
        follow_up(filter, message->source);
        return;
    }
    bool delivered = rule->deed == FILTER_DUPLICATE || rule->deed == FILTER_ECHO;
    rule->left -= rule->left != FILTER_NO_BOUND;
    pass(filter, deeds[rule->deed].outcome, rule->fault, message, delivered);
    if (rule->deed == FILTER_DUPLICATE)
        pass(filter, NULL, 0, message, true);
    else if (rule->deed != FILTER_DROP)
        keep(filter, rule, message);
    if (delivered)
        follow_up(filter, message->source);
}

/* ---- as text ---- */

void filter_rule_format(const struct filter_rule *rule, const char *const *kinds, struct text *out)
{
    text_add(out, "%" PRIu64 " %s %" PRIx64 " %s %" PRIu64 " %" PRIu64, rule->fault,
             deeds[rule->deed].word, rule->senders,
             rule->kind == FILTER_ANY_KIND ? "any" : kinds[rule->kind], rule->term,
             rule->left == FILTER_NO_BOUND ? 0 : rule->left);
}

static bool find_deed(const char *word, enum filter_deed *out)
{
    for (int deed = 0; deed < FILTER_DEEDS; deed++)
        if (strcmp(deeds[deed].word, word) == 0) {
            *out = (enum filter_deed)deed;
            return true;
        }
    return false;
}

static bool find_kind(const char *word, const char *const *kinds, uint32_t *out)
{
    *out = FILTER_ANY_KIND;
    if (strcmp(word, "any") == 0)
        return true;
    for (uint32_t kind = 0; kinds[kind]; kind++)
        if (strcmp(kinds[kind], word) == 0) {
            *out = kind;
            return true;
        }
    return false;
}

int filter_rule_parse(const char *text, const char *const *kinds, struct filter_rule *out,
                      struct error *error)
{
    struct filter_rule rule = {0};
    char deed[16], kind[32], end;
    if (sscanf(text, "%" SCNu64 " %15s %" SCNx64 " %31s %" SCNu64 " %" SCNu64 "%c", &rule.fault,
               deed, &rule.senders, kind, &rule.term, &rule.left, &end) != 6 ||
        !find_deed(deed, &rule.deed) || !find_kind(kind, kinds, &rule.kind) ||
        rule.senders & ~FILTER_SENDERS)
        return error_usage(error, "not 'FAULT DEED SENDERS KIND TERM COUNT': '%.60s'", text);
    if (rule.left == 0)
        rule.left = FILTER_NO_BOUND;
    *out = rule;
    return 0;
}
