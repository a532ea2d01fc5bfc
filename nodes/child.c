#include "nodes/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "nodes/clock.h"
#include "nodes/control.h"

#define READ_BYTES 4096u
#define PIPE_BYTES (256 * 1024)

static void end(struct child *child, const struct error *why)
{
    if (child->ended)
        return;
    child->ended = true;
    (void)uv_poll_stop(&child->input); /* cannot fail */
    child->events.end(child->events.context, why);
}

static int take_command(struct child *child, const uint8_t *bytes, size_t length,
                        struct error *error)
{
    struct control control;
    int rc = control_decode(bytes, length, &control, error);
    if (rc < 0)
        return rc;
    if (control.verb != CONTROL_COMMAND)
        return error_set(error, -EBADMSG, "a control frame that is no command");
    struct text text = {0};
    text_add_bytes(&text, control.text.at, control.text.length);
    child->events.command(child->events.context, control.id, text_string(&text));
    text_release(&text);
    return 0;
}

/* A stream that cannot be understood is lost, and the child with it. */
static void take_frames(struct child *child)
{
    const uint8_t *bytes = NULL;
    size_t length = 0;
    struct error error;
    int rc = 0;
    while (!child->ended && (rc = frame_reader_next(&child->reader, &bytes, &length, &error)) > 0) {
        rc = take_command(child, bytes, length, &error);
        if (rc < 0)
            break;
    }
    if (rc < 0) {
        error_prefix(&error, "commands on stdin");
        end(child, &error);
    }
}

static void on_input(uv_poll_t *poll, int status, int events)
{
    struct child *child = poll->data;
    (void)events;
    size_t room = 0;
    uint8_t *into = frame_reader_room(&child->reader, READ_BYTES, &room);
    ssize_t got = status < 0 ? 0 : read(STDIN_FILENO, into, room);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        end(child, NULL);
        return;
    }
    frame_reader_filled(&child->reader, (size_t)got);
    take_frames(child);
}

int child_open(struct child *child, uv_loop_t *loop, uint64_t origin_ns,
               const struct child_events *events, struct error *error)
{
    *child = (struct child){.origin_ns = origin_ns, .events = *events};
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return error_set(error, -errno, "ask to die with the parent: %s", strerror(errno));
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
        return error_set(error, -errno, "ignore SIGPIPE: %s", strerror(errno));
    /* More room where stdout is a pipe, so that a busy controller does not stall an election. */
    (void)fcntl(STDOUT_FILENO, F_SETPIPE_SZ, PIPE_BYTES);
    int rc = uv_poll_init(loop, &child->input, STDIN_FILENO);
    if (rc == 0) {
        child->input.data = child;
        rc = uv_poll_start(&child->input, UV_READABLE | UV_DISCONNECT, on_input);
    }
    if (rc < 0)
        return error_set(error, rc, "read commands from stdin: %s (it must be a pipe)",
                         uv_strerror(rc));
    return 0;
}

uint64_t child_now(const struct child *child)
{
    return clock_true_ns() - child->origin_ns;
}

void child_event(struct child *child, struct event *event)
{
    event->node_ns = clock_own_ns();
    event->time_ns = child_now(child);
    control_encode(&(struct control){.verb = CONTROL_EVENT, .event = *event}, &child->output);
}

void child_ready(struct child *child, const char *address)
{
    control_encode(&(struct control){.verb = CONTROL_READY, .text = slice_of(address)},
                   &child->output);
}

void child_done(struct child *child, uint64_t id, uint64_t begin_ns, const char *text)
{
    control_encode(&(struct control){.verb = CONTROL_DONE,
                                     .id = id,
                                     .begin = begin_ns,
                                     .end = child_now(child),
                                     .text = slice_of(text)},
                   &child->output);
}

/* A controller that reads no more has no use for us. One that reads slowly is waited for, also
 * where the descriptor does not block. */
void child_flush(struct child *child)
{
    size_t at = 0;
    while (at < child->output.length) {
        ssize_t written = write(STDOUT_FILENO, child->output.at + at, child->output.length - at);
        if (written >= 0) {
            at += (size_t)written;
        } else if (errno == EAGAIN) {
            struct pollfd wait = {.fd = STDOUT_FILENO, .events = POLLOUT};
            (void)poll(&wait, 1, -1); /* an error shows at the next write */
        } else if (errno != EINTR) {
            end(child, NULL);
            break;
        }
    }
    text_clear(&child->output);
}
