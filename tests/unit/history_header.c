#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/history_sample.h"

/* Every key of the sample's JSON, to be taken out or bent. */
static const char *const keys[] = {
    "format",
    "version",
    "command",
    "world",
    "run",
    "seed",
    "options",
    "algorithm",
    "traits",
    "started_unix_ns",
    "nodes",
    "witnesses",
    "clients",
    "network",
    "resource",
    "faults",
    "duration_ns",
    "knobs",
    "schedule",
    "fault_every_ns",
    "host",
    "capabilities",
    "clock_uncertainty_ns",
};

/* May be missing: zero or empty then, and not written again. */
static const char *const optional[] = {"client_pause_ns", "traced", "physics", "scenario",
                                       "expect"};

/* What reading says: "good" or the error. */
static const char *outcome(const char *json, struct error *error)
{
    struct history_header header;
    *error = (struct error){.kind = ERROR_USAGE};
    if (header_from_json(json, strlen(json), &header, error) == 0) {
        header_release(&header);
        return "good";
    }
    assert_int_equal(error->kind, ERROR_USAGE);
    return error->text;
}

/* The sample's JSON with the value of `key` replaced, or the key renamed when `value` is NULL. */
static char *bent(const char *key, const char *value)
{
    struct history_header header = sample_header();
    struct text json = {0}, out = {0}, quoted = {0};
    header_to_json(&header, &json);
    text_add(&quoted, "\"%s\":", key);
    char *at = strstr(json.at, quoted.at);
    assert_non_null(at);
    char *end = at + quoted.length;
    int depth = 0;
    bool inside = false;
    for (; depth > 0 || inside || (*end != ',' && *end != '}'); end++) {
        if (*end == '"' && end[-1] != '\\')
            inside = !inside;
        depth += !inside && (*end == '{' || *end == '[');
        depth -= !inside && (*end == '}' || *end == ']');
    }
    text_add_bytes(&out, json.at, (size_t)(at - json.at));
    if (value)
        text_add(&out, "%s%s%s", quoted.at, value, end);
    else
        text_add(&out, "\"unknown-key\":[1,{\"a\":null}]%s", end);
    text_release(&json);
    text_release(&quoted);
    return out.at;
}

static void test_round_trip(void **state)
{
    (void)state;
    struct history_header header = sample_header(), back;
    struct text json = {0}, again = {0};
    header_to_json(&header, &json);
    assert_null(strchr(json.at, '\n'));
    assert_int_equal(header_from_json(json.at, json.length, &back, NULL), 0);
    header_to_json(&back, &again);
    assert_string_equal(json.at, again.at);
    assert_int_equal(back.format, HISTORY_FORMAT);
    assert_string_equal(back.command, header.command);
    assert_true(back.run == header.run && back.seed == header.seed);
    assert_true(back.started_unix_ns == header.started_unix_ns);
    assert_int_equal(back.traits, header.traits);
    assert_memory_equal(&back.knobs, &header.knobs, sizeof back.knobs);
    assert_int_equal(back.schedule_count, 2);
    assert_string_equal(back.schedule[0], header.schedule[0]);
    assert_int_equal(back.capability_count, 2);
    assert_string_equal(back.capabilities[1], header.capabilities[1]);
    assert_string_equal(back.host, header.host);
    header_release(&back);
    header_release(&back); /* zeroed by the first */
    text_release(&json);
    text_release(&again);
}

static void test_an_empty_header_is_a_header(void **state)
{
    (void)state;
    struct history_header header = {0}, back;
    struct text json = {0};
    knobs_defaults(&header.knobs);
    header_to_json(&header, &json);
    assert_int_equal(header_from_json(json.at, json.length, &back, NULL), 0);
    assert_string_equal(back.algorithm, "");
    assert_int_equal(back.schedule_count, 0);
    header_release(&back);
    text_release(&json);
}

static void test_a_missing_key_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct error error;
        char want[80];
        char *json = bent(keys[i], NULL);
        (void)snprintf(want, sizeof want, "key '%s' is missing", keys[i]);
        assert_string_equal(outcome(json, &error), want);
        free(json);
    }
}

static void test_an_optional_key_may_be_missing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++) {
        struct history_header header;
        struct text again = {0};
        struct error error;
        char *json = bent(optional[i], NULL);
        assert_int_equal(header_from_json(json, strlen(json), &header, NULL), 0);
        assert_non_null(header.physics);
        header_to_json(&header, &again);
        assert_null(strstr(text_string(&again), optional[i]));
        header_release(&header);
        text_release(&again);
        free(json);
        json = bent(optional[i], "true");
        assert_string_not_equal(outcome(json, &error), "good");
        free(json);
    }
}

/* No key takes all of these: true is right for none. */
static void test_a_wrongly_typed_key_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct error error;
        char want[80];
        char *json = bent(keys[i], "true");
        (void)snprintf(want, sizeof want, "key '%s': must be", keys[i]);
        assert_memory_equal(outcome(json, &error), want, strlen(want));
        free(json);
    }
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *outcome;
    } cases[] = {
        {"format", "2", "key 'format': 2 is newer than this coup reads (1): use a newer coup"},
        {"format", "0", "key 'format': must be a format number"},
        {"seed", "18446744073709551615", NULL}, /* beyond what a JSON reader takes as a number */
        {"seed", "\"18446744073709551615\"", "good"},
        {"seed", "\"18446744073709551616\"", "key 'seed': must be a whole number"},
        {"seed", "\"\"", "key 'seed': must be a whole number"},
        {"seed", "\"12x\"", "key 'seed': must be a whole number"},
        {"seed", "-1", "key 'seed': must be a whole number"},
        {"seed", "1.5", "key 'seed': must be a whole number"},
        {"nodes", "10000", "good"},
        {"nodes", "10001", "key 'nodes': must be a whole number up to 10000"},
        {"nodes", "0", "key 'witnesses': more than there are nodes"},
        {"version", "\"a\\u0000b\"", "key 'version': must be a text"},
        {"schedule", "[]", "good"},
        {"schedule", "[\"at=1s\",2]", "key 'schedule': must be a text"},
        {"traits", "[\"majority\",\"of-the-future\"]", "good"},
        {"traits", "[1]", "key 'traits': must be a list of traits"},
        {"knobs", "{}", "good"},
        {"knobs", "{\"of-the-future\":[]}", "good"},
        {"knobs", "{\"heartbeat\":30}", "key 'knobs': 'heartbeat' must be a text like \"150ms\""},
        {"knobs", "{\"heartbeat\":\"30\"}",
         "key 'knobs': knob 'heartbeat': '30' is not a duration"
         " (accepted: a number and ns, us, ms, s, m or h)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error error;
        char *json = bent(cases[i].key, cases[i].value);
        const char *got = outcome(json, &error);
        if (cases[i].outcome)
            assert_string_equal(got, cases[i].outcome);
        else
            assert_string_not_equal(got, "good");
        free(json);
    }
}

static void test_absent_knobs_have_their_defaults(void **state)
{
    (void)state;
    struct history_header header;
    struct knobs knobs;
    char *json = bent("knobs", "{\"registers\":\"9\"}");
    assert_int_equal(header_from_json(json, strlen(json), &header, NULL), 0);
    knobs_defaults(&knobs);
    assert_int_equal(header.knobs.registers, 9);
    assert_int_equal(header.knobs.heartbeat, knobs.heartbeat);
    header_release(&header);
    free(json);
}

static void test_what_is_no_header_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "{", "[]", "1", "{}", "{\"format\":1}{}", "\xff", "{\"format\":1,\"format\":1}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error error;
        assert_string_not_equal(outcome(bad[i], &error), "good");
        assert_null(strchr(error.text, '\n'));
    }
}

static void test_traits(void **state)
{
    (void)state;
    for (int trait = 0; trait < TRAITS; trait++)
        assert_int_equal(trait_parse(slice_of(trait_name((enum trait)trait))), trait);
    assert_int_equal(trait_parse(slice_of("major")), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_an_empty_header_is_a_header),
        cmocka_unit_test(test_a_missing_key_is_named),
        cmocka_unit_test(test_an_optional_key_may_be_missing),
        cmocka_unit_test(test_a_wrongly_typed_key_is_named),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_absent_knobs_have_their_defaults),
        cmocka_unit_test(test_what_is_no_header_is_refused),
        cmocka_unit_test(test_traits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
