/* Every shipped scenario, simulated with several seeds, ends as it says it will. An expected
 * violation must show in at least half of the seeds, an expected valid outcome in all of them: a
 * run whose verdict is unknown fulfils neither.
 *
 *   scenarios FOLDER [NAME]   one line a scenario; exit 1 if one does not end as expected */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/scenario.h"

#define SEEDS 20u

struct tally {
    uint32_t as_expected;
    uint64_t other_seed;
    char other[500];
};

static const struct check_result *result_of(const struct report_data *report, const char *check)
{
    for (uint32_t i = 0; i < report->result_count; i++)
        if (strcmp(report->results[i].check->name, check) == 0)
            return &report->results[i];
    return NULL;
}

static bool fulfils(const char *expect, const struct report_data *report)
{
    const char *colon = strchr(expect, ':');
    if (!colon)
        return strcmp(expect, verdict_name(report->verdict)) == 0;
    const struct check_result *result = result_of(report, colon + 1);
    return result && result->owed && result->finding.verdict == VERDICT_INVALID;
}

static void describe(const struct report_data *report, char *out, size_t size)
{
    (void)snprintf(out, size, "%s", verdict_name(report->verdict));
    for (uint32_t i = 0; i < report->result_count; i++) {
        const struct check_result *result = &report->results[i];
        if (result->owed && result->finding.verdict == report->verdict &&
            report->verdict != VERDICT_VALID) {
            (void)snprintf(out, size, "%s by %s: %s", verdict_name(report->verdict),
                           result->check->name, result->finding.reason);
            return;
        }
    }
}

static int run_seeds(const struct scenario *scenario, struct tally *tally, struct error *error)
{
    struct sim_config config;
    int rc = sim_from_scenario(scenario, &config, error);
    config.record = SIM_CHECK;
    for (uint64_t seed = 1; rc == 0 && seed <= SEEDS; seed++) {
        struct sim_result result;
        config.seed = seed;
        rc = sim_run(&config, &result, error);
        if (rc < 0)
            break;
        if (fulfils(scenario->expect, &result.report)) {
            tally->as_expected++;
        } else if (!tally->other_seed) {
            tally->other_seed = seed;
            describe(&result.report, tally->other, sizeof tally->other);
        }
        sim_result_release(&result);
    }
    return rc;
}

static bool run_file(const char *folder, const char *name)
{
    char path[1024];
    struct scenario scenario;
    struct error error;
    struct tally tally = {0};
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    int rc = scenario_read(path, &scenario, &error);
    if (rc == 0)
        rc = run_seeds(&scenario, &tally, &error);
    if (rc < 0) {
        (void)printf("FAIL %s: %s\n", name, error.text);
        return false;
    }
    bool always = strchr(scenario.expect, ':') == NULL;
    bool good = always ? tally.as_expected == SEEDS : tally.as_expected * 2 >= SEEDS;
    (void)printf("%s %-40s %2u of %u seeds %s\n", good ? "ok  " : "FAIL", name, tally.as_expected,
                 SEEDS, scenario.expect);
    if (!good)
        (void)printf("     seed %llu: %s\n", (unsigned long long)tally.other_seed, tally.other);
    scenario_release(&scenario);
    return good;
}

static int is_scenario(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".yaml") == 0;
}

int main(int argc, char **argv)
{
    struct dirent **entries;
    int failed = 0;
    int count = argc > 1 ? scandir(argv[1], &entries, is_scenario, alphasort) : -1;
    for (int i = 0; i < count; i++) {
        if ((argc < 3 || strstr(entries[i]->d_name, argv[2])) &&
            !run_file(argv[1], entries[i]->d_name))
            failed++;
        free(entries[i]);
    }
    if (count <= 0)
        (void)printf("no scenarios found\n");
    else
        free(entries);
    return failed > 0 || count <= 0;
}
