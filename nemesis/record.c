#include "nemesis/record.h"

#include <string.h>

#include "base/units.h"
#include "nemesis/message.h"

static struct event nemesis_event(const struct fault_record *record, enum event_f f,
                                  uint64_t time_ns)
{
    struct event event = {.time_ns = time_ns,
                          .process = PROCESS_NUMBER(PROCESS_NEMESIS, 0),
                          .type = EVENT_INFO,
                          .f = (uint8_t)f};
    bool well = strcmp(record->outcome, "installed") == 0 || strcmp(record->outcome, "healed") == 0;
    event_set(&event, FIELD_ID, record->scheduled->id);
    event_set_text(&event, FIELD_KIND, slice_of(record->scheduled->fault->name));
    event_set_text(&event, FIELD_OUTCOME, slice_of(record->outcome));
    event_set_text(&event, well ? FIELD_PROOF : FIELD_REASON, slice_of(record->details));
    event_set(&event, FIELD_BEGIN, record->begin_ns);
    event_set(&event, FIELD_END, record->end_ns);
    return event;
}

static void add_link(const struct fault_record *record, uint32_t from_id, uint32_t to_id,
                     struct text *out)
{
    char from[PROCESS_NAME_MAX], to[PROCESS_NAME_MAX];
    text_add(out, "%s%s>%s", out->length ? "," : "", party_name(from_id, record->nodes, from),
             party_name(to_id, record->nodes, to));
}

static void add_message_links(const struct fault_record *record, struct text *out)
{
    for (node_set left = record->landed; left; left &= left - 1) {
        uint32_t receiver = nodes_first(left);
        node_set senders = message_senders(&record->injection->act.message, receiver);
        for (; senders; senders &= senders - 1)
            add_link(record, nodes_first(senders), receiver, out);
    }
}

/* Processes by name, links as "n1>n2". */
static void add_targets(const struct fault_record *record, struct text *out)
{
    const struct injection *injection = record->injection;
    if (injection->act.action == ACTION_MESSAGES) {
        add_message_links(record, out);
        return;
    }
    if (injection->act.action != ACTION_NONE) {
        parties_format(record->landed, record->nodes, ',', out);
        return;
    }
    for (uint32_t i = 0; i < injection->link_count; i++)
        add_link(record, injection->links[i].from + 1, injection->links[i].to + 1, out);
}

/* Nodes as they were found, or who was meant if that says as much. */
static void add_side(const char *word, node_set found, const struct target *meant, uint32_t nodes,
                     struct text *out)
{
    const struct target resolved = {.role = TARGET_NODES, .nodes = found & nodes_all(nodes)};
    text_add(out, "%s=", word);
    target_format(resolved.nodes && meant->role != TARGET_ANY ? &resolved : meant, out);
}

static void add_sides(const struct fault_record *record, struct text *out)
{
    const struct injection *injection = record->injection;
    node_set nodes = injection->targets & nodes_all(record->nodes);
    const struct target resolved = {.role = TARGET_NODES, .nodes = nodes};
    const struct scheduled_fault *scheduled = record->scheduled;
    if (scheduled->fault->between) {
        add_side("from", injection->act.message.from, &scheduled->target, record->nodes, out);
        text_add(out, ",");
        add_side("to", injection->targets, &scheduled->to, record->nodes, out);
        return;
    }
    text_add(out, "on=");
    target_format(nodes ? &resolved : &scheduled->target, out);
}

/* Whom it was about, what it did to links in the grammar of impairments, and what parameters say
 * besides: "on=n2,loss=30%,links=node,direction=both". */
static void add_parameters(const struct fault_record *record, struct text *out)
{
    const struct option *table = record->scheduled->fault->parameters;
    const struct injection *injection = record->injection;
    add_sides(record, out);
    if (injection->link_count) {
        text_add(out, ",");
        impairment_format(&injection->links[0].impairment, out);
    }
    for (uint32_t i = 0; i < options_count(table); i++) {
        if (injection->link_count && options_find(impairment_options, slice_of(table[i].name)) >= 0)
            continue;
        text_add(out, ",%s=", table[i].name);
        options_format_one(&table[i], record->scheduled->parameters.at[i], out);
    }
    if (record->due_ns) {
        char at[UNIT_TEXT_MAX];
        text_add(out, ",at=%s,by=n%u", format_duration(record->due_ns, at), record->actor);
    }
}

static struct slice whole(const struct text *text)
{
    return (struct slice){text_string(text), text->length};
}

void record_fault(const struct fault_record *record, uint64_t time_ns, struct text scratch[2],
                  struct event *out)
{
    *out = nemesis_event(record, F_FAULT, time_ns);
    text_clear(&scratch[0]);
    text_clear(&scratch[1]);
    add_targets(record, &scratch[0]);
    add_parameters(record, &scratch[1]);
    event_set_text(out, FIELD_GROUP, slice_of(record->scheduled->fault->group));
    event_set_text(out, FIELD_PARAMETERS, whole(&scratch[1]));
    if (scratch[0].length)
        event_set_text(out, FIELD_TARGETS, whole(&scratch[0]));
}

void record_heal(const struct fault_record *record, uint64_t time_ns, struct event *out)
{
    *out = nemesis_event(record, F_HEAL, time_ns);
    event_set(out, FIELD_VALUE, record->touched);
}

struct slice record_parameter(const struct event *event, const char *name)
{
    struct slice rest = event_text(event, FIELD_PARAMETERS);
    size_t wanted = strlen(name);
    while (rest.length > 0) {
        const char *comma = memchr(rest.at, ',', rest.length);
        size_t length = comma ? (size_t)(comma - rest.at) : rest.length;
        if (length > wanted && rest.at[wanted] == '=' && memcmp(rest.at, name, wanted) == 0)
            return (struct slice){rest.at + wanted + 1, length - wanted - 1};
        length += comma != NULL;
        rest = (struct slice){rest.at + length, rest.length - length};
    }
    return (struct slice){0};
}
