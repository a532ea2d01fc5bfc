/* The switch without its descriptors: a frame, the time and the link matrix in, frames to deliver
 * out, now or later. Pure, and all its draws are keyed by (seed, from, to, number of the frame on
 * that link), so the same frames under the same impairments meet the same fate, and taking one
 * fault out does not shift the fate of what another touches. */
#ifndef COUP_NEMESIS_NETWORK_SWITCH_CORE_H
#define COUP_NEMESIS_NETWORK_SWITCH_CORE_H

#include "nemesis/link.h"

#define SWITCH_FRAME_BYTES_MAX 2048u
#define SWITCH_LINK_FRAMES_MAX 1000u           /* held back on one link; more are dropped */
#define SWITCH_HELD_BYTES_MAX (64u << 20)      /* held back on all links; more are dropped */
#define SWITCH_RATE_QUEUE_NS (500 * NS_PER_MS) /* longest wait for a thin link; then dropped */

/* A frame goes out to an endpoint. Borrowed for the call. */
struct switch_output {
    void (*deliver)(void *context, uint32_t to, const uint8_t *frame, size_t length);
    void *context;
};

struct switch_core;
struct switch_core *switch_core_new(uint32_t endpoints, uint64_t seed,
                                    const struct switch_output *output);
void switch_core_free(struct switch_core *core);

/* The link's impairment is this from now on. A cut also drops what the link holds back: nothing
 * leaks out of a partition. */
void switch_core_set(struct switch_core *core, const struct link_change *change);

/* A frame came from an endpoint. Broadcasts are copied, each copy judged by its own link. */
void switch_core_frame(struct switch_core *core, uint64_t now_ns, uint32_t from,
                       const uint8_t *frame, size_t length);

/* Deliver what is due. Returns when the next will be, UINT64_MAX: nothing is held back. */
uint64_t switch_core_due(struct switch_core *core, uint64_t now_ns);

/* Frames the link touched so far by the causes of the impairment given, whatever is set now. */
uint64_t switch_core_touched(const struct switch_core *core, const struct link_change *change);

struct switch_totals {
    uint64_t frames;   /* judged, one for each copy */
    uint64_t overflow; /* dropped because too much was held back */
    uint64_t strays;   /* for nobody we know */
    uint64_t held, held_bytes;
};

struct switch_totals switch_core_totals(const struct switch_core *core);

#endif
