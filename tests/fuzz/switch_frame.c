/* Any frame through a switch that does everything to it. */
#include "nemesis/network/switch_core.h"

#include <assert.h>

static void deliver(void *context, uint32_t to, const uint8_t *frame, size_t length)
{
    uint64_t *sum = context;
    assert(to < 3 && length <= SWITCH_FRAME_BYTES_MAX);
    for (size_t i = 0; i < length; i++)
        *sum += frame[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const struct impairment bad = {.cut_data = true,
                                   .loss_ppm = 100000,
                                   .duplicate_ppm = 500000,
                                   .corrupt_ppm = 900000,
                                   .reorder_ppm = 100000,
                                   .delay_ns = 1000,
                                   .jitter_ns = 900,
                                   .rate_bits_per_s = 1000000};
    uint64_t sum = 0;
    const struct switch_output output = {deliver, &sum};
    if (length > SWITCH_FRAME_BYTES_MAX)
        return 0;
    struct switch_core *core = switch_core_new(3, 1, &output);
    for (uint32_t to = 1; to < 3; to++)
        switch_core_set(core, &(struct link_change){0, to, bad});
    for (uint64_t now_ns = 0; now_ns < 4000; now_ns += 500) {
        switch_core_frame(core, now_ns, 0, bytes, length);
        (void)switch_core_due(core, now_ns);
    }
    switch_core_free(core);
    return 0;
}
