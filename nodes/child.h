/* A child's side of the control channel: frames (nodes/control.h) on stdin and stdout, in the uv
 * loop. EOF on stdin ends the child; so does a controller that reads no more. The kernel kills the
 * child when its parent dies.
 *
 * Events are collected and written by child_flush(), which returns when the kernel has them all: a
 * full pipe makes the child wait, because an event must be out before the message it explains.
 * Collecting has no other bound than what one input yields; nobody keeps events across inputs. */
#ifndef COUP_NODES_CHILD_H
#define COUP_NODES_CHILD_H

#include <uv.h>

#include "base/error.h"
#include "base/frame.h"
#include "base/text.h"
#include "histories/event.h"

struct child_events {
    /* A command from the controller; answer it with child_done(). The text is terminated. */
    void (*command)(void *context, uint64_t id, const char *text);
    /* No more will come: stop the loop. Called once; `why` is NULL when the controller closed the
     * channel, else what was wrong with it. */
    void (*end)(void *context, const struct error *why);
    void *context;
};

struct child {
    uv_poll_t input;
    struct frame_reader reader;
    struct text output;
    uint64_t origin_ns; /* true time of the run's start */
    struct child_events events;
    bool ended;
};

/* Must come before NNG starts threads. -errno when stdin cannot be polled (a file) or the parent is
 * gone already. */
int child_open(struct child *child, uv_loop_t *loop, uint64_t origin_ns,
               const struct child_events *events, struct error *error);

/* True time since the run's start. */
uint64_t child_now(const struct child *child);

/* Stamp the event with both clocks and collect it. */
void child_event(struct child *child, struct event *event);
void child_ready(struct child *child, const char *address);
void child_done(struct child *child, uint64_t id, uint64_t begin_ns, const char *text);
void child_flush(struct child *child);

#endif
