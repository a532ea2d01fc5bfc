#include "tests/test.h"

#include "base/text.h"

static void test_shell_words(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"", "''"},
        {"coup-runs/raft/2024-7/history.coup", "coup-runs/raft/2024-7/history.coup"},
        {"raft:prevote=on,x=5%", "raft:prevote=on,x=5%"},
        {"two words", "'two words'"},
        {"it's", "'it'\\''s'"},
        {"$HOME `id` \"x\" \\", "'$HOME `id` \"x\" \\'"},
        {"~", "'~'"},
        {"a\nb*", "'a\nb*'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text out = {0};
        text_add_shell(&out, slice_of(cases[i].in));
        assert_string_equal(text_string(&out), cases[i].out);
        text_release(&out);
    }
}

/* A history may hold any bytes; JSON must stay JSON. */
static void test_json_strings(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"", "\"\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"\n\x01\x7f", "\"\\u000a\\u0001\\u007f\""},
        {"caf\xc3\xa9", "\"caf\xc3\xa9\""},
        {"\xc2\x9b\xc2\xa0", "\"\\u009b\xc2\xa0\""},
        {"\xc3", "\"\xef\xbf\xbd\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text out = {0};
        text_add_json(&out, slice_of(cases[i].in));
        assert_string_equal(text_string(&out), cases[i].out);
        text_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shell_words),
        cmocka_unit_test(test_json_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
