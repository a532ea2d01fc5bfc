/* The controller's end of one child's stdin and stdout: frames (nodes/control.h) in and out, in the
 * uv loop, never blocking. One per incarnation of the child. */
#ifndef COUP_CONTROLLER_CHILD_LINK_H
#define COUP_CONTROLLER_CHILD_LINK_H

#include "base/error.h"
#include "nodes/control.h"

struct uv_loop_s;
struct child_link;

/* Borrowed arguments last for the call. */
struct child_link_events {
    void *context;
    void (*frame)(void *context, const struct control *control); /* any verb but command */
    /* The child broke the framing: nothing more is read. */
    void (*garbled)(void *context, const struct error *error);
};

/* Takes both descriptors over: `in` is written, `out` is read. */
struct child_link *child_link_open(struct uv_loop_s *loop, int in, int out,
                                   const struct child_link_events *events);

/* Read whatever has arrived, now. */
void child_link_read(struct child_link *link);

/* What the child does not take yet is kept. */
void child_link_send(struct child_link *link, const struct control *control);

/* End of file on the child's stdin; what was kept is dropped. */
void child_link_finish(struct child_link *link);

/* Close both; freed by a later turn of the loop. */
void child_link_close(struct child_link *link);

#endif
