#include "checker/fault_kinds.h"

#include <string.h>

const struct fault_kind *fault_kind_find(struct slice name)
{
    for (const struct fault_kind *kind = fault_kinds; kind->name; kind++)
        if (slice_equals(name, kind->name))
            return kind;
    return NULL;
}

enum fault_effect fault_effect(const struct event *fault)
{
    const struct fault_kind *kind = fault_kind_find(event_text(fault, FIELD_KIND));
    return kind ? kind->effect : EFFECT_DISTURB;
}

bool fault_installed(const struct event *fault)
{
    return fault->f == F_FAULT && slice_equals(event_text(fault, FIELD_OUTCOME), "installed");
}

/* Cut the next comma-separated word off `rest`. */
static bool next_word(struct slice *rest, struct slice *out)
{
    if (rest->length == 0)
        return false;
    const char *comma = memchr(rest->at, ',', rest->length);
    size_t length = comma ? (size_t)(comma - rest->at) : rest->length;
    *out = (struct slice){rest->at, length};
    size_t skip = length + (comma ? 1 : 0);
    *rest = (struct slice){rest->at + skip, rest->length - skip};
    return true;
}

void fault_targets(const struct event *fault, void (*visit)(void *context, uint32_t node),
                   void *context)
{
    struct slice rest = event_text(fault, FIELD_TARGETS), word;
    uint32_t process;
    while (next_word(&rest, &word))
        if (process_parse(word, &process) && process_kind(process) == PROCESS_NODE)
            visit(context, process_index(process));
}

void fault_links(const struct event *fault,
                 void (*visit)(void *context, uint32_t from, uint32_t to), void *context)
{
    struct slice rest = event_text(fault, FIELD_TARGETS), word;
    uint32_t from, to;
    while (next_word(&rest, &word)) {
        const char *arrow = word.length ? memchr(word.at, '>', word.length) : NULL;
        if (!arrow)
            continue;
        struct slice left = {word.at, (size_t)(arrow - word.at)};
        struct slice right = {arrow + 1, word.length - left.length - 1};
        if (process_parse(left, &from) && process_parse(right, &to))
            visit(context, from, to);
    }
}

const struct fault_kind fault_kinds[] = {
    {"kill", "kill", EFFECT_KILL},
    {"kill-during-write", "kill", EFFECT_KILL},
    {"crash-loop", "kill", EFFECT_KILL},
    {"term-stop", "kill", EFFECT_KILL},
    {"pause", "pause", EFFECT_PAUSE},
    {"starve", "cpu", EFFECT_DISTURB},
    {"isolate-leader", "partition", EFFECT_CUT},
    {"isolate-one", "partition", EFFECT_CUT},
    {"halves", "partition", EFFECT_CUT},
    {"minority-third", "partition", EFFECT_CUT},
    {"majorities-ring", "partition", EFFECT_CUT},
    {"bridge", "partition", EFFECT_CUT},
    {"single-link", "partition", EFFECT_CUT},
    {"one-way", "partition", EFFECT_CUT},
    {"one-way-data", "partition", EFFECT_CUT},
    {"flapping", "partition", EFFECT_DISTURB},
    {"loss", "link", EFFECT_DISTURB},
    {"delay", "link", EFFECT_DISTURB},
    {"jitter", "link", EFFECT_DISTURB},
    {"duplicate", "link", EFFECT_DISTURB},
    {"reorder", "link", EFFECT_DISTURB},
    {"corrupt", "link", EFFECT_DISTURB},
    {"rate", "link", EFFECT_DISTURB},
    {"clock-step", "clock", EFFECT_DISTURB},
    {"clock-rate", "clock", EFFECT_DISTURB},
    {"clock-strobe", "clock", EFFECT_DISTURB},
    {"power-loss", "disk", EFFECT_KILL},
    {"slow-fsync", "disk", EFFECT_DISTURB},
    {"disk-full", "disk", EFFECT_FAIL},
    {"io-error", "disk", EFFECT_FAIL},
    {"disk-stall", "disk", EFFECT_DISTURB},
    {"disk-wipe", "disk", EFFECT_KILL},
    {"message-drop", "message", EFFECT_DISTURB},
    {"message-hold", "message", EFFECT_DISTURB},
    {"message-duplicate", "message", EFFECT_DISTURB},
    {"message-reorder", "message", EFFECT_DISTURB},
    {"message-release", "message", EFFECT_DISTURB},
    {"service-kill", "service", EFFECT_DISTURB},
    {"service-pause", "service", EFFECT_DISTURB},
    {"service-session-drop", "service", EFFECT_DISTURB},
    {"service-clock", "service", EFFECT_DISTURB},
    {"degraded-service", "service", EFFECT_DISTURB},
    {"resign", "operator", EFFECT_DISTURB},
    {"transfer", "operator", EFFECT_DISTURB},
    {"force-leader", "override", EFFECT_DISTURB},
    {"duplicate-id", "identity", EFFECT_DISTURB},
    {NULL, NULL, EFFECT_DISTURB},
};
