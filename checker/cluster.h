/* What the cluster was like at a point of the history: which processes ran, which links were cut,
 * what every node believed. Rebuilt from events alone; for the checks of liveness and for measures.
 *
 * A fault takes hold somewhere between its recorded begin and end, so a state of the cluster holds
 * from the end of one change to the begin of the next, and nothing is judged in between. */
#ifndef COUP_CHECKER_CLUSTER_H
#define COUP_CHECKER_CLUSTER_H

#include "checker/table.h"
#include "histories/event.h"
#include "histories/header.h"

/* Links are kept for clusters up to this size; in larger ones a cut counts as a disturbance. */
#define CLUSTER_LINKED_MAX 64u

struct member {
    bool spawned;
    uint64_t spawned_ns;    /* when, the last time */
    uint32_t pauses, kills; /* faults active on it */
    /* Belief. `leader` is a node id, 0: none known; by the event `index` at `since_ns`. */
    uint32_t leader;
    uint64_t term, token; /* token: of a claim */
    uint64_t since_ns, index;
};

struct cluster {
    uint32_t nodes, majority;
    struct member *members; /* by node id, 1..nodes */
    uint16_t *cuts;         /* [from * (nodes + 1) + to]: cuts active; NULL: none ever */
    uint64_t cut_count, disturb_count;
    uint32_t helpers_down; /* processes of the harness that ended and were not started again */
    struct table active;   /* fault id -> what it did, for its heal */
};

/* The cluster was one thing until `begin_ns` and is another from `end_ns` on. */
struct change {
    uint64_t begin_ns, end_ns, index;
};

/* Events that cluster_step() wants. */
#define CLUSTER_EVENTS                                                            \
    (1u << F_FAULT | 1u << F_HEAL | 1u << F_SPAWN | 1u << F_EXIT | 1u << F_LEAD | \
     1u << F_STEP_DOWN | 1u << F_FOLLOW)

void cluster_init(struct cluster *cluster, const struct history_header *header);
void cluster_release(struct cluster *cluster);

/* True when processes, links or disturbances changed; then `*ret_change` says when. */
bool cluster_step(struct cluster *cluster, const struct event *event, struct change *ret_change);

/* The node whose event it is, NULL when it is no node's of this cluster. */
struct member *cluster_member(const struct cluster *cluster, uint32_t process);

/* Started, not paused, not being killed. */
bool cluster_runs(const struct cluster *cluster, uint32_t id);
/* Nothing is cut between the two, either way. */
bool cluster_linked(const struct cluster *cluster, uint32_t a, uint32_t b);
/* Runs and is linked with a majority, itself included: what a leader needs to be of use. */
bool cluster_central(const struct cluster *cluster, uint32_t id);
/* The same of a node that may be killed any time, or over and over, but is up: it cannot be relied
 * on, yet what it does is done. */
bool cluster_of_use(const struct cluster *cluster, uint32_t id);
/* Nothing is slowed or lost now and then, and the harness' own processes run. */
bool cluster_undisturbed(const struct cluster *cluster);

/* A set of running nodes, all linked with one another, as large as a greedy search finds it (which
 * is the largest for every shape the nemesis makes). Marks it in group[1..nodes]; its size. */
uint32_t cluster_group(const struct cluster *cluster, bool *group);
/* Whether the marked nodes still run and are linked with one another. */
bool cluster_group_holds(const struct cluster *cluster, const bool *group);

/* Number the parts into which the running nodes fall, part[1..nodes] from 1 (0: not running).
 * Returns how many; 0 when they do not fall apart cleanly: some link is cut one way only, or two
 * nodes that are cut off from one another have a common neighbour. */
uint32_t cluster_parts(const struct cluster *cluster, uint32_t *part);

/* By when a cluster that can work must: knob recover-within, or ten of the longest election
 * timeouts and, of an algorithm with leases, two terms of them (its option "lease") on top. And
 * what a real machine is granted on top: one election timeout. */
uint64_t liveness_bound_ns(const struct history_header *header);
uint64_t liveness_slack_ns(const struct history_header *header);

/* How long after a change of the cluster what it left behind may still unseat a leader: two of the
 * longest election timeouts, and a lease term that a member had promised to another. */
uint64_t liveness_calm_ns(const struct history_header *header);

/* What the controller notes when it is told to stop before the faults phase is over. */
#define NOTE_INTERRUPTED "interrupted"

/* A note "stall NS": the process found its loop that late, the machine did not run it. Returns NS
 * cut down to what lies within from_ns..to_ns; 0 for any other event. */
uint64_t stall_within(const struct event *event, uint64_t from_ns, uint64_t to_ns);

#endif
