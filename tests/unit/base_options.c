#include "tests/test.h"

#include <string.h>

#include "base/knobs.h"
#include "base/units.h"

static const char *const colours[] = {"red", "green", NULL};
static const struct option table[] = {
    {"wait", OPTION_DURATION, "150ms", NS_PER_MS, NS_PER_S, NULL, "a duration"},
    {"loss", OPTION_PROBABILITY, "0%", 0, PPM_ONE, NULL, "a probability"},
    {"colour", OPTION_WORD, "red", 0, 0, colours, "a word"},
    {"fast", OPTION_SWITCH, "off", 0, 0, NULL, "a switch"},
    {.name = NULL},
};

/* Parse over the defaults; the canonical text or the error, whichever came. */
static const char *outcome(const char *text)
{
    static struct text out;
    struct option_values values;
    struct error error;
    text_clear(&out);
    options_defaults(table, &values);
    if (options_parse(table, "option", text, &values, &error) < 0)
        text_add(&out, "%s", error.text);
    else
        options_format(table, &values, true, &out);
    return text_string(&out);
}

static void test_round_trip_and_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"", ""},
        {"wait=1.5ms", "wait=1500us"},
        {"loss=0.2,fast=on", "loss=20%,fast=on"},
        {"colour=green", "colour=green"},
        {"wait=2s", "option 'wait': must be between 1ms and 1s"},
        {"wait=2",
         "option 'wait': '2' is not a duration (accepted: a number and ns, us, ms, s, m or h)"},
        {"wait=-2s",
         "option 'wait': '-2s' is not a duration (accepted: a number and ns, us, ms, s, m or h)"},
        {"wait", "option 'wait' needs a value: wait=VALUE"},
        {"colour=blue", "option 'colour': 'blue' is not one of red, green"},
        {"wait=1s,loss=1%,wait=1s", "option 'wait' is given twice"},
        {"size=2", "unknown option 'size' (accepted: wait, loss, colour, fast)"},
        {"fast=on,", "option list ends with a comma"},
        {"loss=101%",
         "option 'loss': '101%' is not a probability (accepted: 0% to 100%, or 0 to 1)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(outcome(cases[i].in), cases[i].out);
}

static void test_a_refused_list_changes_nothing(void **state)
{
    (void)state;
    struct option_values values, before;
    struct error error;
    options_defaults(table, &values);
    before = values;
    assert_true(options_parse(table, "option", "fast=on,size=1", &values, &error) < 0);
    assert_memory_equal(&values, &before, sizeof values);
}

static void test_knobs_name_the_inequality_that_fails(void **state)
{
    (void)state;
    struct knobs knobs;
    struct error error;
    knobs_defaults(&knobs);
    assert_int_equal(knobs.election_timeout_min, 150 * NS_PER_MS);
    assert_true(knobs_parse("heartbeat=100ms", &knobs, &error) < 0);
    assert_string_equal(error.text,
                        "2 x heartbeat (100ms) must be <= election-timeout-min (150ms)");
    assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
    assert_int_equal(knobs_parse("heartbeat=75ms", &knobs, &error), 0);
    assert_int_equal(knobs.heartbeat, 75 * NS_PER_MS);
}

/* What the header says of the knobs sets them as they were. */
static void test_knobs_are_read_back(void **state)
{
    (void)state;
    struct knobs knobs, back;
    struct text text = {0};
    knobs_defaults(&knobs);
    knobs_format(&knobs, true, &text);
    assert_string_equal(text_string(&text), "");
    assert_int_equal(knobs_parse("registers=9,election-timeout-max=1.5s", &knobs, NULL), 0);
    knobs_format(&knobs, true, &text);
    assert_string_equal(text_string(&text), "election-timeout-max=1500ms,registers=9");
    text_clear(&text);
    knobs_format(&knobs, false, &text);
    knobs_defaults(&back);
    assert_int_equal(knobs_parse(text_string(&text), &back, NULL), 0);
    assert_memory_equal(&knobs, &back, sizeof back);
    text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_and_refusals),
        cmocka_unit_test(test_a_refused_list_changes_nothing),
        cmocka_unit_test(test_knobs_name_the_inequality_that_fails),
        cmocka_unit_test(test_knobs_are_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
