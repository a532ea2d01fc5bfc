/* Whom a fault is meant for: a role, a number of nodes or named nodes; resolved to a set of nodes
 * when the fault begins, because a leader is only known then. Pure. */
#ifndef COUP_NEMESIS_TARGET_H
#define COUP_NEMESIS_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/process.h"
#include "base/random.h"
#include "base/text.h"

/* Sets of nodes, ids 1..NODES_MAX as bits 0..49. */
typedef uint64_t node_set; /* a plain integer with a name, not a hidden struct */

static inline node_set node_bit(uint32_t id)
{
    return UINT64_C(1) << (id - 1);
}

/* Highest id of a set that is not empty. */
static inline uint32_t nodes_last(node_set set)
{
    return 64 - (uint32_t)__builtin_clzll(set);
}

/* All of 1..nodes. */
static inline node_set nodes_all(uint32_t nodes)
{
    return (UINT64_C(1) << nodes) - 1;
}

static inline uint32_t nodes_count(node_set set)
{
    return (uint32_t)__builtin_popcountll(set);
}

/* Lowest id of a set that is not empty. */
static inline uint32_t nodes_first(node_set set)
{
    return (uint32_t)__builtin_ctzll(set) + 1;
}

/* A random member, 0 of the empty set; `count` random members, all if there are fewer. */
uint32_t nodes_pick(struct random *random, node_set set);
node_set nodes_pick_some(struct random *random, node_set set, uint32_t count);

/* "n1,n4" with any separator; the id behind `nodes` is the coordination service's. */
void parties_format(node_set set, uint32_t nodes, char separator, struct text *out);
const char *party_name(uint32_t id, uint32_t nodes, char buffer[PROCESS_NAME_MAX]);

/* What a world may lack, and faults need. */
enum facility {
    FACILITY_NONE,
    FACILITY_WALL_CLOCK,
    FACILITY_CLOCK_RATE,
    FACILITY_DISK,
    FACILITY_STATE,   /* that the algorithm makes durable */
    FACILITY_SERVICE, /* a coordination service; cluster_view.service says whether there is one */
    FACILITY_TRANSFER,
    FACILITY_MESSAGES, /* election messages pass through hands of ours */
    FACILITY_TWIN,     /* room for a second process under some node's id */
    FACILITY_FREEZER,  /* of control groups, for processes */
    FACILITIES,
};

/* What the nemesis can know when a fault begins. */
struct cluster_view {
    uint32_t nodes, witnesses;
    uint32_t leader;  /* newest leader by term that runs; 0: none known */
    node_set running; /* process exists */
    node_set paused;  /* stopped by us */
    node_set candidates;
    /* By what id the coordination service's process is faulted, the one behind the nodes; 0: there
     * is none, or it is out of reach. No set above holds it. */
    uint32_t service;
    bool service_running, service_paused;
    uint32_t twin;                   /* the node that has a twin; 0: none has */
    bool stands_alone;               /* who is told to stand has something to write by that */
    uint32_t actor;                  /* whose event the fault waited for; 0: it waited for none */
    node_set to;                     /* of a fault between two sides: the one that receives */
    const char *missing[FACILITIES]; /* why the world has none, static; NULL: it has */
    node_set lacking[FACILITIES];    /* nodes that do without one that others have */
};

/* Nodes that can be told something now: the leader, those that are no witnesses. */
node_set cluster_leads(const struct cluster_view *view);
node_set cluster_candidates(const struct cluster_view *view);

enum target_role {
    TARGET_ANY,       /* all nodes: the fault's shape chooses among them */
    TARGET_LEADER,    /* the newest known leader */
    TARGET_CANDIDATE, /* one that stands for election */
    TARGET_FOLLOWER,  /* `count` running nodes other than the leader */
    TARGET_FOLLOWERS, /* every running node other than the leader */
    TARGET_LOWEST,    /* the running node with the lowest id */
    TARGET_HIGHEST,   /* the one with the highest */
    TARGET_ACTOR,     /* the node whose event the fault waited for */
    TARGET_RANDOM,    /* `count` running nodes */
    TARGET_MINORITY,  /* running nodes, the largest number below half of all */
    TARGET_MAJORITY,  /* running nodes, the smallest number above half of all */
    TARGET_ALL,       /* every running node */
    TARGET_NODES,     /* the set in `nodes`, running or not */
    TARGET_ROLES,
};

struct target {
    enum target_role role;
    uint32_t count; /* follower, random; 0: one */
    node_set nodes; /* TARGET_NODES */
};

/* The smallest cluster in which anybody can have the role. */
uint32_t target_nodes_min(enum target_role role);

/* "leader", "random:2", "n2+n4", "any"; and back, exact. Nodes beyond `nodes` and empty sets are
 * usage errors. */
void target_format(const struct target *target, struct text *out);
int target_parse(struct slice text, uint32_t nodes, struct target *out, struct error *error);

/* The nodes meant, never empty, or 0 with a static `*ret_why`: no leader is known, ... */
node_set target_resolve(const struct target *target, const struct cluster_view *view,
                        struct random *random, const char **ret_why);

/* The same for the side that receives: who is chosen out of many is somebody else than the senders,
 * if there is somebody else. */
node_set target_resolve_other(const struct target *target, const struct cluster_view *view,
                              node_set senders, struct random *random, const char **ret_why);

#endif
