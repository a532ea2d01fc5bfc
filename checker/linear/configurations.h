/* A set of configurations, each a row of words: the state, a bit for every open operation that has
 * taken effect, and how many of each kind of unknown operations have, four counts a word. Of two
 * that differ in the counts alone, one that used no more of any is kept. */
#ifndef COUP_CHECKER_LINEAR_CONFIGURATIONS_H
#define COUP_CHECKER_LINEAR_CONFIGURATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTS_A_WORD 4u
#define COUNT_MAX 0xffffu

struct configurations {
    uint64_t *rows;
    uint32_t count, capacity;
    uint32_t words;    /* of a row */
    uint32_t exact;    /* the first so many say which it is; behind them are counts */
    uint32_t *older;   /* by row: the one before it in its bucket; UINT32_MAX: none */
    uint32_t *buckets; /* the newest row of each */
    uint32_t *stamps;  /* a bucket is empty unless its stamp is this round's */
    uint32_t bucket_count, round;
};

void configurations_init(struct configurations *set, uint32_t exact, uint32_t counts);
void configurations_release(struct configurations *set);
void configurations_clear(struct configurations *set); /* keeps the memory */

static inline uint64_t *configuration(const struct configurations *set, uint32_t at)
{
    return set->rows + (size_t)at * set->words;
}

static inline uint32_t configuration_used(const struct configurations *set, const uint64_t *row,
                                          uint32_t kind)
{
    return (uint32_t)(row[set->exact + kind / COUNTS_A_WORD] >> 16 * (kind % COUNTS_A_WORD)) &
           COUNT_MAX;
}

static inline uint64_t configuration_one(uint32_t kind)
{
    return UINT64_C(1) << 16 * (kind % COUNTS_A_WORD);
}

/* Unless one that is as good is there. With `replace` it takes the place of one it is better than;
 * without, rows stay what they are. */
void configurations_add(struct configurations *set, const uint64_t *row, bool replace);

/* Room for more counts in every row; only while rows are looked at by number. */
void configurations_widen(struct configurations *set, uint32_t counts);

size_t configurations_bytes(const struct configurations *set);

#endif
