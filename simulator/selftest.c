#include "simulator/selftest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "simulator/suited.h"

/* What an algorithm without a majority behind it bears: one crash after the other. In a partition
 * it has two leaders, and nobody may know the newest term when all who led or followed in it are
 * down. Known, and findings about the algorithm rather than false alarms. */
#define SINGLE_CRASHES                        \
    "at=1s fault=kill on=leader for=700ms;"   \
    "at=4s fault=kill on=follower for=700ms;" \
    "at=7s fault=kill on=leader for=700ms"

/* Few enough seeds that the cores end together. */
#define PART_SEEDS 50u

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

/* Whether no bug before this one names these options too. */
static bool first_with(const struct algorithm *algorithm, uint32_t bug)
{
    const char *options = algorithm->bugs[bug].options;
    for (uint32_t i = 0; i < bug; i++)
        if (strcmp(algorithm->bugs[i].options, options) == 0)
            return false;
    return options[0] != 0;
}

struct case_list {
    struct selftest_case *at;
    uint32_t count;
};

static void add_honest(const struct algorithm *algorithm, const char *options, uint64_t seeds,
                       struct case_list *list)
{
    for (uint64_t first = 0; first < seeds; first += PART_SEEDS) {
        uint64_t part = seeds - first < PART_SEEDS ? seeds - first : PART_SEEDS;
        list->at[list->count++] = (struct selftest_case){algorithm, 0, options, first + 1, part};
    }
}

uint32_t selftest_cases(uint64_t honest_seeds, struct selftest_case **out)
{
    struct case_list list = {0};
    size_t parts = (size_t)((honest_seeds + PART_SEEDS - 1) / PART_SEEDS), most = 0;
    for (uint32_t i = 0; algorithms[i]; i++)
        most += (1 + bug_count(algorithms[i])) * (1 + parts);
    list.at = must_alloc(most, sizeof *list.at);
    for (uint32_t i = 0; algorithms[i]; i++) {
        const struct algorithm *algorithm = algorithms[i];
        const struct bug *bugs = algorithm->bugs;
        for (uint32_t bug = 0; bug < bug_count(algorithm); bug++)
            list.at[list.count++] =
                (struct selftest_case){algorithm, bug + 1, bugs[bug].options, 1, bugs[bug].seeds};
        add_honest(algorithm, "", honest_seeds, &list);
        for (uint32_t bug = 0; bug < bug_count(algorithm); bug++)
            if (first_with(algorithm, bug))
                add_honest(algorithm, bugs[bug].options, honest_seeds, &list);
    }
    *out = list.at;
    return list.count;
}

bool selftest_same(const struct selftest_case *a, const struct selftest_case *b)
{
    return a->algorithm == b->algorithm && a->bug == 0 && b->bug == 0 &&
           strcmp(a->options, b->options) == 0;
}

static const struct bug *bug_of(const struct selftest_case *one)
{
    return one->bug ? &one->algorithm->bugs[one->bug - 1] : NULL;
}

static int read_options(const struct selftest_case *one, struct option_values *out,
                        struct error *error)
{
    const struct option *table = one->algorithm->options;
    *out = (struct option_values){0};
    if (table)
        options_defaults(table, out);
    return one->options[0] ? options_parse(table, "algorithm", one->options, out, error) : 0;
}

const char *selftest_faults(const struct selftest_case *one)
{
    const struct bug *bug = bug_of(one);
    struct option_values values;
    struct error ignored;
    if (bug)
        return bug->faults;
    uint32_t traits =
        read_options(one, &values, &ignored) == 0 ? one->algorithm->traits(&values) : 0;
    if (algorithm_has_service(traits))
        return "all,service-kill,service-pause,degraded-service";
    return traits >> TRAIT_MAJORITY & 1 ? "all" : SINGLE_CRASHES;
}

/* Without what the algorithm cannot do. */
static int read_kinds(const char *text, struct sim_config *config, struct error *error)
{
    int rc = faults_parse(text, config->kinds, &config->kind_count, error);
    if (rc == 0)
        config->kind_count = suited_faults(config->algorithm, config->kinds, config->kind_count);
    return rc;
}

/* Kinds, or the lines of a schedule. */
static int read_faults(const char *text, struct sim_config *config, struct schedule *schedule,
                       struct error *error)
{
    if (!strchr(text, '='))
        return read_kinds(text, config, error);
    int rc = 0;
    for (size_t length; rc == 0 && *text; text += length + (text[length] == ';')) {
        struct scheduled_fault scheduled;
        struct text line = {0};
        length = strcspn(text, ";");
        text_add_bytes(&line, text, length);
        rc = scheduled_fault_parse(text_string(&line), NODES_LOW, &scheduled, error);
        if (rc == 0)
            schedule_add(schedule, &scheduled);
        text_release(&line);
    }
    config->schedule = schedule;
    return rc;
}

static int make_request(const struct selftest_case *one, struct schedule *schedule,
                        struct swarm_request *out, struct error *error)
{
    struct sim_config *base = &out->base;
    const struct bug *bug = bug_of(one);
    *out = (struct swarm_request){.nodes_min = NODES_LOW, .nodes_max = NODES_HIGH};
    *base = (struct sim_config){.algorithm = one->algorithm,
                                .clients = 2,
                                .client_pause_ns = NS_PER_S / 5,
                                .fenced = true,
                                .fault_every_ns = FAULT_EVERY_NS,
                                .duration_ns = RUN_NS,
                                .record = SIM_CHECK};
    if (one->algorithm->selftest_nodes)
        out->nodes_max = one->algorithm->selftest_nodes;
    base->elector.nodes = NODES_HIGH;
    base->elector.bug = one->bug;
    knobs_defaults(&base->elector.knobs);
    physics_defaults(&base->physics);
    if (bug && !check_find(slice_of(bug->check)))
        return error_set(error, -EINVAL, "names the unknown check '%s'", bug->check);
    int rc = read_options(one, &base->elector.options, error);
    return rc < 0 ? rc : read_faults(selftest_faults(one), base, schedule, error);
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

static void explain(const struct sweep_outcome *run, struct selftest_outcome *out)
{
    if (run->diverged)
        (void)snprintf(out->reason, sizeof out->reason, "seed %" PRIu64 " differs when repeated",
                       run->seed);
    else
        (void)snprintf(out->reason, sizeof out->reason, "%s: %s", decider(run), run->reason);
}

static int run_seed(const struct swarm_request *request, uint64_t seed, struct sweep_outcome *run,
                    struct selftest_outcome *out, struct error *error)
{
    int rc = sweep_one(request, seed, run, error);
    if (rc < 0)
        return rc;
    out->happenings += run->happenings;
    out->simulated_ns += run->simulated_ns;
    return 0;
}

/* Only what the honest algorithm does not do in the same run is the bug's doing. */
static int honest_too(const struct swarm_request *request, uint64_t seed, const char *check,
                      struct selftest_outcome *out, bool *ret, struct error *error)
{
    struct swarm_request honest = *request;
    struct sweep_outcome run;
    honest.base.elector.bug = 0;
    int rc = run_seed(&honest, seed, &run, out, error);
    if (rc == 0)
        *ret = caught(&run, check);
    return rc;
}

/* One seed of the case; `*ret_decided` when no other is needed. */
static int try_seed(const struct selftest_case *one, const struct swarm_request *request,
                    uint64_t seed, struct selftest_outcome *out, bool *ret_decided,
                    struct error *error)
{
    const struct bug *bug = bug_of(one);
    struct sweep_outcome run;
    bool innocent = false;
    int rc = run_seed(request, seed, &run, out, error);
    if (rc < 0)
        return rc;
    out->seeds++;
    out->seed = seed;
    bool decided = bug ? caught(&run, bug->check) : run.verdict == VERDICT_INVALID;
    if (bug && decided)
        rc = honest_too(request, seed, bug->check, out, &innocent, error);
    *ret_decided = run.diverged || (decided && !innocent);
    out->passed = *ret_decided && bug && !run.diverged;
    if (*ret_decided)
        explain(&run, out);
    return rc;
}

void selftest_run(const struct selftest_case *one, struct selftest_outcome *out)
{
    struct swarm_request request;
    struct schedule schedule = {0};
    struct error error;
    int rc = make_request(one, &schedule, &request, &error);
    bool decided = false;
    *out = (struct selftest_outcome){0};
    for (uint64_t i = 0; rc == 0 && !decided && i < one->seeds; i++)
        rc = try_seed(one, &request, one->first_seed + i, out, &decided, &error);
    if (rc < 0) {
        out->passed = false;
        (void)snprintf(out->reason, sizeof out->reason, "%s", error.text);
    } else if (!decided) {
        out->passed = one->bug == 0;
        (void)snprintf(out->reason, sizeof out->reason, "%s",
                       one->bug ? "escaped" : "never accused");
    }
    schedule_release(&schedule);
}
