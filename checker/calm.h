/* For how long a promise was owed without a break. A check that may only complain of a wait longer
 * than its bound could not have failed in a run that was never calm for that long, and says so. */
#ifndef COUP_CHECKER_CALM_H
#define COUP_CHECKER_CALM_H

#include "checker/check.h"

struct calm_span {
    uint64_t begin_ns, end_ns, stalled_ns;
};

/* Zeroed: no span yet. */
struct calm {
    bool open;
    struct calm_span now, longest;
};

void calm_begin(struct calm *calm, uint64_t begin_ns); /* nothing when one is open */
void calm_end(struct calm *calm, uint64_t end_ns);     /* nothing when none is open */
void calm_stall(struct calm *calm, const struct event *event);

/* Judged is 1 when some span was long enough, and the evidence says how long the longest was. */
void calm_evidence(const struct calm *calm, uint64_t bound_ns, struct finding *finding);

#endif
