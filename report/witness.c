#include "report/witness.h"

#include <stdlib.h>

#include "histories/show.h"

static int by_index(const void *a, const void *b)
{
    uint64_t left = ((const struct witness_line *)a)->index;
    uint64_t right = ((const struct witness_line *)b)->index;
    return (left > right) - (left < right);
}

void witness_lines_want(const struct report_data *data, struct witness_lines *out)
{
    *out = (struct witness_lines){0};
    out->lines = must_alloc(CHECKS_MAX * WITNESS_MAX, sizeof *out->lines);
    for (uint32_t i = 0; i < data->result_count; i++) {
        const struct check_result *result = &data->results[i];
        for (uint32_t k = 0; result->owed && k < result->finding.witness_count; k++)
            out->lines[out->count++].index = result->finding.witness[k];
    }
    if (out->count == 0)
        return;
    qsort(out->lines, out->count, sizeof *out->lines, by_index);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < out->count; i++)
        if (out->lines[i].index != out->lines[kept - 1].index)
            out->lines[kept++].index = out->lines[i].index;
    out->count = kept;
}

static struct witness_line *find(const struct witness_lines *lines, uint64_t index)
{
    struct witness_line key = {.index = index};
    if (lines->count == 0)
        return NULL;
    return bsearch(&key, lines->lines, lines->count, sizeof key, by_index);
}

void witness_lines_see(struct witness_lines *lines, const struct event *event)
{
    struct witness_line *line = find(lines, event->index);
    if (!line || line->line)
        return;
    struct text text = {0};
    event_to_text(event, false, &text);
    line->line = text.at;
}

int witness_lines_read(struct witness_lines *lines, const char *path, struct error *error)
{
    struct history_reader *reader;
    struct event event;
    if (lines->count == 0)
        return 0;
    int rc = history_open(path, &reader, error);
    if (rc < 0)
        return rc;
    while (history_next(reader, &event) > 0 && event.index <= lines->lines[lines->count - 1].index)
        witness_lines_see(lines, &event);
    history_reader_close(reader);
    return 0;
}

const char *witness_lines_find(const struct witness_lines *lines, uint64_t index)
{
    const struct witness_line *line = find(lines, index);
    return line ? line->line : NULL;
}

void witness_lines_release(struct witness_lines *lines)
{
    for (uint32_t i = 0; i < lines->count; i++)
        free(lines->lines[i].line);
    free(lines->lines);
    *lines = (struct witness_lines){0};
}
