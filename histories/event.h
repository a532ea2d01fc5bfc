/* histories: what was recorded, and the file it is kept in. Depends on base alone; everything above
 * speaks of what happened in these terms: node event -> history -> check -> verdict.
 *
 * An event is one line of the history. Its value is a set of fields; which fields an `f` carries is
 * data (event_form()), so the file, JSON lines, `coup show` and the docs share one table.
 * Order: `index` is the order of recording. Events of one process are in the order they happened;
 * events of different processes are ordered by `time_ns` (true monotonic time) only. */
#ifndef COUP_HISTORIES_EVENT_H
#define COUP_HISTORIES_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"

enum event_type { EVENT_INVOKE, EVENT_OK, EVENT_FAIL, EVENT_INFO, EVENT_TYPES };

/* The closed set of things that can happen; the number is the file's code and never changes. */
#define COUP_EVENTS(X)                                                                 \
    X(LEAD, "lead")                     /* node claims leadership */                   \
    X(STEP_DOWN, "step-down")           /* node gives leadership up */                 \
    X(FOLLOW, "follow")                 /* hearsay: node names a leader, or none */    \
    X(CAMPAIGN, "campaign")             /* node stands for election */                 \
    X(VOTE, "vote")                     /* node grants its vote or promise */          \
    X(SUSPECT, "suspect")               /* node's detector gave up on the leader */    \
    X(RENEW, "renew")                   /* lease extended */                           \
    X(PERSIST, "persist")               /* record is durable now */                    \
    X(SEND, "send")                     /* traced */                                   \
    X(RECEIVE, "receive")               /* traced */                                   \
    X(MESSAGE_COUNTS, "message-counts") /* messages sent since the last such event */  \
    X(GUARDED_WRITE, "guarded-write")   /* a leader's own write */                     \
    X(ACCEPT, "accept")                 /* resource's decision */                      \
    X(REJECT, "reject")                 /* resource's decision */                      \
    X(READ, "read")                     /* client operation */                         \
    X(WRITE, "write")                   /* client operation */                         \
    X(CAS, "cas")                       /* client operation */                         \
    X(GRANT, "grant")                   /* coordinator */                              \
    X(REVOKE, "revoke")                 /* coordinator */                              \
    X(EXPIRE, "expire")                 /* coordinator */                              \
    X(SPAWN, "spawn")                   /* process started */                          \
    X(EXIT, "exit")                     /* process ended */                            \
    X(FAULT, "fault")                   /* nemesis: one began, or could not */         \
    X(HEAL, "heal")                     /* nemesis: one ended; see below */            \
    X(PHASE, "phase")                   /* start, faults, heal, final, end */          \
    X(NOTE, "note")                     /* free text but for docs/history-format.md */ \
    X(MESSAGE, "message")               /* a fault did something to one on its way */

enum event_f {
#define X(id, name) F_##id,
    COUP_EVENTS(X)
#undef X
        EVENT_FS
};

/* A fault that was installed landed if its heal event's value, the number of frames or processes it
 * touched, is above 0: a cut that no frame ran into tested nothing. */

/* Fields of values; the number is the file's code and never changes: append only. */
#define COUP_FIELDS(X)                                                                       \
    X(TERM, "term", NUMBER)                                                                  \
    X(TOKEN, "token", NUMBER)                                                                \
    X(UNTIL, "until", NUMBER)    /* the node's own monotonic ns until which it may act */    \
    X(LEADER, "leader", PROCESS) /* absent: none known */                                    \
    X(FOR, "for", PROCESS)       /* whom the vote is for */                                  \
    X(PEER, "peer", PROCESS)                                                                 \
    X(NODE, "node", PROCESS) /* the node a client asked */                                   \
    X(HOLDER, "holder", PROCESS)                                                             \
    X(REASON, "reason", TEXT)                                                                \
    X(KIND, "kind", TEXT) /* message kind, fault kind */                                     \
    X(ID, "id", NUMBER)   /* joins send/receive, fault/heal/message, invoke/completion */    \
    X(REGISTER, "register", NUMBER)                                                          \
    X(VALUE, "value", NUMBER)       /* absent on a read's completion: nothing written yet */ \
    X(EXPECTED, "expected", NUMBER) /* cas: the old value */                                 \
    X(HIGHEST, "highest", NUMBER)   /* highest token the resource has seen */                \
    X(SEQUENCE, "sequence", NUMBER) /* position (token, sequence) of a write */              \
    X(POSITION, "position", NUMBER) /* token part of the position a read saw */              \
    X(DURABLE, "durable", TEXT)     /* persist: what else, "name=number,..." */              \
    X(COUNTS, "counts", TEXT)       /* message-counts: "kind=number,..." */                  \
    X(RECORD, "record", TEXT)                                                                \
    X(TTL, "ttl", NUMBER) /* ns */                                                           \
    X(PID, "pid", NUMBER)                                                                    \
    X(INCARNATION, "incarnation", NUMBER) /* 1 at the first start */                         \
    X(STATUS, "status", NUMBER)           /* exit status */                                  \
    X(SIGNAL, "signal", NUMBER)                                                              \
    X(BY, "by", TEXT)                 /* exit: schedule, itself, outside */                  \
    X(TARGETS, "targets", TEXT)       /* fault: "n1,n4" or links "n1>n2,n2>n1" */            \
    X(PARAMETERS, "parameters", TEXT) /* fault: "name=value,..." */                          \
    X(BEGIN, "begin", NUMBER)         /* true ns since start: injection began */             \
    X(END, "end", NUMBER)             /* true ns since start: injection was complete */      \
    X(OUTCOME, "outcome", TEXT)       /* of a fault, or of a message */                      \
    X(PROOF, "proof", TEXT)           /* what was read back */                               \
    X(NAME, "name", TEXT)             /* phase */                                            \
    X(TEXT, "text", TEXT)             /* note */                                             \
    X(ERROR, "error", TEXT)           /* top-level key "error" in JSON, not part of value */ \
    X(GROUP, "group", TEXT)           /* fault: what --faults may name besides its kind */   \
    X(DROPPED, "dropped", TEXT)       /* message-counts: could not be sent, "kind=number,..." */

enum event_field {
#define X(id, name, kind) FIELD_##id,
    COUP_FIELDS(X)
#undef X
        EVENT_FIELDS
};

enum field_kind { FIELD_KIND_NUMBER, FIELD_KIND_PROCESS, FIELD_KIND_TEXT };

union field {
    uint64_t number;   /* numbers and processes */
    struct slice text; /* borrowed: from the reader until the next event, else the caller's */
};

/* Zeroed is an event without fields. Only fields named in `present` are meaningful. */
struct event {
    uint64_t index;   /* given by the writer / reader, dense from 0 */
    uint64_t time_ns; /* true monotonic time since the run's start */
    uint64_t node_ns; /* the process's own monotonic clock; 0: not stated */
    uint32_t process; /* base/process.h */
    uint8_t type;     /* enum event_type */
    uint8_t f;        /* enum event_f */
    uint64_t present; /* bit per enum event_field */
    union field field[EVENT_FIELDS];
};

#define FIELD_BIT(field) (UINT64_C(1) << (field))

static inline bool event_has(const struct event *event, enum event_field field)
{
    return event->present & FIELD_BIT(field);
}

/* The number (or process), 0 when absent. */
static inline uint64_t event_number(const struct event *event, enum event_field field)
{
    return event_has(event, field) ? event->field[field].number : 0;
}

static inline struct slice event_text(const struct event *event, enum event_field field)
{
    return event_has(event, field) ? event->field[field].text : (struct slice){"", 0};
}

static inline void event_set(struct event *event, enum event_field field, uint64_t number)
{
    event->field[field].number = number;
    event->present |= FIELD_BIT(field);
}

static inline void event_set_text(struct event *event, enum event_field field, struct slice text)
{
    event->field[field].text = text;
    event->present |= FIELD_BIT(field);
}

/* `present` without the process fields that are 0: "none known" is said by leaving them out. */
uint64_t event_present(const struct event *event);

/* Names as in JSON; parse returns -1 for an unknown name. */
const char *event_f_name(enum event_f f);
int event_f_parse(struct slice name);
const char *event_type_name(enum event_type type);
int event_type_parse(struct slice name);
const char *event_field_name(enum event_field field);
enum field_kind event_field_kind(enum event_field field);
int event_field_parse(struct slice name);

/* What an f of one type carries, and whose it is. The check well-formed and the docs go by it;
 * reading and writing do not, so that a history of the unexpected can be kept. */
struct event_form {
    uint8_t processes;  /* bit per enum process_kind; 0: no event has this f and type */
    uint64_t must, may; /* bit per enum event_field; "error" is allowed everywhere */
};

const struct event_form *event_form(enum event_f f, enum event_type type);

/* Whether the event has its form; the error names the first thing that is wrong. */
int event_check(const struct event *event, struct error *error);

/* Append the event's binary form (without index): a msgpack array
 * [time, node_ns or nil, process, type, f, {field number: value}].
 * The process must be one (process_valid()). A process field of 0 is left out: none is known. Bytes
 * of a text that are no UTF-8 become U+FFFD. */
void event_encode(const struct event *event, struct text *out);

/* Read one event back, all but its index; texts borrow from `bytes`. Unknown field numbers are
 * passed over (a newer writer), an unknown f or type is -EBADMSG. `*ret_used` is the length of the
 * event. */
int event_decode(const uint8_t *bytes, size_t length, struct event *out, size_t *ret_used,
                 struct error *error);

/* One JSON object on one line without newline, keys as in docs/history-format.md. Reading it back
 * is history_open()'s, which takes JSON lines (histories/jsonl.h). */
void event_to_json(const struct event *event, struct text *out);

#endif
