#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "histories/block.h"
#include "histories/crc32c.h"
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

/* A file put together by hand: the head and header of a real one, then these blocks. */
static void add_block(struct text *file, struct block_head head, struct slice payload)
{
    uint8_t bytes[BLOCK_HEAD_BYTES];
    if (head.stored_bytes == 0)
        head.stored_bytes = head.raw_bytes = (uint32_t)payload.length;
    head.stored_crc = crc32c(0, payload.at, payload.length);
    block_head_encode(&head, bytes);
    text_add_bytes(file, bytes, sizeof bytes);
    text_add_bytes(file, payload.at, payload.length);
}

static struct text file_beginning(void)
{
    struct text file = sample_file(0, 1, NULL);
    file.length -= BLOCK_HEAD_BYTES; /* the closing record */
    return file;
}

static struct text encoded(uint64_t first, uint64_t count)
{
    struct text out = {0};
    for (uint64_t i = first; i < first + count; i++) {
        struct event event;
        sample_event(i, &event);
        event_encode(&event, &out);
    }
    return out;
}

static void expect_damage(const struct text *file, uint64_t events, const char *damage)
{
    struct history_reader *reader;
    assert_int_equal(history_open_bytes(all(file), &reader, NULL), 0);
    assert_int_equal(drain(reader), events);
    assert_non_null(history_damage(reader));
    if (!strstr(history_damage(reader), damage))
        fail_msg("'%s' does not say '%s'", history_damage(reader), damage);
    history_reader_close(reader);
}

/* Blocks whose checksums fit, and yet the file is not one that a writer made. */
static void test_forged_files(void **state)
{
    (void)state;
    struct text events = encoded(0, 3), second = encoded(3, 2);
    const struct slice three = all(&events), two = all(&second), none = {"", 0};
    const struct block_head first = {.kind = BLOCK_EVENTS, .events = 3};
    const struct {
        struct block_head head;
        struct slice payload;
        uint64_t events;
        const char *damage;
    } cases[] = {
        {{.kind = BLOCK_END, .first = 3}, {"x", 1}, 3, "something follows"},
        {{.kind = BLOCK_END, .first = 4}, none, 3, "counts 4 events"},
        {{.kind = BLOCK_EVENTS, .first = 3, .events = 3}, two, 5, "does not hold the events"},
        {{.kind = BLOCK_EVENTS, .first = 3, .events = 1}, two, 4, "does not hold the events"},
        {{.kind = BLOCK_EVENTS, .first = 3, .events = 0}, two, 3, "does not hold the events"},
        {{.kind = BLOCK_EVENTS, .first = 3, .events = 1}, none, 3, "unknown kind"},
        {{.kind = BLOCK_EVENTS, .first = 0, .events = 2}, two, 3, "out of order"},
        {{.kind = BLOCK_EVENTS, .first = 4, .events = 2}, two, 3, "out of order"},
        {{.kind = BLOCK_HEADER, .first = 3}, {"{}", 2}, 3, "unknown kind"},
        {{.kind = 'x', .first = 3}, two, 3, "unknown kind"},
        {{.kind = BLOCK_EVENTS, .first = 3, .events = 2, .codec = 2}, two, 3, "head damaged"},
        {{.kind = BLOCK_EVENTS, .first = 3, .events = 2, .codec = BLOCK_ZSTD},
         two,
         3,
         "block damaged"},
        {{.kind = BLOCK_EVENTS, .first = 3, .events = 1},
         {"\x96garbage", 8},
         3,
         "event of unknown f 97"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text file = file_beginning();
        add_block(&file, first, three);
        add_block(&file, cases[i].head, cases[i].payload);
        if (cases[i].head.kind == BLOCK_END)
            text_add_bytes(&file, "x", cases[i].payload.length);
        expect_damage(&file, cases[i].events, cases[i].damage);
        text_release(&file);
    }
    text_release(&events);
    text_release(&second);
}

static void test_nothing_stands_behind_a_verdict(void **state)
{
    (void)state;
    struct text file = file_beginning(), events = encoded(0, 1);
    add_block(&file, (struct block_head){.kind = BLOCK_VERDICT}, slice_of("{}"));
    add_block(&file, (struct block_head){.kind = BLOCK_EVENTS, .events = 1}, all(&events));
    expect_damage(&file, 0, "out of order");
    text_release(&file);
    text_release(&events);
}

/* Lengths far beyond what follows, with checksums that fit: refused, and nothing of that size is
 * allocated but what BLOCK_BYTES_MAX allows. */
static void test_lying_lengths(void **state)
{
    (void)state;
    static const struct {
        uint32_t stored, raw;
        uint8_t codec;
        const char *damage;
    } cases[] = {
        {BLOCK_BYTES_MAX, BLOCK_BYTES_MAX, BLOCK_PLAIN, "cut off"},
        {BLOCK_BYTES_MAX + 1, BLOCK_BYTES_MAX + 1, BLOCK_PLAIN, "head damaged"},
        {UINT32_MAX, UINT32_MAX, BLOCK_PLAIN, "head damaged"},
        {4, UINT32_MAX, BLOCK_ZSTD, "head damaged"},
        {4, BLOCK_BYTES_MAX, BLOCK_ZSTD, "block damaged"},
        {5, 4, BLOCK_ZSTD, "head damaged"},
        {4, 5, BLOCK_PLAIN, "head damaged"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text file = file_beginning();
        add_block(&file,
                  (struct block_head){.kind = BLOCK_EVENTS,
                                      .events = 1,
                                      .codec = cases[i].codec,
                                      .stored_bytes = cases[i].stored,
                                      .raw_bytes = cases[i].raw},
                  slice_of("four"));
        expect_damage(&file, 0, cases[i].damage);
        text_release(&file);
    }
}

/* A packed block that unpacks to more or less than its head says. */
static void test_a_packed_block_of_another_size(void **state)
{
    (void)state;
    char packed[200];
    static const char zeros[1000];
    size_t length = ZSTD_compress(packed, sizeof packed, zeros, sizeof zeros, 1);
    assert_false(ZSTD_isError(length));
    for (uint32_t raw = 999; raw <= 1001; raw += 2) {
        struct text file = file_beginning();
        add_block(&file,
                  (struct block_head){.kind = BLOCK_EVENTS,
                                      .events = 1,
                                      .codec = BLOCK_ZSTD,
                                      .stored_bytes = (uint32_t)length,
                                      .raw_bytes = raw},
                  (struct slice){packed, length});
        expect_damage(&file, 0, "block damaged");
        text_release(&file);
    }
}

static void expect_refusal(const struct text *file, const char *why)
{
    struct history_reader *reader;
    struct error error = {.kind = ERROR_HARNESS};
    assert_true(history_open_bytes(all(file), &reader, &error) < 0);
    assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
    if (!strstr(error.text, why))
        fail_msg("'%s' does not say '%s'", error.text, why);
}

static void test_a_file_of_the_future(void **state)
{
    (void)state;
    struct text file = sample_file(3, 1, NULL);
    file.at[8] = 2;
    expect_refusal(&file, "damaged"); /* a flipped bit is no version */
    uint32_t crc = crc32c(0, file.at, 12);
    for (int i = 0; i < 4; i++)
        file.at[12 + i] = (char)(crc >> (8 * i));
    expect_refusal(&file, "history format 2 is newer than this coup reads (1)");
    text_release(&file);
}

static void test_a_file_without_its_header(void **state)
{
    (void)state;
    struct text file = sample_file(0, 1, NULL), events = encoded(0, 1);
    file.length = FILE_HEAD_BYTES;
    add_block(&file, (struct block_head){.kind = BLOCK_EVENTS, .events = 1}, all(&events));
    expect_refusal(&file, "the first block is no header");
    file.length = FILE_HEAD_BYTES;
    add_block(&file, (struct block_head){.kind = BLOCK_HEADER}, slice_of("{\"format\":1}"));
    expect_refusal(&file, "header: key 'version' is missing");
    text_release(&file);
    text_release(&events);
}

static void test_a_verdict_must_be_json(void **state)
{
    (void)state;
    struct history_header header = sample_header();
    struct history_writer *writer;
    struct error error;
    assert_int_equal(history_create(NULL, &header, &writer, NULL), 0);
    assert_true(history_verdict(writer, slice_of("valid"), &error) < 0);
    assert_memory_equal(error.text, "verdict: not JSON", 17);
    assert_int_equal(history_verdict(writer, slice_of("{\n}\n"), NULL), 0);
    assert_int_equal(history_close(writer, NULL), 0);
}

/* An event too large for a block is refused and leaves no trace. */
static void test_an_event_that_does_not_fit(void **state)
{
    (void)state;
    struct history_header header = sample_header();
    struct history_writer *writer;
    struct history_reader *reader;
    struct event event;
    struct error error;
    char *huge = calloc(1, BLOCK_BYTES_MAX);
    assert_int_equal(history_create(NULL, &header, &writer, NULL), 0);
    sample_event(0, &event);
    assert_int_equal(history_append(writer, &event, NULL), 0);
    struct event large = {.process = 1, .type = EVENT_INFO, .f = F_NOTE};
    event_set_text(&large, FIELD_TEXT, (struct slice){huge, BLOCK_BYTES_MAX});
    assert_int_equal(history_append(writer, &large, &error), -E2BIG);
    sample_event(1, &event);
    assert_int_equal(history_append(writer, &event, NULL), 0);
    assert_int_equal(event.index, 1);
    assert_int_equal(history_finish(writer, NULL), 0);
    assert_int_equal(history_open_bytes(history_writer_bytes(writer), &reader, NULL), 0);
    assert_int_equal(drain(reader), 2);
    assert_null(history_damage(reader));
    history_reader_close(reader);
    assert_int_equal(history_close(writer, NULL), 0);
    free(huge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_written_is_read),
        cmocka_unit_test(test_the_header_comes_back_whole),
        cmocka_unit_test(test_cut_off_at_every_byte),
        cmocka_unit_test(test_every_flipped_bit_is_found),
        cmocka_unit_test(test_forged_files),
        cmocka_unit_test(test_nothing_stands_behind_a_verdict),
        cmocka_unit_test(test_lying_lengths),
        cmocka_unit_test(test_a_packed_block_of_another_size),
        cmocka_unit_test(test_a_file_of_the_future),
        cmocka_unit_test(test_a_file_without_its_header),
        cmocka_unit_test(test_a_verdict_must_be_json),
        cmocka_unit_test(test_an_event_that_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
