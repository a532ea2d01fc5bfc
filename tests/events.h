/* Histories as compact text, for tests: one event a line,
 *
 *     TIME PROCESS F [TYPE] FIELD=VALUE ...
 *     12ms n1 lead term=3 token=3
 *     13ms n1 guarded-write invoke id=1 token=3 register=0 value=7
 *     20ms nemesis fault id=1 kind=halves outcome=installed targets="n1>n2,n2>n1" begin=19ms
 *
 * TYPE is info when left out. Numbers may be durations, texts with spaces stand in double quotes.
 * `@TIME` as second word is the process's own clock.
 * Empty lines and lines that begin with # are passed over; the index is given by order. A spawn
 * without pid and incarnation gets some. */
#ifndef COUP_TESTS_EVENTS_H
#define COUP_TESTS_EVENTS_H

#include "checker/checker.h"
#include "histories/event.h"
#include "histories/header.h"

/* Owns its events and their texts; zeroed is empty. */
struct events {
    struct event *at;
    uint32_t count, capacity;
    char **texts;
    uint32_t text_count, text_capacity;
};

/* Append what `lines` say. -EINVAL with the line's number and its mistake. */
int events_parse(struct events *events, const char *lines, struct error *error);
void events_release(struct events *events);

/* Append one event; texts are copied. Its index is its place. */
struct event *events_add(struct events *events, const struct event *event);

/* A raft run of `nodes` nodes with a fenced resource, no clients, no faults, default knobs.
 * Borrows static texts: never release it. */
struct history_header events_header(uint32_t nodes);

/* The verdict of the named checks (NULL: all owed) on these events. */
void events_check(const struct history_header *header, const char *names,
                  const struct events *events, struct report_data *out);

#endif
