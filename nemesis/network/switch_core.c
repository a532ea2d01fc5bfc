#include "nemesis/network/switch_core.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "nemesis/network/ethernet.h"

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

struct link {
    uint64_t key;                             /* of its draws */
    uint64_t number;                          /* frames so far */
    uint64_t clear_ns;                        /* a thin link has sent all it was given */
    uint64_t cut_sequence, cut_data_sequence; /* what was held back before these is dropped */
    uint32_t held;                            /* frames held back and not cut off since */
    bool impaired;
    struct impairment impairment;
    uint64_t touched[CAUSES];
};

struct held_frame {
    uint64_t at_ns, sequence;
    uint32_t from, to;
    uint32_t length;
    bool data;
    uint8_t *bytes;
};

struct switch_core {
    uint32_t endpoints;
    struct switch_output output;
    struct link *links;      /* endpoints x endpoints, from-major */
    struct held_frame *heap; /* earliest first, by (at_ns, sequence) */
    uint32_t heap_count, heap_capacity;
    uint64_t next_sequence;
    struct switch_totals totals;
};

static struct link *link_of(const struct switch_core *core, uint32_t from, uint32_t to)
{
    assert(from < core->endpoints && to < core->endpoints);
    return &core->links[(size_t)from * core->endpoints + to];
}

struct switch_core *switch_core_new(uint32_t endpoints, uint64_t seed,
                                    const struct switch_output *output)
{
    struct switch_core *core = must_alloc(1, sizeof *core);
    core->endpoints = endpoints;
    core->output = *output;
    core->links = must_alloc((size_t)endpoints * endpoints, sizeof *core->links);
    for (uint32_t from = 0; from < endpoints; from++)
        for (uint32_t to = 0; to < endpoints; to++)
            link_of(core, from, to)->key =
                mix64(mix64(seed + GOLDEN) ^ ((uint64_t)from << 32 | to));
    return core;
}

void switch_core_free(struct switch_core *core)
{
    if (!core)
        return;
    for (uint32_t i = 0; i < core->heap_count; i++)
        free(core->heap[i].bytes);
    free(core->heap);
    free(core->links);
    free(core);
}

void switch_core_set(struct switch_core *core, const struct link_change *change)
{
    struct link *link = link_of(core, change->from, change->to);
    if (change->impairment.cut) {
        link->cut_sequence = core->next_sequence;
        link->touched[CAUSE_CUT] += link->held;
        link->held = 0;
    }
    if (change->impairment.cut_data)
        link->cut_data_sequence = core->next_sequence;
    if (change->impairment.rate_bits_per_s != link->impairment.rate_bits_per_s)
        link->clear_ns = 0;
    link->impairment = change->impairment;
    link->impaired = !impairment_is_clean(&change->impairment);
}

uint64_t switch_core_touched(const struct switch_core *core, const struct link_change *change)
{
    const struct link *link = link_of(core, change->from, change->to);
    uint32_t causes = impairment_causes(&change->impairment);
    uint64_t touched = 0;
    for (uint32_t cause = 0; cause < CAUSES; cause++)
        if (causes >> cause & 1)
            touched += link->touched[cause];
    return touched;
}

struct switch_totals switch_core_totals(const struct switch_core *core)
{
    return core->totals;
}

/* ---- the frames held back ---- */

static bool earlier(const struct held_frame *a, const struct held_frame *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->sequence < b->sequence;
}

static void heap_push(struct switch_core *core, const struct held_frame *frame)
{
    if (core->heap_count == core->heap_capacity) {
        core->heap_capacity = core->heap_capacity ? core->heap_capacity * 2 : 64;
        core->heap = must_grow(core->heap, core->heap_capacity, sizeof *core->heap);
    }
    uint32_t at = core->heap_count++;
    while (at > 0 && earlier(frame, &core->heap[(at - 1) / 2])) {
        core->heap[at] = core->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    core->heap[at] = *frame;
}

static struct held_frame heap_pop(struct switch_core *core)
{
    struct held_frame first = core->heap[0], last = core->heap[--core->heap_count];
    uint32_t at = 0, child;
    while ((child = 2 * at + 1) < core->heap_count) {
        if (child + 1 < core->heap_count && earlier(&core->heap[child + 1], &core->heap[child]))
            child++;
        if (!earlier(&core->heap[child], &last))
            break;
        core->heap[at] = core->heap[child];
        at = child;
    }
    core->heap[at] = last;
    return first;
}

static void hold(struct switch_core *core, struct link *link, struct held_frame *frame,
                 const uint8_t *bytes)
{
    if (link->held >= SWITCH_LINK_FRAMES_MAX ||
        core->totals.held_bytes + frame->length > SWITCH_HELD_BYTES_MAX) {
        core->totals.overflow++;
        return;
    }
    frame->sequence = core->next_sequence++;
    frame->bytes = must_alloc(frame->length, 1);
    memcpy(frame->bytes, bytes, frame->length);
    link->held++;
    core->totals.held++;
    core->totals.held_bytes += frame->length;
    heap_push(core, frame);
}

/* A cut that came after the frame was held back drops it. */
static void let_go(struct switch_core *core, const struct held_frame *frame)
{
    struct link *link = link_of(core, frame->from, frame->to);
    bool cut = frame->sequence < link->cut_sequence;
    bool cut_data = !cut && frame->data && frame->sequence < link->cut_data_sequence;
    if (!cut)
        link->held--;
    if (cut_data)
        link->touched[CAUSE_CUT_DATA]++;
    if (!cut && !cut_data)
        core->output.deliver(core->output.context, frame->to, frame->bytes, frame->length);
    core->totals.held--;
    core->totals.held_bytes -= frame->length;
    free(frame->bytes);
}

uint64_t switch_core_due(struct switch_core *core, uint64_t now_ns)
{
    while (core->heap_count && core->heap[0].at_ns <= now_ns) {
        struct held_frame frame = heap_pop(core);
        let_go(core, &frame);
    }
    return core->heap_count ? core->heap[0].at_ns : UINT64_MAX;
}

/* ---- one copy on one link ---- */

/* What the draws of a frame are for; those behind the first three are drawn for each copy. */
enum draw { DRAW_LOSS, DRAW_DUPLICATE, DRAW_PER_COPY };
enum copy_draw { DRAW_CORRUPT, DRAW_CORRUPT_BIT, DRAW_REORDER, DRAW_JITTER, COPY_DRAWS };

static uint64_t draw(uint64_t frame_key, uint32_t purpose)
{
    return mix64(frame_key + GOLDEN * (purpose + 1));
}

/* 0..limit-1 */
static uint64_t scale(uint64_t drawn, uint64_t limit)
{
    return (uint64_t)(((__uint128_t)drawn * limit) >> 64);
}

static bool happens(uint64_t frame_key, uint32_t purpose, uint32_t ppm)
{
    return ppm > 0 && scale(draw(frame_key, purpose), PPM_ONE) < ppm;
}

/* Uniform in delay +- jitter, never negative. */
static uint64_t extra_delay(const struct impairment *impairment, uint64_t drawn)
{
    uint64_t delay = impairment->delay_ns, jitter = impairment->jitter_ns;
    uint64_t low = delay > jitter ? delay - jitter : 0;
    return jitter ? low + scale(drawn, delay + jitter - low + 1) : delay;
}

/* When a thin link has passed the frame on; false: the wait would be too long. */
static bool pass_thin_link(struct link *link, uint64_t now_ns, size_t length, uint64_t *ret_ns)
{
    uint64_t start = link->clear_ns > now_ns ? link->clear_ns : now_ns;
    link->touched[CAUSE_RATE]++;
    if (start - now_ns > SWITCH_RATE_QUEUE_NS)
        return false;
    link->clear_ns = start + (uint64_t)length * 8 * NS_PER_S / link->impairment.rate_bits_per_s;
    *ret_ns = link->clear_ns;
    return true;
}

static void flip_bit(uint8_t *frame, size_t length, uint64_t drawn)
{
    struct byte_range payload = ethernet_payload(frame, length);
    if (payload.length == 0)
        return;
    uint64_t bit = scale(drawn, payload.length * 8);
    frame[payload.start + bit / 8] ^= (uint8_t)(1u << bit % 8);
}

struct copy {
    uint32_t from, to;
    const uint8_t *frame;
    size_t length;
    uint64_t key; /* of this frame's draws */
    bool data;
};

/* The `number`th copy leaves, damaged, late, or at once. */
static void send_copy(struct switch_core *core, uint64_t now_ns, const struct copy *copy,
                      uint32_t number)
{
    struct link *link = link_of(core, copy->from, copy->to);
    const struct impairment *impairment = &link->impairment;
    uint32_t purpose = DRAW_PER_COPY + number * COPY_DRAWS;
    uint8_t damaged[SWITCH_FRAME_BYTES_MAX];
    const uint8_t *bytes = copy->frame;
    uint64_t at_ns = now_ns;
    if (impairment->rate_bits_per_s && !pass_thin_link(link, now_ns, copy->length, &at_ns)) {
        core->totals.overflow++;
        return;
    }
    if (happens(copy->key, purpose + DRAW_CORRUPT, impairment->corrupt_ppm)) {
        memcpy(damaged, bytes, copy->length);
        flip_bit(damaged, copy->length, draw(copy->key, purpose + DRAW_CORRUPT_BIT));
        bytes = damaged;
        link->touched[CAUSE_CORRUPT]++;
    }
    uint64_t extra_ns = extra_delay(impairment, draw(copy->key, purpose + DRAW_JITTER));
    if (happens(copy->key, purpose + DRAW_REORDER, impairment->reorder_ppm)) {
        link->touched[CAUSE_REORDER]++;
        extra_ns = 0;
    }
    link->touched[CAUSE_DELAY] += extra_ns > 0;
    struct held_frame frame = {.at_ns = at_ns + extra_ns,
                               .from = copy->from,
                               .to = copy->to,
                               .length = (uint32_t)copy->length,
                               .data = copy->data};
    if (frame.at_ns > now_ns)
        hold(core, link, &frame, bytes);
    else
        core->output.deliver(core->output.context, copy->to, bytes, copy->length);
}

/* True if the link lets the frame through at all. */
static bool passes(struct link *link, struct copy *copy)
{
    const struct impairment *impairment = &link->impairment;
    copy->data = ethernet_carries_data(copy->frame, copy->length);
    if (impairment_cuts(impairment))
        link->touched[CAUSE_CUT]++;
    else if (impairment->cut_data && copy->data)
        link->touched[CAUSE_CUT_DATA]++;
    else if (happens(copy->key, DRAW_LOSS, impairment->loss_ppm))
        link->touched[CAUSE_LOSS]++;
    else
        return true;
    return false;
}

static void judge(struct switch_core *core, uint64_t now_ns, struct copy *copy)
{
    struct link *link = link_of(core, copy->from, copy->to);
    copy->key = link->key + mix64(link->number++ + GOLDEN);
    core->totals.frames++;
    if (!link->impaired) {
        core->output.deliver(core->output.context, copy->to, copy->frame, copy->length);
        return;
    }
    if (!passes(link, copy))
        return;
    bool twice = happens(copy->key, DRAW_DUPLICATE, link->impairment.duplicate_ppm);
    link->touched[CAUSE_DUPLICATE] += twice;
    for (uint32_t number = 0; number < (twice ? 2 : 1); number++)
        send_copy(core, now_ns, copy, number);
}

void switch_core_frame(struct switch_core *core, uint64_t now_ns, uint32_t from,
                       const uint8_t *frame, size_t length)
{
    struct copy copy = {.from = from, .frame = frame, .length = length};
    uint32_t target = ethernet_target(frame, length);
    assert(from < core->endpoints && length <= SWITCH_FRAME_BYTES_MAX);
    if (target != ETHERNET_EVERYBODY && (target >= core->endpoints || target == from)) {
        core->totals.strays++;
        return;
    }
    uint32_t first = target == ETHERNET_EVERYBODY ? 0 : target;
    uint32_t last = target == ETHERNET_EVERYBODY ? core->endpoints - 1 : target;
    for (copy.to = first; copy.to <= last; copy.to++)
        if (copy.to != from)
            judge(core, now_ns, &copy);
}
