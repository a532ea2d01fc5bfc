/* The general decision, for any model: go through the history and keep every configuration that
 * could be by now, a state with the open operations that have taken effect. An operation takes
 * effect only when somebody's return demands it (just-in-time linearization: Lowe, Concurrency and
 * Computation: Practice and Experience 29(4), 2017), or at once when it changes nothing. Memory
 * does not grow with the history but with what may be the case at once.
 *
 * Operations of unknown outcome stay open for ever, so they are counted by kind instead of named:
 * of several that do the same, the one called first is as good as any; and a configuration that
 * used more of them than another, all else equal, can do nothing that the other cannot. */
#ifndef COUP_CHECKER_LINEAR_SEARCH_H
#define COUP_CHECKER_LINEAR_SEARCH_H

#include "checker/linear/model.h"

struct search_limits {
    uint64_t steps; /* of the model, in all */
    uint64_t bytes; /* of configurations kept at once */
};
#define SEARCH_LIMITS ((struct search_limits){UINT64_C(4000000000), UINT64_C(512) << 20})

/* Operations of one object in any order. Unknown outcome: only those that may change the state. The
 * verdict is in `out->fault`: LINEAR_FINE, LINEAR_STUCK or LINEAR_GIVEN_UP. */
void search_check(const struct linear_model *model, struct linear_space *space,
                  const struct linear_op *ops, uint32_t count, const struct search_limits *limits,
                  struct linear_result *out);

#endif
