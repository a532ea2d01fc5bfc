/* A good run, and every event of it dropped, repeated, swapped, retimed or changed: each check says
 * what the second opinion says, and the mutations that break a rule turn the check that owns it. */
#include "tests/test.h"

#include <string.h>

#include "tests/opinions.h"

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
            event->process = 1 + other % OPINION_NODES;
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
            event_set(event, FIELD_FOR, 1 + other % OPINION_NODES);
    }
    renumber(all);
}
#define MUTATIONS 8

static void test_mutations(void **unused)
{
    struct history_header header = events_header(OPINION_NODES);
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
                opinions_compare(&header, &all, seen);
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
    struct history_header header = events_header(OPINION_NODES);
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

/* The good run without all that a check judges: it must not go on to say that it holds. */
static void test_nothing_left(void **unused)
{
    static const struct {
        uint32_t without;
        const char *check;
    } rows[] = {
        {1u << F_LEAD | 1u << F_GUARDED_WRITE | 1u << F_ACCEPT, "single-leader-per-term"},
        {1u << F_VOTE | 1u << F_CAMPAIGN, "vote-once"},
        {1u << F_LEAD, "majority-support"},
        {1u << F_VOTE | 1u << F_CAMPAIGN | 1u << F_PERSIST, "persist-before-send"},
        {1u << F_LEAD, "unique-token"},
        {1u << F_ACCEPT, "fencing-monotonic"},
        {1u << F_GUARDED_WRITE, "acted-after-loss"},
        {1u << F_LEAD, "acted-after-loss"},
        {1u << F_SPAWN, "no-crash"},
        {1u << F_GUARDED_WRITE, "well-formed"},
    };
    struct history_header header = events_header(OPINION_NODES);
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct report_data report;
        struct events all = load_good_run();
        for (uint32_t at = all.count; at-- > 0;)
            if (rows[i].without >> all.at[at].f & 1)
                drop(&all, at);
        events_check(&header, rows[i].check, &all, &report);
        if (report.verdict != VERDICT_UNKNOWN)
            fail_msg("%s says %s", rows[i].check, verdict_name(report.verdict));
        report_data_release(&report);
        events_release(&all);
    }
}

static void test_good_run(void **unused)
{
    struct history_header header = events_header(OPINION_NODES);
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
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_nothing_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
