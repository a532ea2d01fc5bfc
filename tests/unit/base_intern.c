/* Texts as numbers: equal ones are one, any bytes will do, numbers stay what they are. */
#include "tests/test.h"

#include <stdio.h>

#include "base/intern.h"

static void test_equal_texts_are_one(void **unused)
{
    struct intern intern = {0};
    (void)unused;
    assert_int_equal(intern_put(&intern, slice_of("a")), 1);
    assert_int_equal(intern_put(&intern, slice_of("")), 2);
    assert_int_equal(intern_put(&intern, (struct slice){"a\0", 2}), 3);
    assert_int_equal(intern_put(&intern, slice_of("a")), 1);
    assert_int_equal(intern_put(&intern, slice_of("")), 2);
    assert_true(slice_equals(intern_get(&intern, 1), "a"));
    assert_int_equal(intern_get(&intern, 2).length, 0);
    intern_release(&intern);
}

static void test_many(void **unused)
{
    struct intern intern = {0};
    char text[60];
    (void)unused;
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 20000; i++) {
            (void)snprintf(text, sizeof text, "number %u, long enough for two words", i);
            assert_int_equal(intern_put(&intern, slice_of(text)), i + 1);
        }
    assert_true(slice_equals(intern_get(&intern, 20000), text));
    intern_release(&intern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_texts_are_one),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
