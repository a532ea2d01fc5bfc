/* docs/guarantees.md says what the tables of the program say: what each algorithm bears, and which
 * checks it owes. A line that is missing is printed as it should be. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "checker/check.h"
#include "nodes/elector.h"

static struct text read_docs(void)
{
    struct text docs = {0};
    char piece[4096];
    FILE *file = fopen(TESTS_FOLDER "/../docs/guarantees.md", "r");
    assert_non_null(file);
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;)
        text_add_bytes(&docs, piece, got);
    assert_int_equal(fclose(file), 0);
    return docs;
}

/* Returns 1 when it is missing. */
static int miss(const struct text *docs, struct text *line)
{
    int missing = !strstr(text_string(docs), text_string(line));
    if (missing)
        print_message("docs/guarantees.md lacks\n%s", text_string(line));
    text_release(line);
    return missing;
}

static void test_what_holds(void **state)
{
    struct text docs = read_docs();
    int missing = 0;
    (void)state;
    for (uint32_t i = 0; algorithms[i]; i++) {
        for (int under = 0; under < UNDERS; under++) {
            struct text line = {0};
            text_add(&line, "\n| %s | %s | %s |\n", under ? "" : algorithms[i]->name,
                     under_names[under], algorithms[i]->bears[under]);
            missing += miss(&docs, &line);
        }
        struct text line = {0};
        text_add(&line, "\n|  | broken by | %s |\n", algorithms[i]->broken_by);
        missing += miss(&docs, &line);
    }
    text_release(&docs);
    assert_int_equal(missing, 0);
}

static int miss_owed(const struct text *docs, const struct algorithm *algorithm,
                     const char *variant, uint32_t traits)
{
    struct text line = {0};
    text_add(&line, "\n| %s%s |", algorithm->name, variant);
    const char *comma = " ";
    for (uint32_t i = 0; checks[i]; i++)
        if (checks[i]->traits && (checks[i]->traits & ~traits) == 0) {
            text_add(&line, "%s%s", comma, checks[i]->name);
            comma = ", ";
        }
    text_add(&line, " | %s | %s |\n", traits >> TRAIT_PROGRESS & 1 ? "always" : "clean parts",
             traits >> TRAIT_STEADY & 1 ? "always" : "clean parts");
    return miss(docs, &line);
}

/* The defaults, and every switch that changes what is promised when it is turned. */
static void test_which_checks_are_owed(void **state)
{
    struct text docs = read_docs();
    int missing = 0;
    (void)state;
    for (uint32_t i = 0; algorithms[i]; i++) {
        const struct option *table = algorithms[i]->options;
        struct option_values values = {0};
        options_defaults(table, &values);
        uint32_t usual = algorithms[i]->traits(&values);
        missing += miss_owed(&docs, algorithms[i], "", usual);
        for (uint32_t row = 0; row < options_count(table); row++) {
            struct option_values turned = values;
            struct text variant = {0};
            turned.at[row] = !values.at[row];
            uint32_t traits = algorithms[i]->traits(&turned);
            text_add(&variant, ":%s=%s", table[row].name, turned.at[row] ? "on" : "off");
            if (table[row].type == OPTION_SWITCH && traits != usual)
                missing += miss_owed(&docs, algorithms[i], text_string(&variant), traits);
            text_release(&variant);
        }
    }
    text_release(&docs);
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_holds),
        cmocka_unit_test(test_which_checks_are_owed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
