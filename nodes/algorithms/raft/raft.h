/* Raft's inside, shared by raft.c and the files of this folder. Sections named here and there are
 * those of Ongaro, "Consensus: Bridging Theory and Practice", 2014. */
#ifndef COUP_NODES_ALGORITHMS_RAFT_H
#define COUP_NODES_ALGORITHMS_RAFT_H

#include "nodes/elector.h"

enum raft_kind {
    VOTE_REQUEST,    /* [transfer] */
    VOTE_REPLY,      /* [granted] */
    PREVOTE_REQUEST, /* [round] */
    PREVOTE_REPLY,   /* [round, granted] */
    HEARTBEAT,       /* [when it was sent, the leader's clock] */
    HEARTBEAT_REPLY, /* [the same back] */
    TIMEOUT_NOW,
};

enum raft_word { WORD_TERM, WORD_VOTE };

enum raft_option { RAFT_PREVOTE, RAFT_CHECKQUORUM, RAFT_STICKINESS };

/* id, name, options, check that must catch it, faults and seeds that show it, summary */
#define RAFT_BUGS(X)                                                                               \
    X(FORGET_VOTE, "forget-vote", "", "persist-before-send", "none", 10,                           \
      "the vote is not part of what is made durable (databendlabs/databend#1051)")                 \
    X(FORGET_TERM, "forget-term", "", "persist-before-send", "none", 10,                           \
      "nothing is made durable: a restart begins at term 0 again (Tencent/phxpaxos#145)")          \
    X(REPLY_BEFORE_PERSIST, "reply-before-persist", "", "persist-before-send", "none", 10,         \
      "the grant leaves before its record is durable (valkey-io/valkey#3887)")                     \
    X(WITHOUT_SYNC, "no-fsync", "", "term-monotonic", "power-loss", 20,                            \
      "the record is written but not fsynced before the vote leaves (dsrhaslab/lazyfs#3)")         \
    X(VOTE_TWICE, "vote-twice", "prevote=off", "vote-once", "kill,delay", 50,                      \
      "a voter grants whoever asks in its term")                                                   \
    X(FORGET_SELF_VOTE, "forget-self-vote", "prevote=off", "vote-once", "kill,delay", 50,          \
      "a candidate counts its own vote but leaves it free for a rival (vesoft-inc/nebula#3415)")   \
    X(CLEAR_ON_STEP_DOWN, "vote-cleared-on-step-down", "prevote=off", "vote-once", "kill,delay",   \
      300, "stepping down within a term frees the vote (microsoft/CCF#8094)")                      \
    X(CLEAR_ON_LEADER, "vote-cleared-on-new-leader", "prevote=off", "vote-once", "kill,delay",     \
      100, "learning of the leader frees the vote (camunda/camunda#5356)")                         \
    X(TERM_REGRESSION, "term-regression", "", "term-monotonic",                                    \
      "at=500ms fault=message-duplicate from=leader kind=heartbeat count=1 copy=late for=1500ms;"  \
      "at=600ms fault=kill on=leader for=2s",                                                      \
      20, "a heartbeat's term is taken over even when it is older (vesoft-inc/nebula#2405)")       \
    X(DUPLICATE_GRANTS, "count-duplicate-grants", "prevote=off", "majority-support", "delay", 300, \
      "a voter that answers twice counts twice")                                                   \
    X(SELF_VOTE_TWICE, "self-vote-twice", "", "majority-support", "partition", 20,                 \
      "a candidate counts itself again whenever it asks again (ktoso/akka-raft#50)")               \
    X(STALE_GRANT, "stale-grant", "prevote=off", "majority-support",                               \
      "at=500ms fault=kill on=leader for=2s;"                                                      \
      "at=500ms fault=message-hold kind=vote-reply count=3 for=1200ms;"                            \
      "at=500ms after=message fault=message-drop kind=vote-request for=1500ms",                    \
      20, "a grant of an earlier term counts in this one (andreev-io/little-raft#44)")             \
    X(STALE_TALLY, "stale-tally", "", "majority-support", "none", 10,                              \
      "grants of the last round count in the next one (redis/redis#8753)")                         \
    X(PREVOTE_AS_VOTE, "prevote-as-vote", "", "majority-support", "none", 10,                      \
      "a late pre-vote counts as a vote (canonical/raft#196)")                                     \
    X(NO_MAJORITY, "no-majority", "", "majority-support", "none", 10,                              \
      "the candidate's own vote is enough")                                                        \
    X(RESUME, "resume-after-restart", "", "unique-token", "kill", 20,                              \
      "whoever voted for itself leads that term after a restart (cockroachdb/cockroach#10420)")    \
    X(KEEP_LEADING, "keep-leading", "", "converges", "partition", 50,                              \
      "a leader ignores larger terms (deventlab/d-engine#352)")                                    \
    X(DEAF_LEADER, "deaf-leader", "", "usable-leader", "one-way", 50,                              \
      "a leader nobody can answer goes on leading (camunda/camunda#7364)")                         \
    X(PREVOTE_MISMATCH, "prevote-term-mismatch", "", "recovers", "partition,kill", 100,            \
      "pre-votes between nodes of different terms are ignored (etcd-io/etcd#8243)")                \
    X(STALE_LEADER, "stale-leader-refusal", "", "usable-leader", "kill", 50,                       \
      "pre-votes are refused for the sake of a leader no longer heard (tikv/tikv#3270)")           \
    X(READ_FROM_MEMORY, "read-from-memory", "checkquorum=off", "linearizable", "partition", 150,   \
      "a leader answers reads by itself, without making sure that it still leads "                 \
      "(etcd-io/etcd#741)")                                                                        \
    X(LATE_HEARTBEAT, "late-heartbeat", "", "stable", "none", 20,                                  \
      "a leader paces its heartbeats by the candidate's timer (willemt/raft#48)")

enum raft_bug {
    HONEST,
#define X(id, name, options, check, faults, seeds, summary) BUG_##id,
    RAFT_BUGS(X)
#undef X
};

/* What is known of another node, by id - 1. */
struct raft_member {
    uint64_t acked_ns; /* leader: the newest heartbeat it answered was sent then */
    bool answered;     /* candidate: need not be asked again */
    bool granted;
};

struct raft {
    struct elector_config config;
    struct random random;
    struct durable durable;
    enum role role;
    bool asking;    /* candidate: pre-vote, the term is not raised yet */
    bool transfer;  /* candidate: by the leader's own wish */
    bool contested; /* candidate: a voter chose another */
    bool forced;    /* leader: by an operator's override */
    uint32_t leader;
    uint32_t grants;
    uint64_t round;       /* of pre-votes: own clock at its start, so unique across restarts */
    uint64_t heard_ns;    /* follower: the leader's last heartbeat */
    uint64_t deadline_ns; /* follower: suspicion; candidate: try anew; leader: next heartbeat */
    uint64_t resend_ns;   /* candidate: ask again those who did not answer */
    uint64_t check_ns;    /* leader: not before then can the majority be lost */
    uint64_t transfer_ns; /* leader: handing over until then; 0: not */
    struct raft_member members[];
};

static inline bool raft_broken(const struct raft *raft, enum raft_bug bug)
{
    return raft->config.bug == (uint32_t)bug;
}

static inline bool raft_enabled(const struct raft *raft, enum raft_option option)
{
    return raft->config.options.at[option] != 0;
}

static inline uint64_t raft_term(const struct raft *raft)
{
    return raft->durable.word[WORD_TERM];
}

static inline bool raft_is_witness(const struct raft *raft)
{
    return elector_is_witness(&raft->config, raft->config.id);
}

static inline uint32_t raft_majority(const struct raft *raft)
{
    return raft_broken(raft, BUG_NO_MAJORITY) ? 1 : elector_majority(&raft->config);
}

void raft_send(const struct raft *raft, uint32_t target, struct message message,
               struct output *output);

/* To all the others; a candidate spares those who answered. */
void raft_send_all(const struct raft *raft, struct message message, struct output *output);

/* How many nodes answered a heartbeat sent within the window, this one included. `*ret_until` is
 * the first moment at which that count can fall. */
uint32_t raft_fresh_members(const struct raft *raft, uint64_t now_ns, uint64_t window_ns,
                            uint64_t *ret_until);

/* Draw the election deadline anew. */
void raft_arm(struct raft *raft, uint64_t now_ns);

/* `leader` 0: of nobody known. `reason`, static text or NULL, is told where a leader is lost. */
void raft_become_follower(struct raft *raft, uint32_t leader, const char *reason, uint64_t now_ns,
                          struct output *output);
void raft_adopt_term(struct raft *raft, uint64_t term, uint64_t now_ns, struct output *output);
void raft_lead(struct raft *raft, uint64_t now_ns);

/* Open a round of pre-votes (`asking`), or raise the term and ask for votes. */
void raft_stand(struct raft *raft, bool asking, uint64_t now_ns, struct output *output);

void raft_on_election_wake(struct raft *raft, uint64_t now_ns, struct output *output);
void raft_on_prevote_request(struct raft *raft, const struct message *message, uint64_t now_ns,
                             struct output *output);
void raft_on_prevote_reply(struct raft *raft, const struct message *message, uint64_t now_ns,
                           struct output *output);
void raft_on_vote_request(struct raft *raft, const struct message *message, uint64_t now_ns,
                          struct output *output);
void raft_on_vote_reply(struct raft *raft, const struct message *message, uint64_t now_ns,
                        struct output *output);

/* A vote request of a larger term that is to be ignored, because the leader is heard. */
bool raft_disturbs(const struct raft *raft, const struct message *message, uint64_t now_ns);

#endif
