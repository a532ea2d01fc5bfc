/* No two nodes lead in one term (Election Safety, Ongaro & Ousterhout, USENIX ATC 2014).
 *
 * Evidence is a claim (lead) or an act (a guarded write attempted, or accepted under its token): an
 * act carries a token, which names the reign that the claim with that token opened. The order of
 * events does not matter, so late recording cannot mislead. Nothing is ever forgotten: a deposed
 * leader's late claim of an old term is what is looked for. */
#include "checker/check.h"

#include <inttypes.h>

#include "checker/table.h"
#include "checker/words.h"

struct proof {
    uint64_t index, time_ns;
    uint32_t node; /* process number */
    bool claim;
    uint64_t term; /* of a claim */
};

struct single_leader {
    struct table terms;  /* term -> proof of the first claim */
    struct table tokens; /* token -> proof of the first claim, else of the first act */
    /* The last act that agreed: nearly every act repeats it. */
    uint64_t last_token;
    uint32_t last_node;
};

static void begin(void *state, const struct history_header *header)
{
    struct single_leader *check = state;
    (void)header;
    table_init(&check->terms, sizeof(struct proof));
    table_init(&check->tokens, sizeof(struct proof));
}

static void report_claims(const struct proof *first, const struct proof *second,
                          struct finding *finding)
{
    struct words words = {0};
    finding_invalid(finding, (uint64_t[]){first->index, second->index}, 2,
                    "%s and %s both lead in term %" PRIu64 ": %s claimed it at %s, %s at %s, "
                    "%s apart",
                    word_process(&words, first->node), word_process(&words, second->node),
                    second->term, word_process(&words, first->node),
                    word_time(&words, first->time_ns), word_process(&words, second->node),
                    word_time(&words, second->time_ns),
                    word_apart(&words, first->time_ns, second->time_ns));
}

static void report_act(const struct proof *owner, const struct proof *act, uint64_t token,
                       struct finding *finding)
{
    struct words words = {0};
    finding_invalid(finding, (uint64_t[]){owner->index, act->index}, 2,
                    "%s acted as leader at %s with token %" PRIu64 ", with which %s %s at %s, "
                    "%s apart",
                    word_process(&words, act->node), word_time(&words, act->time_ns), token,
                    word_process(&words, owner->node), owner->claim ? "claimed to lead" : "acted",
                    word_time(&words, owner->time_ns),
                    word_apart(&words, owner->time_ns, act->time_ns));
}

static void on_claim(struct single_leader *check, const struct event *event,
                     struct finding *finding)
{
    bool fresh;
    struct proof proof = {event->index, event->time_ns, event->process, true,
                          event_number(event, FIELD_TERM)};
    struct proof *by_term = table_put(&check->terms, proof.term, 0, &fresh);
    if (fresh)
        *by_term = proof;
    else if (by_term->node != proof.node)
        report_claims(by_term, &proof, finding);

    uint64_t token = event_number(event, FIELD_TOKEN);
    if (token == 0)
        return;
    struct proof *by_token = table_put(&check->tokens, token, 0, &fresh);
    bool act_before = !fresh && !by_token->claim;
    if (act_before && by_token->node != proof.node)
        report_act(&proof, by_token, token, finding);
    if (fresh || act_before)
        *by_token = proof;
    check->last_token = 0;
}

static void on_act(struct single_leader *check, const struct event *event, uint32_t node,
                   struct finding *finding)
{
    bool fresh;
    uint64_t token = event_number(event, FIELD_TOKEN);
    if (token == 0 || (token == check->last_token && node == check->last_node))
        return;
    struct proof act = {event->index, event->time_ns, node, false, 0};
    struct proof *by_token = table_put(&check->tokens, token, 0, &fresh);
    if (fresh)
        *by_token = act;
    else if (by_token->node != node) {
        report_act(by_token, &act, token, finding);
        return;
    }
    check->last_token = token;
    check->last_node = node;
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    if (event->f == F_LEAD)
        on_claim(state, event, finding);
    else if (event->f == F_ACCEPT)
        on_act(state, event, (uint32_t)event_number(event, FIELD_HOLDER), finding);
    else if (event->type == EVENT_INVOKE)
        on_act(state, event, event->process, finding);
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct single_leader *check = state;
    (void)end_ns;
    (void)finding;
    table_release(&check->terms);
    table_release(&check->tokens);
}

const struct check check_single_leader_per_term = {
    .name = "single-leader-per-term",
    .summary = "no two nodes claim, or act on, leadership of one term",
    .events = 1u << F_LEAD | 1u << F_GUARDED_WRITE | 1u << F_ACCEPT,
    .state_bytes = sizeof(struct single_leader),
    .begin = begin,
    .step = step,
    .end = end,
};
