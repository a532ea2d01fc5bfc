/* From events as they arrive to the history: sorted by true time as far as can be known, written,
 * and shown to the checker in exactly the order and form that the file holds.
 *
 * Children report before they send, so a cause is in its pipe before its effect is in another; but
 * pipes are read one after the other. An event therefore waits until every pipe has been read once
 * more after its time: then whatever caused it has arrived. recorder_emit() relies on that. An
 * event that its process stamped and then could not report for a while (stopped, out of CPU time)
 * is written when it comes; its time is then before its neighbours'. */
#ifndef COUP_CONTROLLER_RECORDER_H
#define COUP_CONTROLLER_RECORDER_H

#include "checker/checker.h"
#include "histories/file.h"

struct recorder;

/* Create `path` and the checker. */
int recorder_open(const char *path, const struct history_header *header, struct recorder **out,
                  struct error *error);

/* Keep a copy of `event` until it is emitted. */
void recorder_add(struct recorder *recorder, const struct event *event);

/* Write all events of before `before_ns`; all pipes were read after that moment. The first failure
 * is returned by every later call: the history ends there. */
int recorder_emit(struct recorder *recorder, uint64_t before_ns, struct error *error);
int recorder_flush(struct recorder *recorder, struct error *error);

uint64_t recorder_events(const struct recorder *recorder); /* emitted so far */

/* True as soon as a check was proven wrong. */
bool recorder_violated(const struct recorder *recorder);

/* End the checks over what was emitted. Once, before recorder_verdict(). */
void recorder_judge(struct recorder *recorder, struct report_data *out);
int recorder_verdict(struct recorder *recorder, struct slice json, struct error *error);

/* The run went wrong: the file gets no closing record, so it is never taken for a whole one. */
void recorder_abandon(struct recorder *recorder);

/* Close the file and free. NULL is fine. */
int recorder_close(struct recorder *recorder, struct error *error);

#endif
