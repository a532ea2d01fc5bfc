#include "controller/suite_compare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"

double suite_compare_shares(uint64_t k_before, uint64_t n_before, uint64_t k_now, uint64_t n_now)
{
    if (n_before == 0 || n_now == 0)
        return 0;
    double a = (double)n_before, b = (double)n_now;
    double pooled = (double)(k_before + k_now) / (a + b);
    double variance = pooled * (1 - pooled) * (1 / a + 1 / b);
    return variance > 0 ? ((double)k_now / b - (double)k_before / a) / sqrt(variance) : 0;
}

/* Both sets walked in order, equal samples together: the sum of the ranks of `now`. */
double suite_compare_samples(const uint32_t *before, uint32_t n_before, const uint32_t *now,
                             uint32_t n_now)
{
    double ranks = 0, ties = 0, seen = 0;
    for (uint32_t i = 0, k = 0; i < n_before || k < n_now;) {
        uint32_t value = k == n_now || (i < n_before && before[i] < now[k]) ? before[i] : now[k];
        uint32_t from_before = 0, from_now = 0;
        for (; i < n_before && before[i] == value; i++)
            from_before++;
        for (; k < n_now && now[k] == value; k++)
            from_now++;
        double equal = (double)from_before + (double)from_now;
        ranks += (double)from_now * (seen + (equal + 1) / 2);
        ties += equal * equal * equal - equal;
        seen += equal;
    }
    if (n_before == 0 || n_now == 0)
        return 0;
    double a = (double)n_before, b = (double)n_now;
    double u = ranks - b * (b + 1) / 2;
    double variance = a * b / 12 * (a + b + 1 - ties / ((a + b) * (a + b - 1)));
    return variance > 0 ? (u - a * b / 2) / sqrt(variance) : 0;
}

static const struct suite_tally *find(const struct suite_state *state, const char *name)
{
    for (uint32_t i = 0; i < state->count; i++)
        if (strcmp(state->jobs[i].cell->name, name) == 0)
            return &state->tallies[i];
    return NULL;
}

static bool add_shares(const struct suite_tally *before, const struct suite_tally *now,
                       struct text *out)
{
    double sigma = suite_compare_shares(before->met, before->runs, now->met, now->runs);
    if (fabs(sigma) < SUITE_MOVED_SIGMA)
        return false;
    text_add(out,
             "moved  %s: as expected in %" PRIu64 " of %" PRIu64 ", before in %" PRIu64
             " of %" PRIu64 " (%+.1f sigma)\n",
             now->job->cell->name, now->met, now->runs, before->met, before->runs, sigma);
    return true;
}

static bool add_failovers(const struct suite_tally *before, const struct suite_tally *now,
                          struct text *out)
{
    char text[4][UNIT_TEXT_MAX];
    double sigma = suite_compare_samples(before->failovers_us, before->failover_count,
                                         now->failovers_us, now->failover_count);
    if (fabs(sigma) < SUITE_MOVED_SIGMA)
        return false;
    text_add(out, "moved  %s: failover median %s, p90 %s, before %s, %s (%+.1f sigma)\n",
             now->job->cell->name,
             human_duration(suite_tally_failover_us(now, 50) * NS_PER_US, text[0]),
             human_duration(suite_tally_failover_us(now, 90) * NS_PER_US, text[1]),
             human_duration(suite_tally_failover_us(before, 50) * NS_PER_US, text[2]),
             human_duration(suite_tally_failover_us(before, 90) * NS_PER_US, text[3]), sigma);
    return true;
}

static bool add_outcome(const struct suite_tally *before, const struct suite_tally *now,
                        struct text *out)
{
    enum suite_outcome was = suite_tally_outcome(before), is = suite_tally_outcome(now);
    if (was == is)
        return false;
    text_add(out, "moved  %s: %s, before %s\n", now->job->cell->name, suite_outcome_name(is),
             suite_outcome_name(was));
    return true;
}

void suite_compare(const struct suite_state *before, const struct suite_state *now,
                   struct text *out)
{
    uint32_t both = 0, moved = 0;
    for (uint32_t i = 0; i < now->count; i++) {
        const struct suite_tally *tally = &now->tallies[i];
        const struct suite_tally *old = find(before, tally->job->cell->name);
        if (!old)
            continue;
        bool any = add_outcome(old, tally, out);
        any = add_shares(old, tally, out) || any;
        any = add_failovers(old, tally, out) || any;
        both++;
        moved += any;
    }
    char cells[COUNT_TEXT_MAX];
    text_add(out,
             "compared: %s in both, %" PRIu32 " moved by more than chance, %" PRIu32
             " new, %" PRIu32 " gone\n",
             count_of(both, "cell", cells), moved, now->count - both, before->count - both);
}
