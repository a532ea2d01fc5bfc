/* The data that a page is drawn from. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report/page.h"
#include "tests/events.h"
#include "tests/history_sample.h"

static struct text page_of(const struct history_header *header, const struct events *events)
{
    struct history_writer *writer;
    struct history_reader *reader;
    struct report_data data;
    struct text out = {0};
    struct error error = {.text = ""};
    assert_int_equal(history_create(NULL, header, &writer, &error), 0);
    for (uint32_t i = 0; i < events->count; i++)
        assert_int_equal(history_append(writer, &events->at[i], &error), 0);
    assert_int_equal(history_finish(writer, &error), 0);
    assert_int_equal(history_open_bytes(history_writer_bytes(writer), &reader, &error), 0);
    assert_int_equal(check_history(reader, NULL, &data, &error), 0);
    history_reader_close(reader);
    assert_int_equal(history_open_bytes(history_writer_bytes(writer), &reader, &error), 0);
    struct report report = {
        .data = &data, .header = history_header(reader), .path = "</script><b>.coup"};
    page_html(&report, reader, &out);
    history_reader_close(reader);
    report_data_release(&data);
    assert_int_equal(history_close(writer, &error), 0);
    return out;
}

/* What stands between the data's tags, which end where they should. */
static json_t *data_of(const struct text *page)
{
    static const char opening[] = "<script type=\"application/json\" id=\"data\">";
    const char *begin = strstr(page->at, opening);
    json_error_t wrong;
    assert_non_null(begin);
    begin += sizeof opening - 1;
    const char *end = strstr(begin, "</script");
    assert_non_null(end);
    json_t *data = json_loadb(begin, (size_t)(end - begin), JSON_REJECT_DUPLICATES, &wrong);
    if (!data)
        fail_msg("line %d: %s", wrong.line, wrong.text);
    assert_non_null(strstr(end, "</html>"));
    return data;
}

static void expect(json_t *data, const char *key, const char *wanted)
{
    char *said = json_dumps(json_object_get(data, key), JSON_COMPACT | JSON_ENCODE_ANY);
    assert_string_equal(said, wanted);
    free(said);
}

static void test_a_run(void **state)
{
    (void)state;
    struct history_header header = events_header(2);
    struct events events = {0};
    struct error error = {.text = ""};
    int rc = events_parse(
        &events,
        "0ms controller phase name=start\n"
        "1ms n1 spawn\n"
        "1ms n2 spawn\n"
        "10ms n1 campaign term=1\n"
        "12ms n1 lead term=1 token=1\n"
        "13ms n2 follow term=1 leader=n1\n"
        "20ms resource accept token=1 holder=n1 register=0 value=5\n"
        "25ms resource accept token=1 holder=n1 register=0 value=6\n"
        "30ms nemesis fault id=1 kind=pause outcome=installed targets=n1 begin=29ms proof=T\n"
        "31ms nemesis fault id=2 kind=kill outcome=skipped targets=n2 reason=\"dead <b>\"\n"
        "40ms n2 lead term=2 token=2\n"
        "41ms resource accept token=2 holder=n2 register=0 value=7\n"
        "42ms resource reject token=1 holder=n1 register=0 value=8\n"
        "50ms nemesis heal id=1 value=1\n"
        "55ms n1 step-down term=1\n"
        "60ms n2 exit by=itself signal=11\n"
        "61ms n1 message-counts counts=heartbeat=5,vote-request=2\n"
        "62ms n2 message-counts counts=heartbeat=7\n",
        &error);
    if (rc < 0)
        fail_msg("%s", error.text);
    struct text page = page_of(&header, &events);
    json_t *data = data_of(&page);
    expect(data, "lanes",
           "[{\"name\":\"n1\",\"roles\":[[10000,12000,\"c\",1,0],[12000,55000,\"l\",1,0]],"
           "\"states\":[[0,1000,\"down\"],[30000,50000,\"paused\"]]},"
           "{\"name\":\"n2\",\"roles\":[[13000,40000,\"f\",1,1],[40000,60000,\"l\",2,0]],"
           "\"states\":[[0,1000,\"down\"],[60000,62000,\"down\"]]}]");
    expect(data, "faults",
           "[[29000,50000,1,\"pause\",\"n1\",\"installed\",\"\",\"T\"],"
           "[31000,31000,0,\"kill\",\"n2\",\"skipped\",\"\",\"dead <b>\"]]");
    expect(data, "writes",
           "[{\"holder\":1,\"token\":1,\"times\":[20000,5000]},"
           "{\"holder\":2,\"token\":2,\"times\":[41000]}]");
    expect(data, "rejects", "[[42000,1,1]]");
    expect(data, "messages", "[[\"heartbeat\",12],[\"vote-request\",2]]");
    expect(data, "phases", "[[0,\"start\"]]");
    json_decref(data);
    text_release(&page);
    events_release(&events);
}

/* Very many writes are counted, not listed, and the page stays small. */
static void test_many_writes(void **state)
{
    (void)state;
    struct history_header header = events_header(1);
    struct events events = {0};
    for (uint64_t i = 0; i < 60000; i++) {
        struct event accept = {.process = PROCESS_NUMBER(PROCESS_RESOURCE, 0),
                               .type = EVENT_INFO,
                               .f = F_ACCEPT,
                               .time_ns = i * 1000000};
        event_set(&accept, FIELD_HOLDER, 1);
        event_set(&accept, FIELD_TOKEN, 1);
        event_set(&accept, FIELD_REGISTER, 0);
        event_set(&accept, FIELD_VALUE, i + 1);
        (void)events_add(&events, &accept);
    }
    struct text page = page_of(&header, &events);
    json_t *data = data_of(&page), *value;
    json_int_t sum = 0;
    size_t at;
    json_array_foreach(json_object_get(json_array_get(json_object_get(data, "writes"), 0), "bins"),
                       at, value) sum += at % 2 ? json_integer_value(value) : 0;
    assert_int_equal(sum, 60000);
    assert_true(page.length < 300000);
    json_decref(data);
    text_release(&page);
    events_release(&events);
}

/* Whatever events hold, the page holds together. */
static void test_any_event(void **state)
{
    (void)state;
    struct history_header header = sample_header();
    for (uint64_t first = 0; first < 2000; first += 200) {
        struct events events = {0};
        for (uint64_t i = first; i < first + 200; i++) {
            struct event event;
            sample_event(i, &event);
            (void)events_add(&events, &event);
        }
        struct text page = page_of(&header, &events);
        json_decref(data_of(&page));
        text_release(&page);
        events_release(&events);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run),
        cmocka_unit_test(test_many_writes),
        cmocka_unit_test(test_any_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
