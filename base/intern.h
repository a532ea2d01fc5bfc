/* Texts as numbers: equal texts get equal numbers, from 1 in the order in which they came. */
#ifndef COUP_BASE_INTERN_H
#define COUP_BASE_INTERN_H

#include "base/text.h"

/* Zeroed is empty. */
struct intern {
    struct text bytes; /* all of them, one behind the other */
    size_t *ends;      /* of text n; ends[0] = 0 */
    uint32_t count, capacity;
    uint32_t *slots; /* open addressing; 0: free */
    uint32_t slot_count;
};

void intern_release(struct intern *intern);

/* Copies `text` when it is new. */
uint32_t intern_put(struct intern *intern, struct slice text);

/* Borrowed until the next intern_put(). `number` is one that was given out. */
struct slice intern_get(const struct intern *intern, uint32_t number);

#endif
