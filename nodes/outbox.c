#include "nodes/outbox.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

void outbox_reset(struct outbox *outbox)
{
    outbox->event_count = 0;
    outbox->message_count = 0;
    outbox->scratch_used = 0;
}

void outbox_release(struct outbox *outbox)
{
    free(outbox->events);
    free(outbox->messages);
    *outbox = (struct outbox){0};
}

struct event *outbox_event(struct outbox *outbox, uint32_t process, enum event_type type,
                           enum event_f f)
{
    if (outbox->event_count == outbox->event_capacity) {
        outbox->event_capacity = outbox->event_capacity ? outbox->event_capacity * 2 : 4;
        outbox->events = must_grow(outbox->events, outbox->event_capacity, sizeof *outbox->events);
    }
    struct event *event = &outbox->events[outbox->event_count++];
    /* Field values are meaningful only where `present` says so: no need to clear them. */
    event->index = event->time_ns = event->node_ns = event->present = 0;
    event->process = process;
    event->type = (uint8_t)type;
    event->f = (uint8_t)f;
    return event;
}

struct envelope *outbox_message(struct outbox *outbox, uint32_t source, uint32_t target,
                                enum wire_type type)
{
    if (outbox->message_count == outbox->message_capacity) {
        outbox->message_capacity = outbox->message_capacity ? outbox->message_capacity * 2 : 4;
        outbox->messages =
            must_grow(outbox->messages, outbox->message_capacity, sizeof *outbox->messages);
    }
    struct envelope *envelope = &outbox->messages[outbox->message_count++];
    *envelope = (struct envelope){.source = source, .target = target, .type = type};
    return envelope;
}

struct slice outbox_text(struct outbox *outbox, const char *format, ...)
{
    char *at = outbox->scratch + outbox->scratch_used;
    size_t room = sizeof outbox->scratch - outbox->scratch_used;
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(at, room, format, arguments);
    va_end(arguments);
    size_t length = wanted < 0 ? 0 : (size_t)wanted;
    if (length >= room)
        length = room ? room - 1 : 0;
    outbox->scratch_used += length;
    return (struct slice){at, length};
}

/* 52 bits: owner 14, incarnation 12, counter 26. */
#define COUNTER_BITS 26
#define INCARNATION_BITS 12
#define TWIN_OWNERS 4096u /* behind the last client */

uint64_t operation_number(uint32_t process, uint64_t incarnation, uint64_t counter)
{
    uint64_t owner = process_index(process);
    if (process_kind(process) == PROCESS_CLIENT)
        owner += SIMULATED_NODES_MAX; /* numbered behind the largest node */
    if (process_kind(process) == PROCESS_TWIN)
        owner += SIMULATED_NODES_MAX + TWIN_OWNERS;
    assert(owner < OPERATION_OWNERS && incarnation <= INCARNATIONS_MAX);
    assert(counter >= 1 && counter <= OPERATIONS_MAX);
    return (owner << INCARNATION_BITS | incarnation) << COUNTER_BITS | counter;
}

uint64_t operation_owner(uint64_t number)
{
    return number >> (COUNTER_BITS + INCARNATION_BITS);
}
