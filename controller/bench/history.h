/* How fast a history is written and read, in memory and as a file. */
#ifndef COUP_CONTROLLER_BENCH_HISTORY_H
#define COUP_CONTROLLER_BENCH_HISTORY_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

/* Write and read `events` typical events and append one line per measurement: what, events, time,
 * events per second, bytes per event. The file is made in `folder` and removed again. 0 or a
 * negative errno. */
int bench_history(uint64_t events, const char *folder, struct text *out, struct error *error);

#endif
