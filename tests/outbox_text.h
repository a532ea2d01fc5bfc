/* What a pure core wants done, as text: one line an event or message. Operation numbers are shown
 * by their counters alone ("#3"), so that a script reads like a story. */
#ifndef COUP_TESTS_OUTBOX_TEXT_H
#define COUP_TESTS_OUTBOX_TEXT_H

#include <inttypes.h>

#include "nodes/outbox.h"

static inline bool names_operation(enum event_field field)
{
    return field == FIELD_ID || field == FIELD_VALUE || field == FIELD_EXPECTED;
}

static inline void add_event_text(const struct event *event, struct text *out)
{
    char name[PROCESS_NAME_MAX];
    text_add(out, "%s %s %s", process_name(event->process, name),
             event_type_name((enum event_type)event->type), event_f_name((enum event_f)event->f));
    for (uint32_t i = 0; i < EVENT_FIELDS; i++) {
        enum event_field field = (enum event_field)i;
        if (!event_has(event, field))
            continue;
        text_add(out, " %s=", event_field_name(field));
        if (event_field_kind(field) == FIELD_KIND_TEXT)
            text_add(out, "%.*s", (int)event->field[i].text.length, event->field[i].text.at);
        else if (event_field_kind(field) == FIELD_KIND_PROCESS)
            text_add(out, "%s", process_name((uint32_t)event->field[i].number, name));
        else if (names_operation(field))
            text_add(out, "#%" PRIu64, event->field[i].number & OPERATIONS_MAX);
        else
            text_add(out, "%" PRIu64, event->field[i].number);
    }
    text_add(out, "\n");
}

static inline void add_message_text(const struct envelope *envelope, struct text *out)
{
    static const char *const operations[] = {"read", "write", "cas"};
    static const char *const outcomes[] = {"ok",       "fail",       "stale",
                                           "mismatch", "not-leader", "unknown"};
    char name[PROCESS_NAME_MAX];
    text_add(out, "%s > ", process_name(envelope->source, name));
    text_add(out, "%s: ", process_name(envelope->target, name));
    if (envelope->type == WIRE_REQUEST) {
        const struct request *request = &envelope->request;
        text_add(out, "%s #%" PRIu64 " register=%" PRIu32, operations[request->operation],
                 request->id & OPERATIONS_MAX, request->reg);
        if (request->token)
            text_add(out, " token=%" PRIu64 " holder=%" PRIu32, request->token, request->holder);
    } else {
        const struct reply *reply = &envelope->reply;
        text_add(out, "%s #%" PRIu64, outcomes[reply->outcome], reply->id & OPERATIONS_MAX);
        if (reply->leader)
            text_add(out, " leader=%" PRIu32, reply->leader);
        if (reply->sequence)
            text_add(out, " value=#%" PRIu64 " at=%" PRIu64 ".%" PRIu64,
                     reply->value & OPERATIONS_MAX, reply->position, reply->sequence);
        if (reply->highest)
            text_add(out, " highest=%" PRIu64, reply->highest);
    }
    text_add(out, "\n");
}

/* The whole outbox, which is emptied; good until the next call with the same `text`. */
static inline const char *outbox_as_text(struct outbox *outbox, struct text *text)
{
    text_clear(text);
    for (uint32_t i = 0; i < outbox->event_count; i++)
        add_event_text(&outbox->events[i], text);
    for (uint32_t i = 0; i < outbox->message_count; i++)
        add_message_text(&outbox->messages[i], text);
    outbox_reset(outbox);
    return text_string(text);
}

#endif
