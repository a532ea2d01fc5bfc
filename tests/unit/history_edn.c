/* The EDN reader: what it reads, in one form, and what it refuses with the line. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "histories/edn.h"

/* All values of the text, one a line, or the error behind what could be read. */
static void show(const char *input, bool enter, struct text *out)
{
    struct edn edn;
    struct error error;
    uint32_t value;
    int rc;
    edn_open(&edn, slice_of(input));
    if (enter)
        (void)edn_enter(&edn);
    while ((rc = edn_next(&edn, &value, &error)) > 0) {
        edn_write(&edn, edn_at(&edn, value), out);
        text_add(out, "\n");
    }
    if (rc < 0) {
        assert_int_equal(error.kind, ERROR_USAGE);
        text_add(out, "! %s", error.text);
    }
    edn_release(&edn);
}

static const struct {
    const char *input, *output;
} rows[] = {
    {"", ""},
    {" ,\n; only a comment", ""},
    {"nil true false", "nil\ntrue\nfalse\n"},
    {"1 -2 +3 007 -0 12N 99999999999999999999", "1\n-2\n3\n7\n0\n12\n99999999999999999999\n"},
    {"1.5 -2e3 1E+9M 3.", "1.5\n-2e3\n1E+9M\n3.\n"},
    {":a :a/b :jepsen.client/timeout :x? :y!", ":a\n:a/b\n:jepsen.client/timeout\n:x?\n:y!\n"},
    {"sym a.b/c - + ->x", "sym\na.b/c\n-\n+\n->x\n"},
    {"\"a\\\"b\\n\\u0041\"", "\"a\\\"b\\u000aA\"\n"},
    {"\"\\q\"", "\"\\\\q\"\n"}, /* nobody can say what it stands for: as it is */
    {"\\a \\newline \\u0041 \\(", "\\a\n\\newline\n\\u0041\n\\(\n"},
    {"[1 2,3] (a) {} {:a 1, :b [2]} #{1 2}", "[1 2 3]\n(a)\n{}\n{:a 1 :b [2]}\n#{1 2}\n"},
    {"#inst \"2020\" #a/b[1]", "#inst \"2020\"\n#a/b [1]\n"},
    {"#_1 2 [#_#_3 4 5 #_{:a 1}] #_x", "2\n[5]\n"},
    {"{:a 1}{:b 2}", "{:a 1}\n{:b 2}\n"},
    {"1\n]", "1\n! line 2: a closing bracket that nothing opened"},
    {"[1\n2", "! line 1: a bracket that nothing closes"},
    {"[1 2)", "! line 1: a closing bracket that nothing opened"},
    {"{:a 1\n:b}", "! line 1: a map with a key that has no value"},
    {"\n\"abc\n", "! line 2: a string that does not end"},
    {"\"abc\\", "! line 1: a string that does not end"},
    {"12x", "! line 1: \"12x\" is no EDN"},
    {"1e", "! line 1: \"1e\" is no EDN"},
    {":", "! line 1: \":\" is no EDN"},
    {"a\\b", "! line 1: \"a\\\\b\" is no EDN"},
    {"\357\273\2771 \n\357\273\2772", "1\n2\n"},
    {"\xff", "! line 1: \"\xef\xbf\xbd\" is no EDN"},
    {"\\", "! line 1: a character that is not there"},
    {"#_", "! line 1: a value is missing at the end"},
    {"#inst", "! line 1: a value is missing at the end"},
    {"#", "! line 1: \"\" is no EDN"},
    {"[# 1]", "! line 1: \"\" is no EDN"},
    {"#1 2", "! line 1: a tag that is no symbol"},
};

static void test_rows(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct text out = {0};
        show(rows[i].input, false, &out);
        if (strcmp(text_string(&out), rows[i].output) != 0)
            fail_msg("%s\nis read as\n%s", rows[i].input, text_string(&out));
        text_release(&out);
    }
}

static void test_enter(void **unused)
{
    static const struct {
        const char *input, *output;
    } entered[] = {
        {"[1 2]", "1\n2\n"},
        {"; what it is\n(1 2) ; end\n", "1\n2\n"},
        {"1 2", "1\n2\n"},
        {"[1 2] 3", "1\n2\n! line 1: something behind the history's closing bracket"},
        {"[1\n2", "1\n2\n! line 2: the history's opening bracket is never closed"},
        {"[1)", "1\n! line 1: a closing bracket that nothing opened"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof entered / sizeof entered[0]; i++) {
        struct text out = {0};
        show(entered[i].input, true, &out);
        assert_string_equal(text_string(&out), entered[i].output);
        text_release(&out);
    }
}

static void test_depth(void **unused)
{
    static const char *const brackets[] = {"[", "#_", "#a ", "{1 ", "#{"};
    (void)unused;
    for (size_t i = 0; i < sizeof brackets / sizeof brackets[0]; i++) {
        struct text deep = {0}, out = {0};
        for (uint32_t depth = 0; depth < 100000; depth++)
            text_add(&deep, "%s", brackets[i]);
        show(text_string(&deep), false, &out);
        assert_string_equal(text_string(&out), "! line 1: brackets in brackets, too deep");
        text_release(&deep);
        text_release(&out);
    }
}

static void test_look_inside(void **unused)
{
    struct edn edn;
    struct error error;
    uint32_t at;
    int64_t number;
    (void)unused;
    edn_open(
        &edn,
        slice_of("\n{:a 9223372036854775807 :b [-9223372036854775808 9223372036854775808 x]}"));
    assert_int_equal(edn_next(&edn, &at, &error), 1);
    const struct edn_value *map = edn_at(&edn, at), *vector = edn_get(&edn, map, "b");
    assert_int_equal(map->line, 2);
    assert_true(edn_integer(edn_get(&edn, map, "a"), &number) && number == INT64_MAX);
    assert_null(edn_get(&edn, map, "c"));
    assert_true(edn_integer(edn_child(&edn, vector, 0), &number) && number == INT64_MIN);
    assert_false(edn_integer(edn_child(&edn, vector, 1), &number));
    assert_false(edn_integer(edn_child(&edn, vector, 2), &number));
    assert_null(edn_child(&edn, vector, 3));
    edn_release(&edn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_enter),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_look_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
