#define _POSIX_C_SOURCE 200809L /* isatty */
#include "controller/suite_live.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/units.h"

#define DRAW_EVERY_NS (NS_PER_S / 5)

static const struct suite_tally *current(const struct suite_live *live)
{
    return live->printed < live->count ? &live->tallies[live->printed] : NULL;
}

static void clear(void)
{
    (void)fprintf(stderr, "\r\033[K"); /* only a courtesy */
}

void suite_live_open(struct suite_live *live, const struct suite_tally *tallies, uint32_t count,
                     bool quiet)
{
    *live = (struct suite_live){
        .shown = !quiet && isatty(STDERR_FILENO), .tallies = tallies, .count = count};
}

void suite_live_step(struct suite_live *live, const struct suite_tally *tally)
{
    (void)tally;
    if (!live->shown)
        return;
    for (const struct suite_tally *next; (next = current(live)) && next->done == next->asked;
         live->printed++) {
        clear();
        (void)fprintf(stderr, "%-9s %7" PRIu64 " of %-7" PRIu64 " %s\n",
                      suite_outcome_name(suite_tally_outcome(next)), next->met, next->runs,
                      next->job->cell->name);
    }
}

void suite_live_draw(struct suite_live *live, uint64_t elapsed_ns, uint64_t budget_ns)
{
    const struct suite_tally *next = current(live);
    char elapsed[UNIT_TEXT_MAX], budget[UNIT_TEXT_MAX];
    if (!live->shown || !next || elapsed_ns - live->drawn_ns < DRAW_EVERY_NS)
        return;
    live->drawn_ns = elapsed_ns;
    clear();
    (void)fprintf(stderr,
                  "cell %" PRIu32 " of %" PRIu32 " | %s%s%s | %" PRIu64 " of %" PRIu64
                  " runs | %.60s",
                  live->printed + 1, live->count, human_duration(elapsed_ns, elapsed),
                  budget_ns ? " of " : "", budget_ns ? human_duration(budget_ns, budget) : "",
                  next->done, next->asked, next->job->cell->name);
}

void suite_live_close(struct suite_live *live)
{
    if (live->shown)
        clear();
}
