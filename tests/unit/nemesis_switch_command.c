/* The text between controller and coup-switch. */
#include "nemesis/network/switch_command.h"

#include <string.h>

#include "tests/test.h"

static void test_round_trip(void **state)
{
    (void)state;
    const struct link_change links[] = {
        {0, 1, {.cut = true}},
        {1, 0, {0}},
        {2, 0, {.loss_ppm = 200000, .delay_ns = 50000000}},
    };
    struct text text = {0};
    struct switch_command command = {0};
    struct error error;
    switch_command_format(SWITCH_LINKS, links, 3, &text);
    assert_string_equal(text_string(&text), "links\n0 1 cut\n1 0 \n2 0 loss=20%,delay=50ms\n");
    assert_int_equal(switch_command_parse(slice_of(text_string(&text)), 3, &command, &error), 0);
    assert_int_equal(command.verb, SWITCH_LINKS);
    assert_int_equal(command.link_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(command.links[i].from, links[i].from);
        assert_int_equal(command.links[i].to, links[i].to);
        assert_true(impairment_equal(&command.links[i].impairment, &links[i].impairment));
    }
    switch_command_release(&command);
    text_release(&text);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *mention;
    } refused[] = {
        {"", "neither links nor counters"},
        {"link\n0 1 cut\n", "'link'"},
        {"links\n0 3 cut\n", "line 2: '0 3 cut' does not begin with two endpoints below 3"},
        {"links\n0 1 cut\n1 1 cut\n", "line 3"},
        {"links\n0 1 cutt\n", "unknown impairment"},
        {"links\n0\n", "two endpoints"},
        {"links\n\n", "two endpoints"},
        {"links\n-1 0 cut\n", "two endpoints"},
        {"links\n0 1  cut\n", "impairment"},
        {"links\n0 99999999999 cut\n", "two endpoints"},
        {"links\n0 1 \n0 1 \n0 1 \n0 1 \n0 1 \n0 1 \n0 1 \n", "more lines"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct switch_command command = {.link_count = 77};
        struct error error = {0};
        assert_true(switch_command_parse(slice_of(refused[i].text), 3, &command, &error) < 0);
        if (!strstr(error.text, refused[i].mention))
            fail_msg("'%s': %s", refused[i].text, error.text);
        assert_int_equal(command.link_count, 77);
    }
    struct switch_command command = {0};
    struct error error;
    const struct slice zero = {"links\n0 1 cut\0x\n", 16};
    assert_true(switch_command_parse(zero, 3, &command, &error) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
