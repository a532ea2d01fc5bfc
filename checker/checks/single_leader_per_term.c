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

/* Zeroed: there is none. */
struct proof {
    bool present;
    uint64_t index, time_ns;
    uint32_t node; /* process number */
};

/* What one node did with a token: the first of each. */
struct side {
    struct proof claim, act;
};

/* The first two nodes seen with a token; a third adds nothing to the proof. */
struct holders {
    struct side sides[2];
};

struct single_leader {
    struct table terms;  /* term -> struct proof of the first claim */
    struct table tokens; /* token -> struct holders */
    /* The last act that agreed: nearly every act repeats it. */
    uint64_t last_token;
    uint32_t last_node;
    uint64_t claims, acts;
};

static void begin(void *state, const struct history_header *header)
{
    struct single_leader *check = state;
    (void)header;
    table_init(&check->terms, sizeof(struct proof));
    table_init(&check->tokens, sizeof(struct holders));
}

static const struct proof *best_proof(const struct side *side)
{
    return side->claim.present ? &side->claim : &side->act;
}

static void report_claims(const struct proof *first, const struct proof *second, uint64_t term,
                          struct finding *finding)
{
    struct words words = {0};
    finding_invalid(finding, (uint64_t[]){first->index, second->index}, 2,
                    "%s and %s both lead in term %" PRIu64 ": %s claimed it at %s, %s at %s, "
                    "%s apart",
                    word_process(&words, first->node), word_process(&words, second->node), term,
                    word_process(&words, first->node), word_time(&words, first->time_ns),
                    word_process(&words, second->node), word_time(&words, second->time_ns),
                    word_apart(&words, first->time_ns, second->time_ns));
}

static void report_act(const struct side *owner, const struct proof *act, uint64_t token,
                       struct finding *finding)
{
    struct words words = {0};
    const struct proof *proof = best_proof(owner);
    finding_invalid(
        finding, (uint64_t[]){proof->index, act->index}, 2,
        "%s acted as leader at %s with token %" PRIu64 ", with which %s %s at %s, "
        "%s apart",
        word_process(&words, act->node), word_time(&words, act->time_ns), token,
        word_process(&words, proof->node), owner->claim.present ? "claimed to lead" : "acted",
        word_time(&words, proof->time_ns), word_apart(&words, proof->time_ns, act->time_ns));
}

/* The node's side, a free one, or NULL when two others hold the token already. */
static struct side *side_of(struct holders *holders, uint32_t node)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct side *side = &holders->sides[i];
        const struct proof *proof = best_proof(side);
        if (!proof->present || proof->node == node)
            return side;
    }
    return NULL;
}

/* True when nobody else is known with the token. */
static bool hold(struct single_leader *check, uint64_t token, const struct proof *proof,
                 bool is_claim, struct finding *finding)
{
    struct holders *holders = table_put(&check->tokens, token, 0, NULL);
    struct side third = {0}, *side = side_of(holders, proof->node);
    if (!side)
        side = &third;
    const struct side *other = side == &holders->sides[0] ? &holders->sides[1] : &holders->sides[0];
    struct proof *mine = is_claim ? &side->claim : &side->act;
    if (!mine->present)
        *mine = *proof;
    if (!best_proof(other)->present)
        return true;
    if (side->act.present)
        report_act(other, &side->act, token, finding);
    else if (other->act.present)
        report_act(side, &other->act, token, finding);
    return false;
}

static void on_claim(struct single_leader *check, const struct event *event,
                     struct finding *finding)
{
    bool fresh;
    uint64_t term = event_number(event, FIELD_TERM), token = event_number(event, FIELD_TOKEN);
    struct proof proof = {true, event->index, event->time_ns, event->process};
    struct proof *first = table_put(&check->terms, term, 0, &fresh);
    check->claims++;
    if (fresh)
        *first = proof;
    else if (first->node != proof.node)
        report_claims(first, &proof, term, finding);
    if (token)
        (void)hold(check, token, &proof, true, finding);
    check->last_token = 0;
}

static void on_act(struct single_leader *check, const struct event *event, uint32_t node,
                   struct finding *finding)
{
    uint64_t token = event_number(event, FIELD_TOKEN);
    check->acts += token != 0;
    if (token == 0 || (token == check->last_token && node == check->last_node))
        return;
    struct proof proof = {true, event->index, event->time_ns, node};
    bool alone = hold(check, token, &proof, false, finding);
    check->last_token = alone ? token : 0;
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
    struct words words = {0};
    (void)end_ns;
    finding->judged = check->claims + check->acts;
    finding_evidence(finding, "%s, %s", word_count(&words, check->claims, "claim"),
                     word_count(&words, check->acts, "act"));
    table_release(&check->terms);
    table_release(&check->tokens);
}

const struct check check_single_leader_per_term = {
    .name = "single-leader-per-term",
    .summary = "no two nodes claim, or act on, leadership of one term",
    .judges = "claim or act",
    .events = 1u << F_LEAD | 1u << F_GUARDED_WRITE | 1u << F_ACCEPT,
    .state_bytes = sizeof(struct single_leader),
    .begin = begin,
    .step = step,
    .end = end,
};
