/* simulator: the second world. The same electors, cores, planner, engine, history and checks as a
 * real run, in one process under virtual time. Pure: time, randomness and faults come from the
 * seed, so one seed and one binary give one history, byte for byte. Depends on base, histories,
 * nodes' pure core, nemesis plans and checker; never on libuv, NNG, a disk or a clock.
 *
 * The event queue: what happens next. Ordered by (time, order of pushing), so that two things due
 * in the same nanosecond happen in the order they were caused, on every machine. */
#ifndef COUP_SIMULATOR_QUEUE_H
#define COUP_SIMULATOR_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 24 bytes: heaps are bound by memory traffic, so what is carried lies elsewhere (packet slots). */
struct queued {
    uint64_t time_ns;
    uint64_t sequence; /* given by the queue */
    uint32_t target;   /* the user's: what kind of happening, and to whom */
    uint32_t cargo;    /* the user's: a packet's slot, a timer's generation */
};

/* Zeroed is empty. A 4-ary heap: half the depth of a binary one, and the four children of a node
 * lie side by side. */
struct queue {
    struct queued *heap;
    uint32_t count, capacity;
    uint64_t pushed;
};

void queue_push(struct queue *queue, uint64_t time_ns, uint32_t target, uint32_t cargo);

/* The earliest, taken out. Legal only while count > 0. */
struct queued queue_pop(struct queue *queue);

/* What `which` picks happens at `time_ns` if it was due later, in the order of pushing. */
void queue_hasten(struct queue *queue, uint64_t time_ns,
                  bool (*which)(const void *context, const struct queued *entry),
                  const void *context);

/* Its time; UINT64_MAX when empty. */
static inline uint64_t queue_next_ns(const struct queue *queue)
{
    return queue->count ? queue->heap[0].time_ns : UINT64_MAX;
}

/* Forget all, keep the memory. */
void queue_clear(struct queue *queue);
void queue_release(struct queue *queue);

#endif
