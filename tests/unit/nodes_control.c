#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/frame.h"
#include "base/pack.h"
#include "nodes/control.h"

static struct event an_event(void)
{
    struct event event = {.time_ns = 7, .process = 3, .type = EVENT_INFO, .f = F_LEAD};
    event_set(&event, FIELD_TERM, 4);
    event_set_text(&event, FIELD_REASON, slice_of("no rival"));
    return event;
}

static void samples(struct control out[CONTROL_VERBS])
{
    out[CONTROL_READY] = (struct control){.verb = CONTROL_READY, .text = slice_of("10.0.0.1:7000")};
    out[CONTROL_EVENT] = (struct control){.verb = CONTROL_EVENT, .event = an_event()};
    out[CONTROL_DONE] = (struct control){.verb = CONTROL_DONE,
                                         .id = 9,
                                         .begin = UINT64_MAX,
                                         .end = 2,
                                         .text = slice_of("n1>n2 dropped=3")};
    out[CONTROL_COMMAND] =
        (struct control){.verb = CONTROL_COMMAND, .id = 1, .text = slice_of("transfer 2")};
}

static void assert_same_text(struct slice a, struct slice b)
{
    assert_int_equal(a.length, b.length);
    assert_memory_equal(a.at, b.at, a.length);
}

static void assert_same(const struct control *a, const struct control *b)
{
    assert_int_equal(a->verb, b->verb);
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->begin, b->begin);
    assert_int_equal(a->end, b->end);
    if (a->verb != CONTROL_EVENT) {
        assert_same_text(a->text, b->text);
        return;
    }
    assert_int_equal(a->event.time_ns, b->event.time_ns);
    assert_int_equal(a->event.process, b->event.process);
    assert_int_equal(a->event.f, b->event.f);
    assert_int_equal(event_number(&b->event, FIELD_TERM), 4);
    assert_same_text(event_text(&a->event, FIELD_REASON), event_text(&b->event, FIELD_REASON));
}

/* Exactly `length` bytes, so that a read past the end is a sanitizer report. */
static int decode(const uint8_t *bytes, size_t length, struct control *out, uint8_t **ret_copy)
{
    struct error error = {0};
    uint8_t *copy = must_alloc(length ? length : 1, 1);
    if (length)
        memcpy(copy, bytes, length);
    int rc = control_decode(copy, length, out, &error);
    if (rc < 0)
        assert_int_not_equal(strlen(error.text), 0);
    *ret_copy = copy;
    return rc;
}

static void test_frames_in_a_stream_come_back_whole(void **state)
{
    (void)state;
    struct control sent[CONTROL_VERBS], got;
    struct text stream = {0};
    struct frame_reader reader = {0};
    struct error error;
    const uint8_t *bytes;
    size_t room, length;
    samples(sent);
    for (int i = 0; i < CONTROL_VERBS; i++)
        control_encode(&sent[i], &stream);
    memcpy(frame_reader_room(&reader, stream.length, &room), stream.at, stream.length);
    frame_reader_filled(&reader, stream.length);
    for (int i = 0; i < CONTROL_VERBS; i++) {
        assert_int_equal(frame_reader_next(&reader, &bytes, &length, &error), 1);
        assert_int_equal(control_decode(bytes, length, &got, &error), 0);
        assert_same(&sent[i], &got);
    }
    assert_int_equal(frame_reader_next(&reader, &bytes, &length, &error), 0);
    frame_reader_release(&reader);
    text_release(&stream);
}

static void test_every_truncation_and_extension_is_refused(void **state)
{
    (void)state;
    struct control sent[CONTROL_VERBS], got;
    uint8_t *copy;
    samples(sent);
    for (int i = 0; i < CONTROL_VERBS; i++) {
        struct text frame = {0};
        control_encode(&sent[i], &frame);
        const uint8_t *body = (const uint8_t *)frame.at + FRAME_HEAD_BYTES;
        size_t whole = frame.length - FRAME_HEAD_BYTES;
        for (size_t length = 0; length <= whole + 1; length++) {
            /* One byte more than the body is the text's terminating zero. */
            int rc = decode(body, length, &got, &copy);
            assert_int_equal(rc < 0, length != whole);
            free(copy);
        }
        text_release(&frame);
    }
}

static void test_foreign_arrays_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t items;
        uint64_t verb;
    } cases[] = {{2, CONTROL_VERBS}, {2, UINT64_MAX}, {3, CONTROL_READY}, {2, CONTROL_COMMAND}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text body = {0};
        struct control got;
        uint8_t *copy;
        pack_array(&body, cases[i].items);
        pack_uint(&body, cases[i].verb);
        for (uint32_t k = 1; k < cases[i].items; k++)
            pack_text(&body, slice_of("x"));
        assert_int_equal(decode((const uint8_t *)body.at, body.length, &got, &copy), -EBADMSG);
        free(copy);
        text_release(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_in_a_stream_come_back_whole),
        cmocka_unit_test(test_every_truncation_and_extension_is_refused),
        cmocka_unit_test(test_foreign_arrays_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
