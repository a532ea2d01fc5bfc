/* nodes: election itself. The core (elector.h, registry, algorithms, wire) is pure and runs the
 * same in a real process and in the simulator; driver, store, mesh and the programs are the only
 * files that know of libuv, NNG or a disk.
 *
 * An elector is a step function: one input in, outputs out. It reads no clock, does no I/O, cannot
 * fail and draws only from the generator it was given. One file per algorithm in nodes/algorithms,
 * one line in COUP_ALGORITHMS. */
#ifndef COUP_NODES_ELECTOR_H
#define COUP_NODES_ELECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/knobs.h"
#include "base/options.h"
#include "base/random.h"
#include "histories/event.h"
#include "histories/header.h"

/* One envelope for every algorithm: kind, arguments and ids are private to it, so codec, simulator
 * and history carry a message without understanding it. */
#define MESSAGE_ARGUMENTS 4
struct message {
    uint32_t source, target; /* node ids, 1..n; 0: the coordination service (coordination.h) */
    uint8_t kind;            /* index into the algorithm's kinds */
    uint64_t term;
    uint64_t argument[MESSAGE_ARGUMENTS];
    const uint32_t *ids; /* borrowed: from the codec, or output_ids() when sending */
    uint32_t id_count;   /* 0..n */
};

/* What survives a crash. Words are named by the algorithm; zero is the state of a new disk. A word
 * named "term" or "vote" is recorded in the persist event's fields of that meaning. */
#define DURABLE_WORDS 6
struct durable {
    uint64_t word[DURABLE_WORDS];
};

struct elector_config {
    uint32_t id;        /* this node, 1..nodes */
    uint32_t nodes;     /* n */
    uint32_t witnesses; /* nodes with id > n - witnesses vote but never lead */
    struct knobs knobs;
    struct option_values options; /* of algorithm->options, in table order */
    uint32_t bug;                 /* 0: honest; else 1 + index into algorithm->bugs */
    uint64_t seed;                /* of this node's generator; differs by node and incarnation */
};

static inline uint32_t elector_majority(const struct elector_config *config)
{
    return config->nodes / 2 + 1;
}

static inline bool elector_is_witness(const struct elector_config *config, uint32_t id)
{
    return id > config->nodes - config->witnesses;
}

/* The process that a message's source or target stands for. */
static inline uint32_t election_process(uint32_t id)
{
    return id ? PROCESS_NUMBER(PROCESS_NODE, id) : PROCESS_NUMBER(PROCESS_COORDINATOR, 0);
}

static inline bool algorithm_has_service(uint32_t traits)
{
    return traits >> TRAIT_SERVICE & 1;
}

enum input_type {
    INPUT_START,   /* first input of every incarnation, with what was persisted */
    INPUT_WAKE,    /* the deadline was reached; one that comes early must do nothing */
    INPUT_MESSAGE, /* vetted by the codec: kind, source, target and ids are in range */
    INPUT_COMMAND, /* an operator's wish */
};

enum command_type {
    COMMAND_TRANSFER, /* hand leadership to `target` (0: whoever is best) */
    COMMAND_RESIGN,   /* stop leading */
    COMMAND_STAND,    /* hold an election now, as if the leader were lost */
    COMMAND_FORCE,    /* lead without asking anybody: the override that splits brains */
};

struct input {
    enum input_type type;
    uint64_t now_ns; /* the node's own monotonic clock; may run fast, slow, or leap after a pause */
    uint64_t wall_ns; /* the node's own wall clock; may jump either way */
    union {
        const struct durable *stored;  /* START, borrowed */
        const struct message *message; /* MESSAGE, borrowed */
        struct {
            enum command_type type;
            uint32_t target;
        } command; /* COMMAND */
    };
};

enum role { ROLE_FOLLOWER, ROLE_CANDIDATE, ROLE_LEADER };

/* What the node believes. Acting as leader (a guarded write, a read it answers) is allowed while
 * role is leader, `may_act` holds, and until_ns is 0 or ahead of the node's clock. */
struct belief {
    enum role role;
    uint32_t leader;   /* 0: unknown */
    uint64_t term;     /* raft term, ballot, zab epoch, bully or ring epoch, lease revision */
    uint64_t token;    /* fencing token of this reign; 0 unless leader */
    uint64_t until_ns; /* leases: own monotonic deadline; 0: no deadline */
    bool may_act;      /* false: leads, but not yet, or no longer, with a majority's answer */
    bool from_memory;  /* planted bugs only: reads are answered without asking the resource */
};

/* A line for the history. lead, step-down and follow are made by the driver from changes of belief;
 * electors add the others: campaign, vote, suspect, renew, note. */
struct note {
    enum event_f f;
    uint64_t term; /* one this node has adopted; 0: none yet, as for a campaign that only asks */
    uint32_t peer; /* vote: for whom; else 0 */
    uint64_t until_ns;  /* renew */
    const char *reason; /* static text or NULL */
};

/* Id lists of one step. A full block is chained, never moved: lists handed out stay where they are.
 */
struct id_block {
    struct id_block *older;
    uint32_t used, capacity;
    uint32_t at[];
};

/* Carried out top to bottom: 1. persist and fsync, 2. report notes and belief, 3. send, 4. rearm.
 * Reports come before sends, so no message leaves whose cause a kill could hide. */
struct output {
    bool persist;
    bool send_before_persist; /* planted bugs only: reply first, make durable afterwards */
    bool without_sync;        /* planted bugs only: written, not fsynced, and reported as durable */
    struct durable durable;

    struct note *notes; /* note_count */
    uint32_t note_count, note_capacity;

    struct belief belief;    /* whole, always; the driver compares with the last one */
    const char *step_reason; /* why leadership ended or the leader was dropped; static or NULL */

    struct message *messages; /* message_count */
    uint32_t message_count, message_capacity;
    struct id_block *ids; /* storage behind message ids */

    uint64_t wake_ns; /* absolute, own monotonic; UINT64_MAX: none. Kept when not set by a step */
};

/* Zeroed is valid; reset before each step keeps memory, belief and wake. */
void output_reset(struct output *output);
void output_release(struct output *output);
void output_note(struct output *output, struct note note);
void output_send(struct output *output, struct message message);
uint32_t *output_ids(struct output *output, uint32_t count); /* valid until the step ends */
void output_persist(struct output *output, const struct durable *durable);

/* A deliberately broken variant, switched on by `-a NAME:bug=...`. */
struct bug {
    const char *name;    /* kebab-case; NULL ends a table */
    const char *summary; /* what it gets wrong, and the public failure it is taken from */
    const char *options; /* what else must be on for it to show, "quorum=on"; "" for nothing */
    const char *check;   /* the check that must catch it */
    const char *faults;  /* faults under which it shows, as for --faults; or a schedule, its lines
                          * (nemesis/plan.h) separated by ';' */
    uint32_t seeds;      /* simulated runs within which it must be caught */
};

/* What can befall a cluster, as far as promises differ by it. */
enum under { UNDER_CRASH, UNDER_PARTITION, UNDER_PAUSE, UNDER_DRIFT, UNDERS };

struct algorithm {
    const char *name, *summary;
    const char *reference;     /* paper or protocol the rules come from */
    const char *promises;      /* one sentence each, for docs and `coup list` */
    const char *bears[UNDERS]; /* what still holds, by enum under */
    const char *broken_by;
    const char *const *kinds;     /* message kinds, NULL-terminated */
    const char *const *durable;   /* names of the durable words, NULL-terminated; or NULL */
    const struct option *options; /* or NULL */
    const struct bug *bugs;       /* or NULL */
    uint32_t selftest_nodes;      /* largest cluster that shows its bugs; 0: a few will do */
    bool hands_on;                /* COMMAND_TRANSFER does something; the others always do */
    bool stands_alone; /* COMMAND_STAND makes something durable, whatever the others do */
    /* Traits may depend on options (`quorum=on`); bit per enum trait. */
    uint32_t (*traits)(const struct option_values *options);
    /* With the trait service: what of it they ask, bit per enum service_need (nodes/services.h);
     * else NULL. */
    uint32_t (*needs)(const struct option_values *options);
    /* Options and knobs that cannot work together: usage error naming the inequality; or NULL. */
    int (*validate)(const struct elector_config *config, struct error *error);
    size_t (*state_size)(const struct elector_config *config);
    /* `state` is zeroed storage of state_size bytes; no output yet. */
    void (*init)(void *state, const struct elector_config *config);
    void (*step)(void *state, const struct input *input, struct output *output);
};

/* Add a line here and nodes/algorithms/<name>.c: done. */
#define COUP_ALGORITHMS(X) \
    X(raft)                \
    X(bully)               \
    X(ring)                \
    X(invitation) X(successors) X(paxos) X(zab) X(quorum_lease) X(lease) X(queue) X(db_lease)

extern const struct algorithm *const algorithms[];         /* NULL-terminated, in the order above */
const struct algorithm *algorithm_find(struct slice name); /* NULL: unknown */

/* "raft:prevote=on,bug=forget-vote" -> algorithm, options and bug. Usage errors name what is
 * allowed. On success `config->options` and `config->bug` are set; validate() is not yet called. */
int algorithm_parse(const char *text, const struct algorithm **ret_algorithm,
                    struct elector_config *config, struct error *error);

/* What its option "drift" declares clocks to do at most, parts per million; 0: it relies on none.
 */
uint64_t algorithm_clock_drift(const struct algorithm *algorithm,
                               const struct option_values *options);

extern const char *const under_names[UNDERS]; /* "crash", ... */

/* Why it does not hand leadership on when told to; NULL: it does. */
const char *algorithm_no_transfer(const struct algorithm *algorithm);

uint32_t algorithm_kind_count(const struct algorithm *algorithm);

#endif
