#include "nemesis/disk/ailment.h"

void ailment_init(struct ailment *ailment, uint64_t seed, uint32_t node)
{
    *ailment = (struct ailment){0};
    random_init(&ailment->random, seed, "disk", node);
}

void ailment_set(struct ailment *ailment, const struct disk_trouble *trouble)
{
    bool same_room = ailment->trouble.full && trouble->full &&
                     ailment->trouble.room_bytes == trouble->room_bytes;
    ailment->trouble = *trouble;
    if (!same_room)
        ailment->room_bytes = trouble->room_bytes;
}

bool ailment_errs(struct ailment *ailment)
{
    bool errs =
        ailment->trouble.error_ppm && random_chance(&ailment->random, ailment->trouble.error_ppm);
    ailment->touched[DISK_ERRORS] += errs;
    return errs;
}

uint64_t ailment_take_room(struct ailment *ailment, uint64_t wanted)
{
    if (!ailment->trouble.full)
        return wanted;
    uint64_t taken = wanted < ailment->room_bytes ? wanted : ailment->room_bytes;
    ailment->room_bytes -= taken;
    ailment->touched[DISK_FULL] += taken < wanted;
    return taken;
}

bool ailment_is_full(struct ailment *ailment)
{
    bool full = ailment->trouble.full && ailment->room_bytes == 0;
    ailment->touched[DISK_FULL] += full;
    return full;
}
