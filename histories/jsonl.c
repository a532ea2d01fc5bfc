#include "histories/jsonl.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "histories/json.h"
#include "histories/reader.h"

/* No line is longer; what a reader allocates at most. */
#define LINE_BYTES_MAX ((size_t)16 << 20)

#define OUT_BYTES ((size_t)64 << 10)

enum line_result { LINE_READ, LINE_NONE, LINE_UNREADABLE, LINE_TOO_LONG };

/* The next line with anything on it; borrowed until the next call. */
static enum line_result next_line(struct history_reader *reader, struct slice *ret_line)
{
    struct input *input = &reader->input;
    size_t scanned = 0;
    for (;;) {
        const uint8_t *newline = input->length > scanned
                                     ? memchr(input->at + scanned, '\n', input->length - scanned)
                                     : NULL;
        scanned = input->length;
        if (!newline && scanned <= LINE_BYTES_MAX && input_need(input, 2 * scanned + 1) > scanned)
            continue;
        size_t length = newline ? (size_t)(newline - input->at) : scanned;
        if (length > LINE_BYTES_MAX)
            return LINE_TOO_LONG;
        if (!newline && input->error)
            return LINE_UNREADABLE;
        if (!newline && length == 0)
            return LINE_NONE;
        *ret_line = (struct slice){(const char *)input->at, length};
        input_skip(input, length + (newline ? 1 : 0));
        reader->line_number++;
        if (length > (ret_line->at[length ? length - 1 : 0] == '\r' ? 1 : 0))
            return LINE_READ;
        scanned = 0;
    }
}

/* Parse the next line into reader->line; 0 with an error that names the line, 1, or -1 at the end.
 */
static int next_object(struct history_reader *reader, struct error *error)
{
    struct slice line;
    json_decref(reader->line);
    reader->line = NULL;
    switch (next_line(reader, &line)) {
    case LINE_NONE: return -1;
    case LINE_TOO_LONG:
        (void)error_usage(error, "longer than %zu bytes", LINE_BYTES_MAX);
        reader->line_number++;
        return 0;
    case LINE_UNREADABLE:
        (void)error_usage(error, "cannot be read: %s", strerror(reader->input.error));
        reader->line_number++;
        return 0;
    case LINE_READ: break;
    }
    return json_read_object(line.at, line.length, &reader->line, error) == 0;
}

int jsonl_open(struct history_reader *reader, struct error *error)
{
    reader->lines = true;
    int rc = next_object(reader, error) == 1 ? 0 : -EINVAL;
    if (rc == 0 && !json_object_get(reader->line, "format"))
        rc = error_usage(error, "no history header, for it has no key 'format'");
    if (rc == 0)
        rc = header_from_object(reader->line, &reader->header, error);
    if (rc < 0)
        error_prefix(error, "JSON line %" PRIu64, reader->line_number);
    return rc;
}

/* {"end":{"events":N,"verdict":{...}}}, the verdict only if one was recorded. */
static int read_end(struct history_reader *reader, const json_t *end, struct error *error)
{
    uint64_t events;
    const json_t *verdict = json_object_get(end, "verdict");
    if (json_object_size(reader->line) != 1 || !json_is_object(end) ||
        json_object_size(end) != (verdict ? 2 : 1) ||
        !json_read_number(json_object_get(end, "events"), &events))
        return error_usage(error, "'end' must be the line's only key, with the number of 'events'"
                                  " and a 'verdict' if there is one");
    if (events != reader->next_index)
        return error_usage(error, "counts %" PRIu64 " events, but there are %" PRIu64, events,
                           reader->next_index);
    if (verdict && json_line_of(verdict, &reader->verdict) < 0)
        return error_usage(error, "'verdict' must be an object");
    struct error ignored;
    if (next_object(reader, &ignored) != -1)
        return error_usage(error, "something follows the line of the key 'end'");
    reader->over = true;
    return 0;
}

static int read_event(struct history_reader *reader, struct event *out, struct error *error)
{
    int rc = event_from_object(reader->line, out, error);
    if (rc == 0 && out->index != EVENT_INDEX_UNSTATED && out->index != reader->next_index)
        rc = error_usage(error, "index %" PRIu64 " where %" PRIu64 " comes next", out->index,
                         reader->next_index);
    return rc;
}

int jsonl_next(struct history_reader *reader, struct event *out)
{
    struct error error;
    if (reader->over)
        return 0;
    int rc = next_object(reader, &error);
    if (rc < 0) {
        reader_damage(reader, "cut off after line %" PRIu64 ": the line {\"end\":...} is missing",
                      reader->line_number);
        return 0;
    }
    const json_t *end = json_object_get(reader->line, "end");
    if (rc == 1)
        rc = (end ? read_end(reader, end, &error) : read_event(reader, out, &error)) == 0;
    if (rc == 0)
        reader_damage(reader, "line %" PRIu64 ": %s", reader->line_number, error.text);
    if (reader->over)
        return 0;
    out->index = reader->next_index++;
    return 1;
}

static int write_out(FILE *out, struct text *text, struct error *error)
{
    size_t wrote = text->length ? fwrite(text->at, 1, text->length, out) : 0;
    if (wrote < text->length)
        return error_set(error, errno ? -errno : -EIO, "write: %s", strerror(errno));
    text_clear(text);
    return 0;
}

static void add_end(struct history_reader *reader, struct text *text)
{
    struct slice verdict = history_recorded_verdict(reader);
    text_add(text, "{\"end\":{\"events\":%" PRIu64, reader->next_index);
    text_add(text, verdict.length ? ",\"verdict\":" : "");
    text_add_bytes(text, verdict.at, verdict.length);
    text_add(text, "}}\n");
}

int history_to_jsonl(struct history_reader *reader, FILE *out, struct error *error)
{
    struct text text = {0};
    struct event event;
    int rc = 0;
    header_to_json(history_header(reader), &text);
    text_add_bytes(&text, "\n", 1);
    while (rc == 0 && history_next(reader, &event)) {
        event_to_json(&event, &text);
        text_add_bytes(&text, "\n", 1);
        if (text.length >= OUT_BYTES)
            rc = write_out(out, &text, error);
    }
    if (rc == 0 && !history_damage(reader))
        add_end(reader, &text);
    if (rc == 0)
        rc = write_out(out, &text, error);
    text_release(&text);
    return rc;
}

int history_copy(struct history_reader *reader, struct history_writer *writer, struct error *error)
{
    struct event event;
    int rc = 0;
    while (rc == 0 && history_next(reader, &event))
        rc = history_append(writer, &event, error);
    struct slice verdict = history_recorded_verdict(reader);
    if (rc == 0 && verdict.length > 0)
        rc = history_verdict(writer, verdict, error);
    if (rc == 0 && history_damage(reader))
        history_mark_torn(writer);
    return rc;
}
