/* What the controller believes of the cluster while it runs: from events alone, as they arrive.
 * Faults choose their targets by it, phases end by it, the live line shows it. Never a verdict.
 * Pure. */
#ifndef COUP_CONTROLLER_VIEW_H
#define COUP_CONTROLLER_VIEW_H

#include "histories/event.h"
#include "nemesis/fault.h"

struct node_view {
    bool running, paused, candidate;
    uint64_t reign; /* term in which it leads; meaningful while leading */
    bool leading;
    uint32_t leader; /* whom it names, itself included; 0: nobody */
};

struct view {
    uint32_t nodes, witnesses;
    struct node_view node[NODES_MAX + 1]; /* by id */
    uint64_t elections;
    uint64_t writes_accepted, writes_rejected;
    uint64_t accepted_ns; /* time of the last accepted guarded write */
    uint64_t stalled_ns;  /* sum of all "stall" notes */
};

void view_init(struct view *view, uint32_t nodes, uint32_t witnesses);
void view_event(struct view *view, const struct event *event);
void view_paused(struct view *view, uint32_t node, bool paused);

/* The running node that leads in the newest term; 0: none. `ret_term` may be NULL. */
uint32_t view_leader(const struct view *view, uint64_t *ret_term);

/* Every running node that is not paused names one leader, which itself says so. */
bool view_agreed(const struct view *view);

void view_cluster(const struct view *view, struct cluster_view *out);

#endif
