#include "nodes/clock.h"

#include <assert.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"

static uint64_t in_ns(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

/* libc's syscall() can be interposed as well as clock_gettime(), so the instruction stands here. */
static long bare_clock_gettime(long clock, struct timespec *time)
{
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_clock_gettime), "D"(clock), "S"(time)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x0 __asm__("x0") = clock;
    register struct timespec *x1 __asm__("x1") = time;
    register long x8 __asm__("x8") = SYS_clock_gettime;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x8) : "memory");
    return x0;
#else
    return syscall(SYS_clock_gettime, clock, time);
#endif
}

static uint64_t read_true(clockid_t clock)
{
    struct timespec time = {0};
    long result = bare_clock_gettime(clock, &time);
    assert(result == 0);
    (void)result;
    return in_ns(&time);
}

uint64_t clock_true_ns(void)
{
    return read_true(CLOCK_MONOTONIC);
}

static uint64_t read_clock(clockid_t clock)
{
    struct timespec time = {0};
    int result = clock_gettime(clock, &time);
    assert(result == 0);
    (void)result;
    return in_ns(&time);
}

uint64_t clock_own_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

/* Whoever is interrupted in between tries again; the closest reading counts. */
void clock_read(struct clock_reading *out)
{
    uint64_t closest_ns = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        struct clock_reading reading = {.true_ns = clock_true_ns()};
        reading.true_wall_ns = read_true(CLOCK_REALTIME);
        reading.own_ns = clock_own_ns();
        reading.wall_ns = clock_wall_ns();
        uint64_t took_ns = clock_true_ns() - reading.true_ns;
        if (took_ns < closest_ns)
            *out = reading;
        closest_ns = took_ns < closest_ns ? took_ns : closest_ns;
    }
}
