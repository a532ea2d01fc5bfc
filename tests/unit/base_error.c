#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void test_layers_say_what_they_were_doing(void **state)
{
    (void)state;
    struct error error;
    assert_int_equal(error_set(&error, -EADDRINUSE, "bind %s: %s", "10.0.0.3", "in use"),
                     -EADDRINUSE);
    error_prefix(&error, "start n%d", 3);
    assert_string_equal(error.text, "start n3: bind 10.0.0.3: in use");
    assert_int_equal(error_exit_code(&error), EXIT_HARNESS);
    assert_int_equal(error_usage(&error, "unknown fault '%s'", "x"), -EINVAL);
    error_prefix(&error, "--faults");
    assert_string_equal(error.text, "--faults: unknown fault 'x'");
    assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
}

static void test_nobody_has_to_listen(void **state)
{
    (void)state;
    assert_int_equal(error_set(NULL, -EIO, "x"), -EIO);
    assert_int_equal(error_usage(NULL, "x"), -EINVAL);
    error_prefix(NULL, "x");
}

/* However long the pieces are, the text ends within its bounds, begins with the outermost and ends
 * with the reason. */
static void test_long_texts_are_cut(void **state)
{
    (void)state;
    const size_t longest = ERROR_TEXT_MAX - 1;
    char piece[ERROR_TEXT_MAX + 200];
    memset(piece, 'x', sizeof piece - 1);
    piece[sizeof piece - 1] = '\0';
    for (size_t length = 0; length < sizeof piece; length += 13) {
        struct error error;
        memset(&error, 'z', sizeof error);
        (void)error_set(&error, -EIO, "%.*s", (int)length, piece);
        assert_int_equal(strlen(error.text), length < longest ? length : longest);
        assert_true((length > longest) == (strstr(error.text, "...") != NULL));
        error_prefix(&error, "y%.*s", (int)length, piece);
        size_t whole = (length < longest ? length : longest) + length + 3;
        assert_int_equal(strlen(error.text), whole < longest ? whole : longest);
        assert_int_equal(error.text[0], 'y');
        for (int i = 0; i < 5; i++)
            error_prefix(&error, "deeper");
        assert_memory_equal(error.text, "deeper: deeper: ", 16);
        (void)error_set(&error, -EIO, "open %.*s: no such file", (int)length, piece);
        error_prefix(&error, "coup run");
        assert_non_null(strstr(error.text, "coup run: open "));
        assert_string_equal(error.text + strlen(error.text) - 14, ": no such file");
        assert_true(strlen(error.text) <= longest);
    }
}

static void test_memory_is_zeroed_and_kept(void **state)
{
    (void)state;
    unsigned char *memory = must_alloc(3, 5);
    for (int i = 0; i < 15; i++)
        assert_int_equal(memory[i], 0);
    memset(memory, 7, 15);
    memory = must_grow(memory, 100, 50);
    for (int i = 0; i < 15; i++)
        assert_int_equal(memory[i], 7);
    memory = must_grow(memory, 0, 1);
    assert_non_null(memory);
    free(memory);
    memory = must_grow(NULL, 4, 1);
    assert_non_null(memory);
    free(memory);
    char *copy = must_copy("text");
    assert_string_equal(copy, "text");
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers_say_what_they_were_doing),
        cmocka_unit_test(test_nobody_has_to_listen),
        cmocka_unit_test(test_long_texts_are_cut),
        cmocka_unit_test(test_memory_is_zeroed_and_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
