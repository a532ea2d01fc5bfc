/* The safety checks against a plain second opinion: each property once more as "is there a pair of
 * events such that", in quadratic time over the whole history, on many random tiny histories and on
 * every mutation of a good one. */
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "tests/events.h"

#define HISTORIES 100000
#define NODES 3

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
    for (uint32_t voter = 1; voter <= NODES; voter++)
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

static const struct opinion {
    const char *check;
    enum verdict (*judge)(const struct history_header *header, const struct events *all);
} opinions[] = {
    {"single-leader-per-term", single_leader},
    {"vote-once", vote_once},
    {"majority-support", majority},
    {"persist-before-send", persist_first},
    {"term-monotonic", term_rises},
    {"unique-token", tokens},
    {"fencing-monotonic", fencing},
    {"acted-after-loss", acts},
};
#define OPINIONS (sizeof opinions / sizeof opinions[0])

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

/* Compare; count how often each verdict was seen, to know that the test tests something. */
static void compare(const struct history_header *header, const struct events *all,
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

static void random_event(struct random *random, uint64_t clocks[NODES + 1], struct events *all)
{
    static const uint8_t kinds[] = {F_LEAD,    F_LEAD,      F_LEAD,          F_VOTE,   F_VOTE,
                                    F_PERSIST, F_PERSIST,   F_CAMPAIGN,      F_ACCEPT, F_ACCEPT,
                                    F_FOLLOW,  F_STEP_DOWN, F_GUARDED_WRITE, F_EXIT,   F_SPAWN};
    struct event event = {.type = EVENT_INFO};
    uint32_t node = (uint32_t)random_between(random, 1, NODES);
    uint64_t term = random_between(random, 1, 3);
    event.f = kinds[random_below(random, sizeof kinds)];
    event.process = event.f == F_ACCEPT ? PROCESS_NUMBER(PROCESS_RESOURCE, 0) : node;
    clocks[event.f == F_ACCEPT ? 0 : node] += random_below(random, 4);
    event.time_ns = clocks[event.f == F_ACCEPT ? 0 : node];
    if (event.f == F_GUARDED_WRITE)
        event.type = EVENT_INVOKE;
    event_set(&event, FIELD_TERM, term);
    if (event.f == F_LEAD || event.f == F_ACCEPT || event.f == F_GUARDED_WRITE)
        event_set(&event, FIELD_TOKEN,
                  random_chance(random, 800000) ? term : random_below(random, 4));
    if (event.f == F_ACCEPT)
        event_set(&event, FIELD_HOLDER, node);
    if (event.f == F_VOTE || (event.f == F_PERSIST && random_chance(random, 800000)))
        event_set(&event, FIELD_FOR, random_between(random, 1, NODES));
    (void)events_add(all, &event);
}

static void test_random_histories(void **unused)
{
    struct random random;
    struct history_header header = events_header(NODES);
    uint32_t seen[OPINIONS][3] = {{0}};
    (void)unused;
    random_init(&random, 1, "oracle", 0);
    for (uint32_t i = 0; i < HISTORIES; i++) {
        struct events all = {0};
        uint64_t clocks[NODES + 1] = {0};
        uint64_t length = random_between(&random, 1, 14);
        header.clock_uncertainty_ns = random_chance(&random, 300000) ? 2 : 0;
        while (length--)
            random_event(&random, clocks, &all);
        compare(&header, &all, seen);
        events_release(&all);
    }
    for (uint32_t i = 0; i < OPINIONS; i++) {
        assert_true(seen[i][VERDICT_VALID] > HISTORIES / 100);
        assert_true(seen[i][VERDICT_INVALID] > HISTORIES / 100);
    }
}

/* Three elections as they should be: the second after a kill, the third after a restart. */
static const char good_run[] = "10ms n1 spawn\n"
                               "10ms n2 spawn\n"
                               "10ms n3 spawn\n"
                               "200ms n1 persist term=1 for=n1\n"
                               "200ms n1 campaign term=1\n"
                               "200ms n1 vote term=1 for=n1\n"
                               "201ms n2 persist term=1 for=n1\n"
                               "201ms n2 vote term=1 for=n1\n"
                               "202ms n1 lead term=1 token=1\n"
                               "203ms n2 follow term=1 leader=n1\n"
                               "203ms n3 persist term=1\n"
                               "203ms n3 follow term=1 leader=n1\n"
                               "204ms n1 guarded-write invoke id=1 token=1 register=0 value=1\n"
                               "205ms resource accept token=1 holder=n1 register=0 value=1\n"
                               "206ms n1 guarded-write ok id=1\n"
                               "300ms n1 exit by=schedule signal=9\n"
                               "500ms n2 persist term=2 for=n2\n"
                               "500ms n2 campaign term=2\n"
                               "501ms n3 persist term=2 for=n2\n"
                               "501ms n3 vote term=2 for=n2\n"
                               "502ms n2 lead term=2 token=2\n"
                               "503ms n2 guarded-write invoke id=1 token=2 register=0 value=2\n"
                               "504ms resource accept token=2 holder=n2 register=0 value=2\n"
                               "505ms n2 guarded-write ok id=1\n"
                               "600ms n1 spawn\n"
                               "900ms n1 persist term=3 for=n1\n"
                               "900ms n1 campaign term=3\n"
                               "901ms n3 persist term=3 for=n1\n"
                               "901ms n3 vote term=3 for=n1\n"
                               "902ms n2 step-down term=2\n"
                               "902ms n2 persist term=3\n"
                               "903ms n1 lead term=3 token=3\n"
                               "904ms n1 guarded-write invoke id=1 token=3 register=0 value=3\n"
                               "905ms resource accept token=3 holder=n1 register=0 value=3\n"
                               "906ms n1 guarded-write ok id=1\n";

static struct events load_good_run(void)
{
    struct events all = {0};
    struct error error;
    if (events_parse(&all, good_run, &error) < 0)
        fail_msg("%s", error.text);
    return all;
}

static void renumber(struct events *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        all->at[i].index = i;
}

static void drop(struct events *all, uint32_t at)
{
    memmove(&all->at[at], &all->at[at + 1], (all->count - at - 1) * sizeof *all->at);
    all->count--;
    renumber(all);
}

/* Every event dropped, repeated, moved, retimed, given to another node or another term. */
static void mutate(struct events *all, uint32_t kind, uint32_t at, uint32_t other)
{
    struct event *event = &all->at[at], kept = *event;
    switch (kind) {
    case 0: drop(all, at); break;
    case 1:
        kept.time_ns = all->at[other].time_ns;
        (void)events_add(all, &kept);
        break;
    case 2:
        *event = all->at[other];
        all->at[other] = kept;
        break;
    case 3: event->time_ns = all->at[other].time_ns; break;
    case 4:
        if (process_kind(event->process) == PROCESS_NODE)
            event->process = 1 + other % NODES;
        break;
    case 5:
        if (event_has(event, FIELD_TERM))
            event_set(event, FIELD_TERM, 1 + other % 4);
        break;
    case 6:
        if (event_has(event, FIELD_TOKEN))
            event_set(event, FIELD_TOKEN, 1 + other % 4);
        break;
    default:
        if (event_has(event, FIELD_FOR))
            event_set(event, FIELD_FOR, 1 + other % NODES);
    }
    renumber(all);
}
#define MUTATIONS 8

static void test_mutations(void **unused)
{
    struct history_header header = events_header(NODES);
    uint32_t seen[OPINIONS][3] = {{0}};
    struct events good = load_good_run();
    uint32_t count = good.count;
    (void)unused;
    events_release(&good);
    for (uint32_t kind = 0; kind < MUTATIONS; kind++)
        for (uint32_t at = 0; at < count; at++)
            for (uint32_t other = 0; other < count; other++) {
                struct events all = load_good_run();
                mutate(&all, kind, at, other);
                compare(&header, &all, seen);
                events_release(&all);
            }
    for (uint32_t i = 0; i < OPINIONS; i++)
        assert_true(seen[i][VERDICT_INVALID] > 0);
}

struct turn {
    const char *what;
    uint32_t kind, at, other;
    const char *check;
};

/* What single mutations must turn. */
static const struct turn turns[] = {
    {"the deciding vote is dropped", 0, 7, 0, "majority-support"},
    {"the candidate's own vote was never recorded durable", 0, 3, 0, "persist-before-send"},
    {"a voter's record is dropped", 0, 6, 0, "persist-before-send"},
    {"the record is written after the vote", 2, 18, 19, "persist-before-send"},
    {"the deciding vote is cast after the claim", 3, 19, 21, "majority-support"},
    {"a vote goes to somebody else", 7, 7, 2, "majority-support"},
    {"a claim is made by another node", 4, 8, 2, "majority-support"},
    {"a claim names an older term", 5, 20, 0, "single-leader-per-term"},
    {"a claim carries an older token", 6, 20, 0, "unique-token"},
    {"a record falls back", 5, 30, 0, "term-monotonic"},
    {"the resource takes an older token", 6, 33, 0, "fencing-monotonic"},
    {"a first write is accepted again last", 1, 13, 34, "fencing-monotonic"},
    {"an attempt is repeated after the end", 1, 21, 34, "acted-after-loss"},
    {"a vote of an earlier term is cast again", 1, 7, 34, "term-monotonic"},
    {"a candidate votes for another", 7, 5, 1, "vote-once"},
    {"a claim is repeated by its killed owner's successor", 4, 20, 0, "majority-support"},
};

static void test_turns(void **unused)
{
    struct history_header header = events_header(NODES);
    (void)unused;
    for (uint32_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
        struct report_data report;
        struct events all = load_good_run();
        mutate(&all, turns[i].kind, turns[i].at, turns[i].other);
        events_check(&header, turns[i].check, &all, &report);
        if (report.results[0].finding.verdict != VERDICT_INVALID)
            fail_msg("%s: %s says %s", turns[i].what, turns[i].check,
                     verdict_name(report.results[0].finding.verdict));
        report_data_release(&report);
        events_release(&all);
    }
}

static void test_good_run(void **unused)
{
    struct history_header header = events_header(NODES);
    struct events all = load_good_run();
    struct report_data report;
    (void)unused;
    events_check(&header, NULL, &all, &report);
    for (uint32_t i = 0; i < report.result_count; i++)
        if (strcmp(report.results[i].check->name, "recovers") != 0 &&
            report.results[i].finding.verdict != VERDICT_VALID)
            fail_msg("%s: %s", report.results[i].check->name, report.results[i].finding.reason);
    report_data_release(&report);
    events_release(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_run),
        cmocka_unit_test(test_random_histories),
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
