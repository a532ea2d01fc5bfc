#include "simulator/selftest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"

/* Honest runs per algorithm; each part is a case of its own. */
#define HONEST_PARTS 4u
#define HONEST_SEEDS 75u

/* Short runs with much in them: most bugs need one moment, not a long time. */
#define RUN_NS (10 * NS_PER_S)
#define FAULT_EVERY_NS (NS_PER_S / 2)
#define NODES_LOW 3u
#define NODES_HIGH 5u

static uint32_t bug_count(const struct algorithm *algorithm)
{
    uint32_t count = 0;
    while (algorithm->bugs && algorithm->bugs[count].name)
        count++;
    return count;
}

uint32_t selftest_cases(struct selftest_case **out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; algorithms[i]; i++)
        count += bug_count(algorithms[i]) + HONEST_PARTS;
    struct selftest_case *cases = must_alloc(count, sizeof *cases);
    struct selftest_case *next = cases;
    for (uint32_t i = 0; algorithms[i]; i++) {
        const struct algorithm *algorithm = algorithms[i];
        for (uint32_t bug = 0; bug < bug_count(algorithm); bug++)
            *next++ = (struct selftest_case){algorithm, bug + 1, 1, algorithm->bugs[bug].seeds};
        for (uint32_t part = 0; part < HONEST_PARTS; part++)
            *next++ = (struct selftest_case){algorithm, 0, 1 + part * HONEST_SEEDS, HONEST_SEEDS};
    }
    *out = cases;
    return count;
}

static const struct bug *bug_of(const struct selftest_case *one)
{
    return one->bug ? &one->algorithm->bugs[one->bug - 1] : NULL;
}

const char *selftest_faults(const struct selftest_case *one)
{
    const struct bug *bug = bug_of(one);
    if (bug)
        return bug->faults;
    struct option_values defaults = {0};
    if (one->algorithm->options)
        options_defaults(one->algorithm->options, &defaults);
    /* Without a majority behind it, a partition or a pause makes two leaders: known, and a finding
     * about the algorithm rather than a false alarm. */
    bool majority = one->algorithm->traits(&defaults) >> TRAIT_MAJORITY & 1;
    return majority ? "all" : "none";
}

static int make_request(const struct selftest_case *one, struct swarm_request *out,
                        struct error *error)
{
    struct sim_config *base = &out->base;
    *out = (struct swarm_request){.nodes_min = NODES_LOW, .nodes_max = NODES_HIGH};
    *base = (struct sim_config){.algorithm = one->algorithm,
                                .clients = 2,
                                .client_pause_ns = NS_PER_S / 5,
                                .fenced = true,
                                .fault_every_ns = FAULT_EVERY_NS,
                                .duration_ns = RUN_NS,
                                .record = SIM_CHECK};
    base->elector.nodes = NODES_HIGH;
    base->elector.bug = one->bug;
    if (one->algorithm->options)
        options_defaults(one->algorithm->options, &base->elector.options);
    knobs_defaults(&base->elector.knobs);
    physics_defaults(&base->physics);
    const struct bug *bug = bug_of(one);
    if (bug && !check_find(slice_of(bug->check)))
        return error_set(error, -EINVAL, "names the unknown check '%s'", bug->check);
    int rc = 0;
    if (bug && bug->options[0])
        rc = options_parse(one->algorithm->options, "bug", bug->options, &base->elector.options,
                           error);
    return rc < 0 ? rc : faults_parse(selftest_faults(one), base->kinds, &base->kind_count, error);
}

static bool caught(const struct sweep_outcome *outcome, const char *check)
{
    for (uint32_t i = 0; checks[i]; i++)
        if (slice_equals(slice_of(check), checks[i]->name))
            return outcome->invalid >> i & 1;
    return false;
}

static const char *decider(const struct sweep_outcome *outcome)
{
    return outcome->decided_by < 0 ? "" : checks[outcome->decided_by]->name;
}

/* True when the case is decided by this run. */
static bool judge(const struct selftest_case *one, const struct sweep_outcome *run,
                  struct selftest_outcome *out)
{
    const struct bug *bug = bug_of(one);
    out->seeds++;
    out->seed = run->seed;
    out->happenings += run->happenings;
    out->simulated_ns += run->simulated_ns;
    bool ours = run->diverged;
    bool decided = ours || (bug ? caught(run, bug->check) : run->verdict == VERDICT_INVALID);
    if (!decided)
        return false;
    out->passed = bug && !ours;
    if (ours)
        (void)snprintf(out->reason, sizeof out->reason, "seed %" PRIu64 " differs when repeated",
                       run->seed);
    else
        (void)snprintf(out->reason, sizeof out->reason, "%s: %s", decider(run), run->reason);
    return true;
}

void selftest_run(const struct selftest_case *one, struct selftest_outcome *out)
{
    struct swarm_request request;
    struct error error;
    int rc = make_request(one, &request, &error);
    bool decided = false;
    *out = (struct selftest_outcome){0};
    for (uint64_t i = 0; rc == 0 && !decided && i < one->seeds; i++) {
        struct sweep_outcome run;
        rc = sweep_one(&request, one->first_seed + i, &run, &error);
        decided = rc == 0 && judge(one, &run, out);
    }
    if (rc < 0)
        (void)snprintf(out->reason, sizeof out->reason, "%s", error.text);
    else if (!decided) {
        out->passed = one->bug == 0;
        (void)snprintf(out->reason, sizeof out->reason, "%s",
                       one->bug ? "escaped" : "never accused");
    }
}
