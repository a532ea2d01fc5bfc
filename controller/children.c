#define _GNU_SOURCE
#include "controller/children.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <uv.h>

#include "controller/child_link.h"

struct children {
    uv_loop_t *loop;
    uv_signal_t *ended; /* on the heap, because it closes late */
    struct child_callbacks callbacks;
    struct child *slots;
    uint32_t count, capacity;
};

/* --- what a child says and hears --- */

static void on_frame(void *context, const struct control *control)
{
    struct child *child = context;
    const struct child_callbacks *callbacks = &child->children->callbacks;
    switch (control->verb) {
    case CONTROL_READY:
        child->ready = true;
        callbacks->ready(callbacks->context, child, control->text);
        break;
    case CONTROL_EVENT: callbacks->event(callbacks->context, child, &control->event); break;
    case CONTROL_DONE: callbacks->done(callbacks->context, child, control); break;
    case CONTROL_COMMAND:
    case CONTROL_VERBS: break; /* the link refuses them */
    }
}

static void on_garbled(void *context, const struct error *error)
{
    struct child *child = context;
    child->children->callbacks.garbled(child->children->callbacks.context, child, error);
}

void child_send(struct child *child, const struct control *control)
{
    if (child->link)
        child_link_send(child->link, control);
}

/* --- start --- */

/* Pipe ends: the child's stdin and ours of it, ours of its stdout and the child's. */
enum { CHILD_IN, OUR_IN, OUR_OUT, CHILD_OUT, PIPE_ENDS };

static void close_ends(int ends[PIPE_ENDS])
{
    for (int i = 0; i < PIPE_ENDS; i++)
        if (ends[i] >= 0)
            (void)close(ends[i]);
}

static int open_ends(int ends[PIPE_ENDS], struct error *error)
{
    for (int i = 0; i < PIPE_ENDS; i++)
        ends[i] = -1;
    for (int i = 0; i < PIPE_ENDS; i += 2)
        if (pipe2(&ends[i], O_CLOEXEC) < 0) {
            int rc = error_set(error, -errno, "create a pipe: %s", strerror(errno));
            close_ends(ends);
            return rc;
        }
    return 0;
}

static int set_environment(const char *const *words)
{
    int rc = 0;
    for (; words && *words && rc == 0; words += 2)
        rc = setenv(words[0], words[1], 1);
    return rc;
}

static int become_child(const struct child *child, const int ends[PIPE_ENDS])
{
    sigset_t none;
    (void)sigemptyset(&none);
    if (child->netns >= 0 && setns(child->netns, CLONE_NEWNET) < 0)
        return -1;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || sigprocmask(SIG_SETMASK, &none, NULL) < 0)
        return -1;
    (void)setsid();                        /* cannot fail: a fresh child leads no group */
    (void)setpriority(PRIO_PROCESS, 0, 0); /* not ours; lowering is always allowed */
    (void)signal(SIGPIPE, SIG_DFL);
    if (dup2(ends[CHILD_IN], STDIN_FILENO) < 0 || dup2(ends[CHILD_OUT], STDOUT_FILENO) < 0)
        return -1;
    if (set_environment(child->environment) < 0)
        return -1;
    /* Whatever our own caller left open is not the child's either. */
    return close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
}

/* A failure is told like any of the program's own: a line in its log and exit status 3. Waiting for
 * the exec here instead would make starting many take as long as all of them together. */
static _Noreturn void exec_child(const struct child *child, const char *const *argv,
                                 const int ends[PIPE_ENDS], int log)
{
    /* execv promises not to change what its type forgets to call constant. */
    union {
        const char *const *constant;
        char *const *plain;
    } arguments = {argv};
    if (dup2(log, STDERR_FILENO) >= 0 && become_child(child, ends) == 0)
        (void)execv(child->program, arguments.plain);
    (void)dprintf(STDERR_FILENO, "%s: %s\n", child->program, strerror(errno));
    _exit(EXIT_HARNESS);
}

/* A plain fork, or one into a PID namespace; nothing but an exec follows, so libc need not know. */
static pid_t fork_process(const struct child *child)
{
    if (!child->own_pids)
        return fork();
    return (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, 0L);
}

static int fork_child(struct child *child, const char *const *argv, const int ends[PIPE_ENDS],
                      struct error *error)
{
    int log = open(child->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (log < 0)
        return error_set(error, -errno, "open %s: %s", child->log_path, strerror(errno));
    pid_t pid = fork_process(child);
    if (pid == 0)
        exec_child(child, argv, ends, log);
    int code = pid < 0 ? errno : 0;
    (void)close(log); /* ours wrote nothing */
    if (pid < 0)
        return error_set(error, -code, "fork: %s", strerror(code));
    child->pid = pid;
    return 0;
}

int child_start(struct child *child, const char *const *argv, struct error *error)
{
    int ends[PIPE_ENDS];
    char name[PROCESS_NAME_MAX];
    assert(child->pid == 0 && !child->link);
    int rc = open_ends(ends, error);
    if (rc == 0)
        rc = fork_child(child, argv, ends, error);
    if (rc < 0) {
        error_prefix(error, "start %s", process_name(child->process, name));
        close_ends(ends);
        return rc;
    }
    child->incarnation++;
    child->ready = child->stopped = child->frozen = child->told_to_end = child->killed = false;
    const struct child_link_events events = {child, on_frame, on_garbled};
    child->link = child_link_open(child->children->loop, ends[OUR_IN], ends[OUR_OUT], &events);
    ends[OUR_IN] = ends[OUR_OUT] = -1;
    close_ends(ends);
    return 0;
}

/* --- the end --- */

const char *child_end_by_name(enum child_end_by by)
{
    static const char *const names[] = {"schedule", "itself", "outside"};
    return names[by];
}

/* Signals a process does not raise against itself by failing. */
static bool comes_from_outside(int signal)
{
    return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP ||
           signal == SIGQUIT || signal == SIGXCPU;
}

static struct child_end judge_end(const struct child *child, const siginfo_t *info)
{
    struct child_end end = {.by = BY_ITSELF};
    if (info->si_code == CLD_EXITED)
        end.status = info->si_status;
    else
        end.signal = info->si_status;
    if (child->killed && end.signal == SIGKILL)
        end.by = BY_SCHEDULE;
    else if (child->told_to_end && (end.signal == SIGTERM || (end.signal == 0 && end.status == 0)))
        end.by = BY_SCHEDULE; /* by the signal if it was not yet ready to catch it */
    else if (comes_from_outside(end.signal))
        end.by = BY_OUTSIDE;
    return end;
}

static void child_ended(struct child *child, const siginfo_t *info)
{
    struct child_end end = judge_end(child, info);
    child_link_read(child->link); /* its last words come before its end */
    child_link_close(child->link);
    child->link = NULL;
    child->pid = 0;
    child->ready = child->stopped = false;
    child->children->callbacks.ended(child->children->callbacks.context, child, &end);
}

static void child_changed(struct child *child, const siginfo_t *info)
{
    const struct child_callbacks *callbacks = &child->children->callbacks;
    switch (info->si_code) {
    case CLD_STOPPED:
        child->stopped = true;
        callbacks->stopped(callbacks->context, child);
        break;
    case CLD_CONTINUED:
        child->stopped = false;
        callbacks->resumed(callbacks->context, child);
        break;
    default: child_ended(child, info); break;
    }
}

/* Signals coalesce, so every child is asked. By exact pid: other parts have children too. */
static void on_sigchld(uv_signal_t *handle, int number)
{
    struct children *children = handle->data;
    (void)number;
    for (uint32_t i = 0; i < children->count; i++) {
        struct child *child = &children->slots[i];
        pid_t pid = child->pid;
        siginfo_t info = {0};
        while (pid != 0 && child->pid == pid &&
               waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
               info.si_pid == pid) {
            child_changed(child, &info);
            info = (siginfo_t){0};
        }
    }
}

void child_finish(struct child *child)
{
    child->told_to_end = true;
    if (child->link)
        child_link_finish(child->link);
}

static int child_signal(struct child *child, int signal)
{
    if (child->pid == 0)
        return -ESRCH;
    return kill(child->pid, signal) < 0 ? -errno : 0; /* unreaped, so the number is still its */
}

int child_kill(struct child *child)
{
    child->killed = child->pid != 0;
    return child_signal(child, SIGKILL);
}

int child_terminate(struct child *child)
{
    child->told_to_end = child->pid != 0;
    return child_signal(child, SIGTERM);
}

int child_pause(struct child *child)
{
    return child_signal(child, SIGSTOP);
}

int child_resume(struct child *child)
{
    return child_signal(child, SIGCONT);
}

/* --- the set --- */

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

int children_open(uv_loop_t *loop, uint32_t capacity, const struct child_callbacks *callbacks,
                  struct children **out, struct error *error)
{
    struct children *children = must_alloc(1, sizeof *children);
    children->loop = loop;
    children->callbacks = *callbacks;
    children->slots = must_alloc(capacity, sizeof *children->slots);
    children->capacity = capacity;
    children->ended = must_alloc(1, sizeof *children->ended);
    (void)uv_signal_init(loop, children->ended); /* fails only for want of memory */
    children->ended->data = children;
    int rc = uv_signal_start(children->ended, on_sigchld, SIGCHLD);
    if (rc < 0) {
        children_close(children);
        return error_set(error, rc, "watch for ended processes: %s", uv_strerror(rc));
    }
    *out = children;
    return 0;
}

struct child *children_add(struct children *children, uint32_t process, const char *program,
                           const char *log_path, int netns)
{
    assert(children->count < children->capacity);
    struct child *child = &children->slots[children->count++];
    *child = (struct child){
        .children = children,
        .process = process,
        .program = must_copy(program),
        .log_path = must_copy(log_path),
        .netns = netns,
    };
    return child;
}

uint32_t children_count(const struct children *children)
{
    return children->count;
}

struct child *children_at(struct children *children, uint32_t index)
{
    assert(index < children->count);
    return &children->slots[index];
}

void children_read(struct children *children)
{
    for (uint32_t i = 0; i < children->count; i++)
        if (children->slots[i].link)
            child_link_read(children->slots[i].link);
}

static void child_release(struct child *child)
{
    if (child->pid != 0) {
        (void)kill(child->pid, SIGKILL);
        (void)waitid(P_PID, (id_t)child->pid, &(siginfo_t){0}, WEXITED);
    }
    if (child->link)
        child_link_close(child->link);
    if (child->netns >= 0)
        (void)close(child->netns);
    free(child->program);
    free(child->log_path);
}

void children_close(struct children *children)
{
    if (!children)
        return;
    for (uint32_t i = 0; i < children->count; i++)
        child_release(&children->slots[i]);
    uv_close((uv_handle_t *)children->ended, free_handle);
    free(children->slots);
    free(children);
}
