/* A small cluster of real programs on the loopback, for live tests: no namespaces, no root, no
 * controller. Children are spawned, watched through their control frames, killed by their pid. */
#ifndef COUP_TESTS_CLUSTER_H
#define COUP_TESTS_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/frame.h"
#include "base/process.h"

#define MEMBERS_MAX 16

struct member {
    uint32_t process; /* base/process.h */
    pid_t pid;        /* 0: not running */
    int input, output;
    uint32_t incarnation;
    bool ready;
    struct frame_reader reader;
    uint64_t ok, failed, unknown; /* operations ended: own writes of a node, all of a client */
    uint64_t dones;               /* commands answered */
    char answer[128];             /* to the last of them */
};

struct cluster {
    uint32_t nodes, clients;
    const char *mode;      /* fenced or unfenced */
    const char *algorithm; /* "raft", ... */
    char folder[64];
    char base[20];
    uint64_t run, origin_ns;
    struct member members[MEMBERS_MAX]; /* nodes, then the resource, then clients */
    uint32_t member_count;

    /* What the events said so far. */
    uint32_t leader; /* latest claim that was not given up and whose node lives; 0: none */
    uint64_t token;  /* of that claim */
    uint64_t accepted, rejected, accepted_token, accepted_sequence;
    uint64_t lead_ns, accept_ns; /* true times of the last claim and of the first accept under it */
    uint64_t suspect_ns, campaign_ns; /* first since they were zeroed */
};

/* Make the folder and start everything; waits until all are ready. */
void cluster_open(struct cluster *cluster);
void cluster_spawn(struct cluster *cluster, struct member *member);
void cluster_kill(struct cluster *cluster, struct member *member);

/* Close every stdin and expect status 0 of all that live. */
void cluster_close(struct cluster *cluster);

/* Kill whoever is left after a failed test; remove the folder. */
void cluster_release(struct cluster *cluster);

struct member *cluster_node(struct cluster *cluster, uint32_t id);
struct member *cluster_resource(struct cluster *cluster);
struct member *cluster_client(struct cluster *cluster, uint32_t id);

void cluster_command(struct member *member, const char *text);

/* Read events until `holds` says yes; false when it has not within the limit. */
typedef bool (*cluster_predicate)(const struct cluster *cluster, uint64_t argument);
bool cluster_wait(struct cluster *cluster, cluster_predicate holds, uint64_t argument,
                  uint64_t limit_ms);

/* True time since the cluster's start, ns. */
uint64_t cluster_now(const struct cluster *cluster);

#endif
