#include "simulator/queue.h"

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"

#define FAN 4u

static inline bool before(const struct queued *a, const struct queued *b)
{
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    return a->sequence < b->sequence;
}

static void grow(struct queue *queue)
{
    assert(queue->capacity < UINT32_MAX / 2);
    queue->capacity = queue->capacity ? queue->capacity * 2 : 64;
    queue->heap = must_grow(queue->heap, queue->capacity, sizeof *queue->heap);
}

/* Put `entry` where the free place `at` or its ancestors want it. */
static void rise(struct queue *queue, uint32_t at, struct queued entry)
{
    while (at > 0) {
        uint32_t parent = (at - 1) / FAN;
        if (!before(&entry, &queue->heap[parent]))
            break;
        queue->heap[at] = queue->heap[parent];
        at = parent;
    }
    queue->heap[at] = entry;
}

void queue_push(struct queue *queue, uint64_t time_ns, uint32_t target, uint32_t cargo)
{
    if (queue->count == queue->capacity)
        grow(queue);
    rise(queue, queue->count++, (struct queued){time_ns, queue->pushed++, target, cargo});
}

/* An entry that rises changes places only with some that were looked at before. */
void queue_hasten(struct queue *queue, uint64_t time_ns,
                  bool (*which)(const void *context, const struct queued *entry),
                  const void *context)
{
    for (uint32_t at = 0; at < queue->count; at++) {
        struct queued entry = queue->heap[at];
        if (entry.time_ns <= time_ns || !which(context, &entry))
            continue;
        entry.time_ns = time_ns;
        rise(queue, at, entry);
    }
}

/* The earliest of the up to four children from `first` on. */
static inline uint32_t earliest_child(const struct queue *queue, uint32_t first)
{
    uint32_t last = first + FAN < queue->count ? first + FAN : queue->count;
    uint32_t best = first;
    for (uint32_t child = first + 1; child < last; child++)
        if (before(&queue->heap[child], &queue->heap[best]))
            best = child;
    return best;
}

struct queued queue_pop(struct queue *queue)
{
    assert(queue->count > 0);
    struct queued top = queue->heap[0];
    struct queued moved = queue->heap[--queue->count];
    uint32_t at = 0;
    for (uint32_t first; (first = at * FAN + 1) < queue->count;) {
        uint32_t child = earliest_child(queue, first);
        if (!before(&queue->heap[child], &moved))
            break;
        queue->heap[at] = queue->heap[child];
        at = child;
    }
    queue->heap[at] = moved;
    return top;
}

void queue_clear(struct queue *queue)
{
    queue->count = 0;
    queue->pushed = 0;
}

void queue_release(struct queue *queue)
{
    free(queue->heap);
    *queue = (struct queue){0};
}
