#include "nemesis/trigger.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

static const enum event_f kinds[] = {
    F_LEAD,    F_STEP_DOWN,     F_FOLLOW, F_CAMPAIGN, F_VOTE,  F_SUSPECT, F_RENEW,
    F_PERSIST, F_GUARDED_WRITE, F_ACCEPT, F_REJECT,   F_SPAWN, F_EXIT,    F_MESSAGE,
};
#define KINDS (sizeof kinds / sizeof kinds[0])

void trigger_format(const struct trigger *trigger, struct text *out)
{
    char delay[UNIT_TEXT_MAX];
    text_add(out, "%s", event_f_name((enum event_f)trigger->f));
    if (trigger->nth > 1)
        text_add(out, ":%" PRIu64, trigger->nth);
    if (trigger->node)
        text_add(out, "@n%" PRIu32, trigger->node);
    if (trigger->delay_ns)
        text_add(out, "+%s", format_duration(trigger->delay_ns, delay));
}

static int unknown_kind(struct slice name, struct error *error)
{
    struct text accepted = {0};
    for (size_t i = 0; i < KINDS; i++)
        text_add(&accepted, "%s%s", i ? ", " : "", event_f_name(kinds[i]));
    int rc =
        error_usage(error, "unknown event '%.*s' (accepted: %s)",
                    (int)(name.length < 40 ? name.length : 40), name.at, text_string(&accepted));
    text_release(&accepted);
    return rc;
}

static int parse_kind(struct slice name, struct trigger *out, struct error *error)
{
    for (size_t i = 0; i < KINDS; i++)
        if (slice_equals(name, event_f_name(kinds[i]))) {
            out->f = (uint8_t)kinds[i];
            return 0;
        }
    return unknown_kind(name, error);
}

static int parse_nth(const char *text, struct trigger *out, struct error *error)
{
    int rc = parse_count(text, &out->nth, error);
    if (rc == 0 && (out->nth < 1 || out->nth > TRIGGER_NTH_MAX))
        rc = error_usage(error, "'%.60s' must be between 1 and %u", text, TRIGGER_NTH_MAX);
    return rc;
}

static int parse_whose(const char *text, uint32_t nodes, struct trigger *out, struct error *error)
{
    uint32_t process;
    if (!process_parse(slice_of(text), &process) || process_kind(process) != PROCESS_NODE ||
        process_index(process) < 1 || process_index(process) > nodes)
        return error_usage(error, "'%.60s' is not one of n1 to n%u", text, nodes);
    out->node = process_index(process);
    return 0;
}

static int parse_delay(const char *text, struct trigger *out, struct error *error)
{
    int rc = parse_duration(text, &out->delay_ns, error);
    if (rc == 0 && out->delay_ns > TRIGGER_DELAY_MAX_NS)
        rc = error_usage(error, "'%.60s' is more than a day", text);
    return rc;
}

/* The part of `text` from its first `mark` on, which is cut off there; NULL: there is none. */
static const char *cut_off(char *text, char mark)
{
    char *at = strchr(text, mark);
    if (at)
        *at++ = '\0';
    return at;
}

int trigger_parse(const char *text, uint32_t nodes, struct trigger *out, struct error *error)
{
    struct trigger parsed = {.nth = 1};
    char *head = must_copy(text);
    const char *delay = cut_off(head, '+'), *whose = cut_off(head, '@'), *nth = cut_off(head, ':');
    int rc = parse_kind(slice_of(head), &parsed, error);
    if (rc == 0 && nth)
        rc = parse_nth(nth, &parsed, error);
    if (rc == 0 && whose)
        rc = parse_whose(whose, nodes, &parsed, error);
    if (rc == 0 && delay)
        rc = parse_delay(delay, &parsed, error);
    free(head);
    if (rc == 0)
        *out = parsed;
    return rc;
}

uint32_t trigger_node(const struct event *event)
{
    bool decided = event->f == F_ACCEPT || event->f == F_REJECT;
    uint32_t process = decided ? (uint32_t)event_number(event, FIELD_HOLDER) : event->process;
    return process_kind(process) == PROCESS_NODE ? process_index(process) : 0;
}

bool trigger_matches(const struct trigger *trigger, const struct event *event)
{
    uint32_t node = event->f == trigger->f && trigger->nth ? trigger_node(event) : 0;
    return node != 0 && (trigger->node == 0 || trigger->node == node);
}
