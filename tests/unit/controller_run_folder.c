/* The folder of a run: its own, whoever else makes one at the same time. */
#include "controller/run_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

/* Each test in an empty folder that is the working directory. */
static int setup(void **state)
{
    char *folder = must_copy("/tmp/coup-folders-XXXXXX");
    *state = folder;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
    char command[128];
    pid_t pid = fork();
    int status = 0;
    (void)snprintf(command, sizeof command, "%s", (const char *)*state);
    if (pid == 0) {
        (void)execlp("rm", "rm", "-rf", command, (char *)NULL);
        _exit(1);
    }
    (void)waitpid(pid, &status, 0);
    free(*state);
    return chdir("/") == 0 ? status : -1;
}

static int create(const char *folder, struct text *out, struct error *error)
{
    int rc = run_folder_create(folder, "raft", 7, out, error);
    if (rc == 0 && !folder)
        run_folder_point(text_string(out));
    return rc;
}

static void test_dated_and_latest(void **state)
{
    (void)state;
    struct text first = {0}, second = {0};
    struct error error;
    char link[256] = "", path[300];
    struct stat made;
    assert_int_equal(create(NULL, &first, &error), 0);
    assert_int_equal(create(NULL, &second, &error), 0);
    assert_string_not_equal(first.at, second.at);
    assert_int_equal(strncmp(first.at, "coup-runs/raft/20", 17), 0);
    assert_non_null(strstr(first.at, "Z-7"));
    assert_true(readlink("coup-runs/latest", link, sizeof link - 1) > 0);
    (void)snprintf(path, sizeof path, "coup-runs/%s", link);
    assert_string_equal(path, second.at);
    assert_int_equal(stat("coup-runs/latest/.", &made), 0);
    run_folder_point("mine/of/another"); /* not ours to point to */
    assert_int_equal(stat("coup-runs/latest/.", &made), 0);
    text_release(&first);
    text_release(&second);
}

static void test_parents_are_made(void **state)
{
    (void)state;
    struct text path = {0};
    struct error error;
    assert_int_equal(create("a/b//c/mine", &path, &error), 0);
    assert_int_equal(access("a/b/c/mine", F_OK), 0);
    text_release(&path);
}

/* All at once, same second, same seed: everybody gets one of their own, the link is never broken.
 */
#define AT_ONCE 50
static void test_at_once(void **state)
{
    (void)state;
    pid_t pids[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct text path = {0}, mine = {0};
            struct error error;
            int rc = create(NULL, &path, &error);
            text_add(&mine, "%s/mine", text_string(&path));
            _exit(rc < 0 || mkdir(text_string(&mine), 0777) < 0);
        }
    }
    for (int i = 0; i < AT_ONCE; i++) {
        int status = 1;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(access("coup-runs/latest/mine", F_OK), 0);
}

static void test_named(void **state)
{
    (void)state;
    struct text path = {0};
    struct error error;
    assert_int_equal(create("mine", &path, &error), 0);
    assert_string_equal(path.at, "mine");
    assert_int_equal(create("mine", &path, &error), 0); /* empty: fine */
    assert_int_equal(access("coup-runs", F_OK), -1);
    assert_int_equal(mkdir("mine/something", 0777), 0);
    text_release(&path);
}

static void refused(const char *folder, const char *about)
{
    struct text path = {0};
    struct error error = {.text = ""};
    assert_true(create(folder, &path, &error) < 0);
    assert_int_equal(error.kind, ERROR_USAGE);
    assert_non_null(strstr(error.text, about));
    assert_null(path.at);
}

static void test_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir("full", 0777), 0);
    assert_int_equal(mkdir("full/something", 0777), 0);
    refused("full", "full exists and is not an empty folder");
    FILE *file = fopen("file", "w");
    assert_non_null(file);
    (void)fclose(file);
    refused("file", "not an empty folder");
    refused("file/mine", "Not a directory");
    refused("", "No such file");
    refused("/proc/mine", "/proc/mine");
    (void)rename("file", "coup-runs"); /* where the default folders should be */
    refused(NULL, "-o DIR");
}

#define FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER(test_dated_and_latest), FOLDER(test_at_once),
        FOLDER(test_parents_are_made), FOLDER(test_named),
        FOLDER(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
