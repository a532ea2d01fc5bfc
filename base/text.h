/* A growing text buffer and a borrowed slice of text. */
#ifndef COUP_BASE_TEXT_H
#define COUP_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes somebody else owns, not terminated. */
struct slice {
    const char *at;
    size_t length;
};

struct slice slice_of(const char *text);
bool slice_equals(struct slice slice, const char *text);

/* Owns `at`, always terminated once anything was added; zeroed is empty. */
struct text {
    char *at;
    size_t length, capacity;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_va(struct text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void text_add_bytes(struct text *text, const void *bytes, size_t length);
void text_clear(struct text *text); /* keeps the memory */
void text_release(struct text *text);
const char *text_string(const struct text *text); /* "" when empty */

/* Whether the bytes are UTF-8 (RFC 3629); and add them with what is not replaced by U+FFFD. */
bool slice_is_utf8(struct slice slice);
void text_add_utf8(struct text *text, struct slice slice);

/* Add `slice` as a JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD; control
 * characters are escaped, so that a terminal shows the string and does nothing else. */
void text_add_json(struct text *text, struct slice slice);

/* Add `slice` as one word of a POSIX shell, quoted only where it must be. */
void text_add_shell(struct text *text, struct slice slice);

#endif
