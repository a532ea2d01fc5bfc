/* What the nodes of a run believed of leadership, in order: two runs are compared by it. Times do
 * not count, they always differ on real machines. */
#ifndef COUP_CONTROLLER_BELIEFS_H
#define COUP_CONTROLLER_BELIEFS_H

#include "histories/file.h"

struct stated {
    uint64_t time_ns, term;
    uint32_t process;
    uint32_t leader; /* of a follow; 0: none named */
    uint8_t f;       /* lead, follow, step-down, campaign */
};

/* Owned; beliefs_release(). Zeroed is empty. */
struct beliefs {
    struct stated *at;
    uint32_t count, capacity;
};

void beliefs_step(struct beliefs *beliefs, const struct event *event);
void beliefs_release(struct beliefs *beliefs);

/* The place of the first difference; both counts when there is none. */
uint32_t beliefs_diverge(const struct beliefs *a, const struct beliefs *b);

/* "n3 lead term=4 at 1.203s", or "the end" past the last one. */
void belief_format(const struct beliefs *beliefs, uint32_t place, struct text *out);

#endif
