/* The tester tested: every planted bug of every algorithm must be caught by the check it names
 * within its budget of simulated runs, and no honest algorithm may be accused of anything. */
#ifndef COUP_SIMULATOR_SELFTEST_H
#define COUP_SIMULATOR_SELFTEST_H

#include "simulator/sweep.h"

struct selftest_case {
    const struct algorithm *algorithm;
    uint32_t bug;        /* 0: honest; else 1 + index, as in struct elector_config */
    const char *options; /* of the algorithm; "" for its defaults */
    uint64_t first_seed; /* seeds first_seed .. first_seed + seeds - 1 */
    uint64_t seeds;      /* a bug's budget; all of them for an honest one */
};

/* Plain data, as struct sweep_outcome. */
struct selftest_outcome {
    bool passed;
    uint64_t seeds; /* that were run: a bug is caught in the last of them */
    uint64_t simulated_ns, happenings;
    uint64_t seed;               /* the last one: what caught or accused */
    char reason[ERROR_TEXT_MAX]; /* of the check that caught, or why the case failed */
};

/* All cases in the order of the registries: an algorithm's bugs, then the honest one with each set
 * of options a bug needs, `honest_seeds` runs of each, in several parts so that they can run side
 * by side. Owned by the caller, free(). */
uint32_t selftest_cases(uint64_t honest_seeds, struct selftest_case **out);

/* Parts of one honest algorithm: only the seeds differ. */
bool selftest_same(const struct selftest_case *a, const struct selftest_case *b);

/* The faults a case runs under, as `faults` of struct bug. */
const char *selftest_faults(const struct selftest_case *one);

/* What cannot even be run (a bug that names an unknown check) has failed, and the reason says so.
 */
void selftest_run(const struct selftest_case *one, struct selftest_outcome *out);

#endif
