#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/units.h"

typedef int parse_function(const char *text, uint64_t *ret, struct error *error);

struct reading {
    const char *text;
    uint64_t value;
};

static void expect_readings(parse_function *parse, const struct reading *cases)
{
    for (; cases->text; cases++) {
        uint64_t value = 77;
        struct error error = {.text = ""};
        if (parse(cases->text, &value, &error) < 0)
            fail_msg("'%s': %s", cases->text, error.text);
        if (value != cases->value)
            fail_msg("'%s' is %" PRIu64, cases->text, value);
    }
}

static void expect_refusals(parse_function *parse, const char *const *texts)
{
    for (; *texts; texts++) {
        uint64_t value = 77;
        struct error error = {.kind = ERROR_HARNESS};
        if (parse(*texts, &value, &error) == 0)
            fail_msg("'%s' is taken for %" PRIu64, *texts, value);
        assert_int_equal(error.kind, ERROR_USAGE);
        assert_int_equal(value, 77);
        assert_non_null(strstr(error.text, *texts));
    }
}

static void test_durations(void **state)
{
    (void)state;
    static const struct reading good[] = {
        {"0", 0},
        {"0s", 0},
        {"1ns", 1},
        {"20us", 20000},
        {"1.5ms", 1500000},
        {"0.000001ms", 1},
        {"1.50s", 1500000000},
        {"3m", 180 * NS_PER_S},
        {"1.5h", 5400 * NS_PER_S},
        {"18446744073709551615ns", UINT64_MAX},
        {NULL, 0},
    };
    static const char *const bad[] = {"1",
                                      "-1s",
                                      "s",
                                      "1 s",
                                      " 1s",
                                      "1s ",
                                      "1S",
                                      "1.s",
                                      ".5s",
                                      "1.5ns",
                                      "1e3s",
                                      "1..5s",
                                      "1.5.5s",
                                      "18446744073709551616ns",
                                      "99999999999h",
                                      "0.0000000000001s",
                                      "1,5s",
                                      "infs",
                                      NULL};
    expect_readings(parse_duration, good);
    expect_refusals(parse_duration, bad);
    expect_refusals(parse_duration, (const char *const[]){"", NULL});
}

static void test_probabilities(void **state)
{
    (void)state;
    static const struct reading good[] = {
        {"0", 0},        {"0%", 0},        {"1", PPM_ONE},       {"100%", PPM_ONE},
        {"20%", 200000}, {"0.2", 200000},  {"0.5%", 5000},       {"0.0001%", 1},
        {"0.000001", 1}, {"1.0", PPM_ONE}, {"99.9999%", 999999}, {NULL, 0},
    };
    static const char *const bad[] = {"101%", "1.1",   "-1%",  "0.00001%", "2",         "20 %",
                                      "%",    "0.2%%", "half", "0.1.2",    "0.0000001", NULL};
    expect_readings(parse_probability, good);
    expect_refusals(parse_probability, bad);
}

static void test_bit_rates_and_counts(void **state)
{
    (void)state;
    static const struct reading rates[] = {
        {"9600bit", 9600},
        {"1.5mbit", 1500000},
        {"200kbit", 200000},
        {"2gbit", 2000000000},
        {"0", 0},
        {NULL, 0},
    };
    static const char *const no_rates[] = {"1", "1mb", "1.5bit", "-1mbit", NULL};
    static const struct reading counts[] = {
        {"0", 0},
        {"42", 42},
        {"0x2A", 42},
        {"007", 7},
        {"18446744073709551615", UINT64_MAX},
        {"0xffffffffffffffff", UINT64_MAX},
        {NULL, 0},
    };
    static const char *const no_counts[] = {"-1",
                                            "+1",
                                            "1.0",
                                            "0x",
                                            "1a",
                                            " 1",
                                            "1 ",
                                            "0xg",
                                            "18446744073709551616",
                                            "0x10000000000000000",
                                            "ff",
                                            NULL};
    expect_readings(parse_bitrate, rates);
    expect_refusals(parse_bitrate, no_rates);
    expect_readings(parse_count, counts);
    expect_refusals(parse_count, no_counts);
}

/* What is printed into a header or a schedule is read back exactly. */
static void test_formatted_values_are_read_back(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 1, "units", 0);
    for (int i = 0; i < 100000; i++) {
        char text[UNIT_TEXT_MAX];
        uint64_t back, value = random_next(&random) >> random_below(&random, 64);
        assert_int_equal(parse_duration(format_duration(value, text), &back, NULL), 0);
        assert_true(back == value);
        assert_int_equal(parse_bitrate(format_bitrate(value, text), &back, NULL), 0);
        assert_true(back == value);
        value = random_below(&random, PPM_ONE + 1);
        assert_int_equal(parse_probability(format_probability(value, text), &back, NULL), 0);
        assert_true(back == value);
    }
}

static void test_formats(void **state)
{
    (void)state;
    char text[UNIT_TEXT_MAX];
    assert_string_equal(format_duration(0, text), "0");
    assert_string_equal(format_duration(150 * NS_PER_MS, text), "150ms");
    assert_string_equal(format_duration(1500 * NS_PER_US, text), "1500us");
    assert_string_equal(format_duration(7200 * NS_PER_S, text), "2h");
    assert_string_equal(format_probability(0, text), "0%");
    assert_string_equal(format_probability(5000, text), "0.5%");
    assert_string_equal(format_probability(PPM_ONE, text), "100%");
    assert_string_equal(format_bitrate(200000, text), "200kbit");
    assert_string_equal(human_duration(0, text), "0ns");
    assert_string_equal(human_duration(999, text), "999ns");
    assert_string_equal(human_duration(4200, text), "4.20us");
    assert_string_equal(human_duration(18300 * NS_PER_US, text), "18.3ms");
    assert_string_equal(human_duration(183 * NS_PER_MS, text), "183ms");
    assert_string_equal(human_duration(1270 * NS_PER_MS, text), "1.27s");
}

/* Rounding up to the next unit never prints "1000ms". */
static void test_human_durations_have_three_digits(void **state)
{
    (void)state;
    for (uint64_t ns = 1; ns < 100 * NS_PER_S; ns += 1 + ns / 997) {
        char text[UNIT_TEXT_MAX];
        size_t digits = 0;
        for (const char *at = human_duration(ns, text); *at; at++)
            digits += *at >= '0' && *at <= '9';
        if (digits > 3)
            fail_msg("%" PRIu64 "ns is shown as %s", ns, text);
    }
}

static void test_counts_with_their_nouns(void **state)
{
    static const struct {
        uint64_t count;
        const char *noun, *text;
    } rows[] = {
        {0, "vote", "0 votes"},
        {1, "vote", "1 vote"},
        {20, "vote", "20 votes"},
        {1, "crash", "1 crash"},
        {2, "crash", "2 crashes"},
        {2, "process", "2 processes"},
        {0, "recovery", "0 recoveries"},
        {2, "relay", "2 relays"},
        {3, "accepted write", "3 accepted writes"},
    };
    char buffer[COUNT_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(count_of(rows[i].count, rows[i].noun, buffer), rows[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_probabilities),
        cmocka_unit_test(test_bit_rates_and_counts),
        cmocka_unit_test(test_formatted_values_are_read_back),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_human_durations_have_three_digits),
        cmocka_unit_test(test_counts_with_their_nouns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
