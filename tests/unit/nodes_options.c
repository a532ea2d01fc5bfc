/* Every option of every algorithm at its bounds: what lies within is taken or refused for a reason
 * that names the inequality, what lies beyond or is unknown is refused and the reason says what is
 * allowed. */
#include "tests/test.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "nodes/elector.h"

static int parse(const char *algorithm, const char *option, const char *value,
                 struct elector_config *config, struct error *error)
{
    struct text text = {0};
    const struct algorithm *found = NULL;
    text_add(&text, "%s:%s=%s", algorithm, option, value);
    *config = (struct elector_config){.id = 1, .nodes = 3};
    knobs_defaults(&config->knobs);
    int rc = algorithm_parse(text_string(&text), &found, config, error);
    text_release(&text);
    if (rc == 0 && found->validate)
        rc = found->validate(config, error);
    return rc;
}

static void format_value(const struct option *option, uint64_t value, char text[UNIT_TEXT_MAX])
{
    if (option->type == OPTION_DURATION)
        format_duration(value, text);
    else
        format_probability(value, text);
}

/* Within the bounds it is taken, unless it cannot work with the rest: then the reason compares. */
static void check_within(const struct algorithm *algorithm, const struct option *option,
                         uint64_t value)
{
    char text[UNIT_TEXT_MAX];
    struct elector_config config;
    struct error error;
    format_value(option, value, text);
    if (parse(algorithm->name, option->name, text, &config, &error) < 0) {
        assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
        assert_true(strstr(error.text, "must be <=") || strstr(error.text, "must be >="));
        assert_non_null(strstr(error.text, algorithm->name));
        return;
    }
    assert_true(config.options.at[option - algorithm->options] == value);
}

static void check_refused(const char *algorithm, const char *option, const char *value,
                          const char *because)
{
    struct elector_config config;
    struct error error;
    if (parse(algorithm, option, value, &config, &error) == 0)
        fail_msg("%s:%s=%s is taken", algorithm, option, value);
    assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
    if (!strstr(error.text, because))
        fail_msg("%s:%s=%s: no '%s' in '%s'", algorithm, option, value, because, error.text);
}

static void check_numeric(const struct algorithm *algorithm, const struct option *option)
{
    char text[UNIT_TEXT_MAX];
    check_within(algorithm, option, option->min);
    check_within(algorithm, option, option->max);
    format_value(option, option->max + (option->type == OPTION_DURATION ? 1000000000 : 10000),
                 text);
    check_refused(algorithm->name, option->name, text, option->name);
    if (option->min > 0)
        check_refused(algorithm->name, option->name, "0", option->name);
}

static void test_bounds(void **state)
{
    (void)state;
    for (uint32_t i = 0; algorithms[i]; i++) {
        const struct algorithm *algorithm = algorithms[i];
        for (uint32_t row = 0; row < options_count(algorithm->options); row++) {
            const struct option *option = &algorithm->options[row];
            check_refused(algorithm->name, option->name, "never", option->name);
            check_refused(algorithm->name, option->name, "", option->name);
            if (option->type == OPTION_DURATION || option->type == OPTION_PROBABILITY)
                check_numeric(algorithm, option);
        }
    }
}

static void test_an_unknown_option_names_the_allowed(void **state)
{
    (void)state;
    for (uint32_t i = 0; algorithms[i]; i++) {
        const struct option *table = algorithms[i]->options;
        for (uint32_t row = 0; row < options_count(table); row++)
            check_refused(algorithms[i]->name, "nonsense", "1", table[row].name);
    }
}

static void test_what_cannot_work_together(void **state)
{
    static const struct {
        const char *algorithm, *option, *value, *because;
    } cases[] = {
        {"quorum-lease", "lease", "100ms", "must be <= lease (100ms)"},
        {"quorum-lease", "margin", "10ms", "must be >= 2 x drift"},
        {"quorum-lease", "drift", "20%", "must be >= 2 x drift"},
        {"bully", "answer", "10s", "answer (10s) must be <= election-timeout-min"},
        {"ring", "answer", "10s", "answer (10s) must be <= election-timeout-min"},
        {"invitation", "answer", "10s", "answer (10s) must be <= election-timeout-min"},
        {"successors", "slot", "10s", "slot (10s) must be <= election-timeout-min"},
        {"zab", "settle", "10s", "settle (10s) must be <= election-timeout-min"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_refused(cases[i].algorithm, cases[i].option, cases[i].value, cases[i].because);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_an_unknown_option_names_the_allowed),
        cmocka_unit_test(test_what_cannot_work_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
