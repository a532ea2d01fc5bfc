/* No token is granted twice, and a grant that began after another was complete carries a larger
 * one.
 *
 * Without a coordinator a grant takes time: it begins when the node stands for election and is
 * complete when it claims to lead. Only grants that do not overlap are compared, for a candidate
 * that was paused over its own election rightly claims the smaller token late. Who stood without a
 * term may be elected in somebody else's (in a ring another member announces): that election began
 * with the first vote of its term. A coordinator's grants are moments in its own stream.
 *
 * Between nodes order is judged at the end, because recording may lag: sort by completion, keep the
 * largest token complete so far, and hold every beginning against it. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "checker/table.h"
#include "checker/words.h"

struct grant {
    uint64_t begin_ns, end_ns, index, token; /* token 0: none */
    uint32_t holder;
    uint32_t incarnation; /* of the holder, counted by its spawns */
    uint64_t term;
    bool timed; /* its beginning is known */
    bool voted; /* or may be earlier: with the first vote of its term */
};

/* The first vote of a term, by anybody. */
struct first_vote {
    uint64_t time_ns;
};

/* A stream of grants whose order is exact: a node's own, or the coordinator's. */
struct grantee {
    struct grant largest;
    uint64_t since_ns, term; /* of the last campaign */
    uint32_t incarnation;
    bool standing;
};

struct unique_token {
    uint32_t nodes;
    bool service; /* the coordinator's grants count, claims only repeat them */
    uint64_t uncertainty_ns;
    struct grantee *grantees; /* by node id; 0: the coordinator */
    struct table tokens;      /* token -> struct grant, the first with it */
    struct table votes;       /* term -> struct first_vote */
    struct grant *grants;
    uint32_t count, capacity;
};

static void begin(void *state, const struct history_header *header)
{
    struct unique_token *check = state;
    check->nodes = header->nodes;
    check->service = header->traits & 1u << TRAIT_SERVICE;
    check->uncertainty_ns = header->clock_uncertainty_ns;
    check->grantees = must_alloc(STORIES(header->nodes) + 1, sizeof *check->grantees);
    table_init(&check->tokens, sizeof(struct grant));
    table_init(&check->votes, sizeof(struct first_vote));
}

static void report_twice(const struct grant *first, const struct grant *second,
                         struct finding *finding)
{
    struct words words = {0};
    finding_invalid(finding, (uint64_t[]){first->index, second->index}, 2,
                    "token %" PRIu64 " was granted twice: to %s at %s and to %s%s at %s, %s apart",
                    second->token, word_process(&words, first->holder),
                    word_time(&words, first->end_ns), word_process(&words, second->holder),
                    first->holder == second->holder ? " after its restart" : "",
                    word_time(&words, second->end_ns),
                    word_apart(&words, first->end_ns, second->end_ns));
}

static void report_order(const struct grant *before, const struct grant *after,
                         struct finding *finding)
{
    struct words words = {0};
    finding_invalid(finding, (uint64_t[]){before->index, after->index}, 2,
                    "%s got token %" PRIu64 " at %s, although %s had got the larger %" PRIu64
                    " by %s, %s before that election began",
                    word_process(&words, after->holder), after->token,
                    word_time(&words, after->end_ns), word_process(&words, before->holder),
                    before->token, word_time(&words, before->end_ns),
                    word_apart(&words, before->end_ns, after->begin_ns));
}

/* A node may say again that it leads: same holder, same incarnation, same grant. */
static void add_grant(struct unique_token *check, struct grantee *grantee,
                      const struct grant *grant, struct finding *finding)
{
    bool fresh;
    finding->judged++;
    struct grant *first = table_put(&check->tokens, grant->token, 0, &fresh);
    bool same = first->holder == grant->holder && first->incarnation == grant->incarnation;
    if (!fresh && (!same || check->service))
        report_twice(first, grant, finding);
    if (!fresh)
        return;
    *first = *grant;
    if (grant->timed && grant->token < grantee->largest.token)
        report_order(&grantee->largest, grant, finding);
    if (grant->token > grantee->largest.token)
        grantee->largest = *grant;
    if (check->service)
        return;
    if (check->count == check->capacity) {
        check->capacity = check->capacity ? check->capacity * 2 : 64;
        check->grants = must_grow(check->grants, check->capacity, sizeof *check->grants);
    }
    check->grants[check->count++] = *grant;
}

static void on_claim(struct unique_token *check, const struct event *event, struct grantee *grantee,
                     struct finding *finding)
{
    struct grant grant = {.begin_ns = grantee->since_ns,
                          .end_ns = event->time_ns,
                          .index = event->index,
                          .token = event_number(event, FIELD_TOKEN),
                          .holder = event->process,
                          .incarnation = grantee->incarnation,
                          .term = event_number(event, FIELD_TERM),
                          .timed = grantee->standing,
                          .voted = grantee->term == 0};
    grantee->standing = false;
    if (grant.token)
        add_grant(check, grantee, &grant, finding);
}

static void on_grant(struct unique_token *check, const struct event *event, struct finding *finding)
{
    struct grant grant = {.begin_ns = event->time_ns,
                          .end_ns = event->time_ns,
                          .index = event->index,
                          .token = event_number(event, FIELD_TOKEN),
                          .holder = (uint32_t)event_number(event, FIELD_HOLDER),
                          .timed = true};
    if (check->service && grant.token)
        add_grant(check, &check->grantees[0], &grant, finding);
}

/* Recording lags, so the first on record need not be the first. */
static void on_vote(struct unique_token *check, const struct event *event)
{
    bool fresh;
    struct first_vote *first = table_put(&check->votes, event_number(event, FIELD_TERM), 0, &fresh);
    if (fresh || event->time_ns < first->time_ns)
        first->time_ns = event->time_ns;
}

static void date_back(const struct unique_token *check, struct grant *grant)
{
    const struct first_vote *first = table_find(&check->votes, grant->term, 0);
    if (grant->voted && first && first->time_ns < grant->begin_ns)
        grant->begin_ns = first->time_ns;
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct unique_token *check = state;
    uint32_t story = story_of(event->process, check->nodes);
    if (event->f == F_GRANT) {
        on_grant(check, event, finding);
        return;
    }
    if (check->service || story == 0)
        return;
    struct grantee *grantee = &check->grantees[story];
    if (event->f == F_LEAD) {
        on_claim(check, event, grantee, finding);
        return;
    }
    if (event->f == F_VOTE) {
        on_vote(check, event);
        return;
    }
    grantee->term = event_number(event, FIELD_TERM);
    grantee->standing = event->f == F_CAMPAIGN;
    grantee->since_ns = event->time_ns;
    grantee->incarnation += event->f == F_SPAWN;
}

static int by_end(const void *a, const void *b)
{
    const struct grant *x = a, *y = b;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int by_begin(const void *a, const void *b)
{
    const struct grant *x = *(const struct grant *const *)a, *y = *(const struct grant *const *)b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void report_close(const struct unique_token *check, const struct grant *before,
                         const struct grant *after, struct finding *finding)
{
    struct words words = {0};
    finding_unknown(
        finding, (uint64_t[]){before->index, after->index}, 2,
        "%s's token %" PRIu64 " and the smaller %" PRIu64 " of %s, %s later, are within "
        "the clocks' uncertainty of %s",
        word_process(&words, before->holder), before->token, after->token,
        word_process(&words, after->holder), word_apart(&words, before->end_ns, after->begin_ns),
        word_span(&words, check->uncertainty_ns));
}

/* One merge of grants by completion with `begun`, the same by beginning. Complete is what was so
 * `margin_ns` before. */
static void sweep(const struct unique_token *check, const struct grant *const *begun,
                  uint32_t begun_count, uint64_t margin_ns, struct finding *finding)
{
    const struct grant *largest = NULL;
    uint32_t done = 0;
    for (uint32_t i = 0; i < begun_count; i++) {
        for (; done < check->count && check->grants[done].end_ns + margin_ns < begun[i]->begin_ns;
             done++)
            if (!largest || check->grants[done].token > largest->token)
                largest = &check->grants[done];
        if (!largest || largest->token < begun[i]->token || largest == begun[i])
            continue;
        if (margin_ns == check->uncertainty_ns)
            report_order(largest, begun[i], finding);
        else
            report_close(check, largest, begun[i], finding);
    }
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct unique_token *check = state;
    const struct grant **begun = must_alloc(check->count + 1, sizeof(struct grant *));
    uint32_t begun_count = 0;
    (void)end_ns;
    if (check->count)
        qsort(check->grants, check->count, sizeof *check->grants, by_end);
    for (uint32_t i = 0; i < check->count; i++)
        date_back(check, &check->grants[i]);
    for (uint32_t i = 0; i < check->count; i++)
        if (check->grants[i].timed)
            begun[begun_count++] = &check->grants[i];
    if (begun_count)
        qsort(begun, begun_count, sizeof(struct grant *), by_begin);
    sweep(check, begun, begun_count, check->uncertainty_ns, finding);
    if (check->uncertainty_ns)
        sweep(check, begun, begun_count, 0, finding);
    free(begun);
    free(check->grants);
    free(check->grantees);
    table_release(&check->tokens);
    table_release(&check->votes);
}

const struct check check_unique_token = {
    .name = "unique-token",
    .summary = "no token is granted twice, later grants carry larger ones",
    .traits = 1u << TRAIT_TOKEN,
    .judges = "grant",
    .events = 1u << F_LEAD | 1u << F_CAMPAIGN | 1u << F_VOTE | 1u << F_SPAWN | 1u << F_GRANT,
    .state_bytes = sizeof(struct unique_token),
    .begin = begin,
    .step = step,
    .end = end,
};
