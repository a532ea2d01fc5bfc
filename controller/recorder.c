#include "controller/recorder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct pending {
    uint64_t time_ns;
    uint64_t arrival; /* equal times keep their order */
    size_t offset, length;
};

/* Events that wait, encoded one after the other. */
struct batch {
    struct text bytes;
    struct pending *events;
    size_t count, capacity;
};

struct recorder {
    struct history_writer *writer;
    struct checker *checker;
    struct batch waiting, later; /* `later`: left over while emitting */
    uint64_t arrivals;
    int failed; /* -errno of the first failed write */
    struct error error;
};

/* The event's bytes were just appended, from `pending.offset` on. */
static void batch_push(struct batch *batch, struct pending pending)
{
    if (batch->count == batch->capacity) {
        batch->capacity = batch->capacity ? batch->capacity * 2 : 256;
        batch->events = must_grow(batch->events, batch->capacity, sizeof *batch->events);
    }
    pending.length = batch->bytes.length - pending.offset;
    batch->events[batch->count++] = pending;
}

static void batch_move(struct batch *to, const struct batch *from, struct pending pending)
{
    const char *bytes = from->bytes.at + pending.offset;
    pending.offset = to->bytes.length;
    text_add_bytes(&to->bytes, bytes, pending.length);
    batch_push(to, pending);
}

static void batch_clear(struct batch *batch)
{
    text_clear(&batch->bytes);
    batch->count = 0;
}

static void batch_release(struct batch *batch)
{
    text_release(&batch->bytes);
    free(batch->events);
}

static int earlier(const void *left, const void *right)
{
    const struct pending *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->arrival < b->arrival ? -1 : 1;
}

static int emit_one(struct recorder *recorder, const struct batch *batch,
                    const struct pending *pending)
{
    struct event event;
    size_t used;
    const uint8_t *bytes = (const uint8_t *)batch->bytes.at + pending->offset;
    int rc = event_decode(bytes, pending->length, &event, &used, &recorder->error);
    assert(rc == 0); /* we encoded it */
    rc = history_append(recorder->writer, &event, &recorder->error);
    if (rc == 0)
        checker_step(recorder->checker, &event);
    return rc;
}

int recorder_open(const char *path, const struct history_header *header, struct recorder **out,
                  struct error *error)
{
    struct recorder *recorder = must_alloc(1, sizeof *recorder);
    int rc = checker_new(header, NULL, &recorder->checker, error);
    if (rc == 0)
        rc = history_create(path, header, &recorder->writer, error);
    if (rc < 0) {
        (void)recorder_close(recorder, NULL);
        return rc;
    }
    *out = recorder;
    return 0;
}

void recorder_add(struct recorder *recorder, const struct event *event)
{
    struct batch *waiting = &recorder->waiting;
    struct pending pending = {
        .time_ns = event->time_ns,
        .arrival = recorder->arrivals++,
        .offset = waiting->bytes.length,
    };
    event_encode(event, &waiting->bytes);
    batch_push(waiting, pending);
}

int recorder_emit(struct recorder *recorder, uint64_t before_ns, struct error *error)
{
    struct batch *waiting = &recorder->waiting, *later = &recorder->later;
    if (waiting->count)
        qsort(waiting->events, waiting->count, sizeof *waiting->events, earlier);
    for (size_t i = 0; i < waiting->count && recorder->failed == 0; i++) {
        if (waiting->events[i].time_ns >= before_ns)
            batch_move(later, waiting, waiting->events[i]);
        else
            recorder->failed = emit_one(recorder, waiting, &waiting->events[i]);
    }
    batch_clear(waiting);
    struct batch emptied = *waiting;
    *waiting = *later;
    *later = emptied;
    if (recorder->failed < 0 && error)
        *error = recorder->error;
    return recorder->failed;
}

int recorder_flush(struct recorder *recorder, struct error *error)
{
    if (recorder->failed == 0)
        recorder->failed = history_flush(recorder->writer, &recorder->error);
    if (recorder->failed < 0 && error)
        *error = recorder->error;
    return recorder->failed;
}

uint64_t recorder_events(const struct recorder *recorder)
{
    return history_events(recorder->writer);
}

bool recorder_violated(const struct recorder *recorder)
{
    return checker_violated(recorder->checker);
}

void recorder_judge(struct recorder *recorder, struct report_data *out)
{
    checker_end(recorder->checker, out);
    recorder->checker = NULL;
}

int recorder_verdict(struct recorder *recorder, struct slice json, struct error *error)
{
    return history_verdict(recorder->writer, json, error);
}

void recorder_abandon(struct recorder *recorder)
{
    history_mark_torn(recorder->writer);
}

int recorder_close(struct recorder *recorder, struct error *error)
{
    int rc = 0;
    if (!recorder)
        return 0;
    if (recorder->checker) {
        struct report_data unread;
        checker_end(recorder->checker, &unread);
        report_data_release(&unread);
    }
    if (recorder->writer)
        rc = history_close(recorder->writer, error);
    batch_release(&recorder->waiting);
    batch_release(&recorder->later);
    free(recorder);
    return rc;
}
