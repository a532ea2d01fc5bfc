/* One simulated run: everything `coup run` does, in virtual time. sim_run() is the whole interface;
 * what it needs is in its arguments and what it leaves is in its result. */
#ifndef COUP_SIMULATOR_SIM_H
#define COUP_SIMULATOR_SIM_H

#include "checker/checker.h"
#include "nemesis/plan.h"
#include "nodes/elector.h"

/* What a real run takes from the machine it runs on. */
/*  field                 name, type, default, min, max, help */
#define COUP_PHYSICS(X)                                                                           \
    X(latency_min, "latency-min", DURATION, "100us", 0, 10000000000, "shortest way of a message") \
    X(latency_max, "latency-max", DURATION, "500us", 0, 10000000000,                              \
      "longest way of a message, faults aside")                                                   \
    X(base_loss, "loss", PROBABILITY, "0", 0, 900000, "messages lost on every link, always")      \
    X(in_order, "in-order", SWITCH, "on", 0, 1,                                                   \
      "a link delivers in the order of sending, as TCP does; the reorder fault breaks it")        \
    X(fsync_min, "fsync-min", DURATION, "0", 0, 10000000000, "fastest fsync; 0: instant")         \
    X(fsync_max, "fsync-max", DURATION, "2ms", 0, 10000000000,                                    \
      "slowest fsync, during which a node does nothing else")                                     \
    X(power_loss, "power-loss", PROBABILITY, "0", 0, 1000000,                                     \
      "share of kills that are power losses: what was not synced is gone")                        \
    X(drift, "drift", PROBABILITY, "0", 0, 500000,                                                \
      "each node's clock runs fast or slow by up to this, all the time")                          \
    X(start_spread, "start-spread", DURATION, "5ms", 0, 10000000000,                              \
      "nodes start within so long of each other")

struct physics {
#define X(field, name, type, initial, min, max, help) uint64_t field;
    COUP_PHYSICS(X)
#undef X
};

extern const struct option physics_table[];
void physics_defaults(struct physics *out);
/* As knobs_parse(): what must hold between them is checked too. */
int physics_parse(const char *text, struct physics *physics, struct error *error);
void physics_format(const struct physics *physics, bool only_changed, struct text *out);

enum sim_record {
    SIM_BARE,  /* electors, network and faults alone: no workload, no events, no verdict */
    SIM_CHECK, /* all events go to the checks and are forgotten */
    SIM_KEEP,  /* and are kept as a history file in memory */
};

/* Concrete: two runs of one configuration are the same run. Borrowed for the time of the call. */
struct sim_config {
    const struct algorithm *algorithm;
    struct elector_config elector; /* nodes, witnesses, knobs, options, bug; id and seed unused */
    uint64_t seed;
    uint32_t clients;
    uint64_t client_pause_ns; /* mean distance between beginnings of a client's operations */
    bool fenced;
    const struct fault *kinds[FAULTS_MAX];
    uint32_t kind_count;
    uint64_t fault_every_ns;
    uint64_t duration_ns;            /* of the faults phase */
    const struct schedule *schedule; /* NULL: drawn from the seed */
    struct physics physics;
    enum sim_record record;
    bool trace;          /* record sends and receives too */
    const char *checks;  /* as checker_new() */
    const char *command; /* for the header, as is `version`; NULL: none */
    const char *version;
    const char *scenario; /* these two as well */
    const char *expect;
    uint64_t storm; /* happenings in one simulated second that end the run; 0: far too many */
};

#define SIM_KINDS_MAX 32u /* of messages, as in nodes/chronicle.h */

/* The first election: when its leader was there, and what had been sent by then. */
struct sim_first {
    uint64_t leader_ns;               /* UINT64_MAX: nobody led in time */
    uint64_t messages[SIM_KINDS_MAX]; /* by kind */
};

struct sim_result {
    struct history_header header;
    struct report_data report;     /* not for SIM_BARE */
    struct history_writer *writer; /* SIM_KEEP: in memory, all events in it, not yet finished, so
                                    * that a verdict can be added; else NULL */
    uint64_t hash;                 /* of all events: equal runs, equal hashes */
    uint64_t happenings;           /* queue entries carried out */
    uint64_t simulated_ns;
    uint64_t messages, dropped; /* over the simulated network */
    struct sim_first first;
    uint32_t faults; /* scheduled */
};

/* Whether the cluster can be: a usage error if not. sim_run() asks too. */
int sim_vet(const struct sim_config *config, struct error *error);

/* 0, or a usage error: options that cannot work together, faults on a cluster too large for them,
 * an unknown check. -ELOOP: the algorithm's messages breed messages, faster than time goes on. */
int sim_run(const struct sim_config *config, struct sim_result *out, struct error *error);
void sim_result_release(struct sim_result *result);

/* The whole file of a SIM_KEEP run, finished by this; belongs to the result. */
struct slice sim_result_bytes(struct sim_result *result);

#endif
