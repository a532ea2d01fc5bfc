#define _GNU_SOURCE
#include "controller/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"

/* Written by the process inside while it builds its walls, read outside. */
struct report {
    bool failed;
    struct error error;
};

struct walls {
    int (*inside)(void *context, int outside_fd);
    void *context;
    struct report *report; /* in memory both share */
    int life[2];           /* nobody writes: end of file tells that the other end is gone */
    sigset_t caught, before;
    unsigned outer_uid, outer_gid;
    bool user_namespace;
};

/* The number in a file of /proc/sys; -1 when there is none. */
static long read_setting(const char *path)
{
    char text[32] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t length = read(fd, text, sizeof text - 1);
    (void)close(fd); /* nothing was written */
    return length > 0 ? strtol(text, NULL, 10) : -1;
}

const char *sandbox_fix(void)
{
    /* Settings by which distributions forbid what we need, and what lifts them. */
    static const struct {
        const char *path;
        long forbidding;
        const char *fix;
    } settings[] = {
        {"/proc/sys/kernel/unprivileged_userns_clone", 0,
         "sudo sysctl -w kernel.unprivileged_userns_clone=1"},
        {"/proc/sys/user/max_user_namespaces", 0, "sudo sysctl -w user.max_user_namespaces=10000"},
        {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1,
         "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (read_setting(settings[i].path) == settings[i].forbidding)
            return settings[i].fix;
    return geteuid() == 0 ? NULL : "run coup as root";
}

/* So many namespaces exist already, or none may: of the kind that is allowed fewest. */
static const char *namespace_limit_fix(void)
{
    static const struct {
        const char *path, *fix;
    } limits[] = {
#define LIMIT(kind)                                                                           \
    {"/proc/sys/user/max_" kind "_namespaces", "sudo sysctl -w user.max_" kind "_namespaces=" \
                                               "100000"}
        LIMIT("user"), LIMIT("pid"), LIMIT("net"), LIMIT("mnt"), LIMIT("ipc"),
#undef LIMIT
    };
    size_t fewest = 0;
    for (size_t i = 1; i < sizeof limits / sizeof *limits; i++)
        if (read_setting(limits[i].path) < read_setting(limits[fewest].path))
            fewest = i;
    return limits[fewest].fix;
}

static int refused(struct error *error, const char *what, int code)
{
    const char *fix = sandbox_fix();
    if (code == ENOSPC)
        fix = namespace_limit_fix();
    else if (!fix && (code == EPERM || code == EACCES))
        fix = "a container forbids it: run it with --privileged, or coup outside of it; in a "
              "user namespace, map your user";
    return error_set(error, -code, "%s: %s%s%s%s", what, strerror(code), fix ? " (" : "",
                     fix ? fix : "", fix ? ")" : "");
}

static int write_file(const char *path, const char *text, struct error *error)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return refused(error, path, errno);
    ssize_t wrote = write(fd, text, strlen(text));
    int code = wrote < 0 ? errno : 0;
    (void)close(fd); /* such files have no delayed writes */
    return code ? refused(error, path, code) : 0;
}

/* We are root inside and ourselves outside: files of the run stay the user's. */
static int map_user(const struct walls *walls, struct error *error)
{
    char map[64];
    int rc = write_file("/proc/self/setgroups", "deny", error);
    (void)snprintf(map, sizeof map, "0 %u 1", walls->outer_uid);
    if (rc == 0)
        rc = write_file("/proc/self/uid_map", map, error);
    (void)snprintf(map, sizeof map, "0 %u 1", walls->outer_gid);
    if (rc == 0)
        rc = write_file("/proc/self/gid_map", map, error);
    return rc;
}

static int mount_fresh(struct error *error)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return refused(error, "make mounts private", errno);
    /* Where a container hides parts of /proc the kernel refuses a fresh one. The old one serves:
     * nothing of ours looks up processes by number there. */
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0 &&
        errno != EPERM)
        return refused(error, "mount /proc", errno);
    if (mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") < 0 &&
        errno != ENOENT)
        return refused(error, "mount /dev/shm", errno);
    return 0;
}

static int build_walls(const struct walls *walls, struct error *error)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return error_set(error, -errno, "ask for a signal at the parent's death: %s",
                         strerror(errno));
    int rc = walls->user_namespace ? map_user(walls, error) : 0;
    if (rc == 0)
        rc = mount_fresh(error);
    return rc;
}

/* The outer process may have died before we asked to be told. */
static bool outside_gone(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) != 0;
}

static _Noreturn void live_inside(struct walls *walls)
{
    (void)close(walls->life[1]);
    /* A terminal's Ctrl-C reaches the process outside alone, which passes it on. */
    (void)setsid();                           /* a fresh child is no group leader: cannot fail */
    (void)sigaddset(&walls->before, SIGTERM); /* PID 1 loses what it does not handle yet */
    (void)sigprocmask(SIG_SETMASK, &walls->before, NULL);
    walls->report->failed = build_walls(walls, &walls->report->error) < 0;
    if (walls->report->failed || outside_gone(walls->life[0]))
        _exit(EXIT_HARNESS);
    exit(walls->inside(walls->context, walls->life[0]));
}

/* As root no user namespace is needed, unless a container took the right to make the others. */
static pid_t clone_process(struct walls *walls)
{
    unsigned long flags =
        CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | SIGCHLD;
    walls->user_namespace = geteuid() != 0;
    pid_t pid = -1;
    if (!walls->user_namespace)
        pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, 0L);
    if (pid < 0 && (walls->user_namespace || errno == EPERM)) {
        walls->user_namespace = true;
        pid = (pid_t)syscall(SYS_clone, flags | CLONE_NEWUSER, NULL, NULL, NULL, 0L);
    }
    return pid;
}

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Wait for the end of `pid`, passing signals on. The mask holds what `caught` names. */
static void wait_inside(pid_t pid, const sigset_t *caught, struct sandbox_exit *out)
{
    uint64_t first_ns = 0;
    siginfo_t ended = {0};
    for (;;) {
        int rc = waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG);
        if ((rc == 0 && ended.si_pid == pid) || (rc < 0 && errno != EINTR))
            break;
        int number = sigwaitinfo(caught, NULL);
        if (number < 0 || number == SIGCHLD)
            continue;
        uint64_t now_ns = monotonic_ns();
        bool again = out->interrupted && now_ns - first_ns > SANDBOX_PATIENCE_NS;
        if (!out->interrupted)
            first_ns = now_ns;
        out->interrupted = true;
        (void)kill(pid, again ? SIGKILL : SIGTERM); /* not reaped yet, so it is still ours */
    }
    if (ended.si_code == CLD_EXITED)
        out->status = ended.si_status;
    else
        out->signal = ended.si_status;
}

/* Signals somebody ignored for us (nohup, a script's background job) stay ignored. */
static void catch_signals(sigset_t *caught, sigset_t *before)
{
    static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction present;
    (void)sigemptyset(caught);
    (void)sigaddset(caught, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        if (sigaction(passed_on[i], NULL, &present) == 0 && present.sa_handler != SIG_IGN)
            (void)sigaddset(caught, passed_on[i]);
    (void)signal(SIGCHLD, SIG_DFL); /* inherited as ignored it would reap for us */
    (void)sigprocmask(SIG_BLOCK, caught, before);
}

static int run_walled(struct walls *walls, struct sandbox_exit *out, struct error *error)
{
    (void)fflush(NULL); /* what stdio holds would be written twice */
    pid_t pid = clone_process(walls);
    if (pid < 0)
        return refused(error, "create namespaces", errno);
    if (pid == 0)
        live_inside(walls);
    (void)close(walls->life[0]);
    walls->life[0] = -1;
    wait_inside(pid, &walls->caught, out);
    if (walls->report->failed) {
        *error = walls->report->error;
        return -EPERM;
    }
    return 0;
}

int sandbox_run(int (*inside)(void *context, int outside_fd), void *context,
                struct sandbox_exit *out, struct error *error)
{
    struct walls walls = {
        .inside = inside,
        .context = context,
        .life = {-1, -1},
        .outer_uid = geteuid(),
        .outer_gid = getegid(),
    };
    walls.report =
        mmap(NULL, sizeof *walls.report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (walls.report == MAP_FAILED)
        return error_set(error, -errno, "map memory: %s", strerror(errno));
    int rc;
    *out = (struct sandbox_exit){0};
    if (pipe2(walls.life, O_CLOEXEC) < 0) {
        rc = error_set(error, -errno, "create a pipe: %s", strerror(errno));
    } else {
        catch_signals(&walls.caught, &walls.before);
        rc = run_walled(&walls, out, error);
        (void)sigprocmask(SIG_SETMASK, &walls.before, NULL);
    }
    for (int i = 0; i < 2; i++)
        if (walls.life[i] >= 0)
            (void)close(walls.life[i]);
    (void)munmap(walls.report, sizeof *walls.report);
    if (rc < 0)
        error_prefix(error, "sandbox");
    return rc;
}

int sandbox_try(int (*inside)(void *context, int outside_fd), void *context,
                struct sandbox_exit *out, struct error *error)
{
    int rc = sandbox_run(inside, context, out, error);
    if (out->interrupted)
        (void)raise(SIGTERM);
    return rc;
}

static int do_nothing(void *context, int outside_fd)
{
    (void)context;
    (void)outside_fd;
    return 0;
}

int sandbox_probe(struct error *error)
{
    struct sandbox_exit ended;
    return sandbox_try(do_nothing, NULL, &ended, error);
}
