#include "tests/opinions.h"

#include <string.h>

#include "tests/test.h"

static bool is(const struct event *event, enum event_f f)
{
    return event->f == f && (f != F_GUARDED_WRITE || event->type == EVENT_INVOKE);
}

static bool is_evidence(const struct event *event)
{
    return is(event, F_LEAD) || is(event, F_GUARDED_WRITE) || is(event, F_ACCEPT);
}

static uint64_t term_of(const struct event *event)
{
    return event_number(event, FIELD_TERM);
}

static uint64_t token_of(const struct event *event)
{
    return event_number(event, FIELD_TOKEN);
}

static uint32_t actor(const struct event *event)
{
    return is(event, F_ACCEPT) ? (uint32_t)event_number(event, FIELD_HOLDER) : event->process;
}

static enum verdict invalid_if(bool bad)
{
    return bad ? VERDICT_INVALID : VERDICT_VALID;
}

static enum verdict single_leader(const struct history_header *header, const struct events *all)
{
    bool bad = false;
    (void)header;
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const struct event *a = &all->at[i], *b = &all->at[j];
            if (!is_evidence(a) || !is_evidence(b) || actor(a) == actor(b))
                continue;
            bool claims = is(a, F_LEAD) && is(b, F_LEAD);
            bad = bad ||
                  (claims ? term_of(a) == term_of(b) : token_of(a) && token_of(a) == token_of(b));
        }
    return invalid_if(bad);
}

/* Whom the event grants a vote, 0: nobody. */
static uint32_t grantee(const struct event *event)
{
    return is(event, F_CAMPAIGN) ? event->process
           : is(event, F_VOTE)   ? (uint32_t)event_number(event, FIELD_FOR)
                                 : 0;
}

static enum verdict vote_once(const struct history_header *header, const struct events *all)
{
    bool bad = false;
    (void)header;
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const struct event *a = &all->at[i], *b = &all->at[j];
            bad = bad || (grantee(a) && grantee(b) && grantee(a) != grantee(b) &&
                          a->process == b->process && term_of(a) == term_of(b));
        }
    return invalid_if(bad);
}

/* How many nodes granted the claim's term to its node by `limit_ns`, each by its first word. */
static uint32_t supporters(const struct events *all, const struct event *claim, uint64_t limit_ns,
                           uint64_t own_limit_ns)
{
    uint32_t count = 0;
    for (uint32_t voter = 1; voter <= OPINION_NODES; voter++)
        for (uint32_t i = 0; i < all->count; i++) {
            const struct event *event = &all->at[i];
            if (event->process != voter || grantee(event) != claim->process ||
                term_of(event) != term_of(claim))
                continue;
            count += event->time_ns <= (voter == claim->process ? own_limit_ns : limit_ns);
            break;
        }
    return count;
}

static bool said_before(const struct events *all, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++)
        if (is(&all->at[i], F_LEAD) && all->at[i].process == all->at[at].process &&
            term_of(&all->at[i]) == term_of(&all->at[at]))
            return true;
    return false;
}

static enum verdict majority(const struct history_header *header, const struct events *all)
{
    enum verdict verdict = VERDICT_VALID;
    uint32_t need = header->nodes / 2 + 1;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct event *claim = &all->at[i];
        if (!is(claim, F_LEAD) || said_before(all, i))
            continue;
        uint64_t time_ns = claim->time_ns;
        if (supporters(all, claim, time_ns, time_ns) >= need)
            continue;
        uint64_t late_ns = time_ns + header->clock_uncertainty_ns;
        enum verdict found =
            supporters(all, claim, late_ns, time_ns) >= need ? VERDICT_UNKNOWN : VERDICT_INVALID;
        verdict = found > verdict ? found : verdict;
    }
    return verdict;
}

static enum verdict persist_first(const struct history_header *header, const struct events *all)
{
    bool bad = false;
    (void)header;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct event *vote = &all->at[i], *last = NULL;
        if (!grantee(vote))
            continue;
        for (uint32_t j = 0; j < i; j++)
            if (is(&all->at[j], F_PERSIST) && all->at[j].process == vote->process)
                last = &all->at[j];
        bad = bad || !last || term_of(last) != term_of(vote) ||
              event_number(last, FIELD_FOR) != grantee(vote);
    }
    return invalid_if(bad);
}

static bool has_own_term(const struct event *event)
{
    return is(event, F_LEAD) || is(event, F_FOLLOW) || is(event, F_VOTE) || is(event, F_CAMPAIGN) ||
           is(event, F_PERSIST);
}

static enum verdict term_rises(const struct history_header *header, const struct events *all)
{
    bool bad = false;
    (void)header;
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const struct event *now = &all->at[i], *before = &all->at[j];
            bad = bad || (has_own_term(now) && has_own_term(before) &&
                          now->process == before->process && term_of(now) < term_of(before));
        }
    return invalid_if(bad);
}

static uint32_t incarnation(const struct events *all, uint32_t at)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < at; i++)
        count += is(&all->at[i], F_SPAWN) && all->at[i].process == all->at[at].process;
    return count;
}

/* When the election that ended in this claim began; false: nothing says so. */
static bool election_began(const struct events *all, uint32_t at, uint64_t *ret_ns)
{
    bool began = false;
    for (uint32_t i = 0; i < at; i++) {
        const struct event *event = &all->at[i];
        if (event->process != all->at[at].process)
            continue;
        if (is(event, F_CAMPAIGN))
            *ret_ns = event->time_ns;
        if (is(event, F_CAMPAIGN) || is(event, F_LEAD) || is(event, F_SPAWN))
            began = is(event, F_CAMPAIGN);
    }
    return began;
}

static bool first_with_token(const struct events *all, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++)
        if (is(&all->at[i], F_LEAD) && token_of(&all->at[i]) == token_of(&all->at[at]))
            return false;
    return true;
}

static enum verdict token_pair(const struct history_header *header, const struct events *all,
                               uint32_t before, uint32_t after)
{
    const struct event *a = &all->at[before], *b = &all->at[after];
    uint64_t began_ns = 0;
    if (token_of(a) == 0 || token_of(b) == 0)
        return VERDICT_VALID;
    if (token_of(a) == token_of(b) && before < after)
        return invalid_if(a->process != b->process ||
                          incarnation(all, before) != incarnation(all, after));
    if (!first_with_token(all, before) || !first_with_token(all, after) ||
        token_of(a) <= token_of(b) || !election_began(all, after, &began_ns))
        return VERDICT_VALID;
    if (a->process == b->process)
        return invalid_if(before < after);
    if (a->time_ns >= began_ns)
        return VERDICT_VALID;
    return began_ns - a->time_ns > header->clock_uncertainty_ns ? VERDICT_INVALID : VERDICT_UNKNOWN;
}

static enum verdict tokens(const struct history_header *header, const struct events *all)
{
    enum verdict verdict = VERDICT_VALID;
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t j = 0; j < all->count; j++) {
            if (i == j || !is(&all->at[i], F_LEAD) || !is(&all->at[j], F_LEAD))
                continue;
            enum verdict found = token_pair(header, all, i, j);
            verdict = found > verdict ? found : verdict;
        }
    return verdict;
}

static enum verdict fencing(const struct history_header *header, const struct events *all)
{
    bool bad = false;
    (void)header;
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const struct event *now = &all->at[i], *before = &all->at[j];
            if (!is(now, F_ACCEPT) || !is(before, F_ACCEPT))
                continue;
            bad = bad || token_of(now) < token_of(before) ||
                  (token_of(now) == token_of(before) && actor(now) != actor(before));
        }
    return invalid_if(bad);
}

static bool is_loss(const struct event *event)
{
    return is(event, F_STEP_DOWN) || is(event, F_EXIT);
}

/* One node's own story up to its act. */
static bool acts_after_loss(const struct events *all, uint32_t at)
{
    const struct event *act = &all->at[at], *lead = NULL, *loss = NULL;
    bool lost = false;
    for (uint32_t i = 0; i < at; i++) {
        const struct event *event = &all->at[i];
        if (event->process != act->process)
            continue;
        if (is(event, F_LEAD)) {
            lost = lost || (lead && (loss || token_of(lead) != token_of(event)));
            lead = event;
            loss = NULL;
        } else if (is_loss(event) && lead) {
            loss = event;
        }
    }
    if (!lead)
        return false;
    return loss ? act->time_ns > loss->time_ns : lost && token_of(act) != token_of(lead);
}

static enum verdict acts(const struct history_header *header, const struct events *all)
{
    bool bad = false;
    (void)header;
    for (uint32_t i = 0; i < all->count; i++)
        bad = bad || (is(&all->at[i], F_GUARDED_WRITE) && acts_after_loss(all, i));
    return invalid_if(bad);
}

/* Whether there was something for the check to judge. */
static bool any(const struct events *all, uint32_t fs, bool with_token)
{
    for (uint32_t i = 0; i < all->count; i++)
        if ((fs >> all->at[i].f & 1) && is(&all->at[i], (enum event_f)all->at[i].f) &&
            (!with_token || token_of(&all->at[i])))
            return true;
    return false;
}

/* A write of a node that claimed before: of others nobody knows whether they had lost anything. */
static bool any_leaders_write(const struct events *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t j = 0; j < i && is(&all->at[i], F_GUARDED_WRITE); j++)
            if (is(&all->at[j], F_LEAD) && all->at[j].process == all->at[i].process)
                return true;
    return false;
}

static const struct opinion {
    const char *check;
    enum verdict (*judge)(const struct history_header *header, const struct events *all);
    uint32_t subjects, with_token; /* bit per f: what it judges; what it judges with a token only */
} opinions[OPINIONS] = {
    {"single-leader-per-term", single_leader, 1u << F_LEAD, 1u << F_ACCEPT | 1u << F_GUARDED_WRITE},
    {"vote-once", vote_once, 1u << F_VOTE | 1u << F_CAMPAIGN, 0},
    {"majority-support", majority, 1u << F_LEAD, 0},
    {"persist-before-send", persist_first, 1u << F_VOTE | 1u << F_CAMPAIGN, 0},
    {"term-monotonic", term_rises,
     1u << F_LEAD | 1u << F_FOLLOW | 1u << F_VOTE | 1u << F_CAMPAIGN | 1u << F_PERSIST, 0},
    {"unique-token", tokens, 0, 1u << F_LEAD},
    {"fencing-monotonic", fencing, 1u << F_ACCEPT, 0},
    {"acted-after-loss", acts, 0, 0},
};

static bool has_subject(const struct opinion *opinion, const struct events *all)
{
    if (opinion->judge == acts)
        return any_leaders_write(all);
    return any(all, opinion->subjects, false) || any(all, opinion->with_token, true);
}

static void dump(const struct events *all)
{
    struct text text = {0};
    for (uint32_t i = 0; i < all->count; i++) {
        text_clear(&text);
        event_to_json(&all->at[i], &text);
        print_error("%s\n", text_string(&text));
    }
    text_release(&text);
}

void opinions_compare(const struct history_header *header, const struct events *all,
                      uint32_t seen[OPINIONS][3])
{
    struct text names = {0};
    struct report_data report;
    for (uint32_t i = 0; i < OPINIONS; i++)
        text_add(&names, "%s%s", i ? "," : "", opinions[i].check);
    events_check(header, text_string(&names), all, &report);
    for (uint32_t i = 0; i < OPINIONS; i++) {
        enum verdict verdict = opinions[i].judge(header, all);
        const struct check_result *result = NULL;
        for (uint32_t j = 0; j < report.result_count; j++)
            if (strcmp(report.results[j].check->name, opinions[i].check) == 0)
                result = &report.results[j];
        assert_non_null(result);
        if (verdict == VERDICT_VALID && !has_subject(&opinions[i], all))
            verdict = VERDICT_UNKNOWN;
        seen[i][verdict]++;
        if (result->finding.verdict == verdict)
            continue;
        dump(all);
        fail_msg("%s: the check says %s (%s), the oracle %s", opinions[i].check,
                 verdict_name(result->finding.verdict), result->finding.reason,
                 verdict_name(verdict));
    }
    report_data_release(&report);
    text_release(&names);
}
