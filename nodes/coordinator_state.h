/* What the coordination service keeps in memory, for its two parts: coordinator_core.c, which
 * answers asks, and coordinator_durable.c, which says and takes back what must outlive it. */
#ifndef COUP_NODES_COORDINATOR_STATE_H
#define COUP_NODES_COORDINATOR_STATE_H

#include "nodes/coordinator_core.h"

struct lasting {
    uint64_t number, ttl_ns, deadline_ns;
    uint32_t owner;
};

/* In order of their numbers. */
struct record {
    uint64_t number, session;
    uint32_t owner;
    bool queued;
};

struct watch {
    uint64_t record, id;
    uint32_t node;
};

struct row {
    uint64_t token, until_ns; /* wall */
    uint32_t owner, name;     /* who asked, and as whom; 0: nobody's */
};

struct coordinator {
    uint32_t nodes;
    uint64_t *newest; /* id of the last ask, by node id */
    uint64_t revision;
    struct lasting *sessions;
    struct record *records;
    struct watch *watches;
    uint32_t session_count, session_capacity;
    uint32_t record_count, record_capacity;
    uint32_t watch_count, watch_capacity;
    struct row row;
    struct stored_list changes;
};

/* Room for one more in an array that doubles. */
#define GROW(array, count, capacity)                                   \
    do {                                                               \
        if ((count) == (capacity)) {                                   \
            (capacity) = (capacity) ? (capacity)*2 : 16;               \
            (array) = must_grow((array), (capacity), sizeof *(array)); \
        }                                                              \
    } while (0)

/* To the list of what has changed, or of all there is. */
void coordinator_add_stored(struct stored_list *list, struct stored stored);
struct stored stored_session(const struct lasting *session);
struct stored stored_record(const struct record *record);
struct stored stored_row(const struct row *row);

/* A revision that was never given before; it is among the changes. */
uint64_t coordinator_next_revision(struct coordinator *coordinator);

/* In memory only; records come into their place. */
void coordinator_add_session(struct coordinator *coordinator, struct lasting session);
void coordinator_add_record(struct coordinator *coordinator, struct record record);

#endif
