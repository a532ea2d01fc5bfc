#include "controller/suite_tally.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

const char *suite_outcome_name(enum suite_outcome outcome)
{
    static const char *const names[] = {
        [SUITE_PASSED] = "passed", [SUITE_NOT_RUN] = "not run", [SUITE_UNDECIDED] = "undecided",
        [SUITE_BROKEN] = "broken", [SUITE_FAILED] = "FAILED",
    };
    return names[outcome];
}

static void add_failovers(struct suite_tally *tally, const struct suite_record *record)
{
    uint32_t count = tally->failover_count + record->failover_count;
    if (count > tally->failover_capacity) {
        tally->failover_capacity = 2 * count;
        tally->failovers_us =
            must_grow(tally->failovers_us, tally->failover_capacity, sizeof *tally->failovers_us);
    }
    for (uint32_t i = 0; i < record->failover_count; i++)
        tally->failovers_us[tally->failover_count++] = record->failovers_us[i];
}

void suite_tally_add(struct suite_tally *tally, const struct suite_record *record)
{
    uint64_t asked = record->last - record->first + 1;
    tally->done += asked;
    tally->runs += record->runs;
    tally->valid += record->valid;
    tally->invalid += record->invalid;
    tally->unknown += record->unknown;
    tally->vacuous += record->vacuous;
    tally->met += record->met;
    tally->took_ns += record->took_ns;
    tally->simulated_ns += record->simulated_ns;
    if (record->failure[0])
        tally->broken += asked - record->runs;
    else
        tally->left_out += asked - record->runs;
    if (record->failure[0] && !tally->failure[0])
        memcpy(tally->failure, record->failure, sizeof tally->failure);
    add_failovers(tally, record);
    for (uint32_t i = 0; i < record->shown_count && tally->shown_count < SUITE_CELL_SHOWN_MAX; i++)
        tally->shown[tally->shown_count++] = record->shown[i];
}

static int by_size(const void *a, const void *b)
{
    uint32_t left, right;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return (left > right) - (left < right);
}

void suite_tally_settle(struct suite_tally *tally)
{
    if (tally->failover_count)
        qsort(tally->failovers_us, tally->failover_count, sizeof *tally->failovers_us, by_size);
}

void suite_tally_release(struct suite_tally *tally)
{
    free(tally->failovers_us);
    tally->failovers_us = NULL;
}

uint64_t suite_tally_needs(const struct suite_tally *tally)
{
    if (tally->job->cell->at_least)
        return tally->job->cell->at_least;
    return tally->job->expect.verdict == VERDICT_INVALID ? 1 : 0;
}

/* Runs that may still turn out as expected: not done yet, broken, left out, or undecided. */
static uint64_t open_runs(const struct suite_tally *tally)
{
    return tally->asked - tally->runs + tally->unknown;
}

bool suite_tally_lost(const struct suite_tally *tally)
{
    uint64_t needs = suite_tally_needs(tally);
    return needs ? tally->met + open_runs(tally) < needs : tally->invalid > 0;
}

enum suite_outcome suite_tally_outcome(const struct suite_tally *tally)
{
    uint64_t needs = suite_tally_needs(tally);
    if (suite_tally_lost(tally))
        return SUITE_FAILED;
    if (needs && tally->met >= needs)
        return SUITE_PASSED;
    if (tally->broken)
        return SUITE_BROKEN;
    if (tally->runs == 0)
        return SUITE_NOT_RUN;
    bool missing = tally->done < tally->asked;
    if (needs || missing || tally->unknown > tally->vacuous || tally->valid == 0)
        return SUITE_UNDECIDED;
    return SUITE_PASSED;
}

static void add_counts(const struct suite_tally *tally, struct text *out)
{
    text_add(out, "%" PRIu64 " valid, %" PRIu64 " invalid, %" PRIu64 " unknown of %" PRIu64,
             tally->valid, tally->invalid, tally->unknown, tally->asked);
}

void suite_tally_why(const struct suite_tally *tally, struct text *out)
{
    enum suite_outcome outcome = suite_tally_outcome(tally);
    uint64_t needs = suite_tally_needs(tally);
    if (outcome == SUITE_PASSED)
        return;
    if (outcome == SUITE_BROKEN) {
        text_add(out, "%s", tally->failure);
        return;
    }
    add_counts(tally, out);
    text_add(out, ", ");
    expectation_format(&tally->job->expect, out);
    if (needs)
        text_add(out, " in at least %" PRIu64 " was expected, in %" PRIu64 " it was so", needs,
                 tally->met);
    else
        text_add(out, " was expected");
}

uint32_t suite_tally_failover_us(const struct suite_tally *tally, uint32_t percent)
{
    if (tally->failover_count == 0)
        return 0;
    uint64_t rank = ((uint64_t)tally->failover_count * percent + 99) / 100;
    return tally->failovers_us[rank ? rank - 1 : 0];
}

enum exit_code suite_exit_code(const struct suite_tally *tallies, uint32_t count)
{
    enum suite_outcome worst = SUITE_PASSED;
    for (uint32_t i = 0; i < count; i++) {
        enum suite_outcome outcome = suite_tally_outcome(&tallies[i]);
        worst = outcome > worst ? outcome : worst;
    }
    switch (worst) {
    case SUITE_PASSED: return EXIT_VALID;
    case SUITE_NOT_RUN:
    case SUITE_UNDECIDED: return EXIT_UNKNOWN;
    case SUITE_BROKEN: return EXIT_HARNESS;
    case SUITE_FAILED: break;
    }
    return EXIT_INVALID;
}
