/* What the algorithms share that contend at a coordination service: asking it, and a session with
 * it that is kept alive. The session counts from the moment of ASKING by the own clock, and ends
 * `margin` before it does at the service: two clocks that differ from true time by a fraction d
 * each agree on who holds a lease while margin >= 2 * d * lease. Pure. */
#ifndef COUP_NODES_CONTENDER_H
#define COUP_NODES_CONTENDER_H

#include "nodes/coordination.h"
#include "nodes/peer.h"
#include "nodes/services.h"

/* The first rows of their option tables. */
enum contender_option { CONTENDER_LEASE, CONTENDER_MARGIN, CONTENDER_DRIFT, CONTENDER_OPTIONS };
/* clang-format off */
#define CONTENDER_OPTION_ROWS                                                                      \
    {"lease", OPTION_DURATION, "500ms", 10 * NS_PER_MS, 600 * NS_PER_S, NULL,                      \
     "how long the service keeps what it granted without hearing from the holder"},                \
    {"margin", OPTION_DURATION, "50ms", 0, 600 * NS_PER_S, NULL,                                   \
     "how much earlier the holder stops; 0 shows the overlap"},                                    \
    {"drift", OPTION_PROBABILITY, "5%", 0, 300000, NULL,                                           \
     "declared bound on the difference of a clock's rate from true time"}
/* clang-format on */

struct contender {
    struct peer peer;
    uint64_t last_id;
    uint64_t session;  /* number; 0: none */
    uint64_t opening;  /* id of the ask for one that is open; 0: none */
    uint64_t until_ns; /* own clock: the session is ours before */
    uint64_t beat_ns;  /* next keepalive, or next attempt to open */
    bool from_answer;  /* planted bug: the ttl counts from the answer */
};

static inline uint64_t contender_value(const struct contender *contender, uint32_t row)
{
    return contender->peer.config.options.at[row];
}

/* Whether the node may be elected at all. */
static inline bool contender_stands(const struct contender *contender)
{
    return !peer_is_witness(&contender->peer);
}

/* Send it, in the session at hand and under the node's own name unless one is given; its id. */
uint64_t contender_ask(struct contender *contender, struct ask ask, uint64_t now_ns,
                       struct output *output);

/* An answer of the service to this node, if `input` is one. */
bool contender_hears(const struct contender *contender, const struct input *input,
                     struct answer *out);

/* How long one ask is waited for. */
static inline uint64_t contender_patience_ns(const struct contender *contender)
{
    return contender->peer.config.knobs.election_timeout_min;
}

/* Until when something asked at `id` and granted for a lease may be relied on. */
uint64_t contender_until(const struct contender *contender, uint64_t id, uint64_t now_ns);

/* Keep the session alive or open one, as is due. */
void contender_keep(struct contender *contender, uint64_t now_ns, struct output *output);
/* It is over, by its time or by the service's word: open another at once. */
void contender_lost(struct contender *contender, uint64_t now_ns);
/* ALIVE: true if a session has just begun. */
bool contender_alive(struct contender *contender, const struct answer *answer, uint64_t now_ns);
/* Whether the session's time is over, own clock. */
static inline bool contender_expired(const struct contender *contender, uint64_t now_ns)
{
    return contender->session && now_ns >= contender->until_ns;
}
/* Belief and next wake-up of a node whose claim is bound to its session. Of `belief` the role, the
 * leader, the term and the token are given; the token counts while the role is the leader's.
 * `retry_ns`: when it has something to do besides keeping the session. */
void contender_believe(const struct contender *contender, struct belief belief, uint64_t retry_ns,
                       uint64_t now_ns, struct output *output);

/* As algorithm->validate; `name` is the algorithm's. */
int contender_validate(const struct elector_config *config, const char *name, struct error *error);

/* Bits of what all of them promise. */
#define CONTENDER_TRAITS \
    (1u << TRAIT_SERVICE | 1u << TRAIT_TOKEN | 1u << TRAIT_LEASE | 1u << TRAIT_LINEARIZABLE)

#endif
