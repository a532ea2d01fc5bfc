/* What a disk does to the requests it gets while it is in trouble, counted by symptom. Pure. */
#ifndef COUP_NEMESIS_DISK_AILMENT_H
#define COUP_NEMESIS_DISK_AILMENT_H

#include "base/random.h"
#include "nemesis/act.h"

struct ailment {
    struct disk_trouble trouble;
    uint64_t room_bytes; /* left of the trouble's */
    uint64_t touched[DISK_SYMPTOMS];
    struct random random;
};

void ailment_init(struct ailment *ailment, uint64_t seed, uint32_t node);

/* From now on. A room that was stated before and is stated again stays as used up as it is. */
void ailment_set(struct ailment *ailment, const struct disk_trouble *trouble);

/* Whether this request fails with EIO. */
bool ailment_errs(struct ailment *ailment);

/* How many of `wanted` bytes there is room for; they are taken. Fewer than wanted counts as
 * touched.
 */
uint64_t ailment_take_room(struct ailment *ailment, uint64_t wanted);

/* Whether there is none at all, for what takes room without having bytes. */
bool ailment_is_full(struct ailment *ailment);

#endif
