/* No token is granted twice, and a grant that began after another was complete carries a larger
 * one.
 *
 * Without a coordinator a grant takes time: it begins when the node stands for election and is
 * complete when it claims to lead. Only grants that do not overlap are compared, for a candidate
 * that was paused over its own election rightly claims the smaller token late. A coordinator's
 * grant is one moment. Ordering is judged at the end, because recording order may lag: sort by
 * completion, keep the largest token complete so far, and hold every beginning against it. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "checker/table.h"
#include "checker/words.h"

struct grant {
    uint64_t begin_ns, end_ns, index, token;
    uint32_t holder;
    uint32_t incarnation; /* of the holder, counted by its spawns */
    bool timed;           /* its beginning is known */
};

struct candidate {
    uint64_t since_ns;
    uint32_t incarnation;
    bool standing;
};

struct unique_token {
    uint32_t nodes;
    bool service; /* the coordinator's grants count, claims only repeat them */
    uint64_t uncertainty_ns;
    struct candidate *candidates; /* by node id */
    struct table tokens;          /* token -> struct grant, the first with it */
    struct grant *grants;
    uint32_t count, capacity;
};

static void begin(void *state, const struct history_header *header)
{
    struct unique_token *check = state;
    check->nodes = header->nodes;
    check->service = header->traits & 1u << TRAIT_SERVICE;
    check->uncertainty_ns = header->clock_uncertainty_ns;
    check->candidates = must_alloc(header->nodes + 1, sizeof *check->candidates);
    table_init(&check->tokens, sizeof(struct grant));
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

/* A node may say again that it leads: same holder, same incarnation, same grant. */
static void add_grant(struct unique_token *check, struct grant grant, struct finding *finding)
{
    bool fresh;
    struct grant *first = table_put(&check->tokens, grant.token, 0, &fresh);
    bool again = !fresh && first->holder == grant.holder && first->incarnation == grant.incarnation;
    if (again && !check->service)
        return;
    if (!fresh) {
        report_twice(first, &grant, finding);
        return;
    }
    *first = grant;
    if (check->count == check->capacity) {
        check->capacity = check->capacity ? check->capacity * 2 : 64;
        check->grants = must_grow(check->grants, check->capacity, sizeof *check->grants);
    }
    check->grants[check->count++] = grant;
}

static void on_claim(struct unique_token *check, const struct event *event, struct finding *finding)
{
    struct candidate *candidate = &check->candidates[process_index(event->process)];
    uint64_t token = event_number(event, FIELD_TOKEN);
    struct grant grant = {.begin_ns = candidate->since_ns,
                          .end_ns = event->time_ns,
                          .index = event->index,
                          .token = token,
                          .holder = event->process,
                          .incarnation = candidate->incarnation,
                          .timed = candidate->standing};
    candidate->standing = false;
    if (token)
        add_grant(check, grant, finding);
}

static void on_node(struct unique_token *check, const struct event *event, struct finding *finding)
{
    uint32_t id = process_index(event->process);
    if (process_kind(event->process) != PROCESS_NODE || id > check->nodes)
        return;
    struct candidate *candidate = &check->candidates[id];
    if (event->f == F_SPAWN) {
        candidate->incarnation++;
        candidate->standing = false;
    } else if (event->f == F_CAMPAIGN) {
        candidate->standing = true;
        candidate->since_ns = event->time_ns;
    } else if (!check->service) {
        on_claim(check, event, finding);
    }
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct unique_token *check = state;
    if (event->f != F_GRANT)
        on_node(check, event, finding);
    else if (event_number(event, FIELD_TOKEN))
        add_grant(check,
                  (struct grant){.begin_ns = event->time_ns,
                                 .end_ns = event->time_ns,
                                 .index = event->index,
                                 .token = event_number(event, FIELD_TOKEN),
                                 .holder = (uint32_t)event_number(event, FIELD_HOLDER),
                                 .timed = true},
                  finding);
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

static void report_order(const struct unique_token *check, const struct grant *before,
                         const struct grant *after, struct finding *finding)
{
    struct words words = {0};
    uint64_t witness[2] = {before->index, after->index};
    uint64_t gap_ns = after->begin_ns - before->end_ns;
    if (before->holder != after->holder && gap_ns <= check->uncertainty_ns) {
        if (check->uncertainty_ns)
            finding_unknown(finding, witness, 2,
                            "tokens %" PRIu64 " and %" PRIu64
                            " were granted within the clocks' uncertainty of %s",
                            before->token, after->token, word_span(&words, check->uncertainty_ns));
        return;
    }
    finding_invalid(finding, witness, 2,
                    "%s got token %" PRIu64 " at %s, although %s had got the larger %" PRIu64
                    " by %s, %s before %s began",
                    word_process(&words, after->holder), after->token,
                    word_time(&words, after->end_ns), word_process(&words, before->holder),
                    before->token, word_time(&words, before->end_ns), word_span(&words, gap_ns),
                    word_process(&words, after->holder));
}

/* `grants` by completion, `begun` the same by beginning: one merge of the two. */
static void sweep(const struct unique_token *check, const struct grant *const *begun,
                  uint32_t begun_count, struct finding *finding)
{
    const struct grant *largest = NULL;
    uint32_t done = 0;
    for (uint32_t i = 0; i < begun_count; i++) {
        for (; done < check->count && check->grants[done].end_ns < begun[i]->begin_ns; done++)
            if (!largest || check->grants[done].token > largest->token)
                largest = &check->grants[done];
        if (largest && largest->token > begun[i]->token)
            report_order(check, largest, begun[i], finding);
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
        if (check->grants[i].timed)
            begun[begun_count++] = &check->grants[i];
    if (begun_count)
        qsort(begun, begun_count, sizeof(struct grant *), by_begin);
    sweep(check, begun, begun_count, finding);
    free(begun);
    free(check->grants);
    free(check->candidates);
    table_release(&check->tokens);
}

const struct check check_unique_token = {
    .name = "unique-token",
    .summary = "no token is granted twice, later grants carry larger ones",
    .traits = 1u << TRAIT_TOKEN,
    .events = 1u << F_LEAD | 1u << F_CAMPAIGN | 1u << F_SPAWN | 1u << F_GRANT,
    .state_bytes = sizeof(struct unique_token),
    .begin = begin,
    .step = step,
    .end = end,
};
