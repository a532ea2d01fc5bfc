#define _GNU_SOURCE
#include "controller/bent_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/units.h"

const char *bent_clock_library(void)
{
    static const char *const paths[] = {
        "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
        "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
        "/usr/lib64/faketime/libfaketimeMT.so.1",
        "/usr/lib/faketime/libfaketimeMT.so.1",
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (access(paths[i], R_OK) == 0)
            return paths[i];
    return NULL;
}

void bent_clock_init(struct bent_clock *clock, const char *path, bool monotonic)
{
    *clock = (struct bent_clock){
        .monotonic = monotonic, .path = must_copy(path), .bend.rate_ppm = CLOCK_TRUE_PPM};
}

void bent_clock_release(struct bent_clock *clock)
{
    free(clock->path);
    *clock = (struct bent_clock){0};
}

/* What running at `rate` instead of true makes of `length`. */
static int64_t gained(uint64_t rate_ppm, uint64_t length_ns)
{
    int64_t excess = (int64_t)rate_ppm - (int64_t)CLOCK_TRUE_PPM;
    int64_t millionths = (int64_t)(length_ns / CLOCK_TRUE_PPM);
    int64_t rest = (int64_t)(length_ns % CLOCK_TRUE_PPM);
    return excess * millionths + excess * rest / (int64_t)CLOCK_TRUE_PPM;
}

static uint64_t running(const struct bent_clock *clock, uint64_t now_ns)
{
    return now_ns > clock->start_ns ? now_ns - clock->start_ns : 0;
}

int64_t bent_clock_ahead(const struct bent_clock *clock, uint64_t now_ns)
{
    return clock->offset_ns + gained(clock->bend.rate_ppm, running(clock, now_ns));
}

void bent_clock_start(struct bent_clock *clock, uint64_t now_ns)
{
    clock->offset_ns = bent_clock_ahead(clock, now_ns);
    clock->start_ns = now_ns;
}

/* --- libfaketime's shared memory --- */

#define SHARED_PATH_MAX 64
#define MEMORY "/dev/shm/faketime_shm_"
#define SEMAPHORE "/dev/shm/sem.faketime_sem_"

static const char *shared_path(const char *prefix, pid_t pid, char path[SHARED_PATH_MAX])
{
    (void)snprintf(path, SHARED_PATH_MAX, "%s%d", prefix, (int)pid);
    return path;
}

/* When it started in this process; 0: unknown. In the memory are two words of its own, then
 * timespecs of the start: real, monotonic, ... The file may be shorter than the page that holds
 * them. */
static uint64_t library_start(pid_t pid)
{
    enum { MONOTONIC_S = 4, MONOTONIC_NS = 5, PAGE = 4096 };
    char path[SHARED_PATH_MAX];
    uint64_t start_ns = 0;
    int fd = open(shared_path(MEMORY, pid, path), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const uint64_t *words = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
    (void)close(fd); /* read only */
    if (words == MAP_FAILED)
        return 0;
    if (words[MONOTONIC_NS] < NS_PER_S && words[MONOTONIC_S] < UINT64_MAX / NS_PER_S / 2)
        start_ns = words[MONOTONIC_S] * NS_PER_S + words[MONOTONIC_NS];
    (void)munmap((void *)(uintptr_t)words, PAGE);
    return start_ns;
}

/* What we took for its start was before the exec; it cannot have been much later. */
#define START_LATE_NS (10 * NS_PER_S)

static void learn_start(struct bent_clock *clock)
{
    uint64_t start_ns = clock->pid ? library_start(clock->pid) : 0;
    if (start_ns > clock->start_ns && start_ns - clock->start_ns < START_LATE_NS)
        clock->start_ns = start_ns;
}

/* A rate is lowered as of a moment that is surely not over when the process reads the file: a late
 * reader would see the clock go back. */
#define AHEAD_NS (2 * NS_PER_MS)

void bent_clock_set(struct bent_clock *clock, const struct clock_bend *bend, uint64_t now_ns)
{
    struct clock_bend wanted = *bend;
    learn_start(clock);
    if (clock->monotonic)
        wanted.step_ns = 0;
    else
        wanted.rate_ppm = CLOCK_TRUE_PPM;
    uint64_t turn_ns = wanted.rate_ppm < clock->bend.rate_ppm ? now_ns + AHEAD_NS : now_ns;
    int64_t ahead_ns = bent_clock_ahead(clock, turn_ns) + wanted.step_ns - clock->bend.step_ns;
    clock->offset_ns = ahead_ns - gained(wanted.rate_ppm, running(clock, turn_ns));
    clock->bend = wanted;
}

/* Always both words: libfaketime keeps a rate that is not named. */
void bent_clock_format(const struct bent_clock *clock, struct text *out)
{
    uint64_t ns = (uint64_t)(clock->offset_ns < 0 ? -clock->offset_ns : clock->offset_ns);
    text_add(out, "%c%" PRIu64 ".%09" PRIu64 " x%" PRIu64 ".%06" PRIu64 "\n",
             clock->offset_ns < 0 ? '-' : '+', ns / NS_PER_S, ns % NS_PER_S,
             clock->bend.rate_ppm / CLOCK_TRUE_PPM, clock->bend.rate_ppm % CLOCK_TRUE_PPM);
}

int bent_clock_write(const struct bent_clock *clock, struct error *error)
{
    struct text line = {0}, draft = {0};
    bent_clock_format(clock, &line);
    text_add(&draft, "%s.new", clock->path);
    int fd = open(text_string(&draft), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool written = fd >= 0 && write(fd, line.at, line.length) == (ssize_t)line.length;
    int code = written ? 0 : errno ? errno : EIO;
    if (fd >= 0 && close(fd) < 0 && code == 0)
        code = errno;
    if (code == 0 && rename(text_string(&draft), clock->path) < 0)
        code = errno;
    text_release(&line);
    text_release(&draft);
    return code ? error_set(error, -code, "write %s: %s", clock->path, strerror(code)) : 0;
}

void bent_clock_environment(const struct bent_clock *clock, const char *words[BENT_CLOCK_WORDS])
{
    uint32_t count = 0;
    words[count++] = "LD_PRELOAD";
    words[count++] = bent_clock_library();
    words[count++] = "FAKETIME_TIMESTAMP_FILE";
    words[count++] = clock->path;
    words[count++] = "FAKETIME_NO_CACHE";
    words[count++] = "1";
    /* Sanitized programs want to be first otherwise. */
    words[count++] = "ASAN_OPTIONS";
    words[count++] = "verify_asan_link_order=0";
    if (!clock->monotonic) {
        words[count++] = "FAKETIME_DONT_FAKE_MONOTONIC";
        words[count++] = "1";
    }
    words[count] = NULL;
}

void bent_clock_sweep(const struct bent_clock *clock)
{
    char path[SHARED_PATH_MAX];
    if (clock->pid == 0)
        return;
    (void)unlink(shared_path(MEMORY, clock->pid, path)); /* it may have cleaned up itself */
    (void)unlink(shared_path(SEMAPHORE, clock->pid, path));
}
