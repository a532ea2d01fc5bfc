/* Turns what an elector puts out into events of the history: persist, its notes, and changes of its
 * belief (lead, step-down, follow), and counts its messages. Pure; one per incarnation of a node,
 * the same for real processes and the simulator. */
#ifndef COUP_NODES_CHRONICLE_H
#define COUP_NODES_CHRONICLE_H

#include "nodes/elector.h"
#include "nodes/outbox.h"

#define CHRONICLE_KINDS_MAX 32u

struct chronicle {
    const struct algorithm *algorithm;
    uint32_t process; /* whose events they are: a node, or its twin */
    bool trace;       /* record every message too */
    struct belief last;
    uint64_t sent[CHRONICLE_KINDS_MAX], dropped[CHRONICLE_KINDS_MAX];
};

/* Belief starts as "follower of nobody". */
void chronicle_init(struct chronicle *chronicle, const struct algorithm *algorithm,
                    uint32_t process, bool trace);

/* The events of one step, in this order: the end of a reign (with the term that ended), what was
 * persisted, the elector's notes, then the new reign or leader. Call it once the record is durable;
 * only under send_before_persist (a planted bug) is the persist event left out here and due later.
 */
void chronicle_step(struct chronicle *chronicle, const struct output *output,
                    struct outbox *outbox);
void chronicle_late_persist(const struct chronicle *chronicle, const struct output *output,
                            struct outbox *outbox);

/* A message is about to leave; it counts as sent unless chronicle_dropped() takes that back. */
void chronicle_send(struct chronicle *chronicle, const struct message *message,
                    struct outbox *outbox);
void chronicle_dropped(struct chronicle *chronicle, const struct message *message);
void chronicle_receive(const struct chronicle *chronicle, const struct message *message,
                       struct outbox *outbox);

/* One message-counts event for all since the last one, none if there were none. */
void chronicle_counts(struct chronicle *chronicle, struct outbox *outbox);

#endif
