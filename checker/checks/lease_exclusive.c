/* Two holders' leases never overlap in true time (Gray and Cheriton, "Leases", SOSP 1989,
 * section 3.1). A holder believes that it may act until `until` on its own clock. That moment is
 * mapped to true time by the rate at which the holder's clock has run of late, which both clocks in
 * its events tell. A lease ends earlier when its holder steps down or its
 * process ends.
 *
 * Another's claim inside a lease is a violation unless the holder had let go by then; and since its
 * own last word may be recorded after the other's claim, the pair waits for the holder's next
 * event. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checker/words.h"

/* The newest lease of a node. Times are true. */
struct lease {
    uint64_t start_ns, end_ns; /* end_ns: estimated while open, then when it was let go */
    uint64_t index;            /* event that began or renewed it last */
    uint64_t term;
    bool known, open;
};

/* A pair of readings of one process's two clocks. */
struct reading {
    uint64_t time_ns, node_ns;
};

/* Somebody claimed inside the lease of this node; to be confirmed by its next event. */
struct pending {
    bool waiting;
    uint64_t claim_ns, claim_index;
    uint32_t claimant;
};

struct holder {
    struct lease lease;
    /* A rate is measured from `base`, which is followed by `next`: of this incarnation, and long
     * enough ago to tell a rate, but not so long that a rate of long ago is told. */
    struct reading base, next;
    struct pending pending;
};

struct lease_check {
    uint32_t nodes;
    uint64_t uncertainty_ns;
    struct holder *holders; /* by story, which is what an id is here */
};

/* Shorter than this the two readings say more of the scheduler than of the clock. */
#define RATE_BASE_NS UINT64_C(20000000)
#define RATE_WINDOW_NS UINT64_C(500000000)

static void begin(void *state, const struct history_header *header)
{
    struct lease_check *check = state;
    check->nodes = header->nodes;
    check->uncertainty_ns = header->clock_uncertainty_ns;
    check->holders = must_alloc(STORIES(header->nodes) + 1, sizeof *check->holders);
}

static void note_reading(struct holder *holder, const struct event *event)
{
    const struct reading now = {event->time_ns, event->node_ns};
    if (holder->base.node_ns == 0) {
        holder->base = holder->next = now;
    } else if (now.time_ns >= holder->next.time_ns + RATE_WINDOW_NS) {
        holder->base = holder->next;
        holder->next = now;
    }
}

/* True time at which the node's own clock shows `until`. */
static uint64_t mapped(const struct holder *holder, const struct event *event, uint64_t until)
{
    uint64_t true_ns = event->time_ns - holder->base.time_ns;
    uint64_t own_ns = event->node_ns - holder->base.node_ns;
    uint64_t left_ns = until > event->node_ns ? until - event->node_ns : 0;
    if (event->time_ns < holder->base.time_ns + RATE_BASE_NS || own_ns == 0)
        return event->time_ns + left_ns;
    return event->time_ns + (uint64_t)((__uint128_t)left_ns * true_ns / own_ns);
}

static void report(const struct lease_check *check, uint32_t id, uint64_t end_ns,
                   const struct pending *claim, struct finding *finding)
{
    struct words words = {0};
    const struct lease *lease = &check->holders[id].lease;
    if (end_ns <= claim->claim_ns + check->uncertainty_ns)
        return;
    finding_invalid(finding, (uint64_t[]){lease->index, claim->claim_index}, 2,
                    "%s believed it held the lease of term %" PRIu64
                    " until %s, but %s claimed leadership at %s, %s before that",
                    word_process(&words, story_process(id, check->nodes)), lease->term,
                    word_time(&words, end_ns),
                    word_process(&words, story_process(claim->claimant, check->nodes)),
                    word_time(&words, claim->claim_ns),
                    word_apart(&words, claim->claim_ns, end_ns));
}

/* The holder's next word has come: what it held at the time of the claim is settled. */
static void settle(struct lease_check *check, uint32_t id, uint64_t end_ns, struct finding *finding)
{
    struct pending *pending = &check->holders[id].pending;
    if (!pending->waiting)
        return;
    pending->waiting = false;
    report(check, id, end_ns, pending, finding);
}

/* `claimant` claims, or renews, at this event: against every other's lease. */
static void compare(struct lease_check *check, uint32_t claimant, const struct event *event,
                    struct finding *finding)
{
    struct pending claim = {true, event->time_ns, event->index, claimant};
    for (uint32_t id = 1; id <= STORIES(check->nodes); id++) {
        struct holder *other = &check->holders[id];
        if (id == claimant || !other->lease.known || other->lease.end_ns <= event->time_ns ||
            other->lease.start_ns > event->time_ns)
            continue;
        if (!other->lease.open)
            report(check, id, other->lease.end_ns, &claim, finding);
        else if (!other->pending.waiting)
            other->pending = claim;
    }
}

static void let_go(struct lease_check *check, uint32_t id, uint64_t time_ns,
                   struct finding *finding)
{
    struct lease *lease = &check->holders[id].lease;
    if (lease->open && time_ns < lease->end_ns)
        lease->end_ns = time_ns;
    settle(check, id, lease->end_ns, finding);
    lease->open = false;
}

static void on_claim(struct lease_check *check, uint32_t id, const struct event *event,
                     struct finding *finding)
{
    struct holder *holder = &check->holders[id];
    bool renews = event->f == F_RENEW && holder->lease.open;
    uint64_t end_ns = mapped(holder, event, event_number(event, FIELD_UNTIL));
    if (!renews) {
        finding->judged++;
        let_go(check, id, event->time_ns, finding);
        holder->lease.start_ns = event->time_ns;
    }
    holder->lease.known = holder->lease.open = true;
    holder->lease.end_ns = end_ns;
    holder->lease.index = event->index;
    holder->lease.term = event_number(event, FIELD_TERM);
    compare(check, id, event, finding);
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct lease_check *check = state;
    uint32_t id = story_of(event->process, check->nodes);
    if (id == 0)
        return;
    struct holder *holder = &check->holders[id];
    if (event->f == F_EXIT || event->f == F_SPAWN) {
        let_go(check, id, event->time_ns, finding);
        holder->base = holder->next = (struct reading){0};
        return;
    }
    note_reading(holder, event);
    if (event->f == F_STEP_DOWN)
        let_go(check, id, event->time_ns, finding);
    else if ((event->f == F_LEAD || event->f == F_RENEW) && event_has(event, FIELD_UNTIL))
        on_claim(check, id, event, finding);
    else if (holder->pending.waiting && event->time_ns > holder->pending.claim_ns)
        settle(check, id, holder->lease.end_ns, finding);
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct lease_check *check = state;
    (void)end_ns;
    for (uint32_t id = 1; id <= STORIES(check->nodes); id++)
        settle(check, id, check->holders[id].lease.end_ns, finding);
    free(check->holders);
}

const struct check check_lease_exclusive = {
    .name = "lease-exclusive",
    .summary = "no two nodes hold a lease at the same true time",
    .traits = 1u << TRAIT_LEASE,
    .judges = "lease",
    .events = 1u << F_LEAD | 1u << F_RENEW | 1u << F_STEP_DOWN | 1u << F_EXIT | 1u << F_SPAWN |
              1u << F_CAMPAIGN | 1u << F_VOTE | 1u << F_FOLLOW | 1u << F_SUSPECT | 1u << F_PERSIST |
              1u << F_GUARDED_WRITE,
    .state_bytes = sizeof(struct lease_check),
    .begin = begin,
    .step = step,
    .end = end,
};
