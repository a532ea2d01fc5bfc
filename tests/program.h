/* `coup` itself as a process, for live tests: started in a folder of its own, its output kept in
 * files, everything it starts known by a mark in the environment. */
#ifndef COUP_TESTS_PROGRAM_H
#define COUP_TESTS_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/text.h"

/* A folder that is removed at the end. coup's standard output is `out` in it, its error `err`. */
struct program_bench {
    char folder[64];
    char coup[4096]; /* the program */
    unsigned mounts; /* at the beginning */
    unsigned user;   /* who runs coup; 0: whoever runs the test */
};

/* Also moves the test into mount, network and IPC namespaces of its own, with a /dev/shm of its
 * own, so that what is left behind can be counted whatever else the machine does. False: this
 * machine cannot (the reason is printed): skip. */
bool program_open(struct program_bench *bench);
void program_close(struct program_bench *bench);

/* From now on coup is run by a plain user, for whom /dev/net/tun is as open as on a stock Debian
 * (in this test's mount namespace alone). */
void program_as_plain_user(struct program_bench *bench);

/* Start coup with `words` (NULL-terminated, without argv[0]); `name` tells outputs of several apart
 * ("" for one): out<name>, err<name>. */
pid_t program_start(const struct program_bench *bench, const char *name, const char *const *words);

/* Its exit status, or -signal. One that takes longer is killed and fails the test. */
int program_wait(pid_t pid, unsigned within_ms);

/* Both. */
int program_run(const struct program_bench *bench, const char *const *words);

/* Append a file of the bench's folder; false when there is none. */
bool program_read(const struct program_bench *bench, const char *name, struct text *out);

/* Fails the test unless standard error is exactly one line that contains `about`. */
void program_expect_line(const struct program_bench *bench, const char *about);

/* Run a tool of the system with two words; fails the test unless it succeeds. */
void program_tool(const char *tool, const char *first, const char *second);

/* The process inside the sandbox, as soon as it exists; 0: coup ended before. */
pid_t program_inside(const struct program_bench *bench, const char *folder, pid_t coup);

/* Processes, interfaces, mounts and shared-memory files beyond what was there at program_open(). */
unsigned program_left(const struct program_bench *bench);

/* program_left() is 0 within that time. */
bool program_nothing_left(const struct program_bench *bench, unsigned within_ms);

unsigned long program_now_ms(void);

#endif
