/* Refused compares, once everything else has an order: each must fall on an instant at which the
 * register does not hold what it expected. Most do in any order; what is left over is for the
 * search. */
#include "checker/linear/zones.h"

#include <stdlib.h>

#include "base/error.h"

/* Of the blocks in order of `early`, up to each: the two latest calls, of different blocks. */
struct prefix {
    uint64_t early;
    uint64_t late[2];
    uint32_t block[2];
};

static void extend(const struct prefix *before, const struct block *block, uint32_t index,
                   struct prefix *out)
{
    *out = before ? *before : (struct prefix){.block = {NONE, NONE}};
    out->early = block->early;
    if (out->block[0] == NONE || block->late > out->late[0]) {
        out->late[1] = out->late[0];
        out->block[1] = out->block[0];
        out->late[0] = block->late;
        out->block[0] = index;
    } else if (out->block[1] == NONE || block->late > out->late[1]) {
        out->late[1] = block->late;
        out->block[1] = index;
    }
}

static uint32_t make_prefixes(const struct zones *zones, const struct block **sorted,
                              struct prefix *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < zones->block_count; i++)
        if (zones->blocks[i].late_op != NONE && zones->blocks[i].early_op != NONE)
            sorted[count++] = &zones->blocks[i];
    if (count)
        qsort(sorted, count, sizeof *sorted, block_by_early);
    for (uint32_t i = 0; i < count; i++)
        extend(i ? &out[i - 1] : NULL, sorted[i], (uint32_t)(sorted[i] - zones->blocks), &out[i]);
    return count;
}

/* The last with early <= time; NULL: none. */
static const struct prefix *prefix_at(const struct prefix *prefixes, uint32_t count, uint64_t time)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (prefixes[middle].early <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &prefixes[low - 1] : NULL;
}

/* Whether in any order the value expected was not yet there when the compare began, or was already
 * replaced when it ended. */
static bool surely_refused(const struct zones *zones, const struct linear_op *op,
                           const struct prefix *before)
{
    const struct cluster *cluster = zones_find(zones, op->expected);
    if (!cluster)
        return true;
    if (!cluster->wanted)
        return false;
    if (cluster->write != NONE && zones->ops[cluster->write].call >= op->call)
        return true;
    for (uint32_t child = cluster->child; child != NONE; child = zones->clusters[child].child) {
        const struct cluster *next = &zones->clusters[child];
        if (zones->ops[next->write].done <= op->done ||
            (next->early_op != NONE && next->early <= op->done))
            return true;
        if (zones->ops[next->write].call > op->done)
            break; /* what follows is over later still */
    }
    const struct block *own = &zones->blocks[cluster->block];
    for (uint32_t i = 0; before && i < 2; i++)
        if (before->block[i] != NONE && before->block[i] != cluster->block &&
            block_precedes(own, &zones->blocks[before->block[i]]))
            return true;
    return false;
}

struct refusals {
    const struct zones *zones;
    const struct block *const *forward;
    uint32_t forward_count;
    struct prefix *prefixes;
    uint32_t prefix_count;
};

/* The first forward block that is not over before `time`. */
static uint32_t forward_at(const struct refusals *refusals, uint64_t time)
{
    uint32_t low = 0, high = refusals->forward_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (refusals->forward[middle]->late < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether another value is there for certain at some instant of the compare. */
static bool meets_another(const struct refusals *refusals, const struct linear_op *op,
                          const struct block *own)
{
    for (uint32_t i = forward_at(refusals, op->call); i < refusals->forward_count; i++) {
        const struct block *block = refusals->forward[i];
        if (block->early_op != NONE && block->early > op->done)
            return false;
        if (block != own)
            return true;
    }
    return false;
}

/* How a refusal fares: right in any order, right unless something happened that need not have, or
 * neither is known. */
enum fate { FATE_SURE, FATE_AVOIDED, FATE_OPEN };

static enum fate fate_of(const struct refusals *refusals, const struct linear_op *op)
{
    const struct zones *zones = refusals->zones;
    const struct cluster *cluster = zones_find(zones, op->expected);
    if (surely_refused(zones, op, prefix_at(refusals->prefixes, refusals->prefix_count, op->done)))
        return FATE_SURE;
    if (!cluster->wanted)
        return FATE_AVOIDED;
    return meets_another(refusals, op, &zones->blocks[cluster->block]) ? FATE_SURE : FATE_OPEN;
}

uint32_t zones_refusals(const struct zones *zones, const struct block *const *forward,
                        uint32_t forward_count, uint32_t *ret_left)
{
    struct refusals refusals = {.zones = zones, .forward = forward, .forward_count = forward_count};
    const struct block **sorted = must_alloc(zones->block_count + 1, sizeof *sorted);
    uint32_t left = 0;
    bool open = false;
    refusals.prefixes = must_alloc(zones->block_count + 1, sizeof *refusals.prefixes);
    refusals.prefix_count = make_prefixes(zones, sorted, refusals.prefixes);
    free(sorted);
    for (uint32_t i = 0; i < zones->count; i++) {
        if (zones->ops[i].f != LINEAR_REFUSED)
            continue;
        enum fate fate = fate_of(&refusals, &zones->ops[i]);
        if (fate != FATE_SURE)
            ret_left[left++] = i;
        open = open || fate == FATE_OPEN;
    }
    free(refusals.prefixes);
    return open ? left : 0;
}
