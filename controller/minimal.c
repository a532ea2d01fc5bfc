#include "controller/minimal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "controller/ddmin.h"

/* Events that candidates are judged over, all together: half a minute at some millions a second. */
#define STEPS_MAX UINT64_C(150000000)

/* The events that the check asks for, packed: a history may have millions. */
struct part {
    const struct history_header *header;
    const struct check_result *wanted;
    struct text bytes;
    size_t *offsets;   /* owned, as are the next two */
    uint64_t *indices; /* in the whole history */
    uint32_t *kept;
    uint32_t count, capacity;
    uint64_t steps;
};

static void keep(struct part *part, const struct event *event)
{
    if (part->count == part->capacity) {
        part->capacity = part->capacity ? 2 * part->capacity : 1024;
        part->offsets = must_grow(part->offsets, part->capacity, sizeof *part->offsets);
        part->indices = must_grow(part->indices, part->capacity, sizeof *part->indices);
        part->kept = must_grow(part->kept, part->capacity, sizeof *part->kept);
    }
    part->offsets[part->count] = part->bytes.length;
    part->indices[part->count] = event->index;
    part->kept[part->count] = part->count;
    part->count++;
    event_encode(event, &part->bytes);
}

static void recall(const struct part *part, uint32_t item, struct event *out)
{
    size_t at = part->offsets[item], used;
    int rc = event_decode((const uint8_t *)part->bytes.at + at, part->bytes.length - at, out, &used,
                          NULL);
    assert(rc == 0); /* we have packed it */
    out->index = part->indices[item];
}

static bool same_violation(const struct finding *whole, const struct finding *part)
{
    return part->verdict == VERDICT_INVALID && part->witness_count == whole->witness_count &&
           memcmp(part->witness, whole->witness, whole->witness_count * sizeof *whole->witness) ==
               0 &&
           strcmp(part->reason, whole->reason) == 0;
}

static int shows(void *context, const uint32_t *items, uint32_t count, struct error *error)
{
    struct part *part = context;
    struct checker *checker;
    struct report_data data;
    struct event event;
    if (part->steps >= STEPS_MAX)
        return 0;
    part->steps += count;
    int rc = checker_new(part->header, part->wanted->check->name, &checker, error);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < count; i++) {
        recall(part, items[i], &event);
        checker_step(checker, &event);
    }
    checker_end(checker, &data);
    bool same = same_violation(&part->wanted->finding, &data.results[0].finding);
    report_data_release(&data);
    return same;
}

static const struct check_result *first_violated(const struct report_data *data)
{
    for (uint32_t i = 0; i < data->result_count; i++)
        if (data->results[i].owed && data->results[i].finding.verdict == VERDICT_INVALID)
            return &data->results[i];
    return NULL;
}

static int write_kept(const struct part *part, const char *output, struct error *error)
{
    struct history_writer *writer;
    struct event event;
    int rc = history_create(output, part->header, &writer, error);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; rc == 0 && i < part->count; i++) {
        recall(part, part->kept[i], &event);
        rc = history_append(writer, &event, error);
    }
    int closed = history_close(writer, rc == 0 ? error : NULL);
    rc = rc < 0 ? rc : closed;
    if (rc < 0)
        (void)unlink(output); /* ours, and not whole */
    return rc;
}

static int minimise(struct history_reader *reader, const struct check_result *wanted,
                    const char *output, struct minimal_result *out, struct error *error)
{
    struct part part = {.header = history_header(reader), .wanted = wanted};
    struct event event;
    *out = (struct minimal_result){.check = wanted->check};
    /* Phases as well: the last one says when the history ended. */
    for (; history_next(reader, &event) == 1; out->before++)
        if ((wanted->check->events | 1u << F_PHASE) & 1u << event.f)
            keep(&part, &event);
    int rc = ddmin(part.kept, &part.count, shows, &part, error);
    out->after = part.count;
    out->whole = part.steps < STEPS_MAX;
    if (rc == 0)
        rc = write_kept(&part, output, error);
    text_release(&part.bytes);
    free(part.offsets);
    free(part.indices);
    free(part.kept);
    return rc;
}

int minimal_write(const char *path, const char *names, const char *output,
                  struct minimal_result *out, struct error *error)
{
    struct history_reader *reader;
    struct report_data data;
    if (access(output, F_OK) == 0)
        return error_usage(error, "%s exists (give another name, or remove it)", output);
    int rc = check_file(path, names, &data, error);
    if (rc < 0)
        return rc;
    const struct check_result *wanted = first_violated(&data);
    if (!wanted)
        rc = error_usage(error, "%s: no check is violated, nothing to minimise", path);
    if (rc == 0)
        rc = history_open(path, &reader, error);
    if (rc == 0) {
        rc = minimise(reader, wanted, output, out, error);
        history_reader_close(reader);
    }
    report_data_release(&data);
    return rc;
}
