/* What a pure core wants done after one input: events to record and messages to send. The carrier,
 * a process's loop or the simulator, first makes durable what the core asked for, then records all
 * events, then sends all messages, so that no message leaves whose cause a kill could hide. Pure.
 *
 * Messages carry no run number and events no times: both are the carrier's to fill in. */
#ifndef COUP_NODES_OUTBOX_H
#define COUP_NODES_OUTBOX_H

#include "histories/event.h"
#include "nodes/wire.h"

/* Zeroed is valid and empty. Texts that had to be made live in `scratch` until the next reset. */
#define OUTBOX_SCRATCH_BYTES 2048u
struct outbox {
    struct event *events; /* event_count, in order */
    uint32_t event_count, event_capacity;
    struct envelope *messages; /* message_count, in order */
    uint32_t message_count, message_capacity;
    size_t scratch_used;
    char scratch[OUTBOX_SCRATCH_BYTES];
};

/* Keeps the memory. */
void outbox_reset(struct outbox *outbox);
void outbox_release(struct outbox *outbox);

/* A new event without fields; the pointer is good until the next one is asked for. */
struct event *outbox_event(struct outbox *outbox, uint32_t process, enum event_type type,
                           enum event_f f);

/* A new request or reply, zeroed but for its head; the pointer is good until the next one. */
struct envelope *outbox_message(struct outbox *outbox, uint32_t source, uint32_t target,
                                enum wire_type type);

/* Text that lasts until the next reset; cut off where the scratch is full. */
struct slice outbox_text(struct outbox *outbox, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One number names an operation: its id on the wire and in the history, and the value it writes.
 * Never 0, never twice in a run, growing within its owner, and below 2^53, so that every JSON
 * reader keeps it exact. The counter starts at 1 in each incarnation of the process. */
#define INCARNATIONS_MAX 4095u
#define OPERATIONS_MAX ((UINT64_C(1) << 26) - 1)
#define OPERATION_OWNERS (1u << 14)
uint64_t operation_number(uint32_t process, uint64_t incarnation, uint64_t counter);
uint64_t operation_owner(uint64_t number); /* which asker; below OPERATION_OWNERS for our own */

#endif
