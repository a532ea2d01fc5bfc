/* The guarded resource's log on disk. All requests that came in a row are made durable by one
 * fdatasync; only then are their decisions reported and answered. */
#ifndef COUP_NODES_RESOURCE_H
#define COUP_NODES_RESOURCE_H

#include "base/error.h"
#include "nodes/resource_core.h"

struct resource_log {
    int file;            /* -1: none */
    struct text waiting; /* records not yet on disk */
};

/* Replay the log in the folder into `resource`, or begin one. A torn end is cut off; a log that is
 * damaged, foreign or of another run is an error that names it. */
int resource_log_open(const char *folder, struct resource *resource, struct resource_log *out,
                      struct error *error);

/* Everything waiting is durable when it returns 0. */
int resource_log_commit(struct resource_log *log, struct error *error);
void resource_log_release(struct resource_log *log);

#endif
