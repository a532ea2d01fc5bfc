#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report/export.h"
#include "tests/events.h"
#include "tests/history_sample.h"

/* A form is pure: what it says of these events, without a file. */
static struct text said(const char *form, const struct history_header *header,
                        const struct events *events)
{
    const struct export_form *export = export_find(form);
    struct text out = {0};
    void *state = export->begin(header, &out);
    for (uint32_t i = 0; i < events->count; i++)
        export->event(state, &events->at[i], &out);
    export->end(state, &out);
    return out;
}

static void expect(const char *form, const struct history_header *header, const char *lines,
                   const char *wanted)
{
    struct events events = {0};
    struct error error = {.text = ""};
    if (events_parse(&events, lines, &error) < 0)
        fail_msg("%s", error.text);
    struct text out = said(form, header, &events);
    assert_string_equal(text_string(&out), wanted);
    text_release(&out);
    events_release(&events);
}

static void test_csv(void **state)
{
    (void)state;
    struct history_header header = events_header(3);
    expect("csv", &header,
           "0ms n1 spawn\n0ms n2 spawn\n0ms n3 spawn\n"
           "10ms n1 lead term=1 token=1\n"
           "100ms nemesis fault id=1 kind=kill outcome=installed targets=n1 begin=99ms end=100ms\n"
           "150ms n2 suspect leader=n1 term=1\n"
           "160ms n2 campaign term=2\n"
           "170ms n2 lead term=2 token=2\n"
           "200ms nemesis heal id=1 begin=199ms end=200ms\n",
           "lost_ns,old_leader,new_leader,suspected_after_ns,campaign_after_ns,elected_after_ns,"
           "accepted_after_ns\r\n"
           "99000000,n1,n2,51000000,61000000,71000000,\r\n");
    expect("csv", &header, "",
           "lost_ns,old_leader,new_leader,suspected_after_ns,campaign_after_ns,elected_after_ns,"
           "accepted_after_ns\r\n");
}

/* Recorded out of order; a client goes on as another process after an unknown outcome. */
static void test_edn(void **state)
{
    (void)state;
    struct history_header header = events_header(3);
    header.clients = 2;
    header.knobs.registers = 1;
    expect("edn", &header,
           "10ms client-1 write invoke id=1 register=1 value=5\n"
           "30ms client-1 write ok id=1 register=1 value=5\n"
           "20ms client-2 read invoke id=1 register=1\n"
           "40ms client-2 read info id=1 register=1 error=\"timed \\ out\"\n"
           "45ms n1 lead term=1 token=1\n"
           "50ms client-2 cas invoke id=2 register=1 expected=5 value=6\n"
           "60ms client-2 cas info id=2 register=1 expected=5 value=6\n"
           "70ms client-2 cas invoke id=3 register=1 value=18446744073709551615\n"
           "80ms nemesis fault id=1 kind=kill outcome=installed targets=n1 begin=79ms\n",
           "{:index 0, :time 10000000, :type :invoke, :process 0, :f :write, :value 5}\n"
           "{:index 1, :time 20000000, :type :invoke, :process 1, :f :read, :value nil}\n"
           "{:index 2, :time 30000000, :type :ok, :process 0, :f :write, :value 5}\n"
           "{:index 3, :time 40000000, :type :info, :process 1, :f :read, :value nil, "
           ":error \"timed \\\\ out\"}\n"
           "{:index 4, :time 50000000, :type :invoke, :process 3, :f :cas, :value [5 6]}\n"
           "{:index 5, :time 60000000, :type :info, :process 3, :f :cas, :value [5 6]}\n"
           "{:index 6, :time 70000000, :type :invoke, :process 5, :f :cas, "
           ":value [nil 18446744073709551615N]}\n"
           "{:index 7, :time 80000000, :type :info, :process :nemesis, :f :start-kill, "
           ":value \"n1\"}\n"
           "{:index 8, :time 80000000, :type :info, :process :nemesis, :f :start-kill, "
           ":value \"installed\"}\n");
    header.knobs.registers = 2;
    expect("edn", &header, "10ms client-1 read invoke id=1 register=2\n",
           "{:index 0, :time 10000000, :type :invoke, :process 0, :f :read, :value [2 nil]}\n");
    expect("edn", &header, "10ms nemesis fault id=1 kind=\"a b:{\" outcome=skipped targets=n1\n",
           "{:index 0, :time 10000000, :type :info, :process :nemesis, :f :start-a-b--, "
           ":value \"n1\"}\n"
           "{:index 1, :time 10000000, :type :info, :process :nemesis, :f :start-a-b--, "
           ":value \"skipped\"}\n");
}

/* ---- perfetto ---- */

#define TRACKS 4096u

struct track {
    json_int_t pid, tid;
    uint32_t depth;
    double at;
};

/* What its readers insist on: every line has a phase, a process and a lane; slices of a lane nest
 * and do not go back in time. */
static void check_timeline(const char *text, uint32_t *ret_slices)
{
    static struct track tracks[TRACKS];
    uint32_t count = 0;
    json_error_t wrong;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &wrong), *line;
    size_t at;
    if (!root)
        fail_msg("line %d: %s", wrong.line, wrong.text);
    *ret_slices = 0;
    json_array_foreach(json_object_get(root, "traceEvents"), at, line)
    {
        const char *phase = json_string_value(json_object_get(line, "ph"));
        json_int_t pid = json_integer_value(json_object_get(line, "pid"));
        json_int_t tid = json_integer_value(json_object_get(line, "tid"));
        uint32_t track = 0;
        assert_true(phase && pid > 0 && tid > 0);
        assert_true(*phase == 'M' || json_is_number(json_object_get(line, "ts")));
        if (*phase != 'B' && *phase != 'E')
            continue;
        while (track < count && (tracks[track].pid != pid || tracks[track].tid != tid))
            track++;
        assert_true(track < TRACKS);
        if (track == count)
            tracks[count++] = (struct track){.pid = pid, .tid = tid};
        double now = json_number_value(json_object_get(line, "ts"));
        assert_true(now >= tracks[track].at);
        tracks[track].at = now;
        assert_int_equal(tracks[track].depth, *phase == 'E');
        tracks[track].depth = *phase == 'B';
        *ret_slices += *phase == 'B';
    }
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(tracks[i].depth, 0);
    json_decref(root);
}

static void test_perfetto(void **state)
{
    (void)state;
    struct history_header header = events_header(3);
    struct events events = {0};
    struct error error = {.text = ""};
    uint32_t slices;
    char command[] = "coup run";
    header.command = command;
    int rc = events_parse(
        &events,
        "0ms controller phase name=start\n"
        "1ms n1 spawn\n"
        "10ms n1 lead term=1 token=1\n"
        "9ms n2 follow term=1 leader=n1\n"
        "20ms n1 guarded-write invoke id=1 token=1 register=0 value=7\n"
        "21ms controller phase name=faults\n"
        "30ms nemesis fault id=1 kind=pause outcome=installed targets=n1,n2 begin=29ms\n"
        "31ms nemesis fault id=2 kind=kill outcome=skipped targets=n3 reason=\"dead already\"\n"
        "40ms nemesis heal id=1 value=2\n"
        "50ms n1 exit by=schedule signal=9\n"
        "49ms n1 step-down term=1\n"
        "60ms n2 campaign term=2\n",
        &error);
    if (rc < 0)
        fail_msg("%s", error.text);
    struct text out = said("perfetto", &header, &events);
    check_timeline(text_string(&out), &slices);
    assert_int_equal(slices, 8); /* 2 phases, leader, follower, paused twice, down, candidate */
    static const char *const wanted[] = {
        "\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":10000.000,\"name\":\"leader, term 1\"",
        "\"ph\":\"B\",\"pid\":2,\"tid\":1,\"ts\":9000.000,\"name\":\"follower of n1, term 1\"",
        "\"ph\":\"B\",\"pid\":2,\"tid\":2,\"ts\":30000.000,\"name\":\"paused\"",
        "\"ts\":30000.000,\"cat\":\"fault\",\"id\":\"1\",\"name\":\"pause n1,n2\"",
        "\"name\":\"down\"",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (!strstr(text_string(&out), wanted[i]))
            fail_msg("no %s", wanted[i]);
    text_release(&out);
    events_release(&events);
}

/* Whatever events hold, also of processes that are not there, what comes out is well-formed. */
static void test_any_event(void **state)
{
    (void)state;
    struct history_header header = sample_header();
    for (uint64_t first = 0; first < 4000; first += 200) {
        struct events events = {0};
        uint32_t slices;
        for (uint64_t i = first; i < first + 200; i++) {
            struct event event;
            sample_event(i, &event);
            (void)events_add(&events, &event);
        }
        struct text out = said("perfetto", &header, &events);
        check_timeline(text_string(&out), &slices);
        text_release(&out);
        out = said("edn", &header, &events);
        text_release(&out);
        out = said("csv", &header, &events);
        text_release(&out);
        events_release(&events);
    }
}

static void test_find(void **state)
{
    (void)state;
    assert_string_equal(export_find("edn")->name, "edn");
    assert_null(export_find("yaml"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),      cmocka_unit_test(test_edn),
        cmocka_unit_test(test_perfetto), cmocka_unit_test(test_any_event),
        cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
