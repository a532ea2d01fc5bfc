/* checker: from a history alone to a verdict. Depends on base and histories. One file per check in
 * checker/checks, one line in COUP_CHECKS. All checks see every event once, in recorded order;
 * memory does not grow with the history's length, only with terms, processes and open operations.
 *
 * Three kinds of evidence are kept apart: claim (lead), act (guarded-write, accept), hearsay
 * (follow). See docs/checks.md for what each verdict means. */
#ifndef COUP_CHECKER_CHECK_H
#define COUP_CHECKER_CHECK_H

#include "histories/event.h"
#include "histories/header.h"

/* A node and its twin tell two stories under one id: a place for each of them, 1 to STORIES(nodes);
 * 0: a process that tells none. */
#define STORIES(nodes) (2 * (nodes))
static inline uint32_t story_of(uint32_t process, uint32_t nodes)
{
    uint32_t id = process_index(process);
    if (!process_elects(process) || id < 1 || id > nodes)
        return 0;
    return process_kind(process) == PROCESS_TWIN ? nodes + id : id;
}

static inline uint32_t story_process(uint32_t story, uint32_t nodes)
{
    return story <= nodes ? PROCESS_NUMBER(PROCESS_NODE, story)
                          : PROCESS_NUMBER(PROCESS_TWIN, story - nodes);
}

/* Composed by maximum: invalid outranks unknown outranks valid. */
enum verdict { VERDICT_VALID, VERDICT_UNKNOWN, VERDICT_INVALID };
const char *verdict_name(enum verdict verdict);

#define WITNESS_MAX 6
struct finding {
    enum verdict verdict;
    char reason[400];              /* one sentence: who, which term or token, when, how far apart */
    uint64_t witness[WITNESS_MAX]; /* event indices, ascending */
    uint32_t witness_count;
    uint64_t violations; /* how many were seen; the first is described */
    uint64_t judged;     /* how many things it looked at that could have been wrong */
    char evidence[120];  /* what those were; "": `judged` with the check's noun says it */
};

/* First violation wins the description; later ones only count. Witnesses are sorted and repeats
 * dropped. An unknown never covers an invalid, an invalid always covers an unknown. */
void finding_invalid(struct finding *finding, const uint64_t *witness, uint32_t count,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
void finding_unknown(struct finding *finding, const uint64_t *witness, uint32_t count,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
/* What there was to judge, when a number and the check's noun do not say it. */
void finding_evidence(struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Append to the description, for what is known only later. */
void finding_add(struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct check {
    const char *name, *summary;
    /* Owed when the header has all of these traits; 0: always. */
    uint32_t traits;
    /* Further condition (a resource exists, ...); NULL: none. */
    bool (*owed)(const struct history_header *header);
    /* What `finding.judged` counts, as one word or two: "vote". A check that judged nothing is
     * unknown, for a run without it shows nothing; with `may_idle`, which is for promises that are
     * owed only at times, it is untested and does not decide. */
    const char *judges;
    bool may_idle;
    uint32_t events; /* bit per enum event_f: which events step() wants */
    size_t state_bytes;
    /* `state` is zeroed; `header` lives until after end(). Nodes are 1..SIMULATED_NODES_MAX. */
    void (*begin)(void *state, const struct history_header *header);
    void (*step)(void *state, const struct event *event, struct finding *finding);
    /* The history ended; `end_ns` is the last time seen. Frees what state holds. */
    void (*end)(void *state, uint64_t end_ns, struct finding *finding);
};

/* A condition for `owed`. */
bool check_needs_resource(const struct history_header *header);

/* clang-format off */
#define COUP_CHECKS(X) \
    X(single_leader_per_term) \
    X(vote_once) \
    X(majority_support) \
    X(persist_before_send) \
    X(term_monotonic) \
    X(unique_token) \
    X(fencing_monotonic) \
    X(lease_exclusive) \
    X(leader_without_grant) \
    X(fenced_lock) \
    X(acted_after_loss) \
    X(linearizable) \
    X(recovers) \
    X(usable_leader) \
    X(converges) \
    X(stable) \
    X(faults_landed) \
    X(no_crash) \
    X(well_formed)
/* clang-format on */

extern const struct check *const checks[]; /* NULL-terminated */
const struct check *check_find(struct slice name);

#endif
