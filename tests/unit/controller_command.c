#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "controller/command.h"

static const char *const colours[] = {"red", "green", NULL};
static const struct command_option options[] = {
    {"nodes", 'n', ARGUMENT_COUNT, "N", "5", 3, 50, NULL, "how many nodes"},
    {"every", 'e', ARGUMENT_DURATION, "T", "5s", NS_PER_MS, 60 * NS_PER_S, NULL, "how often"},
    {"colour", 0, ARGUMENT_WORD, "WORD", "red", 0, 0, colours, "one of the colours"},
    {"set", 's', ARGUMENT_LIST, "LIST", NULL, 0, 0, NULL, "knobs"},
    {"output", 'o', ARGUMENT_TEXT, "FILE", NULL, 0, 0, NULL, "where to"},
    {.name = "json", .letter = 'j', .help = "as JSON"},
    {.name = NULL},
};

static int report_line(const struct command_line *line, struct error *error)
{
    return error_usage(
        error, "n=%d every=%d colour=%d set=%s output=%s json=%d args=%d",
        (int)command_number(line, "nodes"), (int)(command_number(line, "every") / NS_PER_MS),
        (int)command_number(line, "colour"), command_text(line, "set"),
        command_text(line, "output"), command_given(line, "json"), (int)line->argument_count);
}

static const char *const examples[] = {"coup go -n 3 FILE", NULL};
static const struct command go = {
    .name = "go",
    .summary = "go somewhere",
    .arguments = "FILE...",
    .arguments_min = 1,
    .arguments_max = 2,
    .options = options,
    .examples = examples,
    .run = report_line,
};
static const struct command *const subcommands[] = {&go, NULL};
static const struct command root = {
    .name = "coup",
    .summary = "test",
    .arguments = "COMMAND",
    .details = "About the test.",
    .subcommands = subcommands,
};

/* Split at blanks, dispatch; what came back as an error text. */
static const char *outcome(const char *words)
{
    static struct error error;
    char copy[200], *argv[16] = {0}, *next = copy;
    int argc = 0;
    (void)snprintf(copy, sizeof copy, "%s", words);
    while (*next) {
        argv[argc++] = next;
        next += strcspn(next, " ");
        if (*next)
            *next++ = '\0';
    }
    assert_true(command_dispatch(&root, argc, argv, &error) < 0);
    assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
    return error.text;
}

static void test_values_and_defaults(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"coup go f", "n=5 every=5000 colour=0 set=(null) output=(null) json=0 args=1"},
        {"coup go -n 7 --every=2s f g", "n=7 every=2000 colour=0 set=(null) output=(null) json=0 "
                                        "args=2"},
        {"coup go f -j --set a=1 -sb=2 --set c=3 -oX",
         "n=5 every=5000 colour=0 set=a=1,b=2,c=3 output=X json=1 args=1"},
        {"coup go --colour green -- -f",
         "n=5 every=5000 colour=1 set=(null) output=(null) json=0 args=1"},
        {"coup go -n 3 -n 4 f", "n=4 every=5000 colour=0 set=(null) output=(null) json=0 args=1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char want[200];
        (void)snprintf(want, sizeof want, "coup go: %s", cases[i].out);
        assert_string_equal(outcome(cases[i].in), want);
    }
}

static void test_mistakes_name_the_thing_and_what_is_accepted(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"coup", "coup: missing COMMAND (accepted: go)"},
        {"coup went", "coup: unknown COMMAND 'went' (accepted: go)"},
        {"coup --nodes", "coup: unknown option '--nodes' (accepted: --help)"},
        {"coup go", "coup go: missing argument (usage: coup go [OPTION]... FILE...)"},
        {"coup go a b c", "coup go: stray argument 'c' (usage: coup go [OPTION]... FILE...)"},
        {"coup go f --size 3", "coup go: unknown option '--size' (accepted: --nodes, --every, "
                               "--colour, --set, --output, --json, --help)"},
        {"coup go f -jx", "coup go: unknown option '-x' (accepted: --nodes, --every, --colour, "
                          "--set, --output, --json, --help)"},
        {"coup go f -n", "coup go: --nodes needs a value: N"},
        {"coup go f --every", "coup go: --every needs a value: T"},
        {"coup go f --json=1", "coup go: --json takes no value"},
        {"coup go f --help=1", "coup go: --help takes no value"},
        {"coup go f -n 0", "coup go: --nodes: '0' must be between 3 and 50"},
        {"coup go f -n 100", "coup go: --nodes: '100' must be between 3 and 50"},
        {"coup go f -n five", "coup go: --nodes: 'five' is not a whole number"},
        {"coup go f -e 5", "coup go: --every: '5' is not a duration (accepted: a number and ns, us,"
                           " ms, s, m or h)"},
        {"coup go f -e 2h", "coup go: --every: '2h' must be between 1ms and 1m"},
        {"coup go f --colour blue", "coup go: --colour: 'blue' is unknown (accepted: red, green)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(outcome(cases[i].in), cases[i].out);
}

static void test_help_shows_every_option_with_its_default(void **state)
{
    (void)state;
    struct text out = {0};
    command_help(&go, "coup go", &out);
    assert_string_equal(
        text_string(&out),
        "Usage: coup go [OPTION]... FILE...\n\n"
        "Go somewhere.\n\n"
        "Options:\n"
        "  -n, --nodes N               how many nodes (default 5)\n"
        "  -e, --every T               how often (default 5s)\n"
        "      --colour WORD           one of the colours: red, green (default red)\n"
        "  -s, --set LIST              knobs\n"
        "  -o, --output FILE           where to\n"
        "  -j, --json                  as JSON\n"
        "  -h, --help                  show this and exit\n\n"
        "Examples:\n"
        "  coup go -n 3 FILE\n");
    text_release(&out);
}

static void test_manual_holds_every_command_and_option(void **state)
{
    (void)state;
    struct text out = {0};
    command_manual(&root, &out);
    assert_non_null(strstr(text_string(&out), "### coup go\n"));
    for (const struct command_option *option = options; option->name; option++) {
        char row[64];
        (void)snprintf(row, sizeof row, "--%s", option->name);
        assert_non_null(strstr(text_string(&out), row));
    }
    text_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_and_defaults),
        cmocka_unit_test(test_mistakes_name_the_thing_and_what_is_accepted),
        cmocka_unit_test(test_help_shows_every_option_with_its_default),
        cmocka_unit_test(test_manual_holds_every_command_and_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
