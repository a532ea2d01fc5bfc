#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct slice slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

bool slice_equals(struct slice slice, const char *text)
{
    return strlen(text) == slice.length &&
           (slice.length == 0 || memcmp(slice.at, text, slice.length) == 0);
}

static void text_reserve(struct text *text, size_t more)
{
    size_t want = text->length + more + 1;
    if (want <= text->capacity)
        return;
    size_t capacity = text->capacity ? text->capacity : 64;
    while (capacity < want)
        capacity *= 2;
    text->at = must_grow(text->at, capacity, 1);
    text->capacity = capacity;
}

void text_add_bytes(struct text *text, const void *bytes, size_t length)
{
    text_reserve(text, length);
    if (length)
        memcpy(text->at + text->length, bytes, length);
    text->length += length;
    text->at[text->length] = '\0';
}

void text_add_va(struct text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        return;
    text_reserve(text, (size_t)length);
    (void)vsnprintf(text->at + text->length, (size_t)length + 1, format, arguments);
    text->length += (size_t)length;
}

void text_add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_add_va(text, format, arguments);
    va_end(arguments);
}

void text_clear(struct text *text)
{
    text->length = 0;
    if (text->at)
        text->at[0] = '\0';
}

void text_release(struct text *text)
{
    free(text->at);
    *text = (struct text){0};
}

const char *text_string(const struct text *text)
{
    return text->at ? text->at : "";
}

/* Length of the valid UTF-8 sequence at `s` (RFC 3629), 0 when there is none. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
    static const unsigned char lowest[] = {0, 0, 0x80, 0xa0, 0x90}; /* second byte after E0, F0 */
    if (s[0] < 0x80)
        return 1;
    size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || left < length)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 || s[0] == 0xf0) && s[1] < lowest[length];
    bool surrogate = s[0] == 0xed && s[1] > 0x9f;
    bool beyond = s[0] == 0xf4 && s[1] > 0x8f;
    return overlong || surrogate || beyond ? 0 : length;
}

bool slice_is_utf8(struct slice slice)
{
    const unsigned char *s = (const unsigned char *)slice.at;
    for (size_t i = 0; i < slice.length;) {
        size_t length = utf8_length(s + i, slice.length - i);
        if (length == 0)
            return false;
        i += length;
    }
    return true;
}

void text_add_utf8(struct text *text, struct slice slice)
{
    const unsigned char *s = (const unsigned char *)slice.at;
    for (size_t i = 0; i < slice.length;) {
        size_t length = utf8_length(s + i, slice.length - i);
        text_add_bytes(text, length ? (const char *)s + i : "\xef\xbf\xbd", length ? length : 3);
        i += length ? length : 1;
    }
}

void text_add_json(struct text *text, struct slice slice)
{
    const unsigned char *s = (const unsigned char *)slice.at;
    text_add_bytes(text, "\"", 1);
    for (size_t i = 0; i < slice.length;) {
        size_t length = utf8_length(s + i, slice.length - i);
        if (length == 0)
            text_add_bytes(text, "\xef\xbf\xbd", 3);
        else if (s[i] == '"' || s[i] == '\\')
            text_add(text, "\\%c", s[i]);
        else if (s[i] < 0x20 || s[i] == 0x7f)
            text_add(text, "\\u%04x", s[i]);
        else if (s[i] == 0xc2 && s[i + 1] < 0xa0) /* terminals obey U+0080 to U+009F */
            text_add(text, "\\u%04x", s[i + 1]);
        else
            text_add_bytes(text, s + i, length);
        i += length ? length : 1;
    }
    text_add_bytes(text, "\"", 1);
}

static bool shell_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("_-./:=,+@%", c));
}

void text_add_shell(struct text *text, struct slice slice)
{
    size_t plain = 0;
    while (plain < slice.length && shell_plain(slice.at[plain]))
        plain++;
    if (slice.length > 0 && plain == slice.length) {
        text_add_bytes(text, slice.at, slice.length);
        return;
    }
    text_add_bytes(text, "'", 1);
    for (size_t i = 0; i < slice.length; i++) {
        if (slice.at[i] == '\'') /* close, a quoted quote, open again */
            text_add_bytes(text, "'\\''", 4);
        else
            text_add_bytes(text, &slice.at[i], 1);
    }
    text_add_bytes(text, "'", 1);
}
