#include "tests/test.h"

#include <errno.h>
#include <string.h>

#include "base/frame.h"
#include "base/random.h"
#include "base/text.h"

static void add_frame(struct text *stream, uint32_t length, uint8_t fill)
{
    uint8_t head[FRAME_HEAD_BYTES];
    frame_head(head, length);
    text_add_bytes(stream, head, sizeof head);
    for (uint32_t i = 0; i < length; i++)
        text_add_bytes(stream, &fill, 1);
}

static void feed(struct frame_reader *reader, const char *bytes, size_t length)
{
    size_t room;
    uint8_t *at = frame_reader_room(reader, length, &room);
    assert_true(room >= length);
    if (length)
        memcpy(at, bytes, length);
    frame_reader_filled(reader, length);
}

/* However the stream is cut into reads, the same frames come out. */
static void test_frames_survive_any_cutting(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {1, 3, 4, 5, 64, 1000, 70000, 2};
    enum { FRAMES = sizeof lengths / sizeof lengths[0] };
    struct text stream = {0};
    for (uint32_t i = 0; i < FRAMES; i++)
        add_frame(&stream, lengths[i], (uint8_t)(i + 1));
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct frame_reader reader = {0};
        struct random random;
        uint32_t frames = 0;
        random_init(&random, seed, "cut", 0);
        for (size_t at = 0; at < stream.length;) {
            size_t piece = (size_t)random_between(&random, 0, seed < 3 ? 3 : 30000);
            piece = piece < stream.length - at ? piece : stream.length - at;
            feed(&reader, stream.at + at, piece);
            at += piece;
            const uint8_t *frame;
            size_t length;
            while (frame_reader_next(&reader, &frame, &length, NULL) == 1) {
                assert_int_equal(length, lengths[frames]);
                frames++;
                assert_int_equal(frame[0], frames);
                assert_int_equal(frame[length - 1], frames);
            }
        }
        assert_int_equal(frames, FRAMES);
        frame_reader_release(&reader);
    }
    text_release(&stream);
}

static void test_an_impossible_length_loses_the_stream(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, FRAME_BYTES_MAX + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct frame_reader reader = {0};
        struct error error = {0};
        uint8_t head[FRAME_HEAD_BYTES];
        const uint8_t *frame = NULL;
        size_t length;
        frame_head(head, lengths[i]);
        feed(&reader, (const char *)head, sizeof head);
        assert_int_equal(frame_reader_next(&reader, &frame, &length, &error), -EBADMSG);
        assert_non_null(strstr(error.text, "bytes (1 to "));
        assert_null(frame);
        frame_reader_release(&reader);
    }
}

/* The buffer grows to what one frame needs, not with the length of the stream. */
static void test_memory_is_bounded_by_the_largest_frame(void **state)
{
    (void)state;
    struct frame_reader reader = {0};
    struct text stream = {0};
    const uint8_t *frame;
    size_t length;
    add_frame(&stream, 5000, 1);
    for (int i = 0; i < 1000; i++) {
        feed(&reader, stream.at, 100);
        assert_int_equal(frame_reader_next(&reader, &frame, &length, NULL), 0);
        feed(&reader, stream.at + 100, stream.length - 100);
        feed(&reader, stream.at, 50);
        assert_int_equal(frame_reader_next(&reader, &frame, &length, NULL), 1);
        feed(&reader, stream.at + 50, stream.length - 50);
        assert_int_equal(frame_reader_next(&reader, &frame, &length, NULL), 1);
    }
    assert_true(reader.capacity < 50000);
    frame_reader_release(&reader);
    text_release(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_survive_any_cutting),
        cmocka_unit_test(test_an_impossible_length_loses_the_stream),
        cmocka_unit_test(test_memory_is_bounded_by_the_largest_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
