/* Scenario files: what is read, and the line and key that an error names. */
#include "tests/test.h"

#include <string.h>

#include "base/units.h"
#include "nemesis/scenario.h"

static int parse(const char *yaml, struct scenario *out, struct error *error)
{
    return scenario_parse("s.yaml", slice_of(yaml), out, error);
}

static void test_a_whole_scenario(void **state)
{
    (void)state;
    struct scenario scenario;
    struct error error;
    const char *yaml = "name: two faults\n"
                       "algorithm: \"raft:prevote=off\"\n"
                       "nodes: 3\n"
                       "time: 4s\n"
                       "set: {heartbeat: 20ms, registers: 2}\n"
                       "expect: invalid:vote-once\n"
                       "steps:\n"
                       "  - {at: 2s, fault: loss, on: n1, loss: 30%, for: 1s}\n"
                       "  - at: 1s\n"
                       "    fault: kill\n"
                       "    on: leader\n";
    assert_int_equal(parse(yaml, &scenario, &error), 0);
    assert_string_equal(scenario.algorithm, "raft:prevote=off");
    assert_string_equal(scenario.knobs, "heartbeat=20ms,registers=2");
    assert_string_equal(scenario.resource, "fenced");
    assert_string_equal(scenario.expect, "invalid:vote-once");
    assert_int_equal(scenario.nodes, 3);
    assert_int_equal(scenario.clients, 2);
    assert_int_equal(scenario.duration_ns, 4 * NS_PER_S);
    assert_int_equal(scenario.schedule.count, 2);
    assert_string_equal(scenario.schedule.faults[0].fault->name, "kill");
    assert_int_equal(scenario.schedule.faults[1].at_ns, 2 * NS_PER_S);
    scenario_release(&scenario);
}

static void test_errors_name_line_and_key(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *says;
    } cases[] = {
        {"", "s.yaml:1: not a scenario"},
        {"- a\n", "s.yaml:1: not a scenario"},
        {"name: x\nfaults: y\n",
         "s.yaml:2: unknown key 'faults' (accepted: name, summary, source, algorithm"},
        {"name: x\nname: y\n", "s.yaml:2: key given twice"},
        {"name: x\ntime: 1s\n", "s.yaml:1: key 'algorithm' is missing"},
        {"name: x\nalgorithm: raft\ntime: soon\n", "s.yaml:3: time: 'soon' is not a duration"},
        {"name: x\nalgorithm: raft\nnodes: [1]\ntime: 1s\n", "s.yaml:3: must be a plain value"},
        {"name: x\nalgorithm: raft\ntime: 1s\nsteps: 3\n", "s.yaml:4: steps must be a list"},
        {"name: x\nalgorithm: raft\ntime: 1s\nsteps:\n - {at: 0s, fault: fire}\n",
         "s.yaml:5: step"},
        {"name: x\nalgorithm: raft\ntime: 1s\nsteps:\n - {at: 2s, fault: kill}\n",
         "s.yaml:5: step begins after the scenario's time is over"},
        {"name: x\nalgorithm: raft\ntime: 1s\nsteps:\n - {at: 0s, fault: kill, on: n9}\n",
         "s.yaml:5: step"},
        {"name: x\nalgorithm: raft\nnodes: 0\ntime: 1s\nsteps: [{at: 0s, fault: kill}]\n",
         "s.yaml:3: nodes: '0' must be between 1 and 50"},
        {"name: x\nalgorithm: raft\nnodes: 51\ntime: 1s\n", "s.yaml:3: nodes: '51' must be"},
        {"name: x\nalgorithm: raft\nrate: 0\ntime: 1s\n", "s.yaml:3: rate: '0' must be"},
        {"name: x\nalgorithm: raft\ntime: 9ms\n",
         "s.yaml:3: time: '9ms' must be between 100ms and 24h"},
        {"name: [x\n", "s.yaml:2: "},
        {"name: \"a\\0b\"\nalgorithm: raft\ntime: 1s\n", "s.yaml:1: must be a plain value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scenario scenario;
        struct error error = {.text = ""};
        assert_true(parse(cases[i].yaml, &scenario, &error) < 0);
        assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
        if (strncmp(error.text, cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("case %zu said: %s", i, error.text);
    }
}

/* The schedule that steps come to, a fault a line. */
static void assert_steps(const char *steps, const char *schedule)
{
    struct scenario scenario;
    struct error error = {.text = ""};
    struct text yaml = {0}, lines = {0};
    text_add(&yaml, "name: x\nalgorithm: raft\ntime: 10s\nsteps:\n%s", steps);
    if (parse(text_string(&yaml), &scenario, &error) < 0)
        fail_msg("%s: %s", steps, error.text);
    for (uint32_t i = 0; i < scenario.schedule.count; i++) {
        scheduled_fault_format(&scenario.schedule.faults[i], &lines);
        text_add(&lines, "\n");
    }
    assert_string_equal(text_string(&lines), schedule);
    text_release(&yaml);
    text_release(&lines);
    scenario_release(&scenario);
}

static void test_steps_after_events(void **state)
{
    (void)state;
    assert_steps("- {after: {f: lead, nth: 2, by: n3, delay: 50ms}, fault: kill, on: actor}\n"
                 "- {after: vote, at: 1s, fault: pause, on: leader}\n",
                 "at=0 after=lead:2@n3+50ms fault=kill on=actor\n"
                 "at=1s after=vote fault=pause on=leader point=anywhere means=signal\n");
}

static void test_repeats_and_loops(void **state)
{
    (void)state;
    assert_steps("- {at: 1s, fault: kill, on: n1, for: 50ms, repeat: 3, every: 200ms}\n",
                 "at=1s fault=kill on=n1 for=50ms\n"
                 "at=1200ms fault=kill on=n1 for=50ms seed=1\n"
                 "at=1400ms fault=kill on=n1 for=50ms seed=2\n");
    assert_steps("- {after: lead, fault: kill, on: n1, repeat: 2, every: 2s}\n",
                 "at=0 after=lead fault=kill on=n1\n"
                 "at=0 after=lead+2s fault=kill on=n1 seed=1\n");
    assert_steps("- loop: 2\n  every: 3s\n  steps:\n"
                 "  - {at: 1s, fault: kill, on: n1}\n"
                 "  - {after: lead, fault: pause, on: n2, repeat: 2, every: 1s, seed: 5}\n",
                 "at=0 after=lead fault=pause on=n2 point=anywhere means=signal seed=5\n"
                 "at=0 after=lead+1s fault=pause on=n2 point=anywhere means=signal seed=6\n"
                 "at=1s fault=kill on=n1\n"
                 "at=3s after=lead fault=pause on=n2 point=anywhere means=signal seed=10005\n"
                 "at=3s after=lead+1s fault=pause on=n2 point=anywhere means=signal seed=10006\n"
                 "at=4s fault=kill on=n1 seed=10000\n");
}

static void test_steps_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *step, *says;
    } cases[] = {
        {"{fault: kill}", "step: kill: needs at=TIME or after=EVENT"},
        {"{at: 0s, fault: kill, on: actor}", "step: kill: on=actor needs after="},
        {"{after: sleep, fault: kill}", "step: kill: after: unknown event 'sleep'"},
        {"{after: {nth: 2}, fault: kill}", "after needs f"},
        {"{after: {f: lead, of: n1}, fault: kill}", "after takes f, nth, by and delay"},
        {"{after: {f: lead, f: vote}, fault: kill}", "after takes f, nth, by and delay"},
        {"{after: {f: lead, by: n9}, fault: kill}", "step: kill: after: 'n9' is not one of n1"},
        {"{after: {f: 'lead+1s'}, fault: kill}", "must be a plain word"},
        {"{after: [lead], fault: kill}", "a step's keys and values must be plain words"},
        {"{after: {f: lead, delay: 2s}, fault: kill}", "step begins after the scenario's time"},
        {"{at: 0s, fault: kill, repeat: 3}", "repeat and loop go together with every"},
        {"{at: 0s, fault: kill, every: 1s}", "repeat and loop go together with every"},
        {"{at: 0s, fault: kill, repeat: 0, every: 1s}", "repeat: '0' must be between 1 and 10000"},
        {"{at: 0s, fault: kill, repeat: 2, every: 2s}", "every: '2s' must be above 0 and within"},
        {"{at: 0s, fault: kill, repeat: 2, every: 0s}", "every: '0s' must be above 0 and within"},
        {"{at: 0s, fault: kill, repeat: 3, every: 500ms}", "step begins after the scenario's time"},
        {"{loop: 2, every: 1ms}", "a loop is {"},
        {"{steps: []}", "a loop is {"},
        {"{loop: 2, every: 1ms, at: 0s, steps: []}", "a loop is {"},
        {"{loop: 2, repeat: 2, every: 1ms, steps: []}", "loop and repeat are given once"},
        {"{loop: 2, every: 1ms, steps: [{loop: 2, every: 1ms, steps: []}]}",
         "a loop within a loop"},
        {"&a {loop: 2, every: 1ms, steps: [*a]}", "a loop within a loop"},
        {"{loop: 2, every: 1ms, steps: 3}", "steps must be a list"},
        {"{loop: 101, every: 1us, steps: [{at: 0s, fault: kill, repeat: 100, every: 1us}]}",
         "too many steps"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scenario scenario;
        struct error error = {.text = ""};
        struct text yaml = {0};
        text_add(&yaml, "name: x\nalgorithm: raft\ntime: 1s\nsteps:\n- %s\n", cases[i].step);
        assert_true(parse(text_string(&yaml), &scenario, &error) < 0);
        assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
        if (strncmp(error.text, "s.yaml:5: ", 10) != 0 || !strstr(error.text, cases[i].says))
            fail_msg("%s said: %s", cases[i].step, error.text);
        text_release(&yaml);
    }
}

static const char *const small = "name: x\n"
                                 "algorithm: raft\n"
                                 "time: 1500ms\n"
                                 "set: {heartbeat: 20ms}\n"
                                 "steps: [{at: 1s, fault: kill, on: n4}]\n";

static void assert_value(const struct scenario *scenario, const char *key, const char *value)
{
    struct text text = {0};
    scenario_value(scenario, key, &text);
    assert_string_equal(text_string(&text), value);
    text_release(&text);
}

static void test_values_and_their_places(void **state)
{
    (void)state;
    struct scenario scenario;
    struct error error;
    assert_int_equal(parse(small, &scenario, &error), 0);
    assert_true(scenario_gives(&scenario, "set"));
    assert_false(scenario_gives(&scenario, "seed"));
    assert_value(&scenario, "algorithm", "raft");
    assert_value(&scenario, "nodes", "5");
    assert_value(&scenario, "time", "1500ms");
    assert_value(&scenario, "seed", "1");
    assert_value(&scenario, "set", "heartbeat=20ms");
    (void)error_usage(&error, "no such thing");
    assert_true(scenario_blame(&scenario, "set", &error) < 0);
    assert_string_equal(error.text, "s.yaml:4: set: no such thing");
    scenario_release(&scenario);
}

static void test_another_size_or_time(void **state)
{
    (void)state;
    struct scenario scenario;
    struct error error;
    assert_int_equal(parse(small, &scenario, &error), 0);
    assert_int_equal(scenario_fits(&scenario, 4, 2 * NS_PER_S, &error), 0);
    assert_true(scenario_fits(&scenario, 3, 2 * NS_PER_S, &error) < 0);
    assert_non_null(strstr(error.text, "s.yaml: step 'at=1s fault=kill on=n4'"));
    assert_true(scenario_fits(&scenario, 5, NS_PER_S, &error) < 0);
    assert_non_null(strstr(error.text, "begins after the time is over"));
    scenario_release(&scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_scenario),
        cmocka_unit_test(test_errors_name_line_and_key),
        cmocka_unit_test(test_steps_after_events),
        cmocka_unit_test(test_repeats_and_loops),
        cmocka_unit_test(test_steps_that_are_refused),
        cmocka_unit_test(test_values_and_their_places),
        cmocka_unit_test(test_another_size_or_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
