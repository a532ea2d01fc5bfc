#include "tests/test.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "report/failover.h"
#include "report/verdict.h"

static char algorithm[] = "raft", network[] = "switch", resource[] = "unfenced",
            command[] = "coup run -a raft -o 'a b' -t 20s --set 'x y'";

static struct history_header header_of_run(void)
{
    return (struct history_header){.algorithm = algorithm,
                                   .network = network,
                                   .resource = resource,
                                   .command = command,
                                   .traits = 1u << TRAIT_TOKEN,
                                   .nodes = 5,
                                   .clients = 3,
                                   .seed = 7,
                                   .duration_ns = 20 * NS_PER_S};
}

static struct check_result result_of(const char *check, enum verdict verdict, const char *reason)
{
    struct check_result result = {.check = check_find(slice_of(check)), .owed = true};
    assert_non_null(result.check);
    result.finding.verdict = verdict;
    result.finding.judged = 20;
    (void)snprintf(result.finding.evidence, sizeof result.finding.evidence, "20 things");
    (void)snprintf(result.finding.reason, sizeof result.finding.reason, "%s", reason);
    return result;
}

static struct event accept_event(uint64_t index, uint64_t token, uint32_t holder)
{
    struct event event = {.index = index,
                          .time_ns = 4 * NS_PER_S + index * NS_PER_MS,
                          .process = PROCESS_NUMBER(PROCESS_RESOURCE, 0),
                          .type = EVENT_INFO,
                          .f = F_ACCEPT};
    event_set(&event, FIELD_TOKEN, token);
    event_set(&event, FIELD_HOLDER, holder);
    return event;
}

/* A stale write that was accepted, among other things. */
static struct report_data stale_write(struct failover *failovers)
{
    failovers[0] = (struct failover){.lost_ns = NS_PER_S,
                                     .suspected_ns = NS_PER_S + 160 * NS_PER_MS,
                                     .campaign_ns = NS_PER_S + 161 * NS_PER_MS,
                                     .elected_ns = NS_PER_S + 183 * NS_PER_MS,
                                     .accepted_ns = UINT64_MAX};
    failovers[1] = (struct failover){.lost_ns = 2 * NS_PER_S,
                                     .suspected_ns = 2 * NS_PER_S + 200 * NS_PER_MS,
                                     .campaign_ns = 2 * NS_PER_S + 200 * NS_PER_MS,
                                     .elected_ns = 2 * NS_PER_S + 260 * NS_PER_MS,
                                     .accepted_ns = 2 * NS_PER_S + 270 * NS_PER_MS};
    struct report_data data = {.verdict = VERDICT_INVALID, .events = 812, .result_count = 3};
    data.results[0] = result_of("unique-token", VERDICT_VALID, "");
    data.results[1] = result_of("vote-once", VERDICT_VALID, "");
    data.results[1].owed = false;
    data.results[2] =
        result_of("fencing-monotonic", VERDICT_INVALID, "token 3 of n1 after token 4 of n2");
    data.results[2].finding.violations = 2;
    data.results[2].finding.witness[0] = 210;
    data.results[2].finding.witness[1] = 340;
    data.results[2].finding.witness_count = 2;
    data.measure = (struct measure){.terms = 3,
                                    .leaders = 1,
                                    .elections = 4,
                                    .votes = 9,
                                    .messages = 1200,
                                    .writes_accepted = 400,
                                    .writes_rejected = 1,
                                    .client_ok = 100,
                                    .client_fail = 2,
                                    .client_unknown = 1,
                                    .watched_ns = 20 * NS_PER_S,
                                    .faults_ended = true,
                                    .leaderless_ns = NS_PER_S,
                                    .overlap_ns = 130 * NS_PER_MS,
                                    .duration_ns = 20 * NS_PER_S,
                                    .kills = 1,
                                    .fault_kinds = 2,
                                    .failovers = failovers,
                                    .failover_count = 2};
    data.measure.faults[0] = (struct fault_count){"kill", 1, 1, 0, 0, 1};
    data.measure.faults[1] = (struct fault_count){"isolate-leader", 3, 2, 1, 0, 1};
    return data;
}

static void test_invalid_shows_why_first_and_the_events_that_prove_it(void **state)
{
    (void)state;
    struct failover failovers[2];
    struct history_header header = header_of_run();
    struct report_data data = stale_write(failovers);
    struct witness_lines witness;
    struct event earlier = accept_event(210, 4, 2), other = accept_event(211, 4, 2);
    struct text out = {0};
    witness_lines_want(&data, &witness);
    witness_lines_see(&witness, &earlier);
    witness_lines_see(&witness, &other);
    struct report report = {
        .data = &data, .header = &header, .path = "a b.coup", .witness = &witness};
    report_text(&report, &out);
    assert_string_equal(
        text_string(&out),
        "INVALID  fencing-monotonic: token 3 of n1 after token 4 of n2\n"
        "\nChecks\n"
        "  unique-token       valid     20 things\n"
        "  vote-once          not owed  raft does not promise majority\n"
        "  fencing-monotonic  invalid   token 3 of n1 after token 4 of n2 (and 1 more)\n"
        "         210     4.210000s  resource    info   accept         token=4 holder=n2\n"
        "    event #340\n"
        "\nSummary\n"
        "  run         raft, 5 nodes, 3 clients, 20s, seed 7\n"
        "  world       switch network, unfenced resource\n"
        "  leadership  3 terms by 1 leader, 4 campaigns, 9 votes\n"
        "  messages    1200 for elections\n"
        "  leaderless  1.00s of 20.0s from first leader to end of faults (95.0 % led)\n"
        "  overlap     two claims of different terms at once for 130ms\n"
        "  writes      400 accepted, 1 rejected (0 stale, fenced off)\n"
        "  clients     100 ok, 2 failed, 1 unknown\n"
        "  processes   1 kill by fault, 0 crashes\n"
        "\nFaults                  planned  landed  skipped  failed\n"
        "  kill                        1       1        0       0\n"
        "  isolate-leader              3       1        1       0\n"
        "\nFailover from loss    times   median      max\n"
        "  to first suspicion       2    160ms    200ms\n"
        "  to campaign              2    161ms    200ms\n"
        "  to new leader            2    183ms    260ms\n"
        "  to accepted write        1    270ms    270ms\n"
        "\nHistory\n"
        "  a b.coup (812 events)\n"
        "  show    coup show 'a b.coup'\n"
        "  judge   coup check 'a b.coup'\n"
        "  repeat  coup run -a raft -t 20s --set 'x y' --seed 7\n");
    text_release(&out);
    witness_lines_release(&witness);
}

/* The text of a report of `data`, until the next call. */
static const char *text_of(const struct report *report)
{
    static struct text out;
    text_clear(&out);
    report_text(report, &out);
    return text_string(&out);
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in\n%s", part, text);
}

static void has_not(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("'%s' in\n%s", part, text);
}

static void test_untested_is_neither_valid_nor_counted(void **state)
{
    (void)state;
    struct history_header header = header_of_run();
    struct report_data data = {.verdict = VERDICT_VALID, .events = 9, .result_count = 2};
    data.results[0] = result_of("usable-leader", VERDICT_VALID, "");
    data.results[0].untested = true;
    data.results[1] = result_of("well-formed", VERDICT_VALID, "");
    struct report report = {.data = &data, .header = &header};
    struct text json = {0};
    has(text_of(&report), "VALID  1 check held over 9 events\n");
    has(text_of(&report), "  usable-leader  untested  20 things\n");
    report_json(&report, &json);
    has(text_string(&json),
        "{\"name\":\"usable-leader\",\"verdict\":\"untested\",\"reason\":\"\",\"judged\":20,"
        "\"evidence\":\"20 things\",");
    has(text_string(&json), "\"interrupted\":null");
    text_release(&json);
}

static void test_an_interrupted_run_says_so_first(void **state)
{
    (void)state;
    struct history_header header = header_of_run();
    struct report_data data = {.verdict = VERDICT_UNKNOWN, .events = 9, .result_count = 2};
    data.measure.interrupted = true;
    data.measure.interrupted_ns = 2600 * NS_PER_MS;
    data.results[0] = result_of("no-crash", VERDICT_VALID, "");
    data.results[1] = result_of("well-formed", VERDICT_VALID, "");
    struct report report = {.data = &data, .header = &header};
    struct text json = {0};
    has(text_of(&report),
        "UNKNOWN  interrupted after 2.60s of 20s; 2 checks held so far, over 9 events\n");
    has(text_of(&report), "20s, seed 7\n              interrupted after 2.60s of 20s\n");
    report_json(&report, &json);
    has(text_string(&json), "\"interrupted\":{\"after_ns\":2600000000,\"of_ns\":20000000000}");
    text_release(&json);
    data.verdict = VERDICT_INVALID;
    data.results[0] = result_of("no-crash", VERDICT_INVALID, "n2 ended by itself");
    has(text_of(&report),
        "INVALID  interrupted after 2.60s of 20s; no-crash: n2 ended by itself\n");
}

static void test_a_cut_off_history_is_judged_so_far(void **state)
{
    (void)state;
    struct history_header header = header_of_run();
    struct report_data data = {.verdict = VERDICT_UNKNOWN, .events = 9, .result_count = 1};
    data.measure.watched_ns = 9 * NS_PER_S;
    data.results[0] = result_of("no-crash", VERDICT_VALID, "");
    (void)snprintf(data.damage, sizeof data.damage, "cut off at byte 7");
    struct report report = {.data = &data, .header = &header};
    has(text_of(&report), "  no-crash  valid     so far: 20 things\n");
    has(text_of(&report), " of 9.00s from first leader to end of file (100.0 % led)\n");
}

static void test_the_expected_check_is_told_first(void **state)
{
    (void)state;
    struct history_header header = header_of_run();
    struct report_data data = {.verdict = VERDICT_INVALID, .result_count = 4};
    data.results[0] = result_of("vote-once", VERDICT_INVALID, "n1 voted twice");
    data.results[1] = result_of("unique-token", VERDICT_VALID, "");
    data.results[2] = result_of("no-crash", VERDICT_INVALID, "n2 ended");
    data.results[3] = result_of("well-formed", VERDICT_UNKNOWN, "odd");
    struct report report = {.data = &data, .header = &header, .title = "h.coup"};
    has(text_of(&report), "h.coup: INVALID  vote-once: n1 voted twice; also invalid: no-crash\n");
    report.expected = check_find(slice_of("no-crash"));
    has(text_of(&report), ": INVALID  no-crash: n2 ended; also invalid: vote-once\n");
    report.expected = check_find(slice_of("unique-token"));
    has(text_of(&report), ": INVALID  vote-once: n1 voted twice; also invalid: no-crash\n");
    has_not(text_of(&report), "Known");
    report.broken_by = "partitions: one leader per side";
    has(text_of(&report), "\nKnown\n  raft breaks under: partitions: one leader per side\n");
    data.verdict = VERDICT_UNKNOWN;
    has_not(text_of(&report), "Known");
}

static void test_counts_and_stalls_in_words(void **state)
{
    (void)state;
    struct history_header header = header_of_run();
    struct report_data data = {.events = 1, .result_count = 1};
    struct report report = {.data = &data, .header = &header};
    header.nodes = header.clients = 1;
    data.results[0] = result_of("no-crash", VERDICT_VALID, "");
    data.measure = (struct measure){
        .terms = 1, .leaders = 1, .elections = 1, .votes = 1, .crashes = 1, .kills = 1};
    has(text_of(&report), "raft, 1 node, 1 client, 20s");
    has(text_of(&report), "  leadership  1 term by 1 leader, 1 campaign, 1 vote\n");
    has(text_of(&report), "  processes   1 kill by fault, 1 crash\n");
    has_not(text_of(&report), "stalls");
    data.measure.stalls = 12;
    data.measure.stalled_ns = 4370 * NS_PER_MS;
    data.measure.longest_stall_ns = NS_PER_S;
    has(text_of(&report),
        "  stalls      4.37s in 12 stalls, at most 1.00s: liveness got so much longer\n");
}

/* As large as they come. */
static void test_the_summary_is_narrow(void **state)
{
    (void)state;
    struct history_header header = header_of_run();
    struct report_data data = {.verdict = VERDICT_VALID, .events = 9, .result_count = 1};
    static char longest[] = "quorum-lease";
    header.algorithm = longest;
    header.nodes = header.clients = 10000;
    header.seed = 123456789012;
    data.results[0] = result_of("no-crash", VERDICT_VALID, "");
    data.measure = (struct measure){.terms = 12345,
                                    .leaders = 10000,
                                    .elections = 123456,
                                    .votes = 1234567,
                                    .messages = 123456789,
                                    .watched_ns = 12340 * NS_PER_MS,
                                    .leaderless_ns = 1234 * NS_PER_MS,
                                    .overlap_ns = 123 * NS_PER_MS,
                                    .writes_accepted = 1234567,
                                    .writes_rejected = 123456,
                                    .stale_attempts_rejected = 123456,
                                    .stalls = 1234,
                                    .stalled_ns = 123 * NS_PER_S,
                                    .longest_stall_ns = 1234 * NS_PER_MS};
    struct report report = {.data = &data, .header = &header};
    for (const char *at = text_of(&report); *at; at += strcspn(at, "\n") + 1)
        if (strcspn(at, "\n") > 80)
            fail_msg("%.*s", (int)strcspn(at, "\n"), at);
}

static const char *why(const struct report_data *data)
{
    static struct text out;
    struct history_header header = header_of_run();
    struct report report = {.data = data, .header = &header};
    text_clear(&out);
    report_why(&report, &out);
    return text_string(&out);
}

static void test_why_names_what_decided(void **state)
{
    (void)state;
    struct report_data data = {.verdict = VERDICT_VALID, .events = 9, .result_count = 2};
    data.results[0] = result_of("no-crash", VERDICT_VALID, "");
    data.results[1] = result_of("well-formed", VERDICT_VALID, "");
    assert_string_equal(why(&data), "2 checks held over 9 events");
    data.verdict = VERDICT_UNKNOWN;
    (void)snprintf(data.damage, sizeof data.damage, "cut off at byte 7");
    assert_string_equal(why(&data), "cut off at byte 7; 2 checks held so far, over 9 events");
    data.results[1] = result_of("well-formed", VERDICT_UNKNOWN, "time runs back");
    assert_string_equal(why(&data), "well-formed: time runs back");
    data.verdict = VERDICT_INVALID;
    data.results[0] = result_of("no-crash", VERDICT_INVALID, "n2 ended by itself");
    assert_string_equal(why(&data), "no-crash: n2 ended by itself");
    data = (struct report_data){.verdict = VERDICT_UNKNOWN};
    assert_string_equal(why(&data), "no check was owed and tested, so nothing was judged");
}

static void test_json_holds_verdict_checks_and_stats(void **state)
{
    (void)state;
    struct failover failovers[2];
    struct history_header header = header_of_run();
    struct report_data data = stale_write(failovers);
    struct report report = {.data = &data, .header = &header, .path = "h.coup"};
    struct text out = {0};
    const char *verdict, *name, *check_verdict, *reason, *history, *net, *kind;
    int violations, first, second, accepted, planned, installed, median;
    report_json(&report, &out);
    assert_null(strchr(text_string(&out), '\n'));
    json_t *root = json_loads(text_string(&out), 0, NULL);
    assert_non_null(root);
    assert_int_equal(json_array_size(json_object_get(root, "checks")), 2);
    assert_int_equal(
        json_unpack(root,
                    "{s:s, s:s, s:[{}, {s:s, s:s, s:s, s:i, s:[i,i]}], s:[s], s:{s:s, s:i, "
                    "s:[{}, {s:s, s:i, s:i}], s:{s:{s:i}}}}",
                    "verdict", &verdict, "history", &history, "checks", "name", &name, "verdict",
                    &check_verdict, "reason", &reason, "violations", &violations, "witness", &first,
                    &second, "not_owed", &(const char *){NULL}, "stats", "network", &net,
                    "writes_accepted", &accepted, "faults", "kind", &kind, "planned", &planned,
                    "installed", &installed, "failovers", "elected", "median_ns", &median),
        0);
    assert_string_equal(verdict, "invalid");
    assert_string_equal(history, "h.coup");
    assert_string_equal(name, "fencing-monotonic");
    assert_string_equal(check_verdict, "invalid");
    assert_string_equal(reason, "token 3 of n1 after token 4 of n2");
    assert_int_equal(violations, 2);
    assert_int_equal(first, 210);
    assert_int_equal(second, 340);
    assert_string_equal(net, "switch");
    assert_int_equal(accepted, 400);
    assert_string_equal(kind, "isolate-leader");
    assert_int_equal(planned, 3);
    assert_int_equal(installed, 2);
    assert_int_equal(median, 183 * NS_PER_MS);
    json_decref(root);
    text_release(&out);
}

static void test_colour_changes_nothing_but_colour(void **state)
{
    (void)state;
    struct failover failovers[2];
    struct history_header header = header_of_run();
    struct report_data data = stale_write(failovers);
    struct report report = {.data = &data, .header = &header, .path = "h.coup"};
    struct text plain = {0}, coloured = {0}, stripped = {0};
    report_text(&report, &plain);
    report.colour = true;
    report_text(&report, &coloured);
    for (const char *c = text_string(&coloured); *c; c++) {
        if (*c == '\033')
            c += strcspn(c, "m");
        else
            text_add_bytes(&stripped, c, 1);
    }
    assert_true(coloured.length > plain.length);
    assert_string_equal(text_string(&stripped), text_string(&plain));
    text_release(&plain);
    text_release(&coloured);
    text_release(&stripped);
}

static void test_failover_median_is_a_measured_time(void **state)
{
    (void)state;
    struct failover failovers[3] = {{.lost_ns = 10, .suspected_ns = 40},
                                    {.lost_ns = 10, .suspected_ns = 15},
                                    {.lost_ns = 10, .suspected_ns = UINT64_MAX}};
    struct measure measure = {.failovers = failovers, .failover_count = 3};
    struct failover_times times = failover_times(&measure, PHASE_SUSPECTED);
    assert_int_equal(times.count, 2);
    assert_int_equal(times.median_ns, 5);
    assert_int_equal(times.max_ns, 30);
    measure.failover_count = 0;
    assert_int_equal(failover_times(&measure, PHASE_SUSPECTED).count, 0);
}

static void test_quantiles_are_nearest_ranks(void **state)
{
    (void)state;
    static const uint64_t ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    assert_int_equal(quantile(ten, 10, 1), 1);
    assert_int_equal(quantile(ten, 10, 500000), 5);
    assert_int_equal(quantile(ten, 10, 500001), 6);
    assert_int_equal(quantile(ten, 10, 900000), 9);
    assert_int_equal(quantile(ten, 10, 990000), 10);
    assert_int_equal(quantile(ten, 10, 1000000), 10);
    assert_int_equal(quantile(ten, 1, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_invalid_shows_why_first_and_the_events_that_prove_it),
        cmocka_unit_test(test_why_names_what_decided),
        cmocka_unit_test(test_untested_is_neither_valid_nor_counted),
        cmocka_unit_test(test_an_interrupted_run_says_so_first),
        cmocka_unit_test(test_a_cut_off_history_is_judged_so_far),
        cmocka_unit_test(test_the_expected_check_is_told_first),
        cmocka_unit_test(test_counts_and_stalls_in_words),
        cmocka_unit_test(test_the_summary_is_narrow),
        cmocka_unit_test(test_json_holds_verdict_checks_and_stats),
        cmocka_unit_test(test_colour_changes_nothing_but_colour),
        cmocka_unit_test(test_failover_median_is_a_measured_time),
        cmocka_unit_test(test_quantiles_are_nearest_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
