/* A suite: many runs in many settings, and what must come out of each. YAML; docs/suites.md
 * explains the keys:
 *
 *   name: nightly
 *   defaults: {time: 10s}
 *   cells:
 *     - {algorithm: [raft, paxos], faults: [all, partition], seeds: 1..500}
 *     - {scenario: bully-split-3-3, at-least: 10}
 *
 * Every list of an entry is a dimension of a matrix, and every point of the matrix a cell. Pure:
 * text in, cells out; what the words of a cell mean is for coup sim and coup run to say. */
#ifndef COUP_CONTROLLER_SUITE_PLAN_H
#define COUP_CONTROLLER_SUITE_PLAN_H

#include "controller/expectation.h"

#define SUITE_CELLS_MAX 10000u
#define SUITE_WORDS_MAX 20u

/* "--option text", as it was written under `key` on `line`. */
struct suite_word {
    const char *key, *option;
    char *text; /* owned */
    size_t line;
};

struct suite_cell {
    char *name; /* owned; no two have the same */
    size_t line;
    bool real;            /* real processes; else simulated */
    uint64_t first, last; /* seeds, both included */
    uint32_t repeats;     /* of each seed; simulated runs: 1 */
    struct suite_word words[SUITE_WORDS_MAX];
    uint32_t word_count;
    struct expectation expect; /* not given: what its scenario says, or valid */
    uint64_t at_least;         /* runs that must come out as expected; 0: see suite_verdict.h */
    uint64_t budget_ns;        /* of work; what it does not reach is left out; 0: none */
};

struct suite {
    char *file, *name, *summary; /* owned */
    uint64_t budget_ns;          /* of wall time, 0: none */
    uint64_t keep_every;      /* histories of every so manieth run that is as expected; 0: none */
    uint64_t retries;         /* of a run that fails because coup does */
    struct suite_cell *cells; /* owned */
    uint32_t count;
};

/* Usage errors name file, line and key. suite_release() frees; zeroed is empty. */
int suite_parse(const char *file, struct slice yaml, struct suite *out, struct error *error);
void suite_release(struct suite *suite);

/* Which part of a suite one machine does: shard 1..shards. Cell i always belongs to the same one,
 * whatever else is chosen. "1/1" is all. */
struct suite_shard {
    uint32_t shard, shards;
};
int suite_shard_parse(const char *text, struct suite_shard *out, struct error *error);
bool suite_in_shard(struct suite_shard shard, uint32_t cell);

/* How many runs a cell has. */
uint64_t suite_cell_runs(const struct suite_cell *cell);

#endif
