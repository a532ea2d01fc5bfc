/* Leadership granted by a service is a lock: one holder at a time, and every hold has a larger
 * fence. A hold is certain from the claim, for then its grant had been made, to the end of that
 * grant at the service, or of the claim if that comes first; whoever acts at the edges, an acquire
 * may have taken effect that late and a release that early. So the holds are those of an
 * owner-aware lock exactly when no two overlap and, in their order, tokens grow.
 *
 * Unlike lease-exclusive it takes nobody's clock or belief into account: a holder that sleeps past
 * its lease does not break the lock, a service or a waiter that lets two in does. Claims without a
 * grant in force are leader-without-grant's business.
 *
 * Only the embedded service stamps what it grants and takes back where it decides; of a real one
 * that is told by who watches it, too late to be compared with claims. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checker/table.h"
#include "checker/words.h"

/* By token. */
struct hold {
    uint64_t token;
    uint64_t from_ns, from_index; /* the claim; index 0 with `claimed` false: none yet */
    uint64_t until_ns, until_index;
    uint32_t holder;
    bool granted, claimed;
};

struct fenced_lock {
    uint64_t uncertainty_ns;
    struct table holds; /* token -> struct hold */
    struct hold *sorted;
    uint32_t count;
};

static void begin(void *state, const struct history_header *header)
{
    struct fenced_lock *check = state;
    check->uncertainty_ns = header->clock_uncertainty_ns;
    table_init(&check->holds, sizeof(struct hold));
}

static struct hold *hold_of(struct fenced_lock *check, const struct event *event)
{
    bool fresh;
    uint64_t token = event_number(event, FIELD_TOKEN);
    struct hold *hold = table_put(&check->holds, token, 0, &fresh);
    if (fresh)
        *hold = (struct hold){.token = token, .until_ns = UINT64_MAX};
    return hold;
}

/* The first to be granted the token and the first claim count; what else there may be is
 * unique-token's and single-leader-per-term's business. */
static void on_lead(struct fenced_lock *check, const struct event *event)
{
    struct hold *hold = hold_of(check, event);
    if (hold->claimed || (hold->granted && hold->holder != event->process))
        return;
    hold->holder = event->process;
    hold->claimed = true;
    hold->from_ns = event->time_ns;
    hold->from_index = event->index;
}

static void on_grant(struct fenced_lock *check, const struct event *event)
{
    struct hold *hold = hold_of(check, event);
    uint32_t holder = (uint32_t)event_number(event, FIELD_HOLDER);
    if (hold->granted)
        return;
    hold->claimed = hold->claimed && hold->holder == holder;
    hold->holder = holder;
    hold->granted = true;
}

static void on_end(struct fenced_lock *check, const struct event *event)
{
    struct hold *hold = hold_of(check, event);
    if (event->time_ns >= hold->until_ns)
        return;
    hold->until_ns = event->time_ns;
    hold->until_index = event->index;
}

/* Of its own claim, which is the one with that term's token. */
static void on_step_down(struct fenced_lock *check, const struct event *event)
{
    struct hold *hold = table_find(&check->holds, event_number(event, FIELD_TERM), 0);
    if (hold && hold->holder == event->process)
        hold->until_ns = hold->until_ns < event->time_ns ? hold->until_ns : event->time_ns;
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct fenced_lock *check = state;
    (void)finding;
    switch (event->f) {
    case F_LEAD: on_lead(check, event); break;
    case F_GRANT: on_grant(check, event); break;
    case F_STEP_DOWN: on_step_down(check, event); break;
    default: on_end(check, event); break;
    }
}

/* A hold of no length was claimed too late, by a claimant that knew or did not. */
static void collect(void *state, void *value)
{
    struct fenced_lock *check = state;
    const struct hold *hold = value;
    if (hold->granted && hold->claimed && hold->from_ns < hold->until_ns)
        check->sorted[check->count++] = *hold;
}

static int by_from(const void *a, const void *b)
{
    const struct hold *x = a, *y = b;
    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    return x->token < y->token ? -1 : x->token > y->token;
}

static void report_overlap(const struct fenced_lock *check, const struct hold *before,
                           const struct hold *after, struct finding *finding)
{
    struct words words = {0};
    bool ended = before->until_ns != UINT64_MAX;
    uint64_t witness[] = {before->from_index, after->from_index, before->until_index};
    uint32_t count = before->until_index ? 3 : 2;
    if (ended && before->until_ns - after->from_ns <= check->uncertainty_ns)
        finding_unknown(finding, witness, count,
                        "%s claimed the lock at %s with token %" PRIu64
                        ", within the clocks' uncertainty of the end of %s's hold",
                        word_process(&words, after->holder), word_time(&words, after->from_ns),
                        after->token, word_process(&words, before->holder));
    else
        finding_invalid(finding, witness, count,
                        "%s claimed the lock at %s with token %" PRIu64
                        " while %s held it with token %" PRIu64 ", from %s %s%s",
                        word_process(&words, after->holder), word_time(&words, after->from_ns),
                        after->token, word_process(&words, before->holder), before->token,
                        word_time(&words, before->from_ns), ended ? "to " : "on",
                        ended ? word_time(&words, before->until_ns) : "");
}

static void report_fence(const struct hold *before, const struct hold *after,
                         struct finding *finding)
{
    struct words words = {0};
    finding_invalid(finding, (uint64_t[]){before->from_index, after->from_index}, 2,
                    "%s held the lock from %s with token %" PRIu64
                    ", although %s had held it before with the larger %" PRIu64 ", from %s",
                    word_process(&words, after->holder), word_time(&words, after->from_ns),
                    after->token, word_process(&words, before->holder), before->token,
                    word_time(&words, before->from_ns));
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct fenced_lock *check = state;
    const struct hold *latest = NULL, *largest = NULL;
    (void)end_ns;
    check->sorted = must_alloc(check->holds.count + 1, sizeof *check->sorted);
    table_each(&check->holds, collect, check);
    if (check->count)
        qsort(check->sorted, check->count, sizeof *check->sorted, by_from);
    finding->judged = check->count;
    for (uint32_t i = 0; i < check->count; i++) {
        const struct hold *hold = &check->sorted[i];
        if (latest && hold->from_ns < latest->until_ns)
            report_overlap(check, latest, hold, finding);
        else if (largest && hold->token < largest->token)
            report_fence(largest, hold, finding);
        if (!latest || hold->until_ns > latest->until_ns)
            latest = hold;
        if (!largest || hold->token > largest->token)
            largest = hold;
    }
    free(check->sorted);
    table_release(&check->holds);
}

static bool owed(const struct history_header *header)
{
    const char *service = header->service;
    return !service || !service[0] || strncmp(service, "embedded", 8) == 0;
}

const struct check check_fenced_lock = {
    .name = "fenced-lock",
    .summary = "what the service grants is a lock: one holder at a time, with growing tokens",
    .traits = 1u << TRAIT_SERVICE,
    .owed = owed,
    .judges = "hold",
    .events = 1u << F_LEAD | 1u << F_STEP_DOWN | 1u << F_GRANT | 1u << F_REVOKE | 1u << F_EXPIRE,
    .state_bytes = sizeof(struct fenced_lock),
    .begin = begin,
    .step = step,
    .end = end,
};
