#define _GNU_SOURCE /* strsignal, prctl */
#include "controller/farm.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/frame.h"

#define TICK_MS 200
#define PIPE_READ_BYTES 65536u

/* Worker w does first + w, first + w + workers, ...: who does what is settled beforehand, and the
 * caller always knows whose result comes next. */
struct worker {
    pid_t pid; /* 0: gone */
    int pipe;
    uint64_t next; /* number whose result it will send next */
    struct frame_reader frames;
};

/* First byte of a frame. */
enum answer { ANSWER_RESULT = 'r', ANSWER_ERROR = 'e' };

/* --- the worker --- */

static bool write_all(int descriptor, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0) {
        ssize_t written = write(descriptor, at, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        length -= (size_t)written;
    }
    return true;
}

static bool send_answer(int descriptor, enum answer kind, struct slice body)
{
    struct text frame = {0};
    uint8_t head[FRAME_HEAD_BYTES];
    char kind_byte = (char)kind;
    frame_head(head, (uint32_t)body.length + 1);
    text_add_bytes(&frame, head, sizeof head);
    text_add_bytes(&frame, &kind_byte, 1);
    text_add_bytes(&frame, body.at, body.length);
    bool sent = write_all(descriptor, frame.at, frame.length);
    text_release(&frame);
    return sent;
}

_Noreturn static void worker_main(const struct farm *farm, uint32_t index, int descriptor)
{
    struct text result = {0};
    bool more = true;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (uint64_t number = farm->first + index; more && number <= farm->last;
         number += farm->workers) {
        struct error error;
        text_clear(&result);
        int rc = farm->work(farm->context, number, &result, &error);
        assert(result.length <= FARM_RESULT_MAX);
        struct slice body = {text_string(&result), result.length};
        if (rc < 0)
            body = (struct slice){(const char *)&error, sizeof error};
        more = send_answer(descriptor, rc < 0 ? ANSWER_ERROR : ANSWER_RESULT, body) && rc == 0;
    }
    _exit(0);
}

/* --- the caller --- */

static int start_worker(const struct farm *farm, uint32_t index, struct worker *workers,
                        struct error *error)
{
    int ends[2];
    if (pipe(ends) < 0)
        return error_set(error, -errno, "create a pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0) {
        int code = errno;
        (void)close(ends[0]);
        (void)close(ends[1]);
        return error_set(error, -code, "start a worker: %s", strerror(code));
    }
    if (pid == 0) {
        (void)close(ends[0]);
        for (uint32_t i = 0; i < index; i++) /* or the others would never see the caller leave */
            (void)close(workers[i].pipe);
        worker_main(farm, index, ends[1]);
    }
    (void)close(ends[1]);
    workers[index] = (struct worker){.pid = pid, .pipe = ends[0], .next = farm->first + index};
    return 0;
}

static void stop_workers(struct worker *workers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (workers[i].pid == 0)
            continue;
        (void)kill(workers[i].pid, SIGKILL);
        while (waitpid(workers[i].pid, NULL, 0) < 0 && errno == EINTR)
            ;
        (void)close(workers[i].pipe);
        frame_reader_release(&workers[i].frames);
    }
}

/* The pipe ended before the worker's share was done. */
static int worker_died(struct worker *worker, struct error *error)
{
    int status = 0;
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        ;
    (void)close(worker->pipe);
    frame_reader_release(&worker->frames);
    worker->pid = 0;
    if (WIFSIGNALED(status))
        return error_set(error, -ECHILD, "%" PRIu64 ": ended by signal %d (%s)", worker->next,
                         WTERMSIG(status), strsignal(WTERMSIG(status)));
    return error_set(error, -ECHILD, "%" PRIu64 ": ended with status %d", worker->next,
                     WEXITSTATUS(status));
}

static void tick(const struct farm *farm)
{
    if (farm->tick)
        farm->tick(farm->context);
}

/* Wait for bytes of this worker. The others write into their pipes meanwhile and wait when those
 * are full: nobody gets far ahead. */
static int read_more(const struct farm *farm, struct worker *worker, struct error *error)
{
    struct pollfd poll_for = {.fd = worker->pipe, .events = POLLIN};
    int ready = poll(&poll_for, 1, TICK_MS), code = errno;
    tick(farm);
    if (ready <= 0)
        return ready == 0 || code == EINTR
                   ? 0
                   : error_set(error, -code, "wait for a worker: %s", strerror(code));
    size_t room;
    uint8_t *at = frame_reader_room(&worker->frames, PIPE_READ_BYTES, &room);
    ssize_t bytes = read(worker->pipe, at, room);
    if (bytes < 0)
        return errno == EINTR ? 0
                              : error_set(error, -errno, "read from a worker: %s", strerror(errno));
    if (bytes == 0)
        return worker_died(worker, error);
    frame_reader_filled(&worker->frames, (size_t)bytes);
    return 0;
}

/* 1: `*ret_body` is the next result, borrowed; -errno. */
static int next_result(const struct farm *farm, struct worker *worker, struct slice *ret_body,
                       struct error *error)
{
    const uint8_t *bytes;
    size_t length;
    for (;;) {
        int rc = frame_reader_next(&worker->frames, &bytes, &length, error);
        if (rc < 0)
            return rc;
        if (rc == 1)
            break;
        rc = read_more(farm, worker, error);
        if (rc < 0)
            return rc;
    }
    worker->next += farm->workers;
    *ret_body = (struct slice){(const char *)bytes + 1, length - 1};
    if (bytes[0] == ANSWER_RESULT)
        return 1;
    assert(ret_body->length == sizeof *error);
    if (error)
        memcpy(error, ret_body->at, sizeof *error);
    return -EINVAL;
}

static int run_forked(const struct farm *farm, struct error *error)
{
    struct worker *workers = must_alloc(farm->workers, sizeof *workers);
    uint32_t started = 0;
    int rc = 0;
    bool more = true;
    while (rc == 0 && started < farm->workers) {
        rc = start_worker(farm, started, workers, error);
        started += rc == 0;
    }
    for (uint64_t number = farm->first; rc >= 0 && more && number <= farm->last; number++) {
        struct slice body;
        rc = next_result(farm, &workers[(number - farm->first) % farm->workers], &body, error);
        if (rc == 1)
            more = farm->take(farm->context, number, body);
    }
    stop_workers(workers, started);
    free(workers);
    return rc < 0 ? rc : 0;
}

static int run_here(const struct farm *farm, struct error *error)
{
    struct text result = {0};
    int rc = 0;
    bool more = true;
    for (uint64_t number = farm->first; rc == 0 && more && number <= farm->last; number++) {
        text_clear(&result);
        rc = farm->work(farm->context, number, &result, error);
        if (rc == 0)
            more = farm->take(farm->context, number,
                              (struct slice){text_string(&result), result.length});
        tick(farm);
    }
    text_release(&result);
    return rc;
}

int farm_run(const struct farm *farm, struct error *error)
{
    assert(farm->workers >= 1 && farm->workers <= FARM_WORKERS_MAX);
    assert(farm->last < UINT64_MAX - FARM_WORKERS_MAX);
    return farm->workers == 1 ? run_here(farm, error) : run_forked(farm, error);
}
