/* What a history says of its run before the first event: enough to judge it, to reproduce it and
 * to tell it from another. Kept as one JSON object, because people and foreign tools read it. */
#ifndef COUP_HISTORIES_HEADER_H
#define COUP_HISTORIES_HEADER_H

#include <stdint.h>

#include "base/error.h"
#include "base/knobs.h"
#include "base/text.h"

#define HISTORY_FORMAT 1

/* What an algorithm promises; checks say which of these they need (`coup list algorithms`). */
#define COUP_TRAITS(X)                                                                            \
    X(MAJORITY, "majority")         /* a leader needs grants of a majority: vote-once, support */ \
    X(DURABLE, "durable")           /* keeps its term across a crash */                           \
    X(TOKEN, "token")               /* issues fencing tokens that only grow */                    \
    X(LEASE, "lease")               /* claims carry a time until which they hold */               \
    X(LINEARIZABLE, "linearizable") /* client operations through the leader are */                \
    X(SERVICE, "service")           /* leadership is granted by a coordination service */         \
    X(STEADY, "steady")             /* nobody deposes a leader that a majority hears */           \
    X(PROGRESS, "progress")         /* a linked majority works, whoever else is half cut off */

enum trait {
#define X(id, name) TRAIT_##id,
    COUP_TRAITS(X)
#undef X
        TRAITS
};

const char *trait_name(enum trait trait);
int trait_parse(struct slice name); /* -1: unknown */

/* All texts are owned by the header; header_release() frees them. Zeroed is empty. */
struct history_header {
    uint32_t format; /* HISTORY_FORMAT of the writer */
    char *version;   /* coup's version and commit, "0.1.0 (abc123)" */
    char *command;   /* argv, quoted for a shell */
    char *world;     /* "real" or "sim" */
    uint64_t run;    /* random number that names the run */
    uint64_t seed;
    uint64_t started_unix_ns;
    char *algorithm;    /* "raft" */
    char *options;      /* canonical, "prevote=on,..." all of them */
    uint32_t traits;    /* bit per enum trait */
    uint32_t nodes;     /* n: nodes are 1..n */
    uint32_t witnesses; /* the last so many of them vote but never lead */
    uint32_t clients;
    char *network;  /* backend that ran: "switch", "netem", "sim" */
    char *resource; /* "fenced" or "unfenced" */
    char *service;  /* coordination service and its version, "etcd 3.4.23"; "" where none ran */
    uint64_t
        service_lease_ns; /* how long it keeps a lease at most; 0: as long as the option says */
    char *faults;         /* requested kinds, "kill,pause", "" for none */
    uint64_t fault_every_ns;
    uint64_t duration_ns;
    uint64_t client_pause_ns; /* mean distance between operations of one client; 0: not known */
    uint32_t traced;          /* 1: every election message is recorded */
    char *physics;            /* of a simulated run, as for --physics; else "" */
    struct knobs knobs;
    char **schedule; /* planned faults, one line each (nemesis/plan.h), schedule_count */
    uint32_t schedule_count;
    char **capabilities; /* "fault: available" or "fault: why not", capability_count */
    uint32_t capability_count;
    char *host;                    /* kernel, cores, memory in one line */
    uint64_t clock_uncertainty_ns; /* events closer than this are not ordered; 0 on one machine */
    char *scenario;                /* file or name of the scenario that was run; "" for none */
    char *expect;                  /* verdict that was expected, "invalid:CHECK"; "" for none */
};

void header_release(struct history_header *header);

/* One JSON object on one line, and back; unknown keys are passed over, a missing or wrongly typed
 * key is an error that names it. */
void header_to_json(const struct history_header *header, struct text *out);
int header_from_json(const char *json, size_t length, struct history_header *out,
                     struct error *error);

#endif
