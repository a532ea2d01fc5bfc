#include "nemesis/network/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

#include "base/frame.h"

#define PATIENCE_MS 200 /* between end of file and SIGKILL */
#define READ_BYTES 4096u
#define FIRST_DESCRIPTOR 3

struct helper {
    uv_process_t process;
    uv_pipe_t input, output; /* the program's stdin and stdout */
    uv_timer_t patience;
    struct frame_reader reader;
    struct helper_listener listener;
    uint32_t open_handles; /* freed when none is left */
    bool running, closing;
};

static void on_closed(uv_handle_t *handle)
{
    struct helper *helper = handle->data;
    if (--helper->open_handles > 0)
        return;
    frame_reader_release(&helper->reader);
    free(helper);
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_closed);
}

/* The process handle must see the end of its process, or a zombie stays. */
static void close_rest(struct helper *helper)
{
    close_handle((uv_handle_t *)&helper->input);
    close_handle((uv_handle_t *)&helper->output);
    if (helper->running)
        return;
    close_handle((uv_handle_t *)&helper->patience);
    close_handle((uv_handle_t *)&helper->process);
}

static void on_end(uv_process_t *process, int64_t status, int signal)
{
    struct helper *helper = process->data;
    helper->running = false;
    if (helper->closing)
        close_rest(helper);
    else
        helper->listener.ended(helper->listener.context, status, signal);
}

static void on_patience(uv_timer_t *timer)
{
    struct helper *helper = timer->data;
    (void)uv_process_kill(&helper->process, SIGKILL); /* its end is seen by on_end() */
}

void helper_close(struct helper *helper)
{
    if (!helper || helper->closing)
        return;
    helper->closing = true;
    if (helper->running)
        (void)uv_timer_start(&helper->patience, on_patience, PATIENCE_MS, 0);
    close_rest(helper);
}

/* ---- frames ---- */

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct helper *helper = handle->data;
    size_t room;
    (void)suggested;
    out->base = (char *)frame_reader_room(&helper->reader, READ_BYTES, &room);
    out->len = room;
}

/* A stream that cannot be understood is the end of this incarnation. */
static void on_bytes(uv_stream_t *stream, ssize_t length, const uv_buf_t *buffer)
{
    struct helper *helper = stream->data;
    const uint8_t *bytes;
    size_t frame_length;
    struct error error;
    struct control control;
    int rc = 0;
    (void)buffer;
    if (length < 0) {
        (void)uv_read_stop(stream);
        return;
    }
    frame_reader_filled(&helper->reader, (size_t)length);
    while (!helper->closing &&
           (rc = frame_reader_next(&helper->reader, &bytes, &frame_length, &error)) > 0) {
        rc = control_decode(bytes, frame_length, &control, &error);
        if (rc < 0)
            break;
        helper->listener.frame(helper->listener.context, &control);
    }
    if (rc < 0)
        helper_kill(helper);
}

struct write_request {
    uv_write_t request;
    uint8_t bytes[];
};

static void on_written(uv_write_t *request, int status)
{
    (void)status; /* a broken pipe shows as the end of the process */
    free(request);
}

void helper_send(struct helper *helper, const struct control *control)
{
    struct text frame = {0};
    control_encode(control, &frame);
    uv_buf_t buffer = uv_buf_init(frame.at, (unsigned)frame.length);
    int written = uv_try_write((uv_stream_t *)&helper->input, &buffer, 1);
    size_t done = written > 0 ? (size_t)written : 0, left = frame.length - done;
    if (left > 0) {
        struct write_request *request = must_alloc(1, sizeof *request + left);
        memcpy(request->bytes, frame.at + done, left);
        buffer = uv_buf_init((char *)request->bytes, (unsigned)left);
        if (uv_write(&request->request, (uv_stream_t *)&helper->input, &buffer, 1, on_written) < 0)
            free(request);
    }
    text_release(&frame);
}

bool helper_answer(const char *text, uint64_t *ret_number, const char **ret_rest)
{
    bool failed = strncmp(text, "failed ", 7) == 0;
    *ret_number = 0;
    *ret_rest = failed ? text + 7 : text;
    if (failed || strncmp(text, "ok ", 3) != 0)
        return false;
    char *end;
    *ret_number = strtoull(text + 3, &end, 10);
    *ret_rest = end + strspn(end, " ");
    return true;
}

void helper_kill(struct helper *helper)
{
    if (helper->running)
        (void)uv_process_kill(&helper->process, SIGKILL);
}

/* ---- start ---- */

static void init_handles(struct helper *helper, uv_loop_t *loop)
{
    (void)uv_pipe_init(loop, &helper->input, 0);
    (void)uv_pipe_init(loop, &helper->output, 0);
    (void)uv_timer_init(loop, &helper->patience);
    helper->process.data = helper->input.data = helper->output.data = helper->patience.data =
        helper;
    helper->open_handles = 4;
}

static int spawn(struct helper *helper, const struct helper_config *config, uv_loop_t *loop,
                 int log_fd)
{
    uint32_t count = FIRST_DESCRIPTOR + config->descriptor_count;
    uv_stdio_container_t *stdio = must_alloc(count, sizeof *stdio);
    stdio[0].flags = UV_CREATE_PIPE | UV_READABLE_PIPE;
    stdio[0].data.stream = (uv_stream_t *)&helper->input;
    stdio[1].flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE;
    stdio[1].data.stream = (uv_stream_t *)&helper->output;
    stdio[2].flags = log_fd < 0 ? UV_IGNORE : UV_INHERIT_FD;
    stdio[2].data.fd = log_fd;
    for (uint32_t i = 0; i < config->descriptor_count; i++) {
        stdio[FIRST_DESCRIPTOR + i].flags = UV_INHERIT_FD;
        stdio[FIRST_DESCRIPTOR + i].data.fd = config->descriptors[i];
    }
    char **arguments = must_alloc(1, sizeof *arguments);
    uint32_t argument_count = 0;
    for (; config->arguments[argument_count]; argument_count++) {
        arguments = must_grow(arguments, argument_count + 2, sizeof *arguments);
        arguments[argument_count] = config->arguments[argument_count];
    }
    arguments[argument_count] = NULL;
    const uv_process_options_t options = {.exit_cb = on_end,
                                          .file = config->program,
                                          .args = arguments,
                                          .stdio_count = (int)count,
                                          .stdio = stdio};
    int rc = uv_spawn(loop, &helper->process, &options);
    free(arguments);
    free(stdio);
    return rc;
}

int helper_start(const struct helper_config *config, struct uv_loop_s *loop,
                 const struct helper_listener *listener, struct helper **out, struct error *error)
{
    struct helper *helper = must_alloc(1, sizeof *helper);
    int log_fd = -1;
    if (config->log_path)
        log_fd = open(config->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    helper->listener = *listener;
    init_handles(helper, loop);
    int rc = spawn(helper, config, loop, log_fd);
    helper->running = rc == 0;
    if (log_fd >= 0)
        (void)close(log_fd); /* the child has its own */
    if (rc == 0)
        rc = uv_read_start((uv_stream_t *)&helper->output, on_room, on_bytes);
    if (rc < 0) {
        helper_close(helper);
        return error_set(error, rc, "start %s: %s", config->program, uv_strerror(rc));
    }
    *out = helper;
    return 0;
}
