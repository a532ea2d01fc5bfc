#define _GNU_SOURCE
#include "controller/stalls.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "RUN WAITED SLICES" of the main thread, which is the one that holds elections. */
static bool read_waited(pid_t pid, uint64_t *out)
{
    char path[48], text[96];
    (void)snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    (void)close(fd); /* read only */
    if (length <= 0)
        return false;
    text[length] = '\0';
    const char *second = strchr(text, ' ');
    if (!second)
        return false;
    *out = strtoull(second, NULL, 10);
    return true;
}

/* In a container /proc may be that of the world outside, whose numbers are other processes. */
void stalls_init(struct stalls *stalls)
{
    char self[16] = "";
    *stalls = (struct stalls){0};
    ssize_t length = readlink("/proc/self", self, sizeof self - 1);
    stalls->counted = length > 0 && strtol(self, NULL, 10) == (long)getpid();
}

uint64_t stalls_sample(struct stalls *stalls, struct children *children)
{
    uint64_t longest_ns = 0;
    assert(children_count(children) <= STALLS_MAX);
    for (uint32_t i = 0; i < children_count(children) && stalls->counted; i++) {
        const struct child *child = children_at(children, i);
        uint64_t waited_ns = 0;
        if (child->pid == 0 || !read_waited(child->pid, &waited_ns))
            continue;
        uint64_t since_ns =
            stalls->seen[i].pid == child->pid ? waited_ns - stalls->seen[i].waited_ns : 0;
        stalls->seen[i].pid = child->pid;
        stalls->seen[i].waited_ns = waited_ns;
        longest_ns = since_ns > longest_ns ? since_ns : longest_ns;
    }
    return longest_ns;
}
