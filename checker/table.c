#include "checker/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"

/* In front of every value. */
struct slot {
    uint64_t a, b;
    uint64_t used;
};

static struct slot *slot_at(const struct table *table, size_t index)
{
    return (struct slot *)(void *)(table->slots + index * table->stride);
}

static size_t home_of(const struct table *table, uint64_t a, uint64_t b)
{
    return (size_t)mix64(a ^ mix64(b)) & (table->capacity - 1);
}

/* Index of (a, b), or of the free slot where it would go. The table is never full. */
static size_t locate(const struct table *table, uint64_t a, uint64_t b)
{
    size_t index = home_of(table, a, b);
    for (;;) {
        const struct slot *slot = slot_at(table, index);
        if (!slot->used || (slot->a == a && slot->b == b))
            return index;
        index = (index + 1) & (table->capacity - 1);
    }
}

static void grow(struct table *table)
{
    struct table old = *table;
    table->capacity = old.capacity ? old.capacity * 2 : 16;
    table->slots = must_alloc(table->capacity, table->stride);
    for (size_t i = 0; i < old.capacity; i++) {
        const struct slot *from = slot_at(&old, i);
        if (from->used)
            memcpy(slot_at(table, locate(table, from->a, from->b)), from, table->stride);
    }
    free(old.slots);
}

void table_init(struct table *table, size_t value_bytes)
{
    *table = (struct table){.value_bytes = (value_bytes + 7) & ~(size_t)7};
    table->stride = sizeof(struct slot) + table->value_bytes;
}

void table_release(struct table *table)
{
    free(table->slots);
    table->slots = NULL;
    table->capacity = table->count = 0;
}

void *table_find(const struct table *table, uint64_t a, uint64_t b)
{
    if (table->count == 0)
        return NULL;
    struct slot *slot = slot_at(table, locate(table, a, b));
    return slot->used ? slot + 1 : NULL;
}

void *table_put(struct table *table, uint64_t a, uint64_t b, bool *ret_new)
{
    if (table->count * 3 >= table->capacity * 2)
        grow(table);
    struct slot *slot = slot_at(table, locate(table, a, b));
    if (ret_new)
        *ret_new = !slot->used;
    if (!slot->used) {
        *slot = (struct slot){a, b, 1};
        memset(slot + 1, 0, table->value_bytes);
        table->count++;
    }
    return slot + 1;
}

/* Close the hole by pulling back entries that probing had pushed past it (Knuth, TAOCP vol. 3,
 * section 6.4, algorithm R), so that no tombstones pile up in a long history. */
static void remove_at(struct table *table, size_t hole)
{
    size_t mask = table->capacity - 1;
    for (size_t i = (hole + 1) & mask; slot_at(table, i)->used; i = (i + 1) & mask) {
        const struct slot *slot = slot_at(table, i);
        size_t home = home_of(table, slot->a, slot->b);
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        memcpy(slot_at(table, hole), slot, table->stride);
        hole = i;
    }
    slot_at(table, hole)->used = 0;
    table->count--;
}

bool table_remove(struct table *table, uint64_t a, uint64_t b)
{
    if (table->count == 0)
        return false;
    size_t index = locate(table, a, b);
    if (!slot_at(table, index)->used)
        return false;
    remove_at(table, index);
    return true;
}

void table_remove_all(struct table *table, uint64_t a)
{
    for (size_t i = 0; i < table->capacity && table->count;) {
        const struct slot *slot = slot_at(table, i);
        if (slot->used && slot->a == a)
            remove_at(table, i); /* may pull another entry here: look again */
        else
            i++;
    }
}

void table_each(const struct table *table, void (*visit)(void *context, void *value), void *context)
{
    for (size_t i = 0; i < table->capacity; i++)
        if (slot_at(table, i)->used)
            visit(context, slot_at(table, i) + 1);
}
