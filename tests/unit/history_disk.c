/* Histories as files: what the machine may do to them, and what people hand over by mistake. */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/history_sample.h"

struct place {
    char folder[64];
    char path[96];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    (void)snprintf(place->folder, sizeof place->folder, "/tmp/coup-history-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    (void)snprintf(place->path, sizeof place->path, "%s/history.coup", place->folder);
    *state = place;
    return 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    (void)unlink(place->path);
    assert_int_equal(rmdir(place->folder), 0);
    free(place);
    return 0;
}

static struct history_writer *create(const char *path)
{
    struct history_header header = sample_header();
    struct history_writer *writer = NULL;
    struct error error = {.text = ""};
    if (history_create(path, &header, &writer, &error) < 0)
        fail_msg("%s", error.text);
    return writer;
}

/* Appends until an error or `count`; the error's code. */
static int append(struct history_writer *writer, uint64_t count, struct error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        struct event event;
        sample_event(history_events(writer), &event);
        int rc = history_append(writer, &event, error);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* How many events the file holds, each as it was written; the damage, if any, in `damage`. */
static uint64_t drain(const char *path, char damage[400])
{
    struct history_reader *reader = NULL;
    struct error error = {.text = ""};
    if (history_open(path, &reader, &error) < 0)
        fail_msg("%s", error.text);
    struct event event, want;
    uint64_t count = 0;
    for (; history_next(reader, &event); count++) {
        sample_event(count, &want);
        assert_true(same_event(&event, &want));
    }
    (void)snprintf(damage, 400, "%s", history_damage(reader) ? history_damage(reader) : "");
    history_reader_close(reader);
    return count;
}

static void test_a_file_is_written_and_read(void **state)
{
    struct place *place = *state;
    char damage[400];
    struct history_writer *writer = create(place->path);
    assert_int_equal(append(writer, 30000, NULL), 0);
    assert_int_equal(history_close(writer, NULL), 0);
    assert_int_equal(drain(place->path, damage), 30000);
    assert_string_equal(damage, "");
}

/* What was flushed is there for a reader while the writer lives, and would be after its death. */
static void test_flushed_events_can_be_read_at_once(void **state)
{
    struct place *place = *state;
    char damage[400];
    struct history_writer *writer = create(place->path);
    for (uint64_t round = 1; round <= 3; round++) {
        assert_int_equal(append(writer, 7, NULL), 0);
        assert_int_equal(history_flush(writer, NULL), 0);
        assert_int_equal(drain(place->path, damage), 7 * round);
        assert_non_null(strstr(damage, "closing record is missing"));
    }
    assert_int_equal(history_close(writer, NULL), 0);
}

static void test_an_existing_file_is_left_alone(void **state)
{
    struct place *place = *state;
    struct history_header header = sample_header();
    struct history_writer *writer;
    struct error error;
    struct stat status;
    int file = open(place->path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(file, "precious", 8), 8);
    (void)close(file);
    assert_int_equal(history_create(place->path, &header, &writer, &error), -EEXIST);
    assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
    assert_non_null(strstr(error.text, place->path));
    assert_int_equal(stat(place->path, &status), 0);
    assert_int_equal(status.st_size, 8);
    assert_int_equal(history_create("/nowhere/at/all.coup", &header, &writer, &error), -ENOENT);
}

static void test_children_do_not_inherit_the_file(void **state)
{
    struct place *place = *state;
    struct history_writer *writer = create(place->path);
    struct stat file, open_file;
    int found = 0;
    assert_int_equal(stat(place->path, &file), 0);
    for (int number = 3; number < 64; number++) {
        if (fstat(number, &open_file) < 0 || open_file.st_ino != file.st_ino)
            continue;
        assert_true(fcntl(number, F_GETFD) & FD_CLOEXEC);
        found++;
    }
    assert_int_equal(found, 1);
    assert_int_equal(history_close(writer, NULL), 0);
}

/* Run with files limited to `bytes`: beyond it a write is short or fails, as on a full disk. */
static void limit_files(rlim_t bytes, struct rlimit *before)
{
    assert_int_equal(getrlimit(RLIMIT_FSIZE, before), 0);
    struct rlimit limit = {bytes, before->rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_a_full_disk_keeps_what_was_written(void **state)
{
    struct place *place = *state;
    for (rlim_t limit = 4000; limit < 90000; limit += 7919) {
        struct rlimit before;
        struct error first = {.text = ""}, again = {.text = ""};
        char damage[400];
        struct history_writer *writer = create(place->path);
        limit_files(limit, &before);
        int rc = append(writer, 100000, &first);
        assert_int_equal(rc, -EFBIG);
        assert_int_equal(append(writer, 1, &again), rc);
        assert_string_equal(first.text, again.text);
        assert_int_equal(history_flush(writer, &again), rc);
        assert_int_equal(history_verdict(writer, slice_of("{}"), &again), rc);
        assert_non_null(strstr(first.text, place->path));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(history_close(writer, &again), rc); /* even now that there is room */
        uint64_t events = drain(place->path, damage);
        assert_true(limit < 60000 || events > 1000);
        assert_non_null(strstr(damage, "closing record is missing"));
        assert_int_equal(unlink(place->path), 0);
    }
}

static void test_no_room_for_the_header_leaves_no_file(void **state)
{
    struct place *place = *state;
    struct history_header header = sample_header();
    for (rlim_t limit = 0; limit < 200; limit += 90) {
        struct history_writer *writer;
        struct rlimit before;
        struct error error;
        limit_files(limit, &before);
        assert_int_equal(history_create(place->path, &header, &writer, &error), -EFBIG);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(access(place->path, F_OK), -1); /* nor any other: remove_place() */
    }
}

/* Killed while it appends and flushes without a pause: all of it is whole blocks but the last. */
static void test_a_killed_writer_leaves_a_readable_file(void **state)
{
    struct place *place = *state;
    for (int round = 0; round < 20; round++) {
        int pipe_ends[2];
        char damage[400], byte;
        assert_int_equal(pipe(pipe_ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct history_writer *writer = create(place->path);
            for (uint64_t i = 0;; i++) {
                (void)append(writer, 1 + i % 40, NULL);
                (void)history_flush(writer, NULL);
                (void)write(pipe_ends[1], "x", 1);
            }
        }
        (void)close(pipe_ends[1]);
        for (int i = 0; i < 5 + 13 * round; i++)
            assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        (void)close(pipe_ends[0]);
        assert_true(drain(place->path, damage) >= (uint64_t)(5 + 13 * round));
        assert_non_null(strstr(damage, "cut off at byte"));
        assert_int_equal(unlink(place->path), 0);
    }
}

/* Killed at any moment of the beginning: no file, or one that can be read; and no other file, for
 * the folder must be empty when remove_place() removes it. */
static void test_a_killed_beginning_leaves_nothing_unreadable(void **state)
{
    struct place *place = *state;
    for (int round = 0; round < 100; round++) {
        int ends[2];
        char damage[400], byte;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            for (;;) {
                (void)write(ends[1], "x", 1);
                (void)history_close(create(place->path), NULL);
                (void)unlink(place->path);
            }
        }
        for (int i = 0; i <= round % 3; i++)
            assert_int_equal(read(ends[0], &byte, 1), 1);
        for (volatile int wait = 0; wait < round * 500; wait++)
            continue; /* a little later every time */
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        (void)close(ends[0]);
        (void)close(ends[1]);
        if (access(place->path, F_OK) == 0) {
            assert_int_equal(drain(place->path, damage), 0);
            assert_int_equal(unlink(place->path), 0);
        }
    }
}

/* A name without a folder, and folders that cannot be written to or are none. */
static void test_names(void **state)
{
    struct place *place = *state;
    struct history_header header = sample_header();
    struct history_writer *writer;
    struct error error;
    char damage[400], before[4096], beyond[128];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(place->folder), 0);
    assert_int_equal(history_close(create("history.coup"), NULL), 0);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(drain(place->path, damage), 0);
    (void)snprintf(beyond, sizeof beyond, "%s/x.coup", place->path);
    assert_int_equal(history_create(beyond, &header, &writer, &error), -ENOTDIR);
    assert_int_equal(history_create(place->folder, &header, &writer, &error), -EEXIST);
    assert_int_equal(history_create("", &header, &writer, &error), -ENOENT);
    assert_int_equal(history_create("/proc/x.coup", &header, &writer, &error), -ENOENT);
}

static void expect_refusal(const char *path, const char *why)
{
    struct history_reader *reader;
    struct error error = {.kind = ERROR_HARNESS, .text = ""};
    assert_true(history_open(path, &reader, &error) < 0);
    assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
    if (!strstr(error.text, why) || strncmp(error.text, path, strlen(path)) != 0)
        fail_msg("'%s' does not say '%s'", error.text, why);
}

static void test_foreign_files_are_named(void **state)
{
    struct place *place = *state;
#define BYTES(literal) literal, sizeof literal - 1
    static const struct {
        const char *bytes;
        size_t length;
        const char *why;
    } cases[] = {
        {BYTES(""), "the file is empty"},
        {BYTES("hello, world\nthis is text\n"), "not a coup history"},
        {BYTES("x"), "not a coup history"},
        {BYTES("\x1f\x8b\x08\0\0\0\0\0\0\3more and more"), "a gzip file"},
        {BYTES("\x1f\x8b"), "a gzip file"},
        {BYTES("PK\3\4and so on and so forth"), "a zip file"},
        {BYTES("\x28\xb5\x2f\xfd and so on and so forth"), "a zstd file"},
        {BYTES("\x89PNG\r\n\x1a\n and so on"), "not a coup history"},
        {BYTES("\x89"
               "coup\n\x1a and then some more"),
         "not a coup history"}, /* text mode transfer */
        {BYTES("\x89"
               "coup"),
         "cut off within its first 16 bytes"},
        {BYTES("\x89"
               "coup\r\n\x1a\1\0\0\0\0\0\0\0"),
         "damaged within its first bytes"},
        {BYTES("{}"), "JSON line 1: no history header"},
        {BYTES("{\"a\":1}\n{\"b\":2}\n"), "JSON line 1: no history header"},
        {BYTES("{\n  \"format\": 1\n}\n"), "JSON line 1: not JSON"},
        {BYTES("[{:type :invoke}]"), "a JSON or EDN list"},
        {BYTES("<html>"), "HTML or XML"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int file = open(place->path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
        assert_int_equal(write(file, cases[i].bytes, cases[i].length), cases[i].length);
        assert_int_equal(close(file), 0);
        expect_refusal(place->path, cases[i].why);
    }
    expect_refusal("/proc/self/exe", "a program");
    expect_refusal(place->folder, "HTML or XML"); /* a folder stands for the history in it */
    assert_int_equal(unlink(place->path), 0);
    expect_refusal(place->folder, "Is a directory");
    expect_refusal("/nowhere/at/all.coup", "No such file");
}

static void test_an_unreadable_file(void **state)
{
    struct place *place = *state;
    assert_int_equal(history_close(create(place->path), NULL), 0);
    assert_int_equal(chmod(place->path, 0), 0);
    assert_int_equal(chmod(place->folder, 0755), 0);
    uid_t user = geteuid();
    assert_true(user != 0 || seteuid(65534) == 0); /* root reads everything */
    expect_refusal(place->path, "Permission denied");
    assert_int_equal(seteuid(user), 0);
}

/* From a pipe, which gives what it has and cannot seek. */
static void test_a_pipe_can_be_read(void **state)
{
    struct place *place = *state;
    char damage[400], path[64];
    struct history_writer *writer = create(place->path);
    assert_int_equal(append(writer, 9000, NULL), 0);
    assert_int_equal(history_close(writer, NULL), 0);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        int file = open(place->path, O_RDONLY);
        char piece[777];
        ssize_t got;
        while ((got = read(file, piece, sizeof piece)) > 0)
            (void)write(ends[1], piece, (size_t)got);
        _exit(0);
    }
    (void)close(ends[1]);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    assert_int_equal(drain(path, damage), 9000);
    assert_string_equal(damage, "");
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(void)
{
#define AT_A_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        AT_A_PLACE(test_a_file_is_written_and_read),
        AT_A_PLACE(test_flushed_events_can_be_read_at_once),
        AT_A_PLACE(test_an_existing_file_is_left_alone),
        AT_A_PLACE(test_children_do_not_inherit_the_file),
        AT_A_PLACE(test_a_full_disk_keeps_what_was_written),
        AT_A_PLACE(test_no_room_for_the_header_leaves_no_file),
        AT_A_PLACE(test_a_killed_writer_leaves_a_readable_file),
        AT_A_PLACE(test_a_killed_beginning_leaves_nothing_unreadable),
        AT_A_PLACE(test_names),
        AT_A_PLACE(test_foreign_files_are_named),
        AT_A_PLACE(test_an_unreadable_file),
        AT_A_PLACE(test_a_pipe_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
