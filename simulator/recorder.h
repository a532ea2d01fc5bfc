/* Where the events of a simulated run go: into a hash, to the checks, into a history in memory; or
 * nowhere. Checks get the events as they are; bytes are only made of runs that are kept. */
#ifndef COUP_SIMULATOR_RECORDER_H
#define COUP_SIMULATOR_RECORDER_H

#include "checker/checker.h"
#include "histories/file.h"

struct sim_recorder {
    struct checker *checker;       /* NULL: bare */
    struct history_writer *writer; /* NULL: not kept */
    uint64_t count;
    uint64_t hash;
};

int sim_recorder_open(struct sim_recorder *recorder, const struct history_header *header,
                      const char *names, bool keep, struct error *error);

/* Sets the event's index. */
void sim_recorder_event(struct sim_recorder *recorder, struct event *event);

/* Ends the checks. What was kept stays in `writer`, which is the caller's now. */
void sim_recorder_close(struct sim_recorder *recorder, struct report_data *report);

#endif
