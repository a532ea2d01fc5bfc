#include "simulator/recorder.h"

#include <assert.h>

#include "base/random.h"

#define HASH_STEP UINT64_C(0x9e3779b97f4a7c15)

/* Order matters, so each word is mixed into all before it. Cheaper than mix64, and enough to tell
 * two runs of ours apart: nobody chooses these words to collide. */
static inline uint64_t hashed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * HASH_STEP;
    return hash ^ (hash >> 29);
}

static uint64_t hashed_text(uint64_t hash, struct slice text)
{
    for (size_t i = 0; i < text.length; i++)
        hash = hashed(hash, (uint8_t)text.at[i]);
    return hashed(hash, text.length);
}

static uint64_t hashed_event(uint64_t hash, const struct event *event)
{
    hash = hashed(hash, event->time_ns);
    hash = hashed(hash, event->node_ns);
    hash = hashed(hash, (uint64_t)event->process << 32 | (uint64_t)event->type << 8 | event->f);
    hash = hashed(hash, event->present);
    for (uint64_t left = event->present; left; left &= left - 1) {
        enum event_field field = (enum event_field)__builtin_ctzll(left);
        if (event_field_kind(field) == FIELD_KIND_TEXT)
            hash = hashed_text(hash, event->field[field].text);
        else
            hash = hashed(hash, event->field[field].number);
    }
    return hash;
}

int sim_recorder_open(struct sim_recorder *recorder, const struct history_header *header,
                      const char *names, bool keep, struct error *error)
{
    *recorder = (struct sim_recorder){.hash = mix64(header->seed)};
    int rc = checker_new(header, names, &recorder->checker, error);
    if (rc < 0 || !keep)
        return rc;
    rc = history_create(NULL, header, &recorder->writer, error);
    assert(rc == 0); /* memory cannot be full */
    return rc;
}

void sim_recorder_event(struct sim_recorder *recorder, struct event *event)
{
    event->index = recorder->count++;
    recorder->hash = hashed_event(recorder->hash, event);
    checker_step(recorder->checker, event);
    if (recorder->writer) {
        int rc = history_append(recorder->writer, event, NULL);
        assert(rc == 0);
        (void)rc;
    }
}

void sim_recorder_close(struct sim_recorder *recorder, struct report_data *report)
{
    checker_end(recorder->checker, report);
    recorder->checker = NULL;
}
