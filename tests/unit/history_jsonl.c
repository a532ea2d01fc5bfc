#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "histories/jsonl.h"
#include "tests/history_sample.h"

static struct slice all(const struct text *text)
{
    return (struct slice){text->at, text->length};
}

/* The sample as a file in memory; without the closing record when `torn`. */
static struct text sample_file(uint64_t events, const char *verdict, bool torn)
{
    struct history_header header = sample_header();
    struct history_writer *writer;
    struct text file = {0};
    assert_int_equal(history_create(NULL, &header, &writer, NULL), 0);
    for (uint64_t i = 0; i < events; i++) {
        struct event event;
        sample_event(i, &event);
        assert_int_equal(history_append(writer, &event, NULL), 0);
    }
    if (verdict)
        assert_int_equal(history_verdict(writer, slice_of(verdict), NULL), 0);
    if (torn)
        history_mark_torn(writer);
    assert_int_equal(history_finish(writer, NULL), 0);
    text_add_bytes(&file, history_writer_bytes(writer).at, history_writer_bytes(writer).length);
    assert_int_equal(history_close(writer, NULL), 0);
    return file;
}

static struct text to_jsonl(const struct text *file)
{
    struct history_reader *reader;
    struct text lines = {0};
    char piece[4096];
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(history_open_bytes(all(file), &reader, NULL), 0);
    assert_int_equal(history_to_jsonl(reader, out, NULL), 0);
    history_reader_close(reader);
    rewind(out);
    for (size_t got; (got = fread(piece, 1, sizeof piece, out)) > 0;)
        text_add_bytes(&lines, piece, got);
    assert_int_equal(fclose(out), 0);
    return lines;
}

static struct text to_coup(const struct text *lines)
{
    struct history_reader *reader;
    struct history_writer *writer;
    struct text file = {0};
    struct error error = {.text = ""};
    if (history_open_bytes(all(lines), &reader, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(history_create(NULL, history_header(reader), &writer, NULL), 0);
    assert_int_equal(history_copy(reader, writer, NULL), 0);
    history_reader_close(reader);
    assert_int_equal(history_finish(writer, NULL), 0);
    text_add_bytes(&file, history_writer_bytes(writer).at, history_writer_bytes(writer).length);
    assert_int_equal(history_close(writer, NULL), 0);
    return file;
}

static bool same(const struct text *a, const struct text *b)
{
    return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

/* There and back is the same, byte for byte, whole or torn, with or without a verdict. */
static void test_round_trip(void **state)
{
    (void)state;
    static const struct {
        uint64_t events;
        const char *verdict;
        bool torn;
    } cases[] = {
        {0, NULL, false},
        {1, "{\"verdict\":\"valid\",\"x\":[1,2.5,null,\"\\u0000\\u00e9\"],\"empty\":{}}", false},
        {3000, NULL, true},
        {6000, "{}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text file = sample_file(cases[i].events, cases[i].verdict, cases[i].torn);
        struct text lines = to_jsonl(&file);
        struct text file_again = to_coup(&lines);
        struct text lines_again = to_jsonl(&file_again);
        assert_int_equal(strstr(lines.at, "{\"end\":") == NULL, cases[i].torn);
        assert_true(same(&file, &file_again));
        assert_true(same(&lines, &lines_again));
        text_release(&file);
        text_release(&lines);
        text_release(&file_again);
        text_release(&lines_again);
    }
}

/* A header line, then `rest`. */
static struct text with_header(const char *rest)
{
    struct history_header header = sample_header();
    struct text lines = {0};
    header_to_json(&header, &lines);
    text_add(&lines, "\n%s", rest);
    return lines;
}

/* Reads `rest` behind a header; the damage, or "" for a whole history. */
static uint64_t read_lines(const char *rest, char damage[400])
{
    struct text lines = with_header(rest);
    struct history_reader *reader;
    struct event event;
    uint64_t count = 0;
    assert_int_equal(history_open_bytes(all(&lines), &reader, NULL), 0);
    while (history_next(reader, &event))
        assert_int_equal(event.index, count++);
    (void)snprintf(damage, 400, "%s", history_damage(reader) ? history_damage(reader) : "");
    history_reader_close(reader);
    text_release(&lines);
    return count;
}

#define EVENT "{\"time\":1,\"process\":\"n1\",\"type\":\"info\",\"f\":\"lead\"}\n"
#define END(n) "{\"end\":{\"events\":" n "}}\n"

static void test_what_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *rest;
        uint64_t events;
        const char *damage;
    } cases[] = {
        {END("0"), 0, ""},
        {EVENT END("1"), 1, ""},
        {EVENT "\n\r\n" EVENT END("2") "\n", 2, ""},
        {EVENT "{\"end\":{\"events\":1}}", 1, ""}, /* the last newline may be missing */
        {EVENT, 1,
         "cut off after line 2: the line {\"end\":...} is missing; the 1 event before it"
         " can be used"},
        {"", 0,
         "cut off after line 1: the line {\"end\":...} is missing; no event stands before it"},
        {EVENT "{\"time\":", 1, "line 3: not JSON at character 8: "},
        {EVENT END("2"), 1, "line 3: counts 2 events, but there are 1; "},
        {END("0") EVENT, 0, "line 3: something follows the line of the key 'end'; "},
        {"{\"end\":{\"events\":0,\"verdict\":1}}\n", 0, "line 2: 'verdict' must be an object; "},
        {"{\"end\":{}}\n", 0, "line 2: 'end' must be the line's only key"},
        {"{\"end\":{\"events\":0},\"time\":1}\n", 0, "line 2: 'end' must be the line's only key"},
        {"{\"end\":{\"events\":0,\"x\":1}}\n", 0, "line 2: 'end' must be the line's only key"},
        {"{\"end\":0}\n", 0, "line 2: 'end' must be the line's only key"},
        {"[]\n", 0, "line 2: not a JSON object; "},
        {"{\"index\":1,", 0, "line 2: not JSON"},
        {"{\"index\":1,\"time\":1,\"process\":\"n1\",\"type\":\"info\",\"f\":\"lead\"}\n", 0,
         "line 2: index 1 where 0 comes next; "},
        {EVENT "{\"process\":\"n1\",\"type\":\"info\",\"f\":\"lead\"}\n", 1,
         "line 3: key 'time' is missing; "},
        {"{\"time\":1,\"process\":\"x\",\"type\":\"info\",\"f\":\"lead\"}\n", 0,
         "line 2: key 'process' must name a process (n1, client-1, resource, ...); "},
        {"{\"time\":-1,\"process\":\"n1\",\"type\":\"info\",\"f\":\"lead\"}\n", 0,
         "line 2: key 'time' must be a whole number; "},
        {"{\"time\":1,\"process\":\"n1\",\"type\":\"okay\",\"f\":\"lead\"}\n", 0,
         "line 2: key 'type': unknown word okay; "},
        {"{\"time\":1,\"process\":\"n1\",\"type\":\"ok\",\"f\":7}\n", 0,
         "line 2: key 'f': must be a text; "},
        {"{\"time\":1,\"process\":\"n1\",\"type\":\"ok\",\"f\":\"lead\",\"value\":[]}\n", 0,
         "line 2: key 'value' must be an object; "},
        {"{\"time\":1,\"process\":\"n1\",\"type\":\"ok\",\"f\":\"lead\",\"value\":{\"tem\":1}}\n",
         0, "line 2: unknown key 'tem' in 'value'; "},
        {"{\"time\":1,\"process\":\"n1\",\"type\":\"ok\",\"f\":\"lead\",\"value\":{\"error\":\"\"}}"
         "\n",
         0, "line 2: unknown key 'error' in 'value'; "},
        {"{\"time\":1,\"process\":\"n1\",\"type\":\"ok\",\"f\":\"lead\",\"valeu\":{}}\n", 0,
         "line 2: unknown key 'valeu'; "},
        {"{\"time\":1,\"process\":\"n1\",\"type\":\"ok\",\"f\":\"lead\",\"error\":1}\n", 0,
         "line 2: key 'error' must be a text; "},
        {"{\"time\":1,\"process\":\"n1\",\"type\":\"ok\",\"f\":\"vote\",\"value\":{\"for\":2}}\n",
         0, "line 2: key 'for' must name a process"},
        {"{\"time\":1,\"time\":2}\n", 0, "line 2: not JSON"},
        {"{\"time\":1,\"process\":\"n1\",\"type\":\"ok\",\"f\":\"note\",\"value\":"
         "{\"text\":\"\\ud800\"}}\n",
         0, "line 2: not JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char damage[400];
        assert_int_equal(read_lines(cases[i].rest, damage), cases[i].events);
        if (strncmp(damage, cases[i].damage, strlen(cases[i].damage)) != 0 ||
            (cases[i].damage[0] == '\0' && damage[0] != '\0'))
            fail_msg("%s\nis said to be '%s',\nnot '%s'", cases[i].rest, damage, cases[i].damage);
    }
}

static void test_a_missing_or_bad_header(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {EVENT, "JSON line 1: no history header, for it has no key 'format'"},
        {"{\"format\":1}\n", "JSON line 1: key 'version' is missing"},
        {"{\"format\":2}\n", "JSON line 1: key 'format': 2 is newer than this coup reads (1): use a"
                             " newer coup"},
        {"{\"format\"", "JSON line 1: not JSON at character 9: "},
        {"{", "JSON line 1: not JSON at character 1: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct history_reader *reader;
        struct error error = {.kind = ERROR_HARNESS};
        assert_true(history_open_bytes(slice_of(cases[i].text), &reader, &error) < 0);
        assert_int_equal(error.kind, ERROR_USAGE);
        assert_memory_equal(error.text, cases[i].why, strlen(cases[i].why));
    }
}

/* Whatever is cut off, the events before are delivered as they were and the cut is told. */
static void test_cut_off_at_every_byte(void **state)
{
    (void)state;
    struct text file = sample_file(4, "{\"verdict\":\"valid\"}", false);
    struct text lines = to_jsonl(&file);
    for (size_t length = 0; length + 1 < lines.length; length++) { /* the newline may miss */
        char *exact = malloc(length ? length : 1);
        memcpy(exact, lines.at, length);
        struct history_reader *reader;
        struct error error;
        if (history_open_bytes((struct slice){exact, length}, &reader, &error) == 0) {
            struct event event, want;
            for (uint64_t i = 0; history_next(reader, &event); i++) {
                sample_event(i, &want);
                assert_true(same_event(&event, &want));
            }
            assert_non_null(history_damage(reader));
            history_reader_close(reader);
        }
        free(exact);
    }
    text_release(&file);
    text_release(&lines);
}

/* Lines far longer than a window, and one beyond all bounds. */
static void test_long_lines(void **state)
{
    (void)state;
    static const size_t lengths[] = {1000000, 17 << 20};
    for (size_t i = 0; i < 2; i++) {
        struct text rest = {0};
        char damage[400], *long_text = calloc(1, lengths[i] + 1);
        memset(long_text, 'x', lengths[i]);
        text_add(&rest,
                 EVENT "{\"time\":1,\"process\":\"n1\",\"type\":\"info\",\"f\":\"note\","
                       "\"value\":{\"text\":\"%s\"}}\n" END("2"),
                 long_text);
        assert_int_equal(read_lines(rest.at, damage), i == 0 ? 2 : 1);
        assert_string_equal(damage, i == 0 ? ""
                                           : "line 3: longer than 16777216 bytes; the 1 event"
                                             " before it can be used");
        free(long_text);
        text_release(&rest);
    }
}

/* Numbers a reader of JSON would round are texts. */
static void test_large_numbers(void **state)
{
    (void)state;
    struct event event = {
        .process = 1, .type = EVENT_INFO, .f = F_LEAD, .time_ns = (UINT64_C(1) << 53) - 1};
    struct text json = {0};
    event_set(&event, FIELD_TERM, UINT64_C(1) << 53);
    event_set(&event, FIELD_TOKEN, UINT64_MAX);
    event_to_json(&event, &json);
    assert_string_equal(json.at, "{\"index\":0,\"time\":9007199254740991,\"process\":\"n1\","
                                 "\"type\":\"info\",\"f\":\"lead\",\"value\":"
                                 "{\"term\":\"9007199254740992\","
                                 "\"token\":\"18446744073709551615\"}}");
    text_release(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_what_is_read),
        cmocka_unit_test(test_a_missing_or_bad_header),
        cmocka_unit_test(test_cut_off_at_every_byte),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_large_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
