/* `coup selftest`: is the tester blind, or does it see ghosts? */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, sysconf */
#include "controller/command.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "controller/farm.h"
#include "controller/grid.h"
#include "controller/output.h"
#include "simulator/selftest.h"

/* One case and what came of it; travels from worker to caller as bytes. */
struct tested {
    struct selftest_outcome outcome;
    uint64_t took_ns;
};

struct selftest {
    const struct selftest_case *cases;
    struct tested *results;
    uint32_t count, failed;
};

static uint64_t wall_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static int work(void *context, uint64_t number, struct text *result, struct error *error)
{
    const struct selftest *selftest = context;
    struct tested tested = {0};
    uint64_t began_ns = wall_ns();
    (void)error;
    selftest_run(&selftest->cases[number], &tested.outcome);
    tested.took_ns = wall_ns() - began_ns;
    text_add_bytes(result, &tested, sizeof tested);
    return 0;
}

static bool take(void *context, uint64_t number, struct slice result)
{
    struct selftest *selftest = context;
    assert(result.length == sizeof selftest->results[0]);
    memcpy(&selftest->results[number], result.at, result.length);
    selftest->failed += !selftest->results[number].outcome.passed;
    return true;
}

static const struct grid_column columns[] = {
    {"algorithm", false}, {"bug", false},     {"check", false},
    {"seeds", false},     {"budget", false},  {"time", false},
    {"faults", false},    {"outcome", false}, {NULL, false},
};

/* Parts of one honest algorithm are one row: the sum of them, or the first that failed. */
static void join(struct tested *sum, const struct tested *part)
{
    struct tested one = *part;
    one.took_ns += sum->took_ns;
    one.outcome.seeds += sum->outcome.seeds;
    if (!sum->outcome.passed)
        one.outcome = sum->outcome;
    *sum = one;
}

/* Kinds as they are, a whole schedule by a name: a bug's is its own. */
static const char *name_faults(const struct selftest_case *one)
{
    const char *under = selftest_faults(one);
    if (!strchr(under, '='))
        return under;
    return one->bug ? "schedule" : "single-crashes";
}

static void add_row(const struct selftest_case *one, uint64_t budget, const struct tested *tested,
                    struct grid *grid)
{
    const struct bug *bug = one->bug ? &one->algorithm->bugs[one->bug - 1] : NULL;
    char took[UNIT_TEXT_MAX];
    grid_row(grid, 0);
    grid_cell(grid, "%s%s%s", one->algorithm->name, one->options[0] ? ":" : "", one->options);
    grid_cell(grid, "%s", bug ? bug->name : "none");
    grid_cell(grid, "%s", bug ? bug->check : "all");
    grid_cell(grid, "%" PRIu64, tested->outcome.seeds);
    grid_cell(grid, "%" PRIu64, budget);
    grid_cell(grid, "%s", human_duration(tested->took_ns, took));
    grid_cell(grid, "%s", name_faults(one));
    if (tested->outcome.passed)
        grid_cell(grid, "%s", bug ? "caught" : "not accused");
    else
        grid_cell(grid, "FAILED at seed %" PRIu64 " under %s: %s", tested->outcome.seed,
                  selftest_faults(one), tested->outcome.reason);
}

static void add_rows(const struct selftest *selftest, struct grid *grid)
{
    for (uint32_t i = 0, next; i < selftest->count; i = next) {
        const struct selftest_case *one = &selftest->cases[i];
        struct tested sum = selftest->results[i];
        uint64_t budget = one->seeds;
        for (next = i + 1; next < selftest->count && selftest_same(one, one + (next - i)); next++) {
            join(&sum, &selftest->results[next]);
            budget += selftest->cases[next].seeds;
        }
        add_row(one, budget, &sum, grid);
    }
}

static int print(const struct selftest *selftest, const struct command_line *line, uint64_t took_ns,
                 struct error *error)
{
    struct grid grid = {.columns = columns};
    struct text out = {0};
    char took[UNIT_TEXT_MAX];
    add_rows(selftest, &grid);
    if (command_given(line, "json")) {
        grid_json(&grid, &out);
    } else {
        grid_text(&grid, output_columns(), output_colour(), &out);
        text_add(&out, "%s: %" PRIu32 " of %" PRIu32 " cases failed, %s\n",
                 selftest->failed ? "FAILED" : "passed", selftest->failed, selftest->count,
                 human_duration(took_ns, took));
    }
    int rc = output_text(&out, error);
    grid_release(&grid);
    text_release(&out);
    return rc;
}

static int selftest_command(const struct command_line *line, struct error *error)
{
    struct selftest_case *cases;
    struct selftest selftest = {.count = selftest_cases(command_number(line, "seeds"), &cases)};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t began_ns = wall_ns();
    selftest.cases = cases;
    selftest.results = must_alloc(selftest.count, sizeof *selftest.results);
    struct farm farm = {.first = 0,
                        .last = selftest.count - 1,
                        .workers = cores < 1 ? 1 : (uint32_t)cores,
                        .context = &selftest,
                        .work = work,
                        .take = take};
    if (command_given(line, "jobs"))
        farm.workers = (uint32_t)command_number(line, "jobs");
    int rc = farm_run(&farm, error);
    if (rc == 0)
        rc = print(&selftest, line, wall_ns() - began_ns, error);
    free(selftest.results);
    free(cases);
    if (rc < 0)
        return rc;
    return selftest.failed ? EXIT_INVALID : EXIT_VALID;
}

static const struct command_option selftest_options[] = {
    {"jobs", 'j', ARGUMENT_COUNT, "N", NULL, 1, FARM_WORKERS_MAX, NULL,
     "processes that work at once; as many as there are cores when not given"},
    {"seeds", 's', ARGUMENT_COUNT, "N", "2500", 1, 1000000, NULL,
     "simulated runs of each honest algorithm"},
    {"json", 0, ARGUMENT_NONE, NULL, NULL, 0, 0, NULL, "print a JSON array"},
    {.name = NULL},
};

static const char *const selftest_examples[] = {"coup selftest", NULL};

const struct command command_selftest = {
    .name = "selftest",
    .summary = "show that planted bugs are caught and honest algorithms are not accused",
    .arguments = "",
    .details =
        "Runs every planted bug of every algorithm in the simulator until the check it names "
        "catches it, within the bug's budget of seeds and in a run in which the honest algorithm "
        "is "
        "not accused of the same, and every honest algorithm, with each set of options that a bug "
        "needs, under all faults it promises to bear. Exit 1 if a bug escapes or an honest "
        "algorithm is accused.",
    .options = selftest_options,
    .examples = selftest_examples,
    .run = selftest_command,
};
