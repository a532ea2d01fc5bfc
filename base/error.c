#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* What is too long loses its middle: what was done stands at its head, why it failed at its end. */
static void set_text(struct error *error, const char *text, size_t length)
{
    static const char cut[] = "...";
    const size_t room = sizeof error->text - 1, dots = sizeof cut - 1;
    if (length <= room) {
        memmove(error->text, text, length);
        error->text[length] = '\0';
        return;
    }
    size_t head = (room - dots) / 2, tail = room - dots - head;
    memmove(error->text, text, head);
    memcpy(error->text + head, cut, dots);
    memcpy(error->text + head + dots, text + length - tail, tail);
    error->text[room] = '\0';
}

__attribute__((format(printf, 3, 0))) static void
error_fill(struct error *error, enum error_kind kind, const char *format, va_list args)
{
    struct text text = {0};
    if (!error)
        return;
    text_add_va(&text, format, args);
    error->kind = kind;
    set_text(error, text_string(&text), text.length);
    text_release(&text);
}

int error_set(struct error *error, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_fill(error, ERROR_HARNESS, format, args);
    va_end(args);
    return code;
}

int error_usage(struct error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_fill(error, ERROR_USAGE, format, args);
    va_end(args);
    return -EINVAL;
}

void error_prefix(struct error *error, const char *format, ...)
{
    if (!error)
        return;
    struct text text = {0};
    va_list args;
    va_start(args, format);
    text_add_va(&text, format, args);
    va_end(args);
    text_add(&text, ": %s", error->text);
    set_text(error, text_string(&text), text.length);
    text_release(&text);
}

bool error_is_machine(int code)
{
    return code == ENOSPC || code == EDQUOT || code == EIO || code == EMFILE || code == ENFILE ||
           code == ENOMEM || code == EFBIG;
}

enum exit_code error_exit_code(const struct error *error)
{
    return error->kind == ERROR_USAGE ? EXIT_USAGE_BAD : EXIT_HARNESS;
}

static void out_of_memory(void)
{
    (void)fputs("coup: out of memory\n", stderr);
    exit(EXIT_HARNESS);
}

void *must_alloc(size_t count, size_t size_bytes)
{
    void *memory = calloc(count ? count : 1, size_bytes ? size_bytes : 1);
    if (!memory)
        out_of_memory();
    return memory;
}

void *must_grow(void *memory, size_t count, size_t size_bytes)
{
    if (size_bytes && count > (size_t)-1 / size_bytes)
        out_of_memory();
    size_t bytes = count * size_bytes;
    void *grown = realloc(memory, bytes > 0 ? bytes : 1);
    if (!grown)
        out_of_memory();
    return grown;
}

char *must_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(must_alloc(1, size), text, size);
}
