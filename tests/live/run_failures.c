/* Where the machine or the installation fails a run: one line that says what, the right exit code,
 * the history so far kept, nothing left behind. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/program.h"
#include "tests/test.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *in_folder(const struct program_bench *bench, const char *name, char path[256])
{
    (void)snprintf(path, 256, "%s/%s", bench->folder, name);
    return path;
}

/* A mount of ours is nothing a run leaves behind. */
static void mount_tmpfs(struct program_bench *bench, const char *path, unsigned long flags,
                        const char *options)
{
    assert_int_equal(mount("tmpfs", path, "tmpfs", flags, options), 0);
    bench->mounts++;
}

static void unmount(struct program_bench *bench, const char *path)
{
    assert_int_equal(umount(path), 0);
    bench->mounts--;
}

static void refused(const struct program_bench *bench, const char *const *words, const char *about)
{
    int code = program_run(bench, words);
    program_expect_line(bench, about);
    assert_int_equal(code, EXIT_USAGE_BAD);
    assert_int_equal(program_left(bench), 0);
}

static void test_usage(void **state)
{
    const struct program_bench *bench = *state;
    static const struct {
        const char *words[6], *about;
    } rows[] = {
        {{"run", "-n", "0"}, "--nodes: '0' must be between 1 and 50"},
        {{"run", "-n", "51"}, "--nodes: '51' must be between 1 and 50"},
        {{"run", "-n", "five"}, "--nodes"},
        {{"run", "-a", "rift"}, "raft"},
        {{"run", "-a", "raft:prevote=maybe"}, "prevote"},
        {{"run", "-a", "raft:bug=none-such"}, "forget-vote"},
        {{"run", "--faults", "kill,earthquake"}, "earthquake"},
        {{"run", "--set", "heartbeat=1h"}, "heartbeat"},
        {{"run", "--set", "heartbeat=100ms"}, "election-timeout-min"},
        {{"run", "-t", "30"}, "--time"},
        {{"run", "-t", "0s"}, "--time"},
        {{"run", "--network", "carrier-pigeon"}, "accepted: auto"},
        {{"run", "--resource", "fence"}, "accepted: fenced, unfenced"},
        {{"run", "--expect", "maybe"}, "invalid:CHECK"},
        {{"run", "--expect", "invalid:vote"}, "vote-once"},
        {{"run", "-n", "3", "--witness", "3"}, "--witness (3)"},
        {{"run", "--seed", "-1"}, "--seed"},
        {{"run", "--clients", "65"}, "--clients"},
        {{"run", "now"}, "stray argument"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refused(bench, rows[i].words, rows[i].about);
}

static void test_output_folder(void **state)
{
    struct program_bench *bench = *state;
    char path[256];
    assert_int_equal(mkdir(in_folder(bench, "full", path), 0777), 0);
    assert_int_equal(mkdir(in_folder(bench, "full/thing", path), 0777), 0);
    refused(bench, WORDS("run", "-q", "-o", "full"), "full exists and is not an empty folder");
    refused(bench, WORDS("run", "-q", "-o", "out/run"), "out/run: Not a directory");
    refused(bench, WORDS("run", "-q", "-o", "/proc/run"), "/proc/run");
    assert_int_equal(mkdir(in_folder(bench, "ro", path), 0777), 0);
    mount_tmpfs(bench, path, MS_RDONLY, "size=64k");
    refused(bench, WORDS("run", "-q", "-o", "ro"), "ro: Read-only file system");
    refused(bench, WORDS("run", "-q", "-o", "ro/run"), "ro/run: Read-only file system");
    unmount(bench, path);
}

/* A folder of programs like the real one, in which `name` is `script` (NULL: is missing). The
 * bench's coup is the one in it. */
static void install(struct program_bench *bench, const char *name, const char *script)
{
    static const char *const names[] = {"coup",        "coup-node",        "coup-resource",
                                        "coup-client", "coup-coordinator", "coup-switch"};
    char path[256], from[4200], to[600];
    program_tool("rm", "-rf", in_folder(bench, "programs", path));
    assert_int_equal(mkdir(path, 0777), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(from, sizeof from, "%s/%s", PROGRAMS_FOLDER, names[i]);
        (void)snprintf(to, sizeof to, "%s/%s", path, names[i]);
        if (strcmp(names[i], name) != 0)
            program_tool("cp", from, to);
    }
    (void)snprintf(bench->coup, sizeof bench->coup, "%s/coup", path);
    if (!script)
        return;
    (void)snprintf(to, sizeof to, "%s/%s", path, name);
    int fd = open(to, O_WRONLY | O_CREAT | O_EXCL, 0755);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, script, strlen(script)), (ssize_t)strlen(script));
    assert_int_equal(close(fd), 0);
}

/* What crashes before there is a cluster to break is judged, not waited for. */
static void test_crash_at_start(void **state)
{
    struct program_bench *bench = *state, real = *bench;
    struct text out = {0};
    install(bench, "coup-node", "#!/bin/sh\nkill -ABRT $$\n");
    assert_int_equal(program_run(bench, WORDS("run", "-q", "-t", "60s", "-o", "crash")),
                     EXIT_INVALID);
    assert_true(program_read(bench, "out", &out));
    assert_non_null(strstr(text_string(&out), "no-crash"));
    assert_int_equal(program_left(bench), 0);
    text_release(&out);
    *bench = real;
}

/* 3, one line about it, and nothing left. The line also names the history. */
static void fails(const struct program_bench *bench, const char *const *words, const char *about)
{
    int code = program_run(bench, words);
    program_expect_line(bench, about);
    program_expect_line(bench, "history so far: ");
    assert_int_equal(code, EXIT_HARNESS);
    assert_true(program_nothing_left(bench, 1000));
}

/* The disk fills while the run goes on: controllers and nodes all hit it. */
static void test_full_disk(void **state)
{
    struct program_bench *bench = *state;
    static const char *const sizes[] = {"size=4k", "size=64k", "size=160k", "size=400k"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char path[256];
        (void)mkdir(in_folder(bench, "small", path), 0777);
        mount_tmpfs(bench, path, 0, sizes[i]);
        int code = program_run(bench, WORDS("run", "-q", "-n", "3", "-t", "60s", "--faults", "none",
                                            "--rate", "2000", "--trace", "-o", "small/run"));
        program_expect_line(bench, "No space left on device");
        assert_int_equal(code, EXIT_HARNESS);
        int checked = program_run(bench, WORDS("check", "small/run/history.coup"));
        assert_true(checked == EXIT_UNKNOWN || checked == EXIT_USAGE_BAD);
        unmount(bench, path);
        assert_true(program_nothing_left(bench, 1000));
    }
}

static void test_programs(void **state)
{
    struct program_bench *bench = *state, real = *bench;
    static const struct {
        const char *name, *script, *about;
    } rows[] = {
        {"coup-node", NULL, "programs/coup-node: No such file or directory"},
        {"coup-client", NULL, "programs/coup-client: No such file or directory"},
        {"coup-switch", NULL, "programs/coup-switch: No such file or directory"},
        {"coup-node", "#!/no/such/interpreter\n", "coup-node: No such file or directory"},
        {"coup-node", "#!/bin/sh\necho coup-node: I do not know that word >&2\nexit 64\n",
         "ended with status 64: coup-node: I do not know that word"},
        {"coup-resource", "#!/bin/sh\nexit 0\n", "resource ended"},
        {"coup-client", "#!/bin/sh\nexec kill -9 $$\n", "from outside coup"},
        {"coup-node", "#!/bin/sh\nhead -c 100 /dev/zero; exec sleep 100\n",
         "said something unreadable"},
        {"coup-switch", "#!/bin/sh\nexit 1\n",
         "the network is down for good: coup-switch ended 5 times"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char folder[32];
        (void)snprintf(folder, sizeof folder, "programs-%zu", i);
        install(bench, rows[i].name, rows[i].script);
        fails(bench, WORDS("run", "-q", "-n", "3", "-t", "20s", "-o", folder), rows[i].about);
    }
    *bench = real;
}

int main(void)
{
    struct program_bench bench;
    if (!program_open(&bench))
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_usage, &bench),
        cmocka_unit_test_prestate(test_output_folder, &bench),
        cmocka_unit_test_prestate(test_full_disk, &bench),
        cmocka_unit_test_prestate(test_programs, &bench),
        cmocka_unit_test_prestate(test_crash_at_start, &bench),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&bench);
    return failed;
}
