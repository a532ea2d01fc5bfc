/* A claim of term t stands on grants of exactly t by a majority, the claimant included once, none
 * of them later than the claim. The recording order may lag, a vote may be written down after the
 * claim it supports, so claims are judged when the history has ended. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "checker/table.h"
#include "checker/words.h"

struct grant {
    uint64_t time_ns, index;
    uint32_t voter;
    uint32_t next; /* in the tally's list */
};

/* Of one candidate in one term. `first` is 1 + the index of its newest grant; 0: none. */
struct tally {
    uint32_t first;
    bool claimed;
};

struct claim {
    uint64_t term, time_ns, index;
    uint32_t node;
};

struct majority_support {
    uint32_t majority, nodes;
    uint64_t uncertainty_ns;
    struct table tallies; /* (term, candidate) -> tally */
    struct table voted;   /* (term, voter and candidate) -> nothing: counts a voter once */
    struct grant *grants;
    uint32_t grant_count, grant_capacity;
    struct claim *claims;
    uint32_t claim_count, claim_capacity;
};

static void begin(void *state, const struct history_header *header)
{
    struct majority_support *check = state;
    check->nodes = header->nodes;
    check->majority = header->nodes / 2 + 1;
    check->uncertainty_ns = header->clock_uncertainty_ns;
    table_init(&check->tallies, sizeof(struct tally));
    table_init(&check->voted, 0);
}

/* Others count votes by id, whichever process sent them. */
static bool is_member(const struct majority_support *check, uint32_t process)
{
    return story_of(process, check->nodes) != 0;
}

/* The first word counts: a vote said again later was cast when it was first said. */
static void on_grant(struct majority_support *check, const struct event *event, uint32_t candidate)
{
    bool fresh;
    uint64_t term = event_number(event, FIELD_TERM);
    if (!is_member(check, event->process) || !event_has(event, FIELD_TERM))
        return;
    (void)table_put(&check->voted, term,
                    (uint64_t)process_identity(event->process) << 32 | candidate, &fresh);
    if (!fresh)
        return;
    struct tally *tally = table_put(&check->tallies, term, candidate, NULL);
    if (check->grant_count == check->grant_capacity) {
        check->grant_capacity = check->grant_capacity ? check->grant_capacity * 2 : 64;
        check->grants = must_grow(check->grants, check->grant_capacity, sizeof *check->grants);
    }
    check->grants[check->grant_count++] =
        (struct grant){event->time_ns, event->index, event->process, tally->first};
    tally->first = check->grant_count;
}

/* Saying again that one leads is no new claim. */
static void on_claim(struct majority_support *check, const struct event *event)
{
    uint64_t term = event_number(event, FIELD_TERM);
    struct tally *tally = table_put(&check->tallies, term, process_identity(event->process), NULL);
    if (tally->claimed)
        return;
    tally->claimed = true;
    if (check->claim_count == check->claim_capacity) {
        check->claim_capacity = check->claim_capacity ? check->claim_capacity * 2 : 64;
        check->claims = must_grow(check->claims, check->claim_capacity, sizeof *check->claims);
    }
    check->claims[check->claim_count++] =
        (struct claim){term, event->time_ns, event->index, event->process};
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct majority_support *check = state;
    (void)finding;
    if (!event_has(event, FIELD_TERM))
        return; /* a campaign that only asks around */
    if (event->f == F_LEAD)
        on_claim(check, event);
    else if (event->f == F_CAMPAIGN)
        on_grant(check, event, process_identity(event->process));
    else
        on_grant(check, event, (uint32_t)event_number(event, FIELD_FOR));
}

/* What speaks for a claim, by when it was granted. */
struct support {
    uint32_t before, unordered, after;
    struct grant next; /* the first grant after the claim, if any is */
    uint64_t witness[WITNESS_MAX];
    uint32_t witness_count;
};

static void weigh(const struct majority_support *check, const struct claim *claim,
                  struct support *out)
{
    const struct tally *tally =
        table_find(&check->tallies, claim->term, process_identity(claim->node));
    *out = (struct support){.witness = {claim->index}, .witness_count = 1};
    for (uint32_t at = tally->first; at; at = check->grants[at - 1].next) {
        const struct grant *grant = &check->grants[at - 1];
        if (grant->time_ns <= claim->time_ns)
            out->before++;
        else if (grant->time_ns - claim->time_ns <= check->uncertainty_ns &&
                 grant->voter != claim->node)
            out->unordered++;
        else if (out->after++ == 0 || grant->time_ns < out->next.time_ns)
            out->next = *grant;
        if (grant->time_ns <= claim->time_ns + check->uncertainty_ns &&
            out->witness_count < WITNESS_MAX)
            out->witness[out->witness_count++] = grant->index;
    }
    if (out->after && out->witness_count < WITNESS_MAX)
        out->witness[out->witness_count++] = out->next.index;
}

static void judge(const struct majority_support *check, const struct claim *claim,
                  struct finding *finding)
{
    struct words words = {0};
    struct support support;
    weigh(check, claim, &support);
    if (support.before >= check->majority)
        return;
    const char *node = word_process(&words, claim->node), *at = word_time(&words, claim->time_ns);
    if (support.before + support.unordered >= check->majority) {
        finding_unknown(finding, support.witness, support.witness_count,
                        "%s claims term %" PRIu64 " at %s, but %u of the %u grants it needs are "
                        "within the clocks' uncertainty of %s of it",
                        node, claim->term, at, support.unordered, check->majority,
                        word_span(&words, check->uncertainty_ns));
        return;
    }
    finding_invalid(finding, support.witness, support.witness_count,
                    "%s claims term %" PRIu64 " at %s on %u of the %u grants it needs", node,
                    claim->term, at, support.before + support.unordered, check->majority);
    if (finding->violations == 1 && support.after)
        finding_add(finding, "; %s's grant came %s later", word_process(&words, support.next.voter),
                    word_apart(&words, claim->time_ns, support.next.time_ns));
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct majority_support *check = state;
    (void)end_ns;
    finding->judged = check->claim_count;
    for (uint32_t i = 0; i < check->claim_count; i++)
        judge(check, &check->claims[i], finding);
    table_release(&check->tallies);
    table_release(&check->voted);
    free(check->grants);
    free(check->claims);
}

const struct check check_majority_support = {
    .name = "majority-support",
    .summary = "a claim of a term stands on that term's grants of a majority",
    .traits = 1u << TRAIT_MAJORITY,
    .judges = "claim",
    .events = 1u << F_LEAD | 1u << F_VOTE | 1u << F_CAMPAIGN,
    .state_bytes = sizeof(struct majority_support),
    .begin = begin,
    .step = step,
    .end = end,
};
