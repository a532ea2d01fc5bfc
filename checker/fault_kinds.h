/* What the checker knows of the nemesis' faults: from their events alone, for it sees histories
 * only. A kind it does not know is taken as one that may disturb anything. */
#ifndef COUP_CHECKER_FAULT_KINDS_H
#define COUP_CHECKER_FAULT_KINDS_H

#include "histories/event.h"

enum fault_effect {
    EFFECT_DISTURB, /* slows or loses, now and then: no promise of progress holds */
    EFFECT_KILL,
    EFFECT_PAUSE,
    EFFECT_CUT,  /* the links named pass nothing of use until healed */
    EFFECT_FAIL, /* as disturb, and a target that cannot keep its word may end by itself */
};

struct fault_kind {
    const char *name; /* NULL ends a table */
    const char *group;
    enum fault_effect effect;
};

extern const struct fault_kind fault_kinds[];

const struct fault_kind *fault_kind_find(struct slice name); /* NULL: unknown */
enum fault_effect fault_effect(const struct event *fault);
bool fault_installed(const struct event *fault); /* a fault event that says it landed */

/* Call `visit` for each node among the targets, "n1,n4"; what is no node is passed over. */
void fault_targets(const struct event *fault, void (*visit)(void *context, uint32_t node),
                   void *context);

/* Call `visit` for each directed link among the targets, "n1>n2,n2>n1"; process numbers. */
void fault_links(const struct event *fault,
                 void (*visit)(void *context, uint32_t from, uint32_t to), void *context);

#endif
