/* Whether operations have an order: each key apart, by zones where values are unique, by search
 * elsewhere. */
#ifndef COUP_CHECKER_LINEAR_LINEAR_H
#define COUP_CHECKER_LINEAR_LINEAR_H

#include "checker/linear/search.h"

/* The worst of all keys: the first found invalid (by key), else the first given up. Reorders `ops`,
 * which the result borrows; values of operations that nobody can have seen may be changed. Reads of
 * unknown outcome must have been left out. `ret_bad` (may be NULL) counts the keys that are wrong.
 */
void linear_check(const struct linear_model *model, struct linear_space *space,
                  struct linear_op *ops, uint32_t count, const struct search_limits *limits,
                  struct linear_result *out, uint32_t *ret_bad);

/* By search alone, whatever the values: a second opinion. */
void linear_check_by_search(const struct linear_model *model, struct linear_space *space,
                            struct linear_op *ops, uint32_t count,
                            const struct search_limits *limits, struct linear_result *out,
                            uint32_t *ret_bad);

#endif
