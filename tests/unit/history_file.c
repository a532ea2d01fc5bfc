#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "histories/block.h"
#include "histories/file.h"
#include "tests/history_sample.h"

/* A whole history in memory: `events` events, `flush_every` of them a block. */
static struct text sample_file(uint64_t events, uint64_t flush_every, const char *verdict)
{
    struct history_header header = sample_header();
    struct history_writer *writer;
    struct event event;
    struct text file = {0};
    assert_int_equal(history_create(NULL, &header, &writer, NULL), 0);
    for (uint64_t i = 0; i < events; i++) {
        sample_event(i, &event);
        assert_int_equal(history_append(writer, &event, NULL), 0);
        assert_int_equal(event.index, i);
        if (i % flush_every == flush_every - 1)
            assert_int_equal(history_flush(writer, NULL), 0);
    }
    assert_int_equal(history_events(writer), events);
    if (verdict)
        assert_int_equal(history_verdict(writer, slice_of(verdict), NULL), 0);
    assert_int_equal(history_finish(writer, NULL), 0);
    struct slice bytes = history_writer_bytes(writer);
    text_add_bytes(&file, bytes.at, bytes.length);
    assert_int_equal(history_close(writer, NULL), 0);
    return file;
}

static struct slice all(const struct text *text)
{
    return (struct slice){text->at, text->length};
}

/* Events delivered, each compared with the one that was written. */
static uint64_t drain(struct history_reader *reader)
{
    struct event event, want;
    uint64_t count = 0;
    for (; history_next(reader, &event); count++) {
        sample_event(count, &want);
        assert_true(same_event(&event, &want));
    }
    assert_int_equal(history_next(reader, &event), 0);
    return count;
}

static void test_what_was_written_is_read(void **state)
{
    (void)state;
    static const uint64_t sizes[][2] = {{0, 1}, {1, 1}, {10, 3}, {20000, 100000}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct text file = sample_file(sizes[i][0], sizes[i][1], "{\"verdict\": \"valid\"}");
        struct history_reader *reader;
        assert_int_equal(history_open_bytes(all(&file), &reader, NULL), 0);
        assert_int_equal(drain(reader), sizes[i][0]);
        assert_null(history_damage(reader));
        assert_true(slice_equals(history_recorded_verdict(reader), "{\"verdict\":\"valid\"}"));
        history_reader_close(reader);
        text_release(&file);
    }
}

static void test_the_header_comes_back_whole(void **state)
{
    (void)state;
    struct history_header header = sample_header();
    struct text file = sample_file(1, 1, NULL), want = {0}, got = {0};
    struct history_reader *reader;
    assert_int_equal(history_open_bytes(all(&file), &reader, NULL), 0);
    header_to_json(&header, &want);
    header_to_json(history_header(reader), &got);
    assert_string_equal(got.at, want.at);
    assert_int_equal(history_header(reader)->run, header.run);
    assert_int_equal(history_header(reader)->knobs.registers, 7);
    assert_string_equal(history_header(reader)->schedule[1], header.schedule[1]);
    assert_int_equal(history_recorded_verdict(reader).length, 0);
    history_reader_close(reader);
    text_release(&file);
    text_release(&want);
    text_release(&got);
}

/* Everything whole before the cut is delivered, and the cut is told. */
static void test_cut_off_at_every_byte(void **state)
{
    (void)state;
    struct text file = sample_file(24, 5, "{\"verdict\":\"valid\"}");
    uint64_t most = 0;
    for (size_t length = 0; length < file.length; length++) {
        char *exact = malloc(length ? length : 1); /* so that a sanitizer sees one byte too far */
        memcpy(exact, file.at, length);
        struct history_reader *reader;
        struct error error = {0};
        int rc = history_open_bytes((struct slice){exact, length}, &reader, &error);
        if (rc < 0) {
            assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
            assert_true(most == 0 && strlen(error.text) > 10);
        } else {
            uint64_t count = drain(reader);
            assert_true(count >= most);
            most = count;
            assert_non_null(strstr(history_damage(reader), "cut off at byte"));
            history_reader_close(reader);
        }
        free(exact);
    }
    assert_int_equal(most, 24);
    text_release(&file);
}

/* No flipped bit goes unseen, and none changes an event. */
static void test_every_flipped_bit_is_found(void **state)
{
    (void)state;
    struct text file = sample_file(12, 5, "{\"verdict\":\"valid\"}");
    for (size_t bit = 0; bit < file.length * 8; bit++) {
        struct history_reader *reader;
        struct error error;
        file.at[bit / 8] = (char)(file.at[bit / 8] ^ 1 << bit % 8);
        if (history_open_bytes(all(&file), &reader, &error) < 0) {
            assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
        } else {
            assert_true(drain(reader) <= 12);
            assert_non_null(history_damage(reader));
            history_reader_close(reader);
        }
        file.at[bit / 8] = (char)(file.at[bit / 8] ^ 1 << bit % 8);
    }
    text_release(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_written_is_read),
        cmocka_unit_test(test_the_header_comes_back_whole),
        cmocka_unit_test(test_cut_off_at_every_byte),
        cmocka_unit_test(test_every_flipped_bit_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
