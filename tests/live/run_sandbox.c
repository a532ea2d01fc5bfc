/* The sandbox for real: what is inside sees nothing of the outside, ends with it, and takes all of
 * its own with it. "All of it is gone" is seen on a pipe that everybody inside holds open. */
#include "controller/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

#define GONE_WITHIN_MS 1000

/* True when every holder of the pipe's other end is gone. */
static bool all_gone(int fd, int within_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    char byte;
    while (poll(&poll_fd, 1, within_ms) > 0)
        if (read(fd, &byte, 1) <= 0)
            return true;
    return false;
}

static int leave_with(void *context, int outside_fd)
{
    (void)outside_fd;
    return *(const int *)context;
}

static void test_status_comes_out(void **state)
{
    (void)state;
    struct sandbox_exit ended;
    struct error error;
    for (int status = 0; status < 5; status++) {
        assert_int_equal(sandbox_run(leave_with, &status, &ended, &error), 0);
        assert_int_equal(ended.status, status);
        assert_int_equal(ended.signal, 0);
        assert_false(ended.interrupted);
    }
}

/* Bits of what is wrong, as exit status. */
static int look_round(void *context, int outside_fd)
{
    const pid_t *outer = context;
    struct stat own;
    char path[64];
    int wrong = 0;
    (void)outside_fd;
    wrong |= getpid() != 1 ? 1 : 0;
    wrong |= geteuid() != 0 ? 2 : 0;
    (void)snprintf(path, sizeof path, "/proc/%d", (int)*outer);
    wrong |= stat(path, &own) == 0 ? 4 : 0;
    int fd = open("/dev/shm/coup-sandbox-test", O_CREAT | O_EXCL | O_WRONLY, 0600);
    wrong |= fd < 0 ? 8 : 0;
    wrong |= mount("tmpfs", "/mnt", "tmpfs", 0, NULL) < 0 ? 16 : 0;
    wrong |= stat("/sys/class/net/eth0/none", &own) == 0 ? 32 : 0;
    return wrong;
}

static void test_walls(void **state)
{
    (void)state;
    struct sandbox_exit ended;
    struct error error;
    struct stat before, after;
    pid_t self = getpid();
    assert_int_equal(stat("/mnt", &before), 0);
    assert_int_equal(sandbox_run(look_round, &self, &ended, &error), 0);
    assert_int_equal(ended.status, 0);
    assert_int_equal(stat("/mnt", &after), 0);
    assert_int_equal(before.st_dev, after.st_dev);
    assert_int_not_equal(access("/dev/shm/coup-sandbox-test", F_OK), 0);
}

static _Noreturn void never_end(void)
{
    for (;;)
        (void)pause();
}

/* Leave two generations behind that would never end. */
static int leave_children(void *context, int outside_fd)
{
    (void)context;
    (void)outside_fd;
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            (void)fork();
            never_end();
        }
    return 0;
}

static int stay(void *context, int outside_fd)
{
    (void)leave_children(context, outside_fd);
    never_end();
}

static void test_children_end_with_it(void **state)
{
    (void)state;
    struct sandbox_exit ended;
    struct error error;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(sandbox_run(leave_children, NULL, &ended, &error), 0);
    (void)close(ends[1]);
    assert_true(all_gone(ends[0], GONE_WITHIN_MS));
    (void)close(ends[0]);
}

/* The process outside a sandbox, as a child of ours that may be killed. */
static pid_t start_outside(int (*inside)(void *, int), int ends[2])
{
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct sandbox_exit ended = {0};
        struct error error;
        (void)close(ends[0]);
        _exit(sandbox_run(inside, &ends[1], &ended, &error) == 0 ? ended.status : 99);
    }
    (void)close(ends[1]);
    return pid;
}

static int wait_status(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* Killed at many moments: while it clones, while the walls go up, and after. */
static void test_outside_killed(void **state)
{
    (void)state;
    for (int i = 0; i < 30; i++) {
        int ends[2];
        pid_t pid = start_outside(stay, ends);
        (void)usleep((useconds_t)(i * 300));
        (void)kill(pid, SIGKILL);
        (void)wait_status(pid);
        assert_true(all_gone(ends[0], GONE_WITHIN_MS));
        (void)close(ends[0]);
    }
}

static pid_t only_child_of(pid_t pid)
{
    char path[64];
    int child = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    for (int i = 0; i < 1000 && child == 0; i++) {
        FILE *file = fopen(path, "r");
        if (file) {
            if (fscanf(file, "%d", &child) != 1)
                child = 0;
            (void)fclose(file);
        }
        if (child == 0)
            (void)usleep(1000);
    }
    return child;
}

static void test_inside_killed(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        int ends[2];
        pid_t pid = start_outside(stay, ends);
        pid_t inner = only_child_of(pid);
        assert_int_not_equal(inner, 0);
        (void)usleep((useconds_t)(i * 1000));
        (void)kill(inner, SIGKILL);
        (void)wait_status(pid);
        assert_true(all_gone(ends[0], GONE_WITHIN_MS));
        (void)close(ends[0]);
    }
}

static int leave_when_told(void *context, int outside_fd)
{
    sigset_t terminate;
    int number = 0;
    (void)outside_fd;
    (void)sigemptyset(&terminate);
    (void)sigaddset(&terminate, SIGTERM);
    (void)!write(*(const int *)context, "x", 1);
    (void)sigwait(&terminate, &number);
    return number == SIGTERM ? 42 : 1;
}

static void test_signals_pass(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        int ends[2];
        char byte;
        pid_t pid = start_outside(leave_when_told, ends);
        assert_int_equal(read(ends[0], &byte, 1), 1);
        (void)kill(pid, signals[i]);
        int status = wait_status(pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 42);
        (void)close(ends[0]);
    }
}

/* Deaf inside: the second signal, after a while, kills. */
static void test_second_signal_kills(void **state)
{
    (void)state;
    int ends[2];
    pid_t pid = start_outside(stay, ends);
    (void)only_child_of(pid);
    (void)kill(pid, SIGINT);
    (void)usleep(50000);
    (void)kill(pid, SIGINT); /* the same key press, seen twice */
    assert_false(all_gone(ends[0], 100));
    (void)usleep((useconds_t)(SANDBOX_PATIENCE_NS / 1000));
    (void)kill(pid, SIGINT);
    (void)wait_status(pid);
    assert_true(all_gone(ends[0], GONE_WITHIN_MS));
    (void)close(ends[0]);
}

static void test_ignored_stays_ignored(void **state)
{
    (void)state;
    int ends[2];
    (void)signal(SIGINT, SIG_IGN);
    pid_t pid = start_outside(stay, ends);
    (void)signal(SIGINT, SIG_DFL);
    (void)only_child_of(pid);
    (void)kill(pid, SIGINT);
    (void)usleep((useconds_t)(SANDBOX_PATIENCE_NS / 1000 + 100000));
    (void)kill(pid, SIGINT);
    assert_false(all_gone(ends[0], 200));
    (void)kill(pid, SIGKILL);
    (void)wait_status(pid);
    assert_true(all_gone(ends[0], GONE_WITHIN_MS));
    (void)close(ends[0]);
}

#define PLAIN_USER 12345u

/* As if a plain user had executed us: giving rights up hides /proc/self from ourselves. */
static void become_plain_user(void)
{
    if (setgid(PLAIN_USER) < 0 || setuid(PLAIN_USER) < 0 || prctl(PR_SET_DUMPABLE, 1L) < 0)
        _exit(97);
}

/* The walls need a user namespace then, and files made inside are the user's. */
static int make_file(void *context, int outside_fd)
{
    (void)outside_fd;
    int fd = open(context, O_CREAT | O_EXCL | O_WRONLY, 0600);
    return fd < 0 || geteuid() != 0;
}

static void test_plain_user(void **state)
{
    (void)state;
    char folder[] = "/tmp/coup-sandbox-XXXXXX", path[64];
    struct stat made;
    if (geteuid() != 0)
        return; /* then all the others are this test */
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chown(folder, PLAIN_USER, PLAIN_USER), 0);
    (void)snprintf(path, sizeof path, "%s/file", folder);
    pid_t pid = fork();
    if (pid == 0) {
        struct sandbox_exit ended = {.status = 98};
        struct error error;
        become_plain_user();
        _exit(sandbox_run(make_file, path, &ended, &error) == 0 ? ended.status : 99);
    }
    int status = wait_status(pid);
    int made_rc = stat(path, &made);
    (void)unlink(path);
    (void)rmdir(folder);
    assert_int_equal(status, 0);
    assert_int_equal(made_rc, 0);
    assert_int_equal(made.st_uid, PLAIN_USER);
}

/* A kernel that refuses: one line of ours. */
static void test_refused(void **state)
{
    (void)state;
    struct error error = {.text = ""};
    int status = 0;
    if (geteuid() != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        struct sandbox_exit ended;
        struct rlimit none = {0, 0};
        become_plain_user();
        if (setrlimit(RLIMIT_NPROC, &none) < 0)
            _exit(97);
        int rc = sandbox_run(leave_with, &status, &ended, &error);
        _exit(rc < 0 && error.kind == ERROR_HARNESS && strncmp(error.text, "sandbox: ", 9) == 0 &&
                      !strchr(error.text, '\n')
                  ? 0
                  : 1);
    }
    assert_int_equal(wait_status(pid), 0);
}

int main(void)
{
    struct error error;
    if (sandbox_probe(&error) < 0) {
        (void)fprintf(stderr, "skipped: %s\n", error.text);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_comes_out),     cmocka_unit_test(test_walls),
        cmocka_unit_test(test_children_end_with_it), cmocka_unit_test(test_outside_killed),
        cmocka_unit_test(test_inside_killed),        cmocka_unit_test(test_signals_pass),
        cmocka_unit_test(test_second_signal_kills),  cmocka_unit_test(test_ignored_stays_ignored),
        cmocka_unit_test(test_plain_user),           cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
