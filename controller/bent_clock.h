/* One machine's clocks, bent by libfaketime: a file that says "+OFFSET xRATE", which the node's
 * libc reads at every look at a clock. libfaketime shows
 *
 *     true wall time at its start + offset + rate * (true time since its start)
 *
 * for the wall clock, and for the monotonic one too unless told to leave it alone. So a node has
 * one of two profiles for the length of a run: its wall clock can be stepped either way (and the
 * monotonic one is true), or both run at a rate (and never jump, for a monotonic clock does not).
 * The offset is computed here so that a change of rate is continuous. A clock belongs to the
 * machine: what it was off by when a process died is what the next one starts with.
 *
 * Times are true monotonic nanoseconds. */
#ifndef COUP_CONTROLLER_BENT_CLOCK_H
#define COUP_CONTROLLER_BENT_CLOCK_H

#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"
#include "nemesis/act.h"

/* Path of the library, or NULL: it is not installed. */
const char *bent_clock_library(void);

struct bent_clock {
    bool monotonic;    /* the profile: both clocks run at a rate */
    char *path;        /* of the file; owned; NULL: this node's clocks cannot be bent */
    int64_t offset_ns; /* as in the file */
    struct clock_bend bend;
    uint64_t start_ns; /* libfaketime's own, in the present process */
    pid_t pid;         /* of the present or last process; 0: none yet */
};

void bent_clock_init(struct bent_clock *clock, const char *path, bool monotonic);
void bent_clock_release(struct bent_clock *clock);

/* By how much the wall clock is ahead of true time. */
int64_t bent_clock_ahead(const struct bent_clock *clock, uint64_t now_ns);

/* A process is about to start: it finds the clocks as they are now. */
void bent_clock_start(struct bent_clock *clock, uint64_t now_ns);

/* Bend from now on. A monotonic clock ignores the step. */
void bent_clock_set(struct bent_clock *clock, const struct clock_bend *bend, uint64_t now_ns);

/* The file's text, and the file itself, replaced as one. */
void bent_clock_format(const struct bent_clock *clock, struct text *out);
int bent_clock_write(const struct bent_clock *clock, struct error *error);

/* Names and values in turn for the process's environment, NULL-terminated. Borrows. */
#define BENT_CLOCK_WORDS 11
void bent_clock_environment(const struct bent_clock *clock, const char *words[BENT_CLOCK_WORDS]);

/* The process has ended: away with what libfaketime leaves behind when killed. */
void bent_clock_sweep(const struct bent_clock *clock);

#endif
