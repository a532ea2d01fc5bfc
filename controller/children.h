/* The processes of a run: start, talk, stop, pause, notice the end. A child speaks frames
 * (nodes/control.h) on its stdin and stdout, logs to a file, and dies with us. Everything that
 * happens is told through one table of callbacks, in the order it happened: what a child wrote
 * before its end is told before its end.
 *
 * Children are told apart by their slot, which outlives restarts; one incarnation runs at a time.
 */
#ifndef COUP_CONTROLLER_CHILDREN_H
#define COUP_CONTROLLER_CHILDREN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "nodes/control.h"

struct uv_loop_s;
struct child_link;
struct children;

/* Who ended a process. */
enum child_end_by {
    BY_SCHEDULE, /* we did: killed, or told to end */
    BY_ITSELF,   /* exit, assert, sanitizer, crash */
    BY_OUTSIDE,  /* a signal nobody of ours sent: the kernel out of memory, an operator */
};
const char *child_end_by_name(enum child_end_by by);

struct child {
    struct children *children;
    uint32_t process; /* base/process.h */
    char *program;    /* path; owned */
    char *log_path;   /* its stderr, appended to; owned */
    int netns;        /* descriptor, owned; -1: the controller's */
    bool own_pids;    /* process 1 of a PID namespace: its children go when it goes */
    const char *const
        *environment;     /* names and values in turn, on top of ours; borrowed, or NULL */
    pid_t pid;            /* 0: not running */
    uint32_t incarnation; /* 1 at the first start */
    bool ready;           /* this incarnation reported so */
    bool stopped;         /* confirmed by the kernel */
    bool frozen;          /* likewise, by its freezer (freezer.h) */
    bool told_to_end;     /* by child_finish() or child_terminate() */
    bool killed;          /* by child_kill() */
    struct child_link *link;
};

struct child_end {
    enum child_end_by by;
    int status; /* exit status when signal is 0 */
    int signal;
};

/* Borrowed arguments last for the call. */
struct child_callbacks {
    void *context;
    void (*ready)(void *context, struct child *child, struct slice address);
    void (*event)(void *context, struct child *child, const struct event *event);
    void (*done)(void *context, struct child *child, const struct control *answer);
    void (*stopped)(void *context, struct child *child);
    void (*resumed)(void *context, struct child *child);
    void (*ended)(void *context, struct child *child, const struct child_end *end);
    /* The child broke the framing: its stream is lost. */
    void (*garbled)(void *context, struct child *child, const struct error *error);
};

/* `capacity` children at most; slots never move. `callbacks` is copied. */
int children_open(struct uv_loop_s *loop, uint32_t capacity,
                  const struct child_callbacks *callbacks, struct children **out,
                  struct error *error);

/* A new slot. Takes `netns` over, copies the texts. */
struct child *children_add(struct children *children, uint32_t process, const char *program,
                           const char *log_path, int netns);
uint32_t children_count(const struct children *children);
struct child *children_at(struct children *children, uint32_t index);

/* Read whatever has arrived from anybody, now. */
void children_read(struct children *children);

/* Kill and reap whoever runs, without callbacks; free. The loop must run once more for its
 * handles to close. */
void children_close(struct children *children);

/* Start the next incarnation with `argv` (its [0] is the name shown, NULL-terminated). -errno: it
 * does not run and `error` says why (no more processes). A program that cannot be executed shows as
 * an end with status 3 and a line in the log. */
int child_start(struct child *child, const char *const *argv, struct error *error);

/* Never blocks; what a stopped child does not read is kept. Nothing happens when it is not running.
 */
void child_send(struct child *child, const struct control *control);

/* End of file on its stdin: it ends with 0 by itself. */
void child_finish(struct child *child);

/* Each only asks the kernel: stopped, resumed and ended tell when it is done. -ESRCH: not running.
 */
int child_kill(struct child *child);
int child_terminate(struct child *child); /* SIGTERM */
int child_pause(struct child *child);
int child_resume(struct child *child);

#endif
