/* An event as one line for people: aligned time, process, type, what, and the value in words. */
#ifndef COUP_HISTORIES_SHOW_H
#define COUP_HISTORIES_SHOW_H

#include <stdbool.h>

#include "histories/event.h"

/* Append without newline; with `colour`, terminal colours by what the event is about. */
void event_to_text(const struct event *event, bool colour, struct text *out);

#endif
