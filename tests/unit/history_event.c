#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pack.h"
#include "histories/event.h"
#include "tests/history_sample.h"

static int decode(const struct text *bytes, struct event *out, size_t *ret_used)
{
    return event_decode((const uint8_t *)bytes->at, bytes->length, out, ret_used, NULL);
}

static void test_events_come_back_and_tell_their_length(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 3000; i++) {
        struct text bytes = {0};
        struct event event, back = {.index = i};
        size_t used;
        sample_event(i, &event);
        event_encode(&event, &bytes);
        size_t length = bytes.length;
        text_add_bytes(&bytes, "\xc0 and what follows", 18);
        assert_int_equal(decode(&bytes, &back, &used), 0);
        assert_int_equal(used, length);
        assert_true(same_event(&event, &back));
        for (bytes.length = 0; bytes.length < length; bytes.length++)
            assert_int_equal(decode(&bytes, &back, &used), -EBADMSG);
        text_release(&bytes);
    }
}

static void test_random_bytes_do_no_harm(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 1, "event", 0);
    struct text bytes = {0};
    struct event event;
    for (uint64_t i = 0; i < 100000; i++) {
        size_t used = 0;
        text_clear(&bytes);
        sample_event(i, &event);
        event_encode(&event, &bytes);
        for (uint64_t hits = random_below(&random, 4); hits > 0; hits--)
            bytes.at[random_below(&random, bytes.length)] = (char)random_next(&random);
        uint8_t *exact = malloc(bytes.length);
        memcpy(exact, bytes.at, bytes.length);
        int rc = event_decode(exact, bytes.length, &event, &used, NULL);
        if (rc == 0) { /* then it is an event like any other */
            assert_true(used <= bytes.length);
            text_clear(&bytes);
            event_encode(&event, &bytes);
            event_to_json(&event, &bytes);
        }
        free(exact);
    }
    text_release(&bytes);
}

/* [time, node_time, process, type, f, {fields}], to be bent. */
static void pack_head(struct text *out, uint32_t elements, uint64_t process, uint64_t type,
                      uint64_t f)
{
    text_clear(out);
    pack_array(out, elements);
    pack_uint(out, 5);
    pack_nil(out);
    pack_uint(out, process);
    pack_uint(out, type);
    pack_uint(out, f);
}

static void test_a_newer_writer_is_understood(void **state)
{
    (void)state;
    struct text bytes = {0};
    struct event event;
    size_t used;
    pack_head(&bytes, 8, 1, EVENT_INFO, F_LEAD);
    pack_map(&bytes, 3);
    pack_uint(&bytes, 200); /* a field of the future, with a list for a value */
    pack_array(&bytes, 2);
    pack_uint(&bytes, 1);
    pack_text(&bytes, slice_of("x"));
    pack_uint(&bytes, FIELD_TERM);
    pack_uint(&bytes, 9);
    pack_uint(&bytes, UINT64_MAX);
    pack_nil(&bytes);
    pack_text(&bytes, slice_of("a seventh element"));
    pack_map(&bytes, 0);
    assert_int_equal(decode(&bytes, &event, &used), 0);
    assert_int_equal(used, bytes.length);
    assert_int_equal(event.present, FIELD_BIT(FIELD_TERM));
    assert_int_equal(event_number(&event, FIELD_TERM), 9);
    text_release(&bytes);
}

static void expect_refusal(const struct text *bytes, const char *why)
{
    struct event event;
    struct error error = {.text = ""};
    size_t used;
    assert_int_equal(event_decode((const uint8_t *)bytes->at, bytes->length, &event, &used, &error),
                     -EBADMSG);
    assert_string_equal(error.text, why);
}

static void test_what_cannot_be_an_event_is_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t process, type, f;
        const char *why;
    } heads[] = {
        {1, EVENT_INFO, EVENT_FS, "event of unknown f 27"},
        {1, EVENT_TYPES, F_LEAD, "event of unknown type 4"},
        {0, EVENT_INFO, F_LEAD, "event of unknown process 0"},
        {UINT64_C(1) << 32 | 1, EVENT_INFO, F_LEAD, "event of unknown process 4294967297"},
        {PROCESS_NUMBER(PROCESS_RESOURCE, 1), EVENT_INFO, F_LEAD,
         "event of unknown process 33554433"},
    };
    struct text bytes = {0};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        pack_head(&bytes, 6, heads[i].process, heads[i].type, heads[i].f);
        pack_map(&bytes, 0);
        expect_refusal(&bytes, heads[i].why);
    }
    static const struct {
        uint64_t field;
        const char *text; /* NULL: the number 0 */
    } fields[] = {
        {FIELD_TERM, "1"},      /* a text for a number */
        {FIELD_REASON, NULL},   /* a number for a text */
        {FIELD_REASON, "\xff"}, /* no UTF-8 */
        {FIELD_LEADER, NULL},   /* no process */
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        pack_head(&bytes, 6, 1, EVENT_INFO, F_NOTE);
        pack_map(&bytes, 1);
        pack_uint(&bytes, fields[i].field);
        if (fields[i].text)
            pack_text(&bytes, slice_of(fields[i].text));
        else
            pack_uint(&bytes, 0);
        expect_refusal(&bytes, "bytes that are no event");
    }
    pack_head(&bytes, 6, 1, EVENT_INFO, F_LEAD);
    pack_map(&bytes, 2);
    for (int twice = 0; twice < 2; twice++) {
        pack_uint(&bytes, FIELD_TERM);
        pack_uint(&bytes, 1);
    }
    expect_refusal(&bytes, "bytes that are no event");
    pack_head(&bytes, 5, 1, EVENT_INFO, F_LEAD);
    pack_map(&bytes, 0);
    expect_refusal(&bytes, "bytes that are no event");
    text_release(&bytes);
}

static void test_texts_are_mended_and_no_leader_is_left_out(void **state)
{
    (void)state;
    struct text bytes = {0}, json = {0};
    struct event event = {.process = 3, .type = EVENT_INFO, .f = F_FOLLOW}, back;
    size_t used;
    event_set(&event, FIELD_TERM, 0);
    event_set(&event, FIELD_LEADER, 0);
    event_set_text(&event, FIELD_REASON, slice_of("a\xff\xc3\xa9"));
    event_encode(&event, &bytes);
    event_to_json(&event, &json);
    assert_int_equal(decode(&bytes, &back, &used), 0);
    assert_int_equal(back.present, FIELD_BIT(FIELD_TERM) | FIELD_BIT(FIELD_REASON));
    assert_true(slice_equals(event_text(&back, FIELD_REASON), "a\xef\xbf\xbd\xc3\xa9"));
    assert_string_equal(json.at, "{\"index\":0,\"time\":0,\"process\":\"n3\",\"type\":\"info\","
                                 "\"f\":\"follow\",\"value\":{\"term\":0,"
                                 "\"reason\":\"a\xef\xbf\xbd\xc3\xa9\"}}");
    text_release(&bytes);
    text_release(&json);
}

static void test_names_lead_back_to_what_they_name(void **state)
{
    (void)state;
    for (int f = 0; f < EVENT_FS; f++)
        assert_int_equal(event_f_parse(slice_of(event_f_name((enum event_f)f))), f);
    for (int type = 0; type < EVENT_TYPES; type++)
        assert_int_equal(event_type_parse(slice_of(event_type_name((enum event_type)type))), type);
    for (int field = 0; field < EVENT_FIELDS; field++)
        assert_int_equal(event_field_parse(slice_of(event_field_name((enum event_field)field))),
                         field);
    assert_int_equal(event_f_parse(slice_of("")), -1);
    assert_int_equal(event_f_parse(slice_of("leads")), -1);
    assert_int_equal(event_type_parse(slice_of("okay")), -1);
    assert_int_equal(event_field_parse(slice_of("Term")), -1);
}

/* The numbers are in files people keep: they may not move. */
static void test_codes_in_the_file_stay(void **state)
{
    (void)state;
    assert_int_equal(F_LEAD, 0);
    assert_int_equal(F_GUARDED_WRITE, 11);
    assert_int_equal(F_NOTE, 25);
    assert_int_equal(FIELD_TERM, 0);
    assert_int_equal(FIELD_VALUE, 12);
    assert_int_equal(FIELD_ERROR, 34);
    assert_int_equal(FIELD_DROPPED, 36);
}

static void expect_form(const struct event *event, const char *why)
{
    struct error error = {.text = "good"};
    (void)event_check(event, &error);
    assert_string_equal(error.text, why);
}

static void test_forms(void **state)
{
    (void)state;
    struct event event = {.process = 1, .type = EVENT_OK, .f = F_LEAD};
    expect_form(&event, "'lead' is never of type ok");
    event.type = EVENT_INFO;
    expect_form(&event, "'lead' without 'term'");
    event_set(&event, FIELD_TERM, 1);
    event_set(&event, FIELD_TOKEN, 1);
    expect_form(&event, "good");
    event_set_text(&event, FIELD_ERROR, slice_of("x"));
    expect_form(&event, "good");
    event_set(&event, FIELD_PID, 1);
    expect_form(&event, "'lead' does not carry 'pid'");
    event.process = PROCESS_NUMBER(PROCESS_CLIENT, 2);
    expect_form(&event, "'lead' is never an event of client-2");
    for (uint64_t i = 0; i < 1000; i++) {
        sample_event(i, &event);
        expect_form(&event, "good");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_come_back_and_tell_their_length),
        cmocka_unit_test(test_random_bytes_do_no_harm),
        cmocka_unit_test(test_a_newer_writer_is_understood),
        cmocka_unit_test(test_what_cannot_be_an_event_is_refused),
        cmocka_unit_test(test_texts_are_mended_and_no_leader_is_left_out),
        cmocka_unit_test(test_names_lead_back_to_what_they_name),
        cmocka_unit_test(test_codes_in_the_file_stay),
        cmocka_unit_test(test_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
