#define _GNU_SOURCE
#include "controller/service_use.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "nodes/clock.h"

const struct service_use service_use_embedded = {.kind = &service_kinds[0]};

#define ANSWER_WITHIN_NS (10 * NS_PER_S)

/* How a kind's program is found and asked for its version. */
#define JAR "/usr/share/java/zookeeper.jar"
static const struct program_kind {
    const char *service;
    const char *asked[4];  /* the words that ask it, NULL-terminated */
    const char *before;    /* what stands before the version */
    unsigned major, minor; /* the first that will do */
    const char *folders;   /* where Debian has it apart from PATH, a pattern; or NULL */
    const char *file;      /* without which the program is of no use; or NULL */
} program_kinds[] = {
    {"etcd", {"--version"}, "etcd Version: ", 3, 4, NULL, NULL},
    {"postgres", {"--version"}, "(PostgreSQL) ", 14, 0, "/usr/lib/postgresql/*/bin", NULL},
    {"zookeeper",
     {"-cp", JAR, "org.apache.zookeeper.version.VersionInfoMain"},
     "ZooKeeper, version ",
     3,
     5,
     NULL,
     JAR},
};

static const struct program_kind *program_of(const struct service_kind *kind)
{
    for (size_t i = 0; i < sizeof program_kinds / sizeof *program_kinds; i++)
        if (strcmp(program_kinds[i].service, kind->name) == 0)
            return &program_kinds[i];
    return NULL;
}

static bool find_program(const char *name, char out[RUN_PATH_MAX])
{
    const char *path = getenv("PATH");
    for (const char *at = path && *path ? path : "/usr/bin:/bin"; *at; at += *at == ':') {
        size_t length = strcspn(at, ":");
        int wrote = snprintf(out, RUN_PATH_MAX, "%.*s/%s", (int)length, at, name);
        if (length && at[0] == '/' && wrote < RUN_PATH_MAX && access(out, X_OK) == 0)
            return true;
        at += length;
    }
    return false;
}

/* The newest of those that lie apart. */
static bool find_apart(const char *folders, const char *name, char out[RUN_PATH_MAX])
{
    glob_t found;
    const char *newest = NULL;
    if (!folders || glob(folders, 0, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (!newest || strverscmp(found.gl_pathv[i], newest) > 0)
            newest = found.gl_pathv[i];
    if (newest)
        (void)snprintf(out, RUN_PATH_MAX, "%s/%s", newest, name);
    globfree(&found);
    return newest && access(out, X_OK) == 0;
}

static _Noreturn void exec_asked(const char *program, const char *const asked[4], int out)
{
    static const char *const environment[] = {"PATH=/usr/bin:/bin", "LANG=C",
                                              "ETCD_UNSUPPORTED_ARCH=arm64", NULL};
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (dup2(nowhere, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(nowhere, STDERR_FILENO) >= 0)
        (void)execle(program, program, asked[0], asked[1], asked[2], (char *)NULL, environment);
    _exit(126);
}

/* What the program prints, as far as it fits, within a time. */
static void read_said(int in, char *out, size_t room)
{
    uint64_t end_ns = clock_true_ns() + ANSWER_WITHIN_NS;
    size_t length = 0;
    while (length + 1 < room) {
        struct pollfd wait = {.fd = in, .events = POLLIN};
        uint64_t now_ns = clock_true_ns();
        if (now_ns >= end_ns || poll(&wait, 1, (int)((end_ns - now_ns) / NS_PER_MS) + 1) <= 0)
            break;
        ssize_t got = read(in, out + length, room - 1 - length);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    out[length] = '\0';
}

static void ask_program(const char *program, const char *const asked[4], char *out, size_t room)
{
    int ends[2];
    out[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    pid_t pid = fork();
    if (pid == 0)
        exec_asked(program, asked, ends[1]);
    (void)close(ends[1]);
    if (pid > 0) {
        read_said(ends[0], out, room);
        (void)kill(pid, SIGKILL); /* it has said what it has to, or never will */
        (void)waitpid(pid, NULL, 0);
    }
    (void)close(ends[0]);
}

/* "3.4.23" after the words that come before it; false: the program said nothing of the kind. */
static bool read_version(const struct program_kind *program, const char *said,
                         char out[SERVICE_VERSION_MAX], unsigned *major, unsigned *minor)
{
    const char *at = strstr(said, program->before);
    if (!at)
        return false;
    at += strlen(program->before);
    size_t length = strspn(at, "0123456789.");
    if (length == 0 || length >= SERVICE_VERSION_MAX || sscanf(at, "%u.%u", major, minor) < 1)
        return false;
    memcpy(out, at, length);
    out[length] = '\0';
    return true;
}

static int check_version(const struct service_kind *kind, struct service_use *out,
                         struct error *error)
{
    const struct program_kind *program = program_of(kind);
    char said[1024];
    unsigned major = 0, minor = 0;
    ask_program(out->program, program->asked, said, sizeof said);
    if (!read_version(program, said, out->version, &major, &minor))
        return error_set(error, -ENOEXEC, "%s does not tell its version: it is no %s", out->program,
                         kind->name);
    if (major > program->major || (major == program->major && minor >= program->minor))
        return 0;
    return error_set(error, -ENOTSUP, "%s is %s %s, too old: %u.%u is the first that will do",
                     out->program, kind->name, out->version, program->major, program->minor);
}

int service_probe(const struct service_kind *kind, struct service_use *out, struct error *error,
                  const char **ret_fix)
{
    *out = (struct service_use){.kind = kind};
    *ret_fix = NULL;
    if (!kind->built) {
        *ret_fix = kind->library_fix;
        return error_set(error, -ENOSYS, "%s is not built in", kind->name);
    }
    if (!kind->program)
        return 0;
    *ret_fix = kind->program_fix;
    const char *folders = program_of(kind)->folders;
    if (!find_program(kind->program, out->program) &&
        !find_apart(folders, kind->program, out->program))
        return error_set(error, -ENOENT, "%s is not installed: no program %s on PATH%s%s",
                         kind->name, kind->program, folders ? " or in " : "",
                         folders ? folders : "");
    const char *file = program_of(kind)->file;
    if (file && access(file, R_OK) < 0)
        return error_set(error, -ENOENT, "%s is not installed: no %s", kind->name, file);
    *ret_fix = NULL;
    return check_version(kind, out, error);
}

int service_use(const char *name, struct service_use *out, struct run_config *config,
                struct error *error)
{
    const struct algorithm *algorithm = config->algorithm;
    const struct service_kind *kind = service_find(slice_of(name ? name : service_kinds[0].name));
    const char *fix = NULL;
    config->service = NULL;
    if (!kind) {
        struct text known = {0};
        service_names(&known);
        int rc = error_usage(error, "--service: '%.60s' is unknown (accepted: %s)", name,
                             text_string(&known));
        text_release(&known);
        return rc;
    }
    if (!algorithm_has_service(algorithm->traits(&config->elector.options)) && !name)
        return 0;
    int rc = service_fits(kind, algorithm, &config->elector.options, error);
    if (rc == 0) {
        rc = service_probe(kind, out, error, &fix);
        if (rc < 0 && fix) {
            size_t used = strlen(error->text);
            (void)snprintf(error->text + used, sizeof error->text - used, " (%s)", fix);
        }
    }
    if (rc < 0) {
        error_prefix(error, "--service");
        return rc;
    }
    config->service = out;
    return 0;
}

void service_use_format(const struct service_use *use, struct text *out)
{
    text_add(out, "%s%s%s", use->kind->name, *use->version ? " " : "", use->version);
}

struct slice service_use_name(const char *recorded)
{
    return (struct slice){recorded, strcspn(recorded, " ")};
}
