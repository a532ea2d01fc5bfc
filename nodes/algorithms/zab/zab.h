/* Zab's inside, shared by zab.c (discovery and leading) and votes.c (the search for a leader). */
#ifndef COUP_NODES_ALGORITHMS_ZAB_H
#define COUP_NODES_ALGORITHMS_ZAB_H

#include "nodes/peer.h"

enum kind { NOTIFICATION, FOLLOWER_INFO, NEW_EPOCH, ACK_EPOCH, PING, PING_REPLY };

/* Of NOTIFICATION: the vote. */
enum argument { ARGUMENT_LEADER, ARGUMENT_EPOCH, ARGUMENT_LAST, ARGUMENT_ROUND };
/* Of PING: its number and our clock, which the answer echoes. */
enum ping_argument { ARGUMENT_NUMBER, ARGUMENT_SENT };
#define ROUND_LOOKING (UINT64_C(1) << 40) /* added to the round by a node that still looks */

enum word { WORD_CURRENT = PEER_VOTE + 1 };

enum choice { OPTION_SETTLE };

enum defect { HONEST, SKIP_DISCOVERY, FORGET_EPOCH, ACK_TWICE, STALE_ACK, REUSE_EPOCH };

enum phase { LOOKING, FOLLOWING, DISCOVERING, LEADING };

struct ballot {
    uint32_t leader; /* 0: none */
    uint64_t epoch, last;
};

/* What a node last told us. */
struct heard {
    uint64_t round;
    bool looking;
    struct ballot ballot;
};

struct zab {
    struct peer peer;
    enum phase phase;
    uint32_t leader;          /* chosen: FOLLOWING */
    bool confirmed;           /* the leader pinged: it leads, hearsay may name it */
    uint64_t round;           /* logical clock of elections */
    uint64_t last;            /* number of the last ping seen in the current epoch */
    uint64_t asked_ns;        /* DISCOVERING: when the epoch was proposed */
    uint64_t answered_epoch;  /* the last one acknowledged since this process started, ... */
    uint32_t answered_leader; /* ... and to whom */
    uint64_t epoch; /* DISCOVERING: proposed, 0 until a majority told its own; LEADING: ours */
    struct ballot ballot;
    uint64_t settle_ns; /* LOOKING: when our majority counts; UINT64_MAX: none stands */
    uint64_t repeat_ns; /* LOOKING: tell our vote again; FOLLOWING: join again until confirmed */
    uint64_t deadline_ns;
    struct members joined; /* DISCOVERING: who told its epoch */
    struct members acked;
    struct heard *heard; /* by id - 1 */
    uint64_t storage[];
};

/* --- votes.c --- */

/* Our vote for ourselves; for nobody as a witness. */
struct ballot zab_own_ballot(const struct zab *zab);
/* Tell our vote; target 0: all. */
void zab_notify(struct zab *zab, uint32_t target, struct output *output);
void zab_vote_for(struct zab *zab, struct ballot ballot, uint64_t now_ns, struct output *output);
void zab_on_notification(struct zab *zab, const struct message *message, uint64_t now_ns,
                         struct output *output);

/* --- zab.c --- */

void zab_follow(struct zab *zab, uint32_t leader, uint64_t now_ns, struct output *output);

#endif
