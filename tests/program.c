#include "tests/program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/test.h"

#define RUN_WITHIN_MS 100000u
#define MARK "COUP_TEST_MARK"

unsigned long program_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long)now.tv_sec * 1000 + (unsigned long)now.tv_nsec / 1000000;
}

static unsigned count_mounts(void)
{
    unsigned count = 0;
    int byte;
    FILE *file = fopen("/proc/self/mountinfo", "r");
    while (file && (byte = fgetc(file)) != EOF)
        count += byte == '\n';
    if (file)
        (void)fclose(file);
    return count;
}

bool program_open(struct program_bench *bench)
{
    *bench = (struct program_bench){.folder = "/tmp/coup-program-XXXXXX"};
    (void)snprintf(bench->coup, sizeof bench->coup, "%s/coup", PROGRAMS_FOLDER);
    if (unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL) < 0 ||
        access("/dev/net/tun", R_OK | W_OK) < 0) {
        (void)fprintf(stderr, "skipped: namespaces and /dev/net/tun: %s\n", strerror(errno));
        return false;
    }
    if (!mkdtemp(bench->folder) || setenv(MARK, bench->folder, 1) < 0)
        fail();
    bench->mounts = count_mounts();
    return true;
}

void program_tool(const char *tool, const char *first, const char *second)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        (void)execlp(tool, tool, first, second, (char *)NULL);
        _exit(127);
    }
    (void)waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

#define PLAIN_USER 12345u
void program_as_plain_user(struct program_bench *bench)
{
    char tun[128];
    (void)snprintf(tun, sizeof tun, "%s/tun", bench->folder);
    bench->user = PLAIN_USER;
    assert_int_equal(chown(bench->folder, PLAIN_USER, PLAIN_USER), 0);
    assert_int_equal(mknod(tun, S_IFCHR | 0666, makedev(10, 200)), 0);
    assert_int_equal(chmod(tun, 0666), 0);
    assert_int_equal(mount(tun, "/dev/net/tun", NULL, MS_BIND, NULL), 0);
    bench->mounts++;
}

void program_close(struct program_bench *bench)
{
    program_tool("rm", "-rf", bench->folder);
}

static int open_output(const struct program_bench *bench, const char *kind, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s%s", bench->folder, kind, name);
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

pid_t program_start(const struct program_bench *bench, const char *name, const char *const *words)
{
    char *argv[64] = {must_copy("coup")};
    int count = 1;
    for (; words[count - 1]; count++) {
        assert_true(count < 63);
        argv[count] = must_copy(words[count - 1]);
    }
    pid_t pid = fork();
    if (pid == 0) {
        if (chdir(bench->folder) < 0 || dup2(open_output(bench, "out", name), 1) < 0 ||
            dup2(open_output(bench, "err", name), 2) < 0 ||
            (bench->user && (setgid(bench->user) < 0 || setuid(bench->user) < 0)))
            _exit(126);
        (void)execv(bench->coup, argv);
        _exit(127);
    }
    for (int i = 0; i < count; i++)
        free(argv[i]);
    assert_true(pid > 0);
    return pid;
}

int program_wait(pid_t pid, unsigned within_ms)
{
    int status = 0;
    unsigned long until = program_now_ms() + within_ms;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (program_now_ms() > until) {
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, &status, 0);
            fail_msg("coup took longer than %u ms", within_ms);
        }
        (void)usleep(2000);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int program_run(const struct program_bench *bench, const char *const *words)
{
    return program_wait(program_start(bench, "", words), RUN_WITHIN_MS);
}

bool program_read(const struct program_bench *bench, const char *name, struct text *out)
{
    char path[512], buffer[4096];
    (void)snprintf(path, sizeof path, "%s/%s", bench->folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;
    if (fd < 0)
        return false;
    while ((got = read(fd, buffer, sizeof buffer)) > 0)
        text_add_bytes(out, buffer, (size_t)got);
    (void)close(fd);
    return true;
}

void program_expect_line(const struct program_bench *bench, const char *about)
{
    struct text err = {0};
    assert_true(program_read(bench, "err", &err));
    const char *text = text_string(&err);
    const char *newline = strchr(text, '\n');
    if (!newline || newline[1] || !strstr(text, about))
        fail_msg("one line about '%s' was expected, this came: %s", about, text);
    text_release(&err);
}

/* What runs inside is the child that comes after the run's folder: those before it only try what
 * the machine can do. */
static void wait_for_folder(const struct program_bench *bench, const char *folder)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", bench->folder, folder);
    for (int i = 0; i < 8000 && access(path, F_OK) < 0; i++)
        (void)usleep(500);
}

pid_t program_inside(const struct program_bench *bench, const char *folder, pid_t coup)
{
    char path[64];
    int child = 0;
    wait_for_folder(bench, folder);
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)coup, (int)coup);
    for (int i = 0; i < 2000; i++) {
        FILE *file = fopen(path, "r");
        bool found = file && fscanf(file, "%d", &child) == 1;
        if (file)
            (void)fclose(file);
        if (found || !file)
            return found ? child : 0;
        (void)usleep(500);
    }
    return 0;
}

/* The mark is in the environment a process was started with, which its forks share. */
static bool is_marked(const char *pid, const char *mark)
{
    char path[64], environment[65536], wanted[128];
    (void)snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, environment, sizeof environment);
    (void)close(fd);
    int size = snprintf(wanted, sizeof wanted, MARK "=%s", mark);
    return length > 0 && memmem(environment, (size_t)length, wanted, (size_t)size) != NULL;
}

static unsigned count_entries(const char *folder, const char *mark)
{
    unsigned count = 0;
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    while (entries && (entry = readdir(entries)))
        count += mark ? is_marked(entry->d_name, mark) : entry->d_name[0] != '.';
    if (entries)
        (void)closedir(entries);
    return count;
}

static unsigned count_interfaces(void)
{
    unsigned count = 0;
    struct if_nameindex *names = if_nameindex();
    while (names && names[count].if_index)
        count++;
    if_freenameindex(names);
    return count;
}

unsigned program_left(const struct program_bench *bench)
{
    unsigned interfaces = count_interfaces(), mounts = count_mounts();
    return count_entries("/proc", bench->folder) +
           (interfaces > 1 ? interfaces - 1 : 0) + /* lo is always there */
           (mounts > bench->mounts ? mounts - bench->mounts : 0) + count_entries("/dev/shm", NULL);
}

bool program_nothing_left(const struct program_bench *bench, unsigned within_ms)
{
    unsigned long until = program_now_ms() + within_ms;
    while (program_left(bench) != 0) {
        if (program_now_ms() > until)
            return false;
        (void)usleep(5000);
    }
    return true;
}
