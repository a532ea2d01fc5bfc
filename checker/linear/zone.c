#include "checker/linear/zones.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/random.h"

/* The block's operations in their only order, as far as seen: the latest call among them. */
struct walk {
    struct block block;
    uint32_t index; /* of the block */
};

static bool blame(struct zones *zones, enum linear_fault fault, uint32_t a, uint32_t b)
{
    zones->out->fault = fault;
    zones->out->ops[0] = &zones->ops[a];
    zones->out->ops[1] = b == NONE ? NULL : &zones->ops[b];
    zones->out->count = b == NONE ? 1 : 2;
    return false;
}

/* Clusters */

static uint32_t *place_of(const struct zones *zones, uint64_t value)
{
    uint32_t at = (uint32_t)mix64(value) & zones->mask;
    while (zones->index[at] != NONE && zones->clusters[zones->index[at]].value != value)
        at = (at + 1) & zones->mask;
    return &zones->index[at];
}

struct cluster *zones_find(const struct zones *zones, uint64_t value)
{
    uint32_t at = *place_of(zones, value);
    return at == NONE ? NULL : &zones->clusters[at];
}

static bool add(struct zones *zones, uint64_t value, uint32_t write)
{
    uint32_t *place = place_of(zones, value);
    if (*place != NONE)
        return false;
    *place = zones->cluster_count;
    zones->clusters[zones->cluster_count++] =
        (struct cluster){.value = value,
                         .early = UINT64_MAX,
                         .early_op = NONE,
                         .late_op = NONE,
                         .write = write,
                         .parent = NONE,
                         .child = NONE,
                         .block = NONE,
                         .wanted = write == NONE || !linear_is_open(&zones->ops[write])};
    return true;
}

static bool open_zones(struct zones *zones, uint64_t initial)
{
    uint32_t values = 1, capacity = 16;
    for (uint32_t i = 0; i < zones->count; i++)
        values += linear_sets(&zones->ops[i]);
    while (capacity < 2 * (uint64_t)values)
        capacity *= 2;
    zones->clusters = must_alloc(values, sizeof *zones->clusters);
    zones->blocks = must_alloc(values, sizeof *zones->blocks);
    zones->index = must_alloc(capacity, sizeof *zones->index);
    zones->mask = capacity - 1;
    for (uint32_t i = 0; i < capacity; i++)
        zones->index[i] = NONE;
    bool unique = add(zones, initial, NONE);
    for (uint32_t i = 0; i < zones->count && unique; i++)
        if (linear_sets(&zones->ops[i]))
            unique = add(zones, zones->ops[i].value, i);
    return unique;
}

static void close_zones(struct zones *zones)
{
    free(zones->clusters);
    free(zones->blocks);
    free(zones->index);
}

static bool add_read(struct zones *zones, uint32_t op)
{
    const struct linear_op *read = &zones->ops[op];
    struct cluster *cluster = zones_find(zones, read->value);
    if (!cluster)
        return blame(zones, LINEAR_UNWRITTEN, op, NONE);
    cluster->wanted = true;
    if (cluster->early_op == NONE || read->done < cluster->early) {
        cluster->early = read->done;
        cluster->early_op = op;
    }
    if (cluster->late_op == NONE || read->call > cluster->late) {
        cluster->late = read->call;
        cluster->late_op = op;
    }
    return true;
}

/* A value that a compare-and-set wrote was there, so was the one it replaced, and so on. */
static bool link_up(struct zones *zones, uint32_t at)
{
    struct cluster *cluster = &zones->clusters[at];
    while (cluster->write != NONE && cluster->parent == NONE &&
           zones->ops[cluster->write].f == LINEAR_CAS) {
        struct cluster *parent = zones_find(zones, zones->ops[cluster->write].expected);
        if (!parent)
            return blame(zones, LINEAR_UNWRITTEN, cluster->write, NONE);
        if (parent->child != NONE)
            return blame(zones, LINEAR_FORKED, zones->clusters[parent->child].write,
                         cluster->write);
        parent->child = (uint32_t)(cluster - zones->clusters);
        cluster->parent = (uint32_t)(parent - zones->clusters);
        parent->wanted = true;
        cluster = parent;
    }
    return true;
}

static bool make_clusters(struct zones *zones)
{
    for (uint32_t i = 0; i < zones->count; i++)
        if (zones->ops[i].f == LINEAR_READ && !add_read(zones, i))
            return false;
    for (uint32_t i = 0; i < zones->cluster_count; i++)
        if (zones->clusters[i].wanted && !link_up(zones, i))
            return false;
    return true;
}

/* Blocks */

/* The next in the block's order: what returned first of it and what was called last. */
static bool take(struct zones *zones, struct walk *walk, uint32_t early_op, uint32_t late_op)
{
    struct block *block = &walk->block;
    const struct linear_op *early = &zones->ops[early_op], *late = &zones->ops[late_op];
    if (block->late_op != NONE && early->done < block->late)
        return blame(zones, LINEAR_EARLY, early_op, block->late_op);
    if (early->done < block->early) {
        block->early = early->done;
        block->early_op = early_op;
    }
    if (block->late_op == NONE || late->call > block->late) {
        block->late = late->call;
        block->late_op = late_op;
    }
    return true;
}

/* From a value that replaced none: through all that replaced it. */
static bool walk_block(struct zones *zones, uint32_t root)
{
    struct walk walk = {{.early = root == 0 ? 0 : UINT64_MAX, .early_op = NONE, .late_op = NONE},
                        zones->block_count++};
    for (uint32_t at = root; at != NONE; at = zones->clusters[at].child) {
        struct cluster *cluster = &zones->clusters[at];
        cluster->block = walk.index;
        if (cluster->write != NONE && !take(zones, &walk, cluster->write, cluster->write))
            return false;
        if (cluster->early_op != NONE && !take(zones, &walk, cluster->early_op, cluster->late_op))
            return false;
    }
    zones->blocks[walk.index] = walk.block;
    return true;
}

static bool make_blocks(struct zones *zones)
{
    for (uint32_t i = 0; i < zones->cluster_count; i++)
        if (zones->clusters[i].wanted && zones->clusters[i].parent == NONE && !walk_block(zones, i))
            return false;
    for (uint32_t i = 0; i < zones->cluster_count; i++)
        if (zones->clusters[i].wanted && zones->clusters[i].block == NONE)
            return blame(zones, LINEAR_CIRCLE, zones->clusters[i].write, NONE);
    return true;
}

/* Order of blocks */

int block_by_early(const void *a, const void *b)
{
    const struct block *x = *(const struct block *const *)a, *y = *(const struct block *const *)b;
    bool x_first = x->early_op == NONE, y_first = y->early_op == NONE;
    if (x_first != y_first)
        return x_first ? -1 : 1;
    if (x->early != y->early)
        return x->early < y->early ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The initial value's block has early_op NONE and is before every other. */
bool block_precedes(const struct block *a, const struct block *b)
{
    return b->late_op != NONE && (a->early_op == NONE || a->early < b->late);
}

static bool clash(struct zones *zones, const struct block *a, const struct block *b)
{
    struct linear_result *out = zones->out;
    const struct block *first = b->early_op == NONE ? b : a, *second = first == a ? b : a;
    out->fault = LINEAR_MIXED;
    out->ops[0] = first->early_op == NONE ? NULL : &zones->ops[first->early_op];
    out->ops[1] = &zones->ops[second->late_op];
    out->ops[2] = &zones->ops[second->early_op];
    out->ops[3] = &zones->ops[first->late_op];
    out->count = 4;
    return false;
}

bool block_is_forward(const struct block *block)
{
    return block->late_op != NONE && block_precedes(block, block);
}

/* The last of the forward blocks (sorted by early, apart from one another) that must precede
 * `block`; NULL: none. */
static const struct block *last_before(const struct block *const *forward, uint32_t count,
                                       const struct block *block)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (block_precedes(forward[middle], block))
            low = middle + 1;
        else
            high = middle;
    }
    return low ? forward[low - 1] : NULL;
}

/* Forward blocks hold the register all through [early, late], so no two of them overlap, and each
 * other block has an instant of its own outside of them. */
static bool order_blocks(struct zones *zones, const struct block **forward, uint32_t *ret_count)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < zones->block_count; i++)
        if (block_is_forward(&zones->blocks[i]))
            forward[count++] = &zones->blocks[i];
    if (count)
        qsort(forward, count, sizeof *forward, block_by_early);
    for (uint32_t i = 1; i < count; i++)
        if (block_precedes(forward[i], forward[i - 1]))
            return clash(zones, forward[i - 1], forward[i]);
    for (uint32_t i = 0; i < zones->block_count; i++) {
        const struct block *block = &zones->blocks[i];
        if (block->late_op == NONE || block_is_forward(block))
            continue;
        const struct block *before = last_before(forward, count, block);
        if (before && block_precedes(block, before))
            return clash(zones, before, block);
    }
    *ret_count = count;
    return true;
}

static bool has_refusals(const struct zones *zones)
{
    for (uint32_t i = 0; i < zones->count; i++)
        if (zones->ops[i].f == LINEAR_REFUSED)
            return true;
    return false;
}

enum zone_answer zone_check(const struct linear_op *ops, uint32_t count, uint64_t initial,
                            struct linear_result *out, uint32_t *ret_left, uint32_t *ret_left_count)
{
    struct zones zones = {.ops = ops, .count = count, .out = out};
    enum zone_answer answer = ZONE_REPEATED;
    *out = (struct linear_result){0};
    *ret_left_count = 0;
    if (open_zones(&zones, initial)) {
        answer = ZONE_DECIDED;
        if (make_clusters(&zones) && make_blocks(&zones)) {
            const struct block **forward = must_alloc(zones.block_count + 1, sizeof *forward);
            uint32_t forward_count = 0;
            if (order_blocks(&zones, forward, &forward_count) && has_refusals(&zones))
                *ret_left_count = zones_refusals(&zones, forward, forward_count, ret_left);
            free(forward);
        }
        if (*ret_left_count)
            answer = ZONE_REFUSALS;
    }
    close_zones(&zones);
    return answer;
}
