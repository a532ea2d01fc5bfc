/* Children for real: what they say comes before their end, every end has its author, a pause is
 * seen to be one. The children are tests/live/helpers/live_child.c. */
#include "controller/children.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

#include "base/units.h"
#include "controller/stalls.h"
#include "tests/test.h"

#define WITHIN_MS 20000u

/* What the callbacks saw. */
struct seen {
    int ready, done, stopped, resumed, ended, garbled;
    uint64_t events, out_of_order, after_end;
    struct child_end end;
    struct error error;
};

struct bench {
    uv_loop_t loop;
    uv_timer_t late;
    bool is_late;
    struct children *children;
    struct child *child;
    struct seen seen;
    char folder[64], log[96];
};

static void on_ready(void *context, struct child *child, struct slice address)
{
    struct bench *bench = context;
    assert_ptr_equal(child, bench->child);
    assert_true(slice_equals(address, "here"));
    bench->seen.ready++;
}

static void on_event(void *context, struct child *child, const struct event *event)
{
    struct bench *bench = context;
    (void)child;
    bench->seen.out_of_order += event_number(event, FIELD_ID) != ++bench->seen.events;
    bench->seen.after_end += bench->seen.ended != 0;
}

static void on_done(void *context, struct child *child, const struct control *control)
{
    struct bench *bench = context;
    (void)child;
    bench->seen.done += control->id == 7;
}

static void on_stopped(void *context, struct child *child)
{
    struct bench *bench = context;
    assert_true(child->stopped);
    bench->seen.stopped++;
}

static void on_resumed(void *context, struct child *child)
{
    struct bench *bench = context;
    assert_false(child->stopped);
    bench->seen.resumed++;
}

static void on_ended(void *context, struct child *child, const struct child_end *end)
{
    struct bench *bench = context;
    assert_int_equal(child->pid, 0);
    bench->seen.ended++;
    bench->seen.end = *end;
}

static void on_garbled(void *context, struct child *child, const struct error *error)
{
    struct bench *bench = context;
    (void)child;
    bench->seen.garbled++;
    bench->seen.error = *error;
}

static void on_late(uv_timer_t *timer)
{
    ((struct bench *)timer->data)->is_late = true;
}

/* Turn the loop until the count is reached; fails when it takes too long. */
static void wait_for(struct bench *bench, const int *count, int wanted)
{
    bench->is_late = false;
    (void)uv_timer_start(&bench->late, on_late, WITHIN_MS, 0);
    while (*count < wanted && !bench->is_late)
        (void)uv_run(&bench->loop, UV_RUN_ONCE);
    (void)uv_timer_stop(&bench->late);
    assert_int_equal(*count, wanted);
}

static int setup(void **state)
{
    struct bench *bench = must_alloc(1, sizeof *bench);
    struct error error;
    const struct child_callbacks callbacks = {
        .context = bench,
        .ready = on_ready,
        .event = on_event,
        .done = on_done,
        .stopped = on_stopped,
        .resumed = on_resumed,
        .ended = on_ended,
        .garbled = on_garbled,
    };
    (void)snprintf(bench->folder, sizeof bench->folder, "/tmp/coup-children-XXXXXX");
    if (!mkdtemp(bench->folder) || uv_loop_init(&bench->loop) < 0)
        return -1;
    (void)uv_timer_init(&bench->loop, &bench->late);
    bench->late.data = bench;
    if (children_open(&bench->loop, 2, &callbacks, &bench->children, &error) < 0)
        return -1;
    (void)snprintf(bench->log, sizeof bench->log, "%s/log", bench->folder);
    bench->child = children_add(bench->children, 1, HELPERS_FOLDER "/live_child", bench->log, -1);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    children_close(bench->children);
    uv_close((uv_handle_t *)&bench->late, NULL);
    (void)uv_run(&bench->loop, UV_RUN_DEFAULT);
    int rc = uv_loop_close(&bench->loop);
    (void)unlink(bench->log);
    (void)rmdir(bench->folder);
    free(bench);
    return rc;
}

#define WORDS(...) ((const char *const[]){"live_child", __VA_ARGS__, NULL})

static void start(struct bench *bench, const char *const *argv)
{
    struct error error;
    int rc = child_start(bench->child, argv, &error);
    if (rc < 0)
        print_error("%s\n", error.text);
    assert_int_equal(rc, 0);
}

static void read_log(const struct bench *bench, char *line, int room)
{
    FILE *log = fopen(bench->log, "r");
    assert_non_null(log);
    assert_non_null(fgets(line, room, log));
    (void)fclose(log);
}

static void test_says_and_ends(void **state)
{
    struct bench *bench = *state;
    start(bench, WORDS("log", "first words", "ready", "event", "100000", "done"));
    wait_for(bench, &bench->seen.done, 1);
    assert_int_equal(bench->seen.ready, 1);
    assert_int_equal(bench->seen.events, 100000);
    assert_int_equal(bench->seen.out_of_order, 0);
    assert_true(bench->child->ready);
    child_finish(bench->child);
    wait_for(bench, &bench->seen.ended, 1);
    assert_int_equal(bench->seen.end.by, BY_SCHEDULE);
    assert_int_equal(bench->seen.end.status, 0);
    assert_int_equal(bench->seen.end.signal, 0);
    char line[32] = "";
    read_log(bench, line, sizeof line);
    assert_string_equal(line, "first words\n");
}

/* Its last words are in the pipe when it is gone: they come first. */
static void test_last_words_before_end(void **state)
{
    struct bench *bench = *state;
    for (int i = 1; i <= 20; i++) {
        uint64_t before = bench->seen.events;
        bench->seen.events = 0;
        start(bench, WORDS("ready", "event", "300", "exit", "0"));
        wait_for(bench, &bench->seen.ended, i);
        assert_int_equal(bench->seen.events, 300);
        assert_int_equal(bench->child->incarnation, i);
        bench->seen.events = before;
        bench->seen.after_end = 0; /* counts since the first end */
    }
}

struct ending {
    const char *words[6];
    int signal;    /* sent by us through child_kill (SIGKILL) or by a stranger; 0: none */
    bool stranger; /* who sends it */
    struct child_end end;
};

static void test_authors_of_ends(void **state)
{
    struct bench *bench = *state;
    static const struct ending endings[] = {
        {{"live_child", "ready", "exit", "5"}, 0, false, {BY_ITSELF, 5, 0}},
        {{"live_child", "ready", "exit", "0"}, 0, false, {BY_ITSELF, 0, 0}},
        {{"live_child", "ready", "abort"}, 0, false, {BY_ITSELF, 0, SIGABRT}},
        {{"live_child", "torn", "exit", "2"}, 0, false, {BY_ITSELF, 2, 0}},
        {{"live_child", "ready", "deaf"}, SIGKILL, false, {BY_SCHEDULE, 0, SIGKILL}},
        {{"live_child", "ready", "deaf"}, SIGKILL, true, {BY_OUTSIDE, 0, SIGKILL}},
        {{"live_child", "ready", "deaf"}, SIGTERM, true, {BY_OUTSIDE, 0, SIGTERM}},
    };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        bench->seen = (struct seen){0};
        start(bench, endings[i].words);
        if (endings[i].signal) {
            wait_for(bench, &bench->seen.ready, 1);
            if (endings[i].stranger)
                (void)kill(bench->child->pid, endings[i].signal);
            else
                assert_int_equal(child_kill(bench->child), 0);
        }
        wait_for(bench, &bench->seen.ended, 1);
        assert_int_equal(bench->seen.end.by, endings[i].end.by);
        assert_int_equal(bench->seen.end.status, endings[i].end.status);
        assert_int_equal(bench->seen.end.signal, endings[i].end.signal);
        assert_int_equal(bench->seen.garbled, 0);
    }
}

static char state_of(pid_t pid)
{
    char path[64], letter = '?';
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %c", &letter) != 1)
        letter = '?';
    if (file)
        (void)fclose(file);
    return letter;
}

static void test_pause_and_resume(void **state)
{
    struct bench *bench = *state;
    start(bench, WORDS("ready"));
    wait_for(bench, &bench->seen.ready, 1);
    for (int i = 1; i <= 50; i++) {
        assert_int_equal(child_pause(bench->child), 0);
        wait_for(bench, &bench->seen.stopped, i);
        assert_int_equal(state_of(bench->child->pid), 'T');
        assert_int_equal(child_resume(bench->child), 0);
        wait_for(bench, &bench->seen.resumed, i);
    }
    child_finish(bench->child);
    wait_for(bench, &bench->seen.ended, 1);
    assert_int_equal(bench->seen.end.by, BY_SCHEDULE);
}

/* A stopped child takes nothing, and we do not wait for it; a kill ends it all the same. */
static void test_stopped_takes_no_time(void **state)
{
    struct bench *bench = *state;
    start(bench, WORDS("ready", "deaf"));
    wait_for(bench, &bench->seen.ready, 1);
    assert_int_equal(child_pause(bench->child), 0);
    wait_for(bench, &bench->seen.stopped, 1);
    struct control control = {.verb = CONTROL_COMMAND, .text = slice_of("trace on")};
    uint64_t before = uv_hrtime();
    for (int i = 0; i < 20000; i++)
        child_send(bench->child, &control);
    assert_true(uv_hrtime() - before < 5 * NS_PER_S);
    assert_int_equal(child_kill(bench->child), 0);
    wait_for(bench, &bench->seen.ended, 1);
    assert_int_equal(bench->seen.end.by, BY_SCHEDULE);
    assert_int_equal(child_pause(bench->child), -ESRCH);
    assert_int_equal(child_resume(bench->child), -ESRCH);
    assert_int_equal(child_kill(bench->child), -ESRCH);
    child_send(bench->child, &control); /* to nobody */
}

static void test_garbage(void **state)
{
    struct bench *bench = *state;
    start(bench, WORDS("ready", "garbage"));
    wait_for(bench, &bench->seen.garbled, 1);
    assert_int_equal(bench->seen.ready, 1);
    assert_string_not_equal(bench->seen.error.text, "");
}

static void test_cannot_execute(void **state)
{
    struct bench *bench = *state;
    char line[512] = "";
    free(bench->child->program);
    bench->child->program = must_copy(HELPERS_FOLDER "/no-such-program");
    start(bench, WORDS("ready"));
    wait_for(bench, &bench->seen.ended, 1);
    assert_int_equal(bench->seen.end.by, BY_ITSELF);
    assert_int_equal(bench->seen.end.status, EXIT_HARNESS);
    read_log(bench, line, sizeof line);
    assert_string_equal(line, HELPERS_FOLDER "/no-such-program: No such file or directory\n");
}

static void test_cannot_log(void **state)
{
    struct bench *bench = *state;
    struct error error = {.text = ""};
    struct child *child =
        children_add(bench->children, 2, HELPERS_FOLDER "/live_child", "/proc/none", -1);
    assert_true(child_start(child, WORDS("ready"), &error) < 0);
    assert_int_equal(strncmp(error.text, "start n2: open /proc/none: ", 27), 0);
    assert_int_equal(child->pid, 0);
    assert_int_equal(child->incarnation, 0);
}

/* Two that want the one CPU both are let have: each waits for about half of the time. */
static void test_waits_for_cpu(void **state)
{
    struct bench *bench = *state;
    struct stalls stalls;
    struct error error;
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (size_t cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    struct child *other =
        children_add(bench->children, 2, HELPERS_FOLDER "/live_child", bench->log, -1);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    start(bench, WORDS("spin"));
    assert_int_equal(child_start(other, WORDS("spin"), &error), 0);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    stalls_init(&stalls);
    if (!stalls.counted)
        return;                                                   /* this kernel keeps no count */
    assert_int_equal(stalls_sample(&stalls, bench->children), 0); /* nothing to compare with yet */
    uint64_t longest_ns = 0;
    for (int i = 0; i < 50 && longest_ns < 50 * NS_PER_MS; i++) {
        (void)usleep(100000);
        uint64_t waited_ns = stalls_sample(&stalls, bench->children);
        longest_ns = waited_ns > longest_ns ? waited_ns : longest_ns;
    }
    assert_true(longest_ns >= 50 * NS_PER_MS);
}

/* Closing with everybody alive leaves nobody: teardown() would find open handles. */
static void test_close_kills(void **state)
{
    struct bench *bench = *state;
    start(bench, WORDS("ready", "deaf"));
    wait_for(bench, &bench->seen.ready, 1);
    pid_t pid = bench->child->pid;
    children_close(bench->children);
    bench->children = NULL;
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
}

#define LIVE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_says_and_ends),         LIVE(test_last_words_before_end),
        LIVE(test_authors_of_ends),       LIVE(test_pause_and_resume),
        LIVE(test_stopped_takes_no_time), LIVE(test_garbage),
        LIVE(test_cannot_execute),        LIVE(test_cannot_log),
        LIVE(test_waits_for_cpu),         LIVE(test_close_kills),
    };
    (void)signal(SIGPIPE, SIG_IGN); /* as in coup */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
