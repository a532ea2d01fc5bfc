/* The schedule: which fault begins when, on whom, for how long. Data; drawn from a seed here, or
 * read from text, or taken from a history. Pure. */
#ifndef COUP_NEMESIS_PLAN_H
#define COUP_NEMESIS_PLAN_H

#include "nemesis/fault.h"
#include "nemesis/trigger.h"

struct scheduled_fault {
    uint64_t id;          /* dense from 1 in order of at_ns, joins fault and heal events */
    uint64_t at_ns;       /* after the faults phase began */
    struct trigger after; /* from then on waits for this */
    uint64_t duration_ns; /* UINT64_MAX: until the heal */
    const struct fault *fault;
    struct target target; /* resolved when it begins */
    struct target to;     /* of a fault between two sides, whose `target` is "from" */
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
    uint64_t every_ns;            /* mean distance between beginnings */
    uint64_t length_ns;           /* of the faults phase; every fault ends before it does */
    uint64_t election_timeout_ns; /* the longest; durations and strengths are measured by it */
    uint64_t clock_drift_ppm;     /* as in struct fault_scale, as is: */
    const char *const *message_kinds;
};

/* Never more than so many, however short `every_ns` is. */
#define PLAN_FAULTS_MAX 20000u

/* A card per group that was asked for whole (its members take turns) and per single kind: every
 * card comes round before any comes twice (a shuffled deck per round), faults overlap. When
 * `every_ns` leaves too few beginnings for one round they move closer together, so that each card
 * comes up at least once. Kinds that need more nodes than there are give way to others of their
 * group. */
void plan_random(const struct plan_request *request, struct schedule *out);

/* Bound of "at" and "for". */
#define SCHEDULE_TIME_MAX_NS (8760 * 3600 * NS_PER_S)

/* One line: "at=1.2s fault=loss on=leader for=500ms loss=20% ... seed=7", exact both ways, or
 * "after=lead:2+50ms fault=kill on=actor" (nemesis/trigger.h), where "at" says from when on events
 * count and defaults to 0. A fault between two sides has "from" and "to" instead of "on", both any
 * unless given. Words may come in any order; "on" defaults to the fault's own first target, "for"
 * to until the heal, parameters to their defaults, "seed" to 0. The id is the place in the
 * schedule. */
void scheduled_fault_format(const struct scheduled_fault *scheduled, struct text *out);
int scheduled_fault_parse(const char *line, uint32_t nodes, struct scheduled_fault *out,
                          struct error *error);

/* Whether it is meant for nodes by their names, and not for whoever has a role. */
bool scheduled_is_named(const struct scheduled_fault *scheduled);

/* The smallest cluster in which it makes sense and somebody can have the role it is meant for. */
uint32_t scheduled_nodes_min(const struct scheduled_fault *scheduled);

/* The lines of a history's header, in any order; the error names the one that cannot be read. */
int schedule_read(char *const *lines, uint32_t count, uint32_t nodes, struct schedule *out,
                  struct error *error);

/* Insert in order of at_ns (after equals) and number anew from there. */
void schedule_add(struct schedule *schedule, const struct scheduled_fault *scheduled);
/* The kinds that come up in it, without repeats, in registry order. Returns how many. */
uint32_t schedule_kinds(const struct schedule *schedule, const struct fault *out[FAULTS_MAX]);
/* True if it has a fault that needs this. */
bool schedule_needs(const struct schedule *schedule, enum facility facility);
void schedule_release(struct schedule *schedule);

#endif
