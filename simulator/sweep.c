#include "simulator/sweep.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

static int place_of_check(const struct check *check)
{
    for (int i = 0; checks[i]; i++)
        if (checks[i] == check)
            return i;
    assert(false); /* a check that ran is registered */
    return -1;
}

static int place_of_fault(const char *name)
{
    for (int i = 0; faults[i]; i++)
        if (strcmp(faults[i]->name, name) == 0)
            return i;
    return -1;
}

/* The check that "invalid:CHECK" names. */
static const struct check *expected_check(const char *expect)
{
    static const char word[] = "invalid:";
    if (!expect || strncmp(expect, word, sizeof word - 1) != 0)
        return NULL;
    return check_find(slice_of(expect + sizeof word - 1));
}

static void note_checks(const struct report_data *report, const struct check *expected,
                        struct sweep_outcome *out)
{
    out->verdict = report->verdict;
    out->decided_by = -1;
    for (uint32_t i = 0; i < report->result_count; i++) {
        const struct check_result *result = &report->results[i];
        int place = place_of_check(result->check);
        if (!check_result_counts(result) || result->finding.verdict == VERDICT_VALID)
            continue;
        uint64_t bit = UINT64_C(1) << place;
        if (result->finding.verdict == VERDICT_INVALID)
            out->invalid |= bit;
        else
            out->unknown |= bit;
        bool first = out->decided_by < 0 || result->check == expected;
        if (first && result->finding.verdict == report->verdict) {
            out->decided_by = place;
            (void)snprintf(out->reason, sizeof out->reason, "%s", result->finding.reason);
        }
    }
    if (out->verdict == VERDICT_UNKNOWN && out->decided_by < 0)
        (void)snprintf(out->reason, sizeof out->reason,
                       "no check was owed and tested, so nothing was judged");
}

static void note_faults(const struct measure *measure, struct sweep_outcome *out)
{
    for (uint32_t i = 0; i < measure->fault_kinds; i++) {
        int place = place_of_fault(measure->faults[i].kind);
        if (place >= 0 && measure->faults[i].installed)
            out->landed |= UINT64_C(1) << place;
    }
}

static void note_failovers(const struct measure *measure, struct sweep_outcome *out)
{
    for (uint32_t i = 0; i < measure->failover_count; i++) {
        const struct failover *failover = &measure->failovers[i];
        if (failover->elected_ns != UINT64_MAX && out->failover_count < SWEEP_FAILOVERS_MAX)
            out->failovers_us[out->failover_count++] =
                (uint32_t)((failover->elected_ns - failover->lost_ns) / NS_PER_US);
    }
}

static int run_again(const struct sim_config *config, struct sweep_outcome *out,
                     struct error *error)
{
    struct sim_result result;
    int rc = sim_run(config, &result, error);
    if (rc < 0)
        return rc;
    out->repeated = true;
    out->diverged = result.hash != out->hash || result.happenings != out->happenings;
    sim_result_release(&result);
    return 0;
}

int sweep_one(const struct swarm_request *request, uint64_t seed, struct sweep_outcome *out,
              struct error *error)
{
    struct sim_config config;
    struct sim_result result;
    swarm_draw(request, seed, &config);
    int rc = sim_run(&config, &result, error);
    if (rc < 0)
        return rc;
    *out = (struct sweep_outcome){.seed = seed,
                                  .hash = result.hash,
                                  .happenings = result.happenings,
                                  .events = result.report.events,
                                  .simulated_ns = result.simulated_ns};
    note_checks(&result.report, expected_check(config.expect), out);
    note_faults(&result.report.measure, out);
    note_failovers(&result.report.measure, out);
    sim_result_release(&result);
    struct text drawn = {0};
    swarm_format(&config, &drawn);
    (void)snprintf(out->drawn, sizeof out->drawn, "%s", text_string(&drawn));
    text_release(&drawn);
    return mix64(seed) % SWEEP_REPEAT_EVERY == 0 ? run_again(&config, out, error) : 0;
}

bool sweep_vacuous(const struct sweep_outcome *outcome)
{
    const struct check *landed = check_find(slice_of("faults-landed"));
    return outcome->verdict == VERDICT_UNKNOWN && landed &&
           outcome->unknown == UINT64_C(1) << place_of_check(landed);
}
