#include "tests/test.h"

#include <string.h>

#include "histories/show.h"
#include "tests/history_sample.h"

static void test_lines(void **state)
{
    (void)state;
    struct text out = {0};
    struct event lead = {.index = 12, .time_ns = 1234567890, .process = 3, .type = EVENT_INFO};
    event_set(&lead, FIELD_TERM, 4);
    event_set(&lead, FIELD_TOKEN, 9);
    event_set(&lead, FIELD_UNTIL, 2000000000);
    event_to_text(&lead, false, &out);
    text_add(&out, "\n");
    struct event reject = {.index = 1000000,
                           .time_ns = UINT64_C(3600000000001),
                           .process = PROCESS_NUMBER(PROCESS_RESOURCE, 0),
                           .type = EVENT_INFO,
                           .f = F_REJECT};
    event_set(&reject, FIELD_HOLDER, 2);
    event_set_text(&reject, FIELD_REASON, slice_of("stale token"));
    event_set_text(&reject, FIELD_RECORD, slice_of(""));
    event_set_text(&reject, FIELD_PROOF, slice_of("1>2"));
    event_set(&reject, FIELD_TTL, 1500000);
    event_to_text(&reject, false, &out);
    assert_string_equal(out.at,
                        "      12     1.234567s  n3          info   lead           term=4 token=9"
                        " until=2.000000s\n"
                        " 1000000  3600.000000s  resource    info   reject         holder=n2"
                        " reason=\"stale token\" record=\"\" ttl=1500us proof=1>2");
    text_release(&out);
}

/* Whatever texts hold, an event is one line of printable text. */
static void test_one_line_whatever_it_holds(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        struct event event;
        struct text plain = {0}, coloured = {0};
        sample_event(i, &event);
        event_to_text(&event, false, &plain);
        event_to_text(&event, true, &coloured);
        for (size_t at = 0; at < plain.length; at++)
            assert_true((unsigned char)plain.at[at] >= ' ' && plain.at[at] != 0x7f);
        assert_non_null(strstr(coloured.at, plain.at));
        assert_true(coloured.length == plain.length ||
                    strcmp(coloured.at + coloured.length - 4, "\033[0m") == 0);
        text_release(&plain);
        text_release(&coloured);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_one_line_whatever_it_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
