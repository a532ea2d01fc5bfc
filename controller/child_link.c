#define _GNU_SOURCE
#include "controller/child_link.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <uv.h>

#include "base/frame.h"

#define READ_BYTES 65536u
#define READS_MAX 64 /* a pipe holds less; a child that floods waits its turn */

/* On the heap, because handles close late. */
struct child_link {
    struct child_link_events events;
    uv_poll_t reader, writer;
    int in, out; /* -1: closed */
    int open_handles;
    struct frame_reader frames;
    struct text outgoing; /* from `sent` on not yet taken by the pipe */
    size_t sent;
};

static void close_in(struct child_link *link)
{
    if (link->in < 0)
        return;
    (void)uv_poll_stop(&link->writer);
    (void)close(link->in); /* a pipe's close has nothing to report */
    link->in = -1;
}

static void close_out(struct child_link *link)
{
    if (link->out < 0)
        return;
    (void)uv_poll_stop(&link->reader);
    (void)close(link->out);
    link->out = -1;
}

/* --- what the child says --- */

static int take_frame(struct child_link *link, const uint8_t *bytes, size_t length,
                      struct error *error)
{
    struct control control;
    int rc = control_decode(bytes, length, &control, error);
    if (rc < 0)
        return rc;
    if (control.verb == CONTROL_COMMAND)
        return error_set(error, -EBADMSG, "a child cannot command the controller");
    link->events.frame(link->events.context, &control);
    return 0;
}

static void take_frames(struct child_link *link)
{
    const uint8_t *bytes;
    size_t length;
    struct error error;
    int rc;
    while ((rc = frame_reader_next(&link->frames, &bytes, &length, &error)) > 0)
        if ((rc = take_frame(link, bytes, length, &error)) < 0)
            break;
    if (rc == 0)
        return;
    close_out(link);
    link->events.garbled(link->events.context, &error);
}

void child_link_read(struct child_link *link)
{
    for (int i = 0; i < READS_MAX && link->out >= 0; i++) {
        size_t room;
        uint8_t *buffer = frame_reader_room(&link->frames, READ_BYTES, &room);
        ssize_t got = read(link->out, buffer, room);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            close_out(link); /* a frame cut off by the child's death is no frame */
            return;
        }
        frame_reader_filled(&link->frames, (size_t)got);
        take_frames(link);
    }
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    (void)status; /* an error shows in read() */
    (void)events;
    child_link_read(handle->data);
}

/* --- what we say --- */

static void on_writable(uv_poll_t *handle, int status, int events);

/* Give the pipe what it takes; ask to be called again while something is left. */
static void write_outgoing(struct child_link *link)
{
    while (link->sent < link->outgoing.length) {
        ssize_t wrote =
            write(link->in, link->outgoing.at + link->sent, link->outgoing.length - link->sent);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0 && errno == EAGAIN) {
            (void)uv_poll_start(&link->writer, UV_WRITABLE, on_writable);
            return;
        }
        if (wrote < 0)
            break; /* the child reads no more: its end will be told */
        link->sent += (size_t)wrote;
    }
    text_clear(&link->outgoing);
    link->sent = 0;
    (void)uv_poll_stop(&link->writer);
}

static void on_writable(uv_poll_t *handle, int status, int events)
{
    (void)status;
    (void)events;
    struct child_link *link = handle->data;
    if (link->in >= 0)
        write_outgoing(link);
}

void child_link_send(struct child_link *link, const struct control *control)
{
    if (link->in < 0)
        return;
    bool waiting = link->outgoing.length > 0;
    control_encode(control, &link->outgoing);
    if (!waiting)
        write_outgoing(link);
}

void child_link_finish(struct child_link *link)
{
    close_in(link);
}

/* --- open and close --- */

struct child_link *child_link_open(uv_loop_t *loop, int in, int out,
                                   const struct child_link_events *events)
{
    struct child_link *link = must_alloc(1, sizeof *link);
    *link = (struct child_link){.events = *events, .in = in, .out = out, .open_handles = 2};
    (void)fcntl(in, F_SETFL, O_NONBLOCK); /* cannot fail on pipes of ours */
    (void)fcntl(out, F_SETFL, O_NONBLOCK);
    int rc = uv_poll_init(loop, &link->reader, out);
    assert(rc == 0); /* a fresh pipe can be polled */
    rc = uv_poll_init(loop, &link->writer, in);
    assert(rc == 0);
    link->reader.data = link->writer.data = link;
    rc = uv_poll_start(&link->reader, UV_READABLE, on_readable);
    assert(rc == 0);
    (void)rc;
    return link;
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct child_link *link = handle->data;
    if (--link->open_handles > 0)
        return;
    frame_reader_release(&link->frames);
    text_release(&link->outgoing);
    free(link);
}

void child_link_close(struct child_link *link)
{
    close_in(link);
    close_out(link);
    uv_close((uv_handle_t *)&link->reader, on_handle_closed);
    uv_close((uv_handle_t *)&link->writer, on_handle_closed);
}
