/* What a run shows: counts, failovers by phase, time without a leader and with two. */
#include "tests/test.h"

#include "base/units.h"
#include "tests/events.h"

#define NEVER UINT64_MAX
#define MS(number) ((number)*NS_PER_MS)

static struct measure measure(struct history_header *header, const char *lines)
{
    struct events events = {0};
    struct report_data report;
    struct error error;
    if (events_parse(&events, lines, &error) < 0)
        fail_msg("%s", error.text);
    events_check(header, NULL, &events, &report);
    events_release(&events);
    return report.measure;
}

static void release(struct measure *measure)
{
    struct report_data report = {.measure = *measure};
    report_data_release(&report);
}

static void is_failover(const struct failover *found, const struct failover *wanted)
{
    assert_int_equal(found->lost_ns, wanted->lost_ns);
    assert_int_equal(found->suspected_ns, wanted->suspected_ns);
    assert_int_equal(found->campaign_ns, wanted->campaign_ns);
    assert_int_equal(found->elected_ns, wanted->elected_ns);
    assert_int_equal(found->accepted_ns, wanted->accepted_ns);
    assert_int_equal(found->old_leader, wanted->old_leader);
    assert_int_equal(found->new_leader, wanted->new_leader);
}

#define SPAWNS "1ms n1 spawn\n1ms n2 spawn\n1ms n3 spawn\n"
#define FIRST                                                                                  \
    SPAWNS "100ms n1 lead term=1 token=1\n110ms resource accept token=1 holder=n1 register=0 " \
           "value=1\n"

static void test_counts(void **unused)
{
    static char planned[] = "at=1s fault=kill on=leader for=500ms", other[] = "at=2s fault=pause";
    char *schedule[] = {planned, planned, other};
    struct history_header header = events_header(3);
    (void)unused;
    header.clients = 1;
    header.schedule = schedule;
    header.schedule_count = 3;
    struct measure found = measure(
        &header, FIRST
        "120ms n1 message-counts counts=heartbeat=12,vote-reply=3\n"
        "130ms n1 message-counts counts=\"\"\n"
        "140ms n2 campaign term=2\n"
        "141ms n2 vote term=2 for=n2\n"
        "142ms n3 vote term=2 for=n2\n"
        "143ms n2 lead term=2 token=2\n"
        "144ms n2 lead term=2 token=2\n"
        "150ms resource reject token=1 holder=n1 highest=2\n"
        "151ms resource reject token=2 holder=n2 highest=2\n"
        "160ms client-1 read invoke id=1 register=1\n"
        "161ms client-1 read ok id=1\n"
        "162ms client-1 write invoke id=2 register=1 value=3\n"
        "163ms client-1 write fail id=2\n"
        "164ms client-1 cas invoke id=3 register=1 value=3 expected=2\n"
        "165ms client-1 cas info id=3\n"
        "170ms nemesis fault id=1 kind=kill targets=n3 outcome=installed proof=x begin=170ms\n"
        "170ms n3 exit by=schedule signal=9\n"
        "180ms nemesis fault id=2 kind=kill targets=n3 outcome=skipped proof=x begin=180ms\n"
        "181ms nemesis fault id=3 kind=pause targets=n3 outcome=failed proof=x begin=180ms\n"
        "190ms n1 exit by=itself signal=6\n"
        "200ms controller phase name=end\n"
        "210ms n2 exit by=schedule signal=9\n");
    assert_int_equal(found.terms, 2);
    assert_int_equal(found.leaders, 2);
    assert_int_equal(found.elections, 1);
    assert_int_equal(found.votes, 2);
    assert_int_equal(found.writes_accepted, 1);
    assert_int_equal(found.writes_rejected, 2);
    assert_int_equal(found.stale_attempts_rejected, 1);
    assert_int_equal(found.client_ok, 1);
    assert_int_equal(found.client_fail, 1);
    assert_int_equal(found.client_unknown, 1);
    assert_int_equal(found.messages, 15);
    assert_int_equal(found.kills, 1);
    assert_int_equal(found.crashes, 1);
    assert_int_equal(found.duration_ns, MS(210));
    assert_int_equal(found.fault_kinds, 2);
    assert_string_equal(found.faults[0].kind, "kill");
    assert_int_equal(found.faults[0].planned, 2);
    assert_int_equal(found.faults[0].installed, 1);
    assert_int_equal(found.faults[0].landed, 1);
    assert_int_equal(found.faults[0].skipped, 1);
    assert_string_equal(found.faults[1].kind, "pause");
    assert_int_equal(found.faults[1].planned, 1);
    assert_int_equal(found.faults[1].failed, 1);
    release(&found);
}

static void test_failover_after_a_kill(void **unused)
{
    struct history_header header = events_header(3);
    (void)unused;
    struct measure found =
        measure(&header, FIRST "150ms n2 suspect term=1\n" /* before the loss: says nothing of it */
                               "200ms n1 exit by=schedule signal=9\n"
                               "201ms nemesis fault id=1 kind=kill targets=n1 outcome=installed "
                               "proof=x begin=199ms end=201ms\n"
                               "350ms n3 suspect term=1\n"
                               "360ms n2 suspect term=1\n"
                               "361ms n2 campaign term=2\n"
                               "362ms n2 lead term=2 token=2\n"
                               "363ms resource accept token=1 holder=n1 register=0 value=2\n"
                               "364ms resource accept token=2 holder=n2 register=0 value=3\n"
                               "365ms resource accept token=2 holder=n2 register=0 value=4\n");
    assert_int_equal(found.failover_count, 1);
    is_failover(&found.failovers[0], &(struct failover){.lost_ns = MS(200),
                                                        .suspected_ns = MS(350),
                                                        .campaign_ns = MS(361),
                                                        .elected_ns = MS(362),
                                                        .accepted_ns = MS(364),
                                                        .old_leader = 1,
                                                        .new_leader = 2});
    assert_int_equal(found.leaderless_ns, MS(162));
    assert_int_equal(found.overlap_ns, 0);
    release(&found);
}

static void test_failover_after_a_cut(void **unused)
{
    struct history_header header = events_header(3);
    (void)unused;
    struct measure found =
        measure(&header, FIRST
                "200ms nemesis fault id=1 kind=isolate-leader targets=n1>n2,n2>n1,n1>n3,n3>n1 "
                "outcome=installed proof=x begin=200ms end=201ms\n"
                "400ms n2 campaign term=2\n"
                "402ms n2 lead term=2 token=2\n"
                "500ms n1 step-down term=1\n"
                "600ms nemesis heal id=1 value=5 begin=600ms end=601ms\n");
    assert_int_equal(found.failover_count, 1);
    is_failover(&found.failovers[0], &(struct failover){.lost_ns = MS(200),
                                                        .suspected_ns = NEVER,
                                                        .campaign_ns = MS(400),
                                                        .elected_ns = MS(402),
                                                        .accepted_ns = NEVER,
                                                        .old_leader = 1,
                                                        .new_leader = 2});
    assert_int_equal(found.overlap_ns, MS(98));
    release(&found);
}

/* A cut that leaves the leader its majority, and a pause that nobody noticed. */
static void test_no_failover(void **unused)
{
    struct history_header header = events_header(3);
    (void)unused;
    struct measure found = measure(
        &header, FIRST
        "200ms nemesis fault id=1 kind=single-link targets=n1>n2 outcome=installed proof=x "
        "begin=200ms end=201ms\n"
        "300ms nemesis heal id=1 value=5 begin=300ms end=301ms\n"
        "400ms nemesis fault id=2 kind=pause targets=n1 outcome=installed proof=x begin=400ms\n"
        "450ms nemesis heal id=2 value=1 begin=450ms\n"
        "500ms n1 step-down term=1\n"
        "520ms n1 lead term=2 token=2\n"
        "530ms resource accept token=2 holder=n1 register=0 value=2\n");
    assert_int_equal(found.failover_count, 2);
    is_failover(&found.failovers[0], &(struct failover){.lost_ns = MS(400),
                                                        .suspected_ns = NEVER,
                                                        .campaign_ns = NEVER,
                                                        .elected_ns = NEVER,
                                                        .accepted_ns = NEVER,
                                                        .old_leader = 1});
    is_failover(&found.failovers[1], &(struct failover){.lost_ns = MS(500),
                                                        .suspected_ns = NEVER,
                                                        .campaign_ns = NEVER,
                                                        .elected_ns = MS(520),
                                                        .accepted_ns = MS(530),
                                                        .old_leader = 1,
                                                        .new_leader = 1});
    assert_int_equal(found.leaderless_ns, MS(70)); /* 50 of them paused */
    release(&found);
}

/* A claimant that is paused, killed or cut off from the majority leads nobody. */
static void test_a_leader_of_no_use(void **unused)
{
    struct history_header header = events_header(3);
    (void)unused;
    struct measure found = measure(
        &header, FIRST
        "200ms nemesis fault id=1 kind=pause targets=n1 outcome=installed proof=x begin=200ms\n"
        "300ms nemesis heal id=1 value=1 begin=300ms\n"
        "400ms nemesis fault id=2 kind=isolate-leader targets=n1>n2,n2>n1,n1>n3,n3>n1 "
        "outcome=installed proof=x begin=400ms end=401ms\n"
        "450ms n2 lead term=2 token=2\n" /* the claim of n1 lasts, and overlaps */
        "600ms nemesis heal id=2 value=5 begin=600ms end=601ms\n"
        "700ms nemesis fault id=3 kind=pause targets=n2,n1 outcome=installed proof=x begin=700ms\n"
        "730ms nemesis heal id=3 value=1 begin=730ms\n"
        "800ms controller phase name=heal\n");
    assert_int_equal(found.watched_ns, MS(700));
    assert_true(found.faults_ended);
    assert_int_equal(found.leaderless_ns, MS(100 + 50 + 30));
    assert_int_equal(found.overlap_ns, MS(350));
    release(&found);
}

static void test_stalls_and_interruption(void **unused)
{
    struct history_header header = events_header(3);
    (void)unused;
    struct measure found = measure(&header, FIRST "300ms controller phase name=faults\n"
                                                  "400ms controller note text=\"stall 60000000\"\n"
                                                  "500ms n1 note text=\"stall 90000000\"\n"
                                                  "500ms n1 note text=\"stall of nothing\"\n"
                                                  "550ms controller note text=interrupted\n"
                                                  "560ms controller note text=interrupted\n");
    assert_int_equal(found.stalls, 2);
    assert_int_equal(found.stalled_ns, MS(150));
    assert_int_equal(found.longest_stall_ns, MS(90));
    assert_true(found.interrupted);
    assert_int_equal(found.interrupted_ns, MS(250));
    assert_false(found.faults_ended);
    release(&found);
}

/* Recording order does not matter, and only the time up to phase heal counts as leaderless. */
static void test_claims_in_any_order(void **unused)
{
    struct history_header header = events_header(3);
    (void)unused;
    struct measure found = measure(&header, SPAWNS "300ms n2 lead term=2 token=2\n"
                                                   "100ms n1 lead term=1 token=1\n"
                                                   "200ms n1 step-down term=1\n"
                                                   "400ms n2 step-down term=2\n"
                                                   "500ms controller phase name=heal\n"
                                                   "900ms controller phase name=end\n");
    assert_int_equal(found.leaderless_ns, MS(200));
    assert_int_equal(found.overlap_ns, 0);
    release(&found);
}

static void test_nothing_happened(void **unused)
{
    struct history_header header = events_header(3);
    (void)unused;
    struct measure found = measure(&header, "5ms controller phase name=end\n");
    assert_int_equal(found.leaderless_ns, 0);
    assert_int_equal(found.failover_count, 0);
    assert_int_equal(found.duration_ns, MS(5));
    release(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_failover_after_a_kill),
        cmocka_unit_test(test_failover_after_a_cut),
        cmocka_unit_test(test_no_failover),
        cmocka_unit_test(test_a_leader_of_no_use),
        cmocka_unit_test(test_stalls_and_interruption),
        cmocka_unit_test(test_claims_in_any_order),
        cmocka_unit_test(test_nothing_happened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
