/* What a run shows besides its verdict: measured, never judged. */
#ifndef COUP_CHECKER_MEASURE_H
#define COUP_CHECKER_MEASURE_H

#include "histories/event.h"
#include "histories/header.h"

#define MEASURE_KINDS_MAX 64

/* One loss of a leader and what followed; UINT64_MAX where it did not happen before the next one.
 * All true ns since the run's start. */
struct failover {
    uint64_t lost_ns;      /* fault landed on the leader, or it stepped down */
    uint64_t suspected_ns; /* first suspect event */
    uint64_t campaign_ns;
    uint64_t elected_ns;
    uint64_t accepted_ns; /* first guarded write accepted under the new token */
    uint32_t old_leader, new_leader;
};

struct fault_count {
    char kind[40];
    uint64_t planned, installed, skipped, failed;
    uint64_t landed; /* of those installed: they touched something, as their heal says */
};

struct measure {
    uint64_t terms;     /* distinct terms with a claim */
    uint64_t leaders;   /* distinct nodes that led */
    uint64_t elections; /* campaigns */
    uint64_t votes;
    uint64_t writes_accepted, writes_rejected; /* at the resource */
    uint64_t stale_attempts_rejected;          /* rejected for a lower token: fencing at work */
    uint64_t client_ok, client_fail, client_unknown;
    uint64_t watched_ns;    /* between the first claim and the end of faults, or of the history */
    bool faults_ended;      /* which of the two */
    uint64_t leaderless_ns; /* part of watched_ns: nobody with a live claim runs and has links to
                             * a majority */
    uint64_t overlap_ns;    /* two or more live claims, in different terms */
    uint64_t messages;      /* election messages sent */
    uint64_t crashes, kills;
    struct fault_count faults[MEASURE_KINDS_MAX];
    uint32_t fault_kinds;
    struct failover *failovers; /* owned */
    uint32_t failover_count, failover_capacity;
    uint64_t duration_ns;
    uint64_t stalls, stalled_ns, longest_stall_ns; /* the machine did not run a process */
    bool interrupted;                              /* the controller was told to stop early, ... */
    uint64_t interrupted_ns;                       /* ... so long after faults began */
};

struct measurer;
struct measurer *measurer_new(const struct history_header *header);
void measurer_step(struct measurer *measurer, const struct event *event);
void measurer_end(struct measurer *measurer, struct measure *out); /* frees the measurer */

#endif
