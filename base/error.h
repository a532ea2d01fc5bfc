/* base: what every folder may use and what uses nothing of ours. No libuv, no NNG, no files.
 *
 * An error as it travels upwards: each layer prepends what it was doing, main() prints it once.
 * Functions that can fail return 0 or a negative errno and fill the `struct error` passed last.
 */
#ifndef COUP_BASE_ERROR_H
#define COUP_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/* Process exit codes, the same for every subcommand. */
enum exit_code {
    EXIT_VALID = 0,      /* valid, or as expected */
    EXIT_INVALID = 1,    /* a violation was proven, or not as expected */
    EXIT_UNKNOWN = 2,    /* could not decide, or nothing happened that could be judged */
    EXIT_HARNESS = 3,    /* coup itself failed; the history so far is kept */
    EXIT_USAGE_BAD = 64, /* the user asked for something that cannot be */
};

enum error_kind {
    ERROR_HARNESS, /* ours, or the machine's: exit 3 */
    ERROR_USAGE,   /* the user's input: exit 64 */
};

/* Room for a list of what would be accepted, with every layer's prefix. */
#define ERROR_TEXT_MAX 1024u

struct error {
    enum error_kind kind;
    char text[ERROR_TEXT_MAX]; /* one line, no newline; where cut, "..." stands in its middle */
};

/* Fill `error` (kind harness / usage) and return `code`, a negative errno, for `return
 * error_set()`. NULL `error` is allowed. */
int error_set(struct error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int error_usage(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prepend "prefix: " to the text; the kind stays. */
void error_prefix(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether an errno (positive) tells of a machine that is out of something, whatever was asked. */
bool error_is_machine(int code);

/* The exit code that stands for the error's kind. */
enum exit_code error_exit_code(const struct error *error);

/* Allocate or exit 3: so no branch exists that nobody has tested. Sizes read from outside are
 * bounded before they come here. The memory is zeroed. must_grow keeps the old contents. */
void *must_alloc(size_t count, size_t size_bytes);
void *must_grow(void *memory, size_t count, size_t size_bytes);
char *must_copy(const char *text);

#endif
