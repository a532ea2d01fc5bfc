/* coup-switch: frames between the TAPs of a run, with every impairment of the link matrix. It gets
 * the TAPs as open descriptors, one behind the other, and is one thread: a command takes effect
 * between two frames, on all its links at the same instant. Arguments are name=value words:
 *   endpoints=N first-fd=N seed=N origin=NS
 * Commands and answers are control frames (nodes/control.h) on stdin and stdout; the grammar of
 * commands is in nemesis/network/README.md. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/units.h"
#include "nemesis/network/helper_end.h"
#include "nemesis/network/switch_command.h"
#include "nemesis/network/switch_core.h"
#include "nodes/clock.h"

#define FRAMES_PER_TURN 32 /* of one TAP, before the others and the controller are looked at */
#define EVENTS_PER_TURN 64

enum { ENDPOINTS, FIRST_FD, SEED, ORIGIN };

static const struct option options[] = {
    [ENDPOINTS] = {"endpoints", OPTION_COUNT, "1", 1, 1024, NULL, "number of TAPs"},
    [FIRST_FD] = {"first-fd", OPTION_COUNT, "3", 3, 65535, NULL, "descriptor of the first TAP"},
    [SEED] = {"seed", OPTION_COUNT, "0", 0, UINT64_MAX, NULL, "of all random draws"},
    [ORIGIN] = {"origin", OPTION_COUNT, "0", 0, UINT64_MAX, NULL,
                "true monotonic time of the run's start in ns"},
    {.name = NULL},
};

struct shell {
    struct option_values values;
    struct switch_core *core;
    int epoll, timer;
    uint64_t armed_ns; /* the timer's; UINT64_MAX: off */
    struct helper_end end;
    uint64_t undelivered; /* the kernel refused a frame: its interface is down or gone */
};

static uint32_t endpoints(const struct shell *shell)
{
    return (uint32_t)shell->values.at[ENDPOINTS];
}

static int tap_of(const struct shell *shell, uint32_t endpoint)
{
    return (int)shell->values.at[FIRST_FD] + (int)endpoint;
}

/* ---- frames ---- */

static void deliver(void *context, uint32_t to, const uint8_t *frame, size_t length)
{
    struct shell *shell = context;
    if (write(tap_of(shell, to), frame, length) != (ssize_t)length)
        shell->undelivered++;
}

/* The descriptor stays ours, but its interface has gone with its namespace: no use to poll it. */
static void forget_tap(struct shell *shell, uint32_t endpoint)
{
    (void)epoll_ctl(shell->epoll, EPOLL_CTL_DEL, tap_of(shell, endpoint), NULL);
}

static void take_packets(struct shell *shell, uint32_t endpoint)
{
    uint8_t frame[SWITCH_FRAME_BYTES_MAX];
    for (int i = 0; i < FRAMES_PER_TURN; i++) {
        ssize_t length = read(tap_of(shell, endpoint), frame, sizeof frame);
        if (length < 0) {
            if (errno != EAGAIN && errno != EINTR)
                forget_tap(shell, endpoint);
            return;
        }
        switch_core_frame(shell->core, clock_true_ns(), endpoint, frame, (size_t)length);
    }
}

/* Deliver what is due and wake up when the next is. */
static void keep_time(struct shell *shell)
{
    uint64_t next_ns = switch_core_due(shell->core, clock_true_ns());
    if (next_ns == shell->armed_ns)
        return;
    struct itimerspec when = {{0, 0}, {0, 0}};
    if (next_ns != UINT64_MAX) {
        when.it_value.tv_sec = (time_t)(next_ns / NS_PER_S);
        when.it_value.tv_nsec = (long)(next_ns % NS_PER_S);
    }
    if (timerfd_settime(shell->timer, TFD_TIMER_ABSTIME, &when, NULL) == 0)
        shell->armed_ns = next_ns;
}

/* ---- commands ---- */

static uint64_t now(const struct shell *shell)
{
    return clock_true_ns() - shell->values.at[ORIGIN];
}

static void add_totals(const struct shell *shell, struct text *out)
{
    struct switch_totals totals = switch_core_totals(shell->core);
    text_add(out,
             " frames=%" PRIu64 " overflow=%" PRIu64 " strays=%" PRIu64 " held=%" PRIu64
             " undelivered=%" PRIu64,
             totals.frames, totals.overflow, totals.strays, totals.held, shell->undelivered);
}

static void carry_out(struct shell *shell, const struct switch_command *command, struct text *out)
{
    uint64_t touched = 0;
    for (uint32_t i = 0; i < command->link_count; i++) {
        if (command->verb == SWITCH_LINKS)
            switch_core_set(shell->core, &command->links[i]);
        else
            touched += switch_core_touched(shell->core, &command->links[i]);
    }
    if (command->verb == SWITCH_LINKS) {
        text_add(out, "ok %u", command->link_count);
        return;
    }
    text_add(out, "ok %" PRIu64, touched);
    add_totals(shell, out);
}

static bool take_command(void *context, const struct control *control)
{
    struct shell *shell = context;
    struct switch_command command = {0};
    struct error error;
    struct text text = {0};
    int rc = switch_command_parse(control->text, endpoints(shell), &command, &error);
    struct control done = {.verb = CONTROL_DONE, .id = control->id, .begin = now(shell)};
    if (rc < 0)
        text_add(&text, "failed %s", error.text);
    else
        carry_out(shell, &command, &text);
    done.end = now(shell);
    done.text = (struct slice){text_string(&text), text.length};
    bool sent = helper_end_send(&shell->end, &done);
    switch_command_release(&command);
    text_release(&text);
    return sent;
}

/* ---- start and loop ---- */

/* A late switch looks like a slow network: go before ordinary processes if we may. */
static const char *raise_priority(void)
{
    const struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    if (sched_setscheduler(0, SCHED_FIFO, &lowest) == 0)
        return "fifo";
    return setpriority(PRIO_PROCESS, 0, -10) == 0 ? "nice" : "normal";
}

static int watch(const struct shell *shell, int fd, uint32_t tag, struct error *error)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = tag};
    if (epoll_ctl(shell->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
        return 0;
    return error_set(error, -errno, "watch descriptor %d: %s", fd, strerror(errno));
}

#define TAG_INPUT UINT32_MAX
#define TAG_TIMER (UINT32_MAX - 1)

static int open_shell(struct shell *shell, struct error *error)
{
    const struct switch_output output = {deliver, shell};
    shell->epoll = epoll_create1(EPOLL_CLOEXEC);
    shell->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    shell->armed_ns = UINT64_MAX;
    if (shell->epoll < 0 || shell->timer < 0)
        return error_set(error, -errno, "open epoll and timer: %s", strerror(errno));
    shell->core = switch_core_new(endpoints(shell), shell->values.at[SEED], &output);
    int rc = watch(shell, STDIN_FILENO, TAG_INPUT, error);
    if (rc == 0)
        rc = watch(shell, shell->timer, TAG_TIMER, error);
    for (uint32_t i = 0; rc == 0 && i < endpoints(shell); i++) {
        int flags = fcntl(tap_of(shell, i), F_GETFL);
        if (flags < 0 || fcntl(tap_of(shell, i), F_SETFL, flags | O_NONBLOCK) < 0)
            return error_set(error, -errno, "descriptor %d: %s", tap_of(shell, i), strerror(errno));
        rc = watch(shell, tap_of(shell, i), i, error);
    }
    return rc;
}

static void close_shell(struct shell *shell)
{
    switch_core_free(shell->core);
    helper_end_release(&shell->end);
}

static int take_event(struct shell *shell, uint32_t tag, struct error *error)
{
    uint64_t expirations;
    if (tag == TAG_INPUT)
        return helper_end_read(&shell->end, error);
    if (tag != TAG_TIMER)
        take_packets(shell, tag);
    else if (read(shell->timer, &expirations, sizeof expirations) > 0)
        shell->armed_ns = UINT64_MAX;
    return 0;
}

static int loop(struct shell *shell, struct error *error)
{
    struct epoll_event events[EVENTS_PER_TURN];
    while (!shell->end.ended) {
        int count = epoll_wait(shell->epoll, events, EVENTS_PER_TURN, -1);
        if (count < 0 && errno != EINTR)
            return error_set(error, -errno, "epoll: %s", strerror(errno));
        for (int i = 0; i < count; i++) {
            int rc = take_event(shell, events[i].data.u32, error);
            if (rc < 0)
                return rc;
        }
        keep_time(shell);
    }
    return 0;
}

static int run(struct shell *shell, struct error *error)
{
    struct text ready = {0};
    int rc = open_shell(shell, error);
    if (rc < 0)
        return rc;
    text_add(&ready, "priority=%s", raise_priority());
    const struct control hello = {.verb = CONTROL_READY,
                                  .text = {text_string(&ready), ready.length}};
    shell->end.ended = !helper_end_send(&shell->end, &hello);
    text_release(&ready);
    return loop(shell, error);
}

int main(int argc, char **argv)
{
    struct shell shell = {.end = {.context = &shell, .command = take_command}};
    struct error error;
    int rc = helper_end_begin(options, argc, argv, &shell.values, &error);
    if (rc == 0)
        rc = run(&shell, &error);
    close_shell(&shell);
    if (rc == 0)
        return EXIT_VALID;
    (void)fprintf(stderr, "coup-switch: %s\n", error.text);
    return (int)error_exit_code(&error);
}
