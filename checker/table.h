/* A hash table from a pair of numbers to a block of bytes that starts zeroed. Open addressing with
 * linear probing: one allocation, no pointers, and nothing moves while a caller only looks up. */
#ifndef COUP_CHECKER_TABLE_H
#define COUP_CHECKER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table {
    uint8_t *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
    size_t value_bytes, stride; /* whole words, so that any value is aligned */
};

void table_init(struct table *table, size_t value_bytes);
void table_release(struct table *table);

/* NULL when absent. Values stay where they are until the next table_put() or table_remove(). */
void *table_find(const struct table *table, uint64_t a, uint64_t b);

/* The value of (a, b), made and zeroed when absent; `ret_new` (may be NULL) says which. */
void *table_put(struct table *table, uint64_t a, uint64_t b, bool *ret_new);

/* False when it was absent. */
bool table_remove(struct table *table, uint64_t a, uint64_t b);

/* Remove every entry whose `a` is this one. Walks the whole table: for rare events only. */
void table_remove_all(struct table *table, uint64_t a);

/* Call `visit` with every value. It may not change the table. */
void table_each(const struct table *table, void (*visit)(void *context, void *value),
                void *context);

#endif
