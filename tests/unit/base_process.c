#include "tests/test.h"

#include "base/process.h"
#include "base/random.h"

static void test_names(void **state)
{
    (void)state;
    static const struct {
        uint32_t process;
        const char *name;
    } cases[] = {
        {PROCESS_NUMBER(PROCESS_NODE, 1), "n1"},
        {PROCESS_NUMBER(PROCESS_NODE, 10000), "n10000"},
        {PROCESS_NUMBER(PROCESS_NODE, PROCESS_INDEX_MAX), "n16777215"},
        {PROCESS_NUMBER(PROCESS_CLIENT, 64), "client-64"},
        {PROCESS_NUMBER(PROCESS_RESOURCE, 0), "resource"},
        {PROCESS_NUMBER(PROCESS_COORDINATOR, 0), "coordinator"},
        {PROCESS_NUMBER(PROCESS_NEMESIS, 0), "nemesis"},
        {PROCESS_NUMBER(PROCESS_CONTROLLER, 0), "controller"},
        {PROCESS_NUMBER(PROCESS_SWITCH, 0), "switch"},
        {PROCESS_NUMBER(PROCESS_TWIN, 2), "twin-2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[PROCESS_NAME_MAX];
        uint32_t process = 77;
        assert_string_equal(process_name(cases[i].process, name), cases[i].name);
        assert_true(process_parse(slice_of(cases[i].name), &process));
        assert_int_equal(process, cases[i].process);
        assert_true(process_valid(process));
    }
}

static void test_what_is_no_name_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",        "n",         "n0",        "n01",        "n-1",       "n1 ",      " n1",
        "N1",      "n1x",       "n16777216", "n999999999", "client",    "client-",  "client-0",
        "client1", "resource1", "resourc",   "nemesis ",   "process-1", "switch-1", "n+1",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint32_t process = 77;
        assert_false(process_parse(slice_of(bad[i]), &process));
        assert_int_equal(process, 77);
    }
    assert_false(process_parse((struct slice){"n1\0", 3}, &(uint32_t){0}));
}

/* A number is a process exactly when its name leads back to it. */
static void test_valid_numbers_are_those_with_a_name(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 1, "process", 0);
    for (int i = 0; i < 100000; i++) {
        uint32_t number = (uint32_t)random_below(&random, 9) << 24;
        number |= (uint32_t)(random_next(&random) >> (40 + random_below(&random, 24)));
        char name[PROCESS_NAME_MAX];
        uint32_t back = ~number;
        bool named = process_parse(slice_of(process_name(number, name)), &back) && back == number;
        assert_int_equal(process_valid(number), named);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_what_is_no_name_is_refused),
        cmocka_unit_test(test_valid_numbers_are_those_with_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
