/* A scenario: a run described in a file, with the outcome it must have. YAML; the keys are a table
 * in scenario.c, explained in docs/scenarios.md:
 *
 *   name: leader returns
 *   summary: a killed leader comes back and takes over
 *   algorithm: bully
 *   nodes: 5
 *   time: 4s
 *   steps:
 *     - {at: 1s, fault: kill, on: leader, for: 1s}
 *   expect: valid
 *
 * Pure: text in, data out. Everything about algorithms stays text here. */
#ifndef COUP_NEMESIS_SCENARIO_H
#define COUP_NEMESIS_SCENARIO_H

#include "nemesis/plan.h"

#define SCENARIO_STEPS_MAX 10000u
#define SCENARIO_KEYS_MAX 20u

/* Texts are owned; those not given are "". scenario_release() frees all; zeroed is empty. */
struct scenario {
    char *name, *summary;
    char *source;    /* where what it shows was seen */
    char *algorithm; /* as for -a */
    char *knobs;     /* as for --set */
    char *physics;   /* simulated runs only, as for --physics */
    char *resource;  /* "fenced" or "unfenced" */
    char *expect;    /* as for --expect */
    uint32_t nodes, witnesses, clients, rate;
    uint64_t seed;
    uint64_t duration_ns; /* of the faults phase */
    struct schedule schedule;
    char *file;                      /* for errors */
    size_t lines[SCENARIO_KEYS_MAX]; /* on which each key's value stands; 0: it was not given */
};

/* `file` names the text in errors, which are usage errors: "F.yaml:7: unknown key 'faults' (...)".
 */
int scenario_parse(const char *file, struct slice yaml, struct scenario *out, struct error *error);
int scenario_read(const char *path, struct scenario *out, struct error *error);
void scenario_release(struct scenario *scenario);

/* Of a key by its name in the file: whether the file gives it, and its value as an option takes it.
 */
bool scenario_gives(const struct scenario *scenario, const char *key);
void scenario_value(const struct scenario *scenario, const char *key, struct text *out);

/* What is wrong with the value of a key is told with its place: "F.yaml:3: algorithm: ...". Returns
 * -EINVAL. */
int scenario_blame(const struct scenario *scenario, const char *key, struct error *error);

/* Whether its steps make sense in a cluster of another size or in another length of time. */
int scenario_fits(const struct scenario *scenario, uint32_t nodes, uint64_t duration_ns,
                  struct error *error);

#endif
