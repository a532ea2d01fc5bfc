#define _GNU_SOURCE /* setns */
#include "controller/bench/inject_tc.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

#define NO_TC 127

static const char *loss_of(const struct link_change *link)
{
    return impairment_cuts(&link->impairment) ? "100%" : "0%";
}

/* In the child, inside the namespace. */
static void become_tc(const char *const *words, int input)
{
    char *arguments[16];
    int count = 0;
    for (; words[count]; count++)
        arguments[count] = must_copy(words[count]);
    arguments[count] = NULL;
    if (input < 0 || dup2(input, STDIN_FILENO) >= 0)
        (void)execvp("tc", arguments);
    _exit(NO_TC);
}

static pid_t start(int netns, const char *const *words, int input)
{
    pid_t child = fork();
    if (child == 0) {
        if (setns(netns, CLONE_NEWNET) < 0)
            _exit(NO_TC);
        become_tc(words, input);
    }
    return child;
}

static int finish(pid_t child, struct error *error)
{
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            break;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == NO_TC)
        return error_set(error, -ENOENT, "tc cannot be run (try: apt-get install iproute2)");
    return error_set(error, -EIO, "tc failed");
}

static int one_by_one(const struct endpoint *endpoints, const struct link_change *links,
                      uint32_t count, struct error *error)
{
    int rc = 0;
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        char device[PROCESS_NAME_MAX];
        const char *const words[] = {"tc",
                                     "qdisc",
                                     "change",
                                     "dev",
                                     process_name(endpoints[links[i].to].process, device),
                                     "root",
                                     "netem",
                                     "loss",
                                     loss_of(&links[i]),
                                     NULL};
        rc = finish(start(endpoints[links[i].from].netns, words, -1), error);
    }
    return rc;
}

/* The pipe holds all of it: 49 lines of some 40 bytes. */
static pid_t start_batch(const struct endpoint *endpoints, const struct link_change *links,
                         uint32_t count, uint32_t from)
{
    static const char *const words[] = {"tc", "-batch", "-", NULL};
    struct text lines = {0};
    int ends[2];
    for (uint32_t i = 0; i < count; i++) {
        char device[PROCESS_NAME_MAX];
        if (links[i].from == from)
            text_add(&lines, "qdisc change dev %s root netem loss %s\n",
                     process_name(endpoints[links[i].to].process, device), loss_of(&links[i]));
    }
    pid_t child = lines.length ? -1 : 0; /* 0: nothing to do */
    if (lines.length && pipe2(ends, O_CLOEXEC) == 0) {
        bool written = write(ends[1], lines.at, lines.length) == (ssize_t)lines.length;
        (void)close(ends[1]); /* end of file is the end of the batch */
        child = written ? start(endpoints[from].netns, words, ends[0]) : child;
        (void)close(ends[0]); /* the child has its own */
    }
    text_release(&lines);
    return child;
}

static int batches(const struct endpoint *endpoints, const struct link_change *links,
                   uint32_t count, struct error *error)
{
    pid_t children[NODES_MAX] = {0};
    struct error ignored;
    int rc = 0;
    for (uint32_t from = 0; from < NODES_MAX; from++)
        children[from] = start_batch(endpoints, links, count, from);
    for (uint32_t from = 0; from < NODES_MAX; from++) {
        int ended = children[from] ? finish(children[from], rc ? &ignored : error) : 0;
        rc = rc ? rc : ended;
    }
    return rc;
}

int tc_apply(const struct endpoint *endpoints, const struct link_change *links, uint32_t count,
             bool batch, struct error *error)
{
    return (batch ? batches : one_by_one)(endpoints, links, count, error);
}
