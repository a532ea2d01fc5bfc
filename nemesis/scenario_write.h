/* A run that was, as a scenario that runs it again: the way back from a history. Pure. */
#ifndef COUP_NEMESIS_SCENARIO_WRITE_H
#define COUP_NEMESIS_SCENARIO_WRITE_H

#include "histories/header.h"
#include "nemesis/scenario.h"

/* The schedule as it came to pass: what waited for an event begins when it did. */
struct resolved {
    struct schedule schedule;
    uint64_t origin_ns; /* when the faults phase began */
    char *expect;       /* NULL: valid */
};

/* The header's schedule. A line of it that this program cannot read is a usage error. */
int resolved_read(const struct history_header *header, struct resolved *out, struct error *error);

/* Take from a fault's event when it began and on whom, if it waited. Tell all events. */
void resolved_event(struct resolved *resolved, const struct event *event);
void resolved_release(struct resolved *resolved);

/* YAML that scenario_parse() takes. Real runs and simulated ones differ in physics only, which the
 * header of a simulated one tells. */
void scenario_write(const struct history_header *header, const struct resolved *resolved,
                    struct text *out);

#endif
