/* What was said to come out against what came out. */
#include "controller/expectation.h"

#include <string.h>

#include "tests/test.h"

static const struct check *named(const char *name)
{
    const struct check *check = check_find(slice_of(name));
    assert_non_null(check);
    return check;
}

/* vote-once as `verdict`, unique-token valid. */
static struct report_data outcome(enum verdict verdict)
{
    struct report_data data = {.verdict = verdict, .result_count = 2};
    data.results[0] = (struct check_result){.check = named("vote-once"), .owed = true};
    data.results[0].finding.verdict = verdict;
    data.results[1] = (struct check_result){.check = named("unique-token"), .owed = true};
    return data;
}

static void test_exit_codes(void **state)
{
    (void)state;
    static const struct {
        const char *expected; /* NULL: nothing */
        enum exit_code when[3];
    } rows[] = {
        {NULL, {EXIT_VALID, EXIT_UNKNOWN, EXIT_INVALID}},
        {"valid", {EXIT_VALID, EXIT_UNKNOWN, EXIT_INVALID}},
        {"invalid", {EXIT_INVALID, EXIT_UNKNOWN, EXIT_VALID}},
        {"invalid:vote-once", {EXIT_INVALID, EXIT_UNKNOWN, EXIT_VALID}},
        {"invalid:unique-token", {EXIT_INVALID, EXIT_UNKNOWN, EXIT_INVALID}},
        {"invalid:fencing-monotonic", {EXIT_INVALID, EXIT_UNKNOWN, EXIT_INVALID}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct expectation expectation = {0};
        struct error error;
        if (rows[i].expected)
            assert_int_equal(expectation_parse(rows[i].expected, &expectation, &error), 0);
        for (int verdict = VERDICT_VALID; verdict <= VERDICT_INVALID; verdict++) {
            struct report_data data = outcome((enum verdict)verdict);
            assert_int_equal(expectation_judge(&expectation, &data), rows[i].when[verdict]);
        }
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",         "Valid",        "unknown",
                                        "valid:",   "invalidated",  "valid:vote-once",
                                        "invalid:", "invalid:none", "invalid:vote-once,"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct expectation expectation = {.check = named("vote-once")};
        struct error error = {.text = ""};
        assert_true(expectation_parse(texts[i], &expectation, &error) < 0);
        assert_int_equal(error.kind, ERROR_USAGE);
        assert_non_null(strstr(error.text, "accepted: "));
        assert_ptr_equal(expectation.check, named("vote-once"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_codes),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
