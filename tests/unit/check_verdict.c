/* Findings, verdicts and the pass itself: what wins, what is counted, what is owed. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "tests/events.h"

static void test_first_violation_is_described(void **unused)
{
    struct finding finding = {0};
    (void)unused;
    finding_invalid(&finding, (uint64_t[]){9, 3, 9, 5}, 4, "first %d", 1);
    finding_invalid(&finding, (uint64_t[]){1}, 1, "second");
    assert_int_equal(finding.verdict, VERDICT_INVALID);
    assert_int_equal(finding.violations, 2);
    assert_string_equal(finding.reason, "first 1");
    assert_int_equal(finding.witness_count, 3);
    assert_int_equal(finding.witness[0], 3);
    assert_int_equal(finding.witness[1], 5);
    assert_int_equal(finding.witness[2], 9);
}

static void test_invalid_covers_unknown(void **unused)
{
    struct finding finding = {0};
    (void)unused;
    finding_unknown(&finding, (uint64_t[]){7}, 1, "cannot tell");
    assert_int_equal(finding.verdict, VERDICT_UNKNOWN);
    finding_unknown(&finding, NULL, 0, "another doubt");
    assert_string_equal(finding.reason, "cannot tell");
    finding_invalid(&finding, (uint64_t[]){8}, 1, "proven");
    assert_int_equal(finding.verdict, VERDICT_INVALID);
    assert_string_equal(finding.reason, "proven");
    assert_int_equal(finding.witness[0], 8);
    finding_unknown(&finding, NULL, 0, "too late");
    assert_string_equal(finding.reason, "proven");
}

static void test_long_reasons_are_cut(void **unused)
{
    struct finding finding = {0};
    char long_text[1000];
    (void)unused;
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    finding_invalid(&finding, NULL, 0, "%s", long_text);
    finding_add(&finding, "%s", long_text);
    assert_int_equal(strlen(finding.reason), sizeof finding.reason - 1);
}

static void test_every_check_is_whole(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; checks[i]; i++) {
        assert_true(checks[i]->name[0] && checks[i]->summary[0]);
        assert_true(checks[i]->events != 0);
        assert_true(checks[i]->judges && checks[i]->judges[0]);
        assert_true(checks[i]->begin && checks[i]->step && checks[i]->end);
        assert_ptr_equal(check_find(slice_of(checks[i]->name)), checks[i]);
    }
    assert_null(check_find(slice_of("nothing")));
}

static enum verdict verdict_of(const char *names, const char *lines)
{
    struct history_header header = events_header(3);
    struct events events = {0};
    struct report_data report;
    struct error error;
    if (events_parse(&events, lines, &error) < 0)
        fail_msg("%s", error.text);
    events_check(&header, names, &events, &report);
    report_data_release(&report);
    events_release(&events);
    return report.verdict;
}

/* The worst check decides, and nothing judged is not valid. */
static void test_algebra(void **unused)
{
    static const char good[] = "1ms n1 spawn\n2ms n1 follow term=1\n",
                      crash[] = "1ms n1 exit by=itself signal=6\n",
                      odd[] = "1ms n9 follow term=1\n",
                      both[] = "1ms n1 exit by=itself signal=6\n2ms n9 follow term=1\n";
    (void)unused;
    assert_int_equal(verdict_of("no-crash,well-formed", good), VERDICT_VALID);
    assert_int_equal(verdict_of("no-crash,well-formed", odd), VERDICT_UNKNOWN);
    assert_int_equal(verdict_of("no-crash,well-formed", crash), VERDICT_INVALID);
    assert_int_equal(verdict_of("no-crash,well-formed", both), VERDICT_INVALID);
    assert_int_equal(verdict_of("well-formed", both), VERDICT_UNKNOWN);
    assert_int_equal(verdict_of("lease-exclusive", good), VERDICT_UNKNOWN);
}

static void judge_nothing(const char *lines, struct report_data *out)
{
    struct history_header header = events_header(3);
    struct events events = {0};
    struct error error;
    header.traits = (1u << TRAITS) - 1;
    assert_int_equal(events_parse(&events, lines, &error), 0);
    events_check(&header, NULL, &events, out);
    report_data_release(out);
    events_release(&events);
}

/* A check that holds over nothing says nothing. */
static void test_nothing_to_judge(void **unused)
{
    struct report_data report;
    (void)unused;
    judge_nothing("", &report);
    assert_int_equal(report.verdict, VERDICT_UNKNOWN);
    for (uint32_t i = 0; i < report.result_count; i++) {
        const struct check_result *result = &report.results[i];
        const struct finding *finding = &result->finding;
        assert_true(result->owed);
        assert_int_equal(result->untested, result->check->may_idle);
        assert_int_equal(check_result_counts(result), !result->check->may_idle);
        assert_int_equal(finding->verdict, result->untested ? VERDICT_VALID : VERDICT_UNKNOWN);
        assert_string_equal(check_result_word(result), result->untested ? "untested" : "unknown");
        assert_true(finding->evidence[0]);
    }
}

/* Untested checks do not decide; alone they leave nothing that was judged. */
static void test_untested(void **unused)
{
    static const char brief[] = "1ms n1 spawn\n1ms n2 spawn\n1ms n3 spawn\n"
                                "2ms n1 lead term=1 token=1\n";
    (void)unused;
    assert_int_equal(verdict_of("usable-leader,no-crash", brief), VERDICT_VALID);
    assert_int_equal(verdict_of("usable-leader,converges,stable", brief), VERDICT_UNKNOWN);
    assert_int_equal(verdict_of("vote-once,no-crash", brief), VERDICT_UNKNOWN);
}

/* What the controller notes when it is told to stop; what others say is free text. */
static void test_interrupted(void **unused)
{
    static const char start[] = "1ms n1 spawn\n";
    char lines[200];
    (void)unused;
    (void)snprintf(lines, sizeof lines, "%s2ms n1 note text=interrupted\n", start);
    assert_int_equal(verdict_of("no-crash", lines), VERDICT_VALID);
    (void)snprintf(lines, sizeof lines, "%s2ms controller note text=interrupted\n", start);
    assert_int_equal(verdict_of("no-crash", lines), VERDICT_UNKNOWN);
    (void)snprintf(lines, sizeof lines,
                   "%s2ms controller note text=interrupted\n3ms n1 exit by=itself signal=6\n",
                   start);
    assert_int_equal(verdict_of("no-crash", lines), VERDICT_INVALID);
}

static void refuse(const struct history_header *header, const char *names, const char *part)
{
    struct checker *checker;
    struct error error = {0};
    assert_true(checker_new(header, names, &checker, &error) < 0);
    assert_int_equal(error.kind, ERROR_USAGE);
    assert_non_null(strstr(error.text, part));
}

static void test_refusals(void **unused)
{
    struct history_header header = events_header(3);
    (void)unused;
    refuse(&header, "no-crash,nonsense", "unknown check 'nonsense' (accepted: single-leader");
    refuse(&header, "", "unknown check ''");
    refuse(&header, "no-crash,", "unknown check ''");
    header.nodes = 0;
    refuse(&header, NULL, "0 nodes");
    header.nodes = SIMULATED_NODES_MAX + 1;
    refuse(&header, NULL, "10001 nodes");
    header.nodes = 3;
    header.witnesses = 4;
    refuse(&header, NULL, "4 witnesses among 3 nodes");
}

static void test_stops_early(void **unused)
{
    struct history_header header = events_header(3);
    struct events events = {0};
    struct checker *checker;
    struct report_data report;
    struct error error;
    (void)unused;
    assert_int_equal(
        events_parse(&events, "1ms n1 lead term=1 token=1\n2ms n2 lead term=1 token=1\n", &error),
        0);
    assert_int_equal(checker_new(&header, NULL, &checker, &error), 0);
    checker_step(checker, &events.at[0]);
    assert_false(checker_violated(checker));
    checker_step(checker, &events.at[1]);
    assert_true(checker_violated(checker));
    checker_end(checker, &report);
    assert_int_equal(report.events, 2);
    report_data_release(&report);
    events_release(&events);
}

/* Any event, however odd, in any order: no check may crash, hang or write where it should not. */
static void test_noise(void **unused)
{
    static const char *const texts[] = {"",
                                        ",",
                                        "n1>n2,n2>n1",
                                        "n1,n2,n99,client-1",
                                        ">",
                                        "installed",
                                        "halves",
                                        "pause",
                                        "kill",
                                        "final",
                                        "heal",
                                        "end",
                                        "stall 99999999999"};
    struct random random;
    (void)unused;
    random_init(&random, 1, "noise", 0);
    for (uint32_t run = 0; run < 300; run++) {
        struct history_header header = events_header(1 + (uint32_t)random_below(&random, 70));
        struct checker *checker;
        struct report_data report;
        struct error error;
        header.traits = (uint32_t)random_below(&random, 1u << TRAITS);
        header.clock_uncertainty_ns = random_below(&random, 3);
        assert_int_equal(checker_new(&header, NULL, &checker, &error), 0);
        for (uint32_t i = 0; i < 200; i++) {
            struct event event = {.index = i,
                                  .time_ns = random_below(&random, 1000),
                                  .node_ns = random_below(&random, 1000),
                                  .process = PROCESS_NUMBER(random_below(&random, PROCESS_KINDS),
                                                            random_below(&random, 80)),
                                  .type = (uint8_t)random_below(&random, EVENT_TYPES),
                                  .f = (uint8_t)random_below(&random, EVENT_FS)};
            event.present = random_next(&random) & ((UINT64_C(1) << EVENT_FIELDS) - 1);
            for (uint32_t field = 0; field < EVENT_FIELDS; field++)
                if (event_field_kind((enum event_field)field) == FIELD_KIND_TEXT)
                    event.field[field].text =
                        slice_of(texts[random_below(&random, sizeof texts / sizeof texts[0])]);
                else
                    event.field[field].number = random_chance(&random, 900000)
                                                    ? random_below(&random, 80)
                                                    : random_next(&random);
            checker_step(checker, &event);
        }
        checker_end(checker, &report);
        report_data_release(&report);
    }
}

static void test_every_check_is_complete(void **state)
{
    (void)state;
    for (uint32_t i = 0; checks[i]; i++) {
        const struct check *check = checks[i];
        assert_ptr_equal(check_find(slice_of(check->name)), check);
        assert_true(check->summary && check->summary[0]);
        if (!check->judges)
            fail_msg("%s does not say what it judges", check->name);
        assert_true(check->events && check->state_bytes && check->begin && check->step &&
                    check->end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_check_is_complete),
        cmocka_unit_test(test_first_violation_is_described),
        cmocka_unit_test(test_invalid_covers_unknown),
        cmocka_unit_test(test_long_reasons_are_cut),
        cmocka_unit_test(test_every_check_is_whole),
        cmocka_unit_test(test_algebra),
        cmocka_unit_test(test_nothing_to_judge),
        cmocka_unit_test(test_untested),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_stops_early),
        cmocka_unit_test(test_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
