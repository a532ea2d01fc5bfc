/* Events come as pipes are read; the history holds them in the order of their times. */
#include "controller/recorder.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/random.h"
#include "tests/history_sample.h"
#include "tests/test.h"

struct bench {
    char folder[64], path[96];
    struct recorder *recorder;
};

static int setup(void **state)
{
    struct bench *bench = must_alloc(1, sizeof *bench);
    struct history_header header = sample_header();
    struct error error;
    (void)snprintf(bench->folder, sizeof bench->folder, "/tmp/coup-recorder-XXXXXX");
    if (!mkdtemp(bench->folder))
        return -1;
    (void)snprintf(bench->path, sizeof bench->path, "%s/history.coup", bench->folder);
    *state = bench;
    return recorder_open(bench->path, &header, &bench->recorder, &error);
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    (void)unlink(bench->path);
    (void)rmdir(bench->folder);
    free(bench);
    return 0;
}

static void add(struct bench *bench, uint32_t node, uint64_t time_ns)
{
    struct event event = {.time_ns = time_ns, .process = node, .type = EVENT_INFO, .f = F_NOTE};
    event_set(&event, FIELD_ID, time_ns);
    event_set_text(&event, FIELD_TEXT, slice_of("something worth keeping"));
    recorder_add(bench->recorder, &event);
}

/* Times in the file, in order; the recorder is closed by it. */
static uint64_t read_back(struct bench *bench, struct event *out, uint64_t room)
{
    struct history_reader *reader;
    struct error error;
    uint64_t count = 0;
    struct event event;
    assert_int_equal(recorder_close(bench->recorder, &error), 0);
    assert_int_equal(history_open(bench->path, &reader, &error), 0);
    while (history_next(reader, &event) > 0) {
        assert_true(count < room);
        assert_true(slice_equals(event_text(&event, FIELD_TEXT), "something worth keeping"));
        out[count++] = event;
    }
    assert_null(history_damage(reader));
    history_reader_close(reader);
    return count;
}

static void test_sorted_by_time(void **state)
{
    struct bench *bench = *state;
    struct event events[8];
    struct error error;
    add(bench, 2, 30);
    add(bench, 1, 10);
    add(bench, 1, 50);
    add(bench, 3, 20);
    assert_int_equal(recorder_emit(bench->recorder, 40, &error), 0);
    assert_int_equal(recorder_events(bench->recorder), 3);
    add(bench, 2, 45); /* its effect, at 50, was read before it */
    assert_int_equal(recorder_emit(bench->recorder, UINT64_MAX, &error), 0);
    assert_int_equal(read_back(bench, events, 8), 5);
    static const uint64_t times[] = {10, 20, 30, 45, 50};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(events[i].time_ns, times[i]);
        assert_int_equal(events[i].index, i);
    }
}

static void test_equal_times_keep_their_order(void **state)
{
    struct bench *bench = *state;
    struct event events[64];
    struct error error;
    for (uint32_t i = 0; i < 50; i++)
        add(bench, i + 1, 7);
    assert_int_equal(recorder_emit(bench->recorder, 7, &error), 0);
    assert_int_equal(recorder_events(bench->recorder), 0); /* strictly before */
    assert_int_equal(recorder_emit(bench->recorder, 8, &error), 0);
    assert_int_equal(read_back(bench, events, 64), 50);
    for (uint32_t i = 0; i < 50; i++)
        assert_int_equal(events[i].process, i + 1);
}

/* Many processes, each in order, read in any order, emitted in many steps: nothing is lost, doubled
 * or out of order. */
#define MANY 5000u
static void test_many(void **state)
{
    struct bench *bench = *state;
    static struct event events[MANY];
    struct random random;
    struct error error;
    uint64_t times[8] = {0}, watermark = 0;
    random_init(&random, 1, "recorder", 0);
    for (uint32_t i = 0; i < MANY; i++) {
        uint64_t node = random_below(&random, 8);
        times[node] =
            (times[node] > watermark ? times[node] : watermark) + random_below(&random, 40);
        add(bench, (uint32_t)node + 1, times[node]);
        if (random_chance(&random, 20000)) {
            watermark += 30;
            assert_int_equal(recorder_emit(bench->recorder, watermark, &error), 0);
        }
    }
    assert_int_equal(recorder_emit(bench->recorder, UINT64_MAX, &error), 0);
    assert_int_equal(recorder_events(bench->recorder), MANY);
    assert_int_equal(read_back(bench, events, MANY), MANY);
    for (uint32_t i = 1; i < MANY; i++)
        assert_true(events[i - 1].time_ns <= events[i].time_ns);
}

/* A disk that takes no more, played by a limit on file sizes: every call says so from then on, and
 * what was written before is a history. */
static void test_full_disk(void **state)
{
    struct bench *bench = *state;
    struct history_reader *reader;
    struct event event;
    struct rlimit limit, before;
    struct error error = {.text = ""}, again = {.text = ""};
    add(bench, 1, 1);
    assert_int_equal(recorder_emit(bench->recorder, 2, &error), 0);
    assert_int_equal(recorder_flush(bench->recorder, &error), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    limit = before;
    limit.rlim_cur = 1;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    add(bench, 1, 3);
    int rc = recorder_emit(bench->recorder, 4, &error);
    if (rc == 0)
        rc = recorder_flush(bench->recorder, &error);
    add(bench, 1, 5);
    int rc_again = recorder_emit(bench->recorder, 6, &again);
    int rc_flush = recorder_flush(bench->recorder, &again);
    int rc_close = recorder_close(bench->recorder, &again);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(rc, -EFBIG);
    assert_int_equal(rc_again, rc);
    assert_int_equal(rc_flush, rc);
    assert_true(rc_close < 0);
    assert_int_equal(error.kind, ERROR_HARNESS);
    assert_int_equal(history_open(bench->path, &reader, &error), 0);
    assert_int_equal(history_next(reader, &event), 1);
    assert_int_equal(event.time_ns, 1);
    assert_int_equal(history_next(reader, &event), 0);
    assert_non_null(history_damage(reader));
    history_reader_close(reader);
}

#define RECORDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RECORDER(test_sorted_by_time),
        RECORDER(test_equal_times_keep_their_order),
        RECORDER(test_many),
        RECORDER(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
