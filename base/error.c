#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `wanted` is the length the whole text would have had. */
static void show_cut(struct error *error, size_t wanted)
{
    static const char cut[] = "...";
    if (wanted >= sizeof error->text)
        memcpy(error->text + sizeof error->text - sizeof cut, cut, sizeof cut);
}

__attribute__((format(printf, 3, 0))) static void
error_fill(struct error *error, enum error_kind kind, const char *format, va_list args)
{
    if (!error)
        return;
    error->kind = kind;
    int wanted = vsnprintf(error->text, sizeof error->text, format, args);
    show_cut(error, wanted < 0 ? 0 : (size_t)wanted);
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
    struct error inner = *error;
    va_list args;
    va_start(args, format);
    int used = vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    size_t length = used < 0 ? 0 : (size_t)used;
    size_t rest = strlen(inner.text);
    if (length + 2 < sizeof error->text) {
        size_t room = sizeof error->text - length - 3;
        memcpy(error->text + length, ": ", 2);
        memcpy(error->text + length + 2, inner.text, rest < room ? rest : room);
        error->text[length + 2 + (rest < room ? rest : room)] = '\0';
    }
    show_cut(error, length + 2 + rest);
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
