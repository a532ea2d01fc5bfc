#include "histories/show.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"

/* Fields that hold a time since the run's start, or a length of time. */
#define MOMENTS (FIELD_BIT(FIELD_BEGIN) | FIELD_BIT(FIELD_END) | FIELD_BIT(FIELD_UNTIL))
#define LENGTHS FIELD_BIT(FIELD_TTL)

#define COLOUR_OFF "\033[0m"

/* Reign changes stand out, then faults, then what is refused; the many others stay plain. */
static const char *const colours[EVENT_FS] = {
    [F_LEAD] = "\033[1;32m",  [F_STEP_DOWN] = "\033[33m", [F_CAMPAIGN] = "\033[36m",
    [F_SUSPECT] = "\033[36m", [F_REJECT] = "\033[35m",    [F_FAULT] = "\033[1;31m",
    [F_HEAL] = "\033[34m",    [F_MESSAGE] = "\033[31m",   [F_EXIT] = "\033[31m",
    [F_PHASE] = "\033[1m",
};

static void add_moment(uint64_t ns, struct text *out)
{
    text_add(out, "%" PRIu64 ".%06" PRIu64 "s", ns / NS_PER_S, ns % NS_PER_S / NS_PER_US);
}

/* Bare when it is one plain word, else quoted: the line can be split at blanks either way. */
static void add_words(struct slice text, struct text *out)
{
    bool plain = text.length > 0;
    for (size_t i = 0; i < text.length; i++)
        plain = plain && text.at[i] > ' ' && text.at[i] < 0x7f && text.at[i] != '"';
    if (plain)
        text_add_bytes(out, text.at, text.length);
    else
        text_add_json(out, text);
}

static void add_field(const struct event *event, enum event_field field, struct text *out)
{
    char buffer[PROCESS_NAME_MAX > UNIT_TEXT_MAX ? PROCESS_NAME_MAX : UNIT_TEXT_MAX];
    uint64_t number = event->field[field].number;
    text_add(out, " %s=", event_field_name(field));
    if (event_field_kind(field) == FIELD_KIND_TEXT)
        add_words(event->field[field].text, out);
    else if (event_field_kind(field) == FIELD_KIND_PROCESS)
        text_add(out, "%s", process_name((uint32_t)number, buffer));
    else if (FIELD_BIT(field) & MOMENTS)
        add_moment(number, out);
    else if (FIELD_BIT(field) & LENGTHS)
        text_add(out, "%s", format_duration(number, buffer));
    else
        text_add(out, "%" PRIu64, number);
}

void event_to_text(const struct event *event, bool colour, struct text *out)
{
    char name[PROCESS_NAME_MAX];
    const char *paint = colour ? colours[event->f] : NULL;
    text_add(out, "%s%8" PRIu64 " %5" PRIu64 ".%06" PRIu64 "s  %-11s %-6s %-14s",
             paint ? paint : "", event->index, event->time_ns / NS_PER_S,
             event->time_ns % NS_PER_S / NS_PER_US, process_name(event->process, name),
             event_type_name((enum event_type)event->type), event_f_name((enum event_f)event->f));
    for (uint64_t left = event_present(event); left; left &= left - 1)
        add_field(event, (enum event_field)__builtin_ctzll(left), out);
    if (paint)
        text_add(out, "%s", COLOUR_OFF);
}
