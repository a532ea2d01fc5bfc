/* Transactions of a foreign history: [[:read :x 1] [:write :y 2]], also :r and :w. */
#ifndef COUP_CHECKER_IMPORT_TRANSACTIONS_H
#define COUP_CHECKER_IMPORT_TRANSACTIONS_H

#include "checker/import/entries.h"

/* Gathered here, handed over to the space at the end. */
struct transactions {
    struct import *import;
    struct linear_micro *micros;
    uint32_t micro_count, micro_capacity;
    uint32_t *first;
    uint32_t count, capacity;
    struct intern cells;
};

void transactions_init(struct transactions *transactions, struct import *import);
void transactions_release(struct transactions *transactions);

/* The entry's transaction becomes `op->value`, and `op->expected` whether it writes. What an
 * operation reads is known when it is `answered`. */
int transactions_add(struct transactions *transactions, const struct import_entry *entry,
                     bool answered, struct linear_op *op, struct error *error);

/* Everything goes to `space`, which frees nothing of it. */
void transactions_end(struct transactions *transactions, struct linear_space *space);

#endif
