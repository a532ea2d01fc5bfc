/* The schedule: which fault begins when, on whom, for how long. Data; drawn from a seed here, or
 * read from text, or taken from a history. Pure. */
#ifndef COUP_NEMESIS_PLAN_H
#define COUP_NEMESIS_PLAN_H

#include "nemesis/fault.h"

/* Whom a fault is meant for; resolved when it begins. */
enum target_role {
    TARGET_ANY, /* the fault's own choice among running nodes */
    TARGET_LEADER,
    TARGET_CANDIDATE,
    TARGET_FOLLOWER,
    TARGET_RANDOM,
    TARGET_MINORITY,
    TARGET_MAJORITY,
    TARGET_ALL,
    TARGET_NODES, /* the set in `nodes` */
};

struct scheduled_fault {
    uint64_t id;    /* dense from 1, joins fault and heal events */
    uint64_t at_ns; /* after the faults phase began */
    uint64_t duration_ns;
    const struct fault *fault;
    enum target_role role;
    uint32_t role_count; /* random: how many; 0: one */
    node_set nodes;      /* TARGET_NODES */
    struct option_values parameters;
    uint64_t seed; /* of the generator that start() gets */
};

struct schedule {
    struct scheduled_fault *faults; /* in order of at_ns */
    uint32_t count, capacity;
};

struct plan_request {
    uint64_t seed;
    uint32_t nodes;
    const struct fault *const *kinds;
    uint32_t kind_count;
    uint64_t every_ns;  /* mean distance between beginnings */
    uint64_t length_ns; /* of the faults phase; every fault ends before it does */
};

/* Every kind comes round before any comes twice (a shuffled deck per round), faults overlap. */
void plan_random(const struct plan_request *request, struct schedule *out);

/* One line: "at=1.2s fault=kill on=leader for=500ms loss=20% ...", exact both ways. */
void scheduled_fault_format(const struct scheduled_fault *scheduled, struct text *out);
int scheduled_fault_parse(const char *line, uint32_t nodes, struct scheduled_fault *out,
                          struct error *error);

void schedule_add(struct schedule *schedule, const struct scheduled_fault *scheduled);
void schedule_release(struct schedule *schedule);

#endif
