/* The zones' inside, shared by zone.c and refusals.c. */
#ifndef COUP_CHECKER_LINEAR_ZONES_H
#define COUP_CHECKER_LINEAR_ZONES_H

#include "checker/linear/zone.h"

#define NONE UINT32_MAX

/* What happened to one value. */
struct cluster {
    uint64_t value;
    uint64_t early, late;       /* earliest return and latest call of its reads */
    uint32_t early_op, late_op; /* NONE: no reads */
    uint32_t write;             /* NONE: the initial value */
    uint32_t parent, child;     /* by compare-and-set */
    uint32_t block;             /* NONE: not walked yet */
    bool wanted;                /* it was there: known to be written, or seen */
};

/* All of a chain of values. */
struct block {
    uint64_t early, late;
    uint32_t early_op, late_op; /* early_op NONE: it was there from the beginning */
};

struct zones {
    const struct linear_op *ops;
    uint32_t count;
    struct cluster *clusters; /* 0: the initial value */
    uint32_t cluster_count;
    uint32_t *index; /* value -> cluster, open addressing; NONE: free */
    uint32_t mask;
    struct block *blocks;
    uint32_t block_count;
    struct linear_result *out;
};

/* What became of a value; NULL: nobody wrote it. */
struct cluster *zones_find(const struct zones *zones, uint64_t value);

/* The initial value's block, which has no early_op, is before every other. */
bool block_precedes(const struct block *a, const struct block *b);
/* Whether it holds the register from `early` to `late`; else an instant between them is enough. */
bool block_is_forward(const struct block *block);
/* For qsort() of pointers. */
int block_by_early(const void *a, const void *b);

/* Refusals that no argument settles, listed in `ret_left`; how many. `forward` are the forward
 * blocks in their order. */
uint32_t zones_refusals(const struct zones *zones, const struct block *const *forward,
                        uint32_t forward_count, uint32_t *ret_left);

#endif
