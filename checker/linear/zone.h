/* The near-linear decision for one register in which every written value is unique (Gibbons &
 * Korach, SIAM J. Comput. 26(4), 1997, whose clusters and zones these are).
 *
 * A value's operations are its write and its reads; compare-and-sets chain values into blocks. All
 * of a block happens together, so what counts of it is the earliest return `f` and the latest call
 * `s`: block A must come before block B when f(A) < s(B), and there is an order exactly when each
 * block has one within itself and no two blocks must come before one another. */
#ifndef COUP_CHECKER_LINEAR_ZONE_H
#define COUP_CHECKER_LINEAR_ZONE_H

#include "checker/linear/operation.h"

enum zone_answer {
    ZONE_DECIDED,
    ZONE_REPEATED, /* a value is written twice, or the initial one again: not for this method */
    ZONE_REFUSALS, /* an order exists for all but some refused compares: `left` are to be searched
                    */
};

/* Operations of one key: reads, writes, compare-and-sets and refusals, in any order; reads are
 * complete. Values are any numbers, `initial` was there before the first. Time O(n log n) in the
 * number of values, memory some 100 bytes a value.
 *
 * `ret_left` has room for `count`: refusals that were not decided. Those left out of it are
 * certainly right, whatever the order. */
enum zone_answer zone_check(const struct linear_op *ops, uint32_t count, uint64_t initial,
                            struct linear_result *out, uint32_t *ret_left,
                            uint32_t *ret_left_count);

#endif
