#include "nodes/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodes/address.h"
#include "nodes/log_tail.h"

#if COUP_WITH_CURL
extern const struct keeper_kind keeper_etcd;
#endif
#if COUP_WITH_PQ
extern const struct keeper_kind keeper_postgres;
#endif
#if COUP_WITH_ZOOKEEPER
extern const struct keeper_kind keeper_zookeeper;
#endif

static const struct keeper_kind *const kinds[] = {
#if COUP_WITH_CURL
    &keeper_etcd,
#endif
#if COUP_WITH_PQ
    &keeper_postgres,
#endif
#if COUP_WITH_ZOOKEEPER
    &keeper_zookeeper,
#endif
    NULL,
};

void keeper_word(struct keeper_words *words, const char *format, ...)
{
    struct text text = {0};
    va_list arguments;
    if (words->count == KEEPER_WORDS_MAX)
        return; /* our own tables are shorter */
    va_start(arguments, format);
    text_add_va(&text, format, arguments);
    va_end(arguments);
    words->at[words->count++] = text.at;
}

/* --- what is recorded --- */

void keeper_event(struct keeper *keeper, enum event_f f, const char *record, uint32_t node,
                  uint64_t token, const char *reason)
{
    struct outbox *outbox = &keeper->shell->outbox;
    struct slice name = outbox_text(outbox, "%s", record);
    struct event *event =
        outbox_event(outbox, PROCESS_NUMBER(PROCESS_COORDINATOR, 0), EVENT_INFO, f);
    event_set_text(event, FIELD_RECORD, name);
    event_set(event, FIELD_HOLDER, PROCESS_NUMBER(PROCESS_NODE, node));
    event_set(event, FIELD_TOKEN, token);
    if (reason)
        event_set_text(event, FIELD_REASON, slice_of(reason));
}

void keeper_recorded(struct keeper *keeper, uint64_t place)
{
    struct error error;
    shell_carry(keeper->shell);
    if (place <= keeper->recorded)
        return;
    keeper->recorded = place;
    if (pwrite(keeper->mark, &place, sizeof place, 0) == (ssize_t)sizeof place)
        return;
    (void)error_set(&error, -EIO, "mark what is recorded: %s", strerror(errno));
    shell_fail(keeper->shell, &error);
}

static int open_mark(struct keeper *keeper, struct error *error)
{
    struct text path = {0};
    int rc = 0;
    text_add(&path, "%s/recorded", keeper->shell->arguments.state);
    keeper->mark = open(text_string(&path), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (keeper->mark < 0 || pread(keeper->mark, &keeper->recorded, sizeof keeper->recorded, 0) < 0)
        rc = error_set(error, -errno, "open %s: %s", text_string(&path), strerror(errno));
    text_release(&path);
    return rc;
}

void keeper_ready(struct keeper *keeper)
{
    if (!keeper->ready)
        shell_ready(keeper->shell);
    keeper->ready = true;
}

void keeper_dropped(struct keeper *keeper, uint32_t count)
{
    char text[64];
    (void)snprintf(text, sizeof text, "done %" PRIu32 " sessions dropped", count);
    shell_done(keeper->shell, keeper->dropping_id, keeper->dropping_ns,
               count ? text : "the node has no session");
}

/* --- the server --- */

/* Whatever runs in our PID namespace but we ourselves; where we have none, the server alone. */
static void signal_all(const struct keeper *keeper, int number)
{
    if (getpid() == 1)
        (void)kill(-1, number);
    else if (keeper->server)
        (void)kill(keeper->server, number);
}

static void on_go_on(uv_signal_t *handle, int number)
{
    (void)number;
    signal_all(handle->data, SIGCONT);
}

static int start_server(struct keeper *keeper, struct error *error);

static void server_ended(struct keeper *keeper, int status)
{
    const struct arguments *arguments = &keeper->shell->arguments;
    struct text words = {0};
    struct error error;
    keeper->server = 0;
    if (keeper->prepares && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        if (start_server(keeper, &error) < 0)
            shell_fail(keeper->shell, &error);
        return;
    }
    log_tail(arguments->log, &words);
    if (WIFSIGNALED(status))
        (void)error_set(&error, -ECHILD, "%s was ended by signal %d", arguments->service,
                        WTERMSIG(status));
    else
        (void)error_set(&error, -ECHILD, "%s ended with status %d: %.300s", arguments->service,
                        WEXITSTATUS(status),
                        words.length ? text_string(&words) : "it logged nothing");
    text_release(&words);
    shell_fail(keeper->shell, &error);
}

/* As process 1 we inherit whatever loses its parent. */
static void on_child(uv_signal_t *handle, int number)
{
    struct keeper *keeper = handle->data;
    int status;
    pid_t pid;
    (void)number;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == keeper->server)
            server_ended(keeper, status);
}

#define ORDINARY_USER 1000

static int write_map(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool wrote = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        (void)close(fd); /* such files have no delayed writes */
    return wrote ? 0 : -1;
}

/* Whoever we are, an ordinary user from now on; files stay ours. */
static int give_up_root(void)
{
    char users[32], groups[32];
    (void)snprintf(users, sizeof users, "%d %u 1", ORDINARY_USER, geteuid());
    (void)snprintf(groups, sizeof groups, "%d %u 1", ORDINARY_USER, getegid());
    if (unshare(CLONE_NEWUSER) < 0 || write_map("/proc/self/setgroups", "deny") < 0 ||
        write_map("/proc/self/uid_map", users) < 0)
        return -1;
    return write_map("/proc/self/gid_map", groups);
}

/* A failure is a line in the server's log and an exit status, as shells have it. */
static _Noreturn void exec_server(const struct keeper_kind *kind, char *const *words,
                                  char *const *environment, int log)
{
    int nowhere = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)signal(SIGPIPE, SIG_DFL);
    if (dup2(nowhere, STDIN_FILENO) >= 0 && dup2(log, STDOUT_FILENO) >= 0 &&
        dup2(log, STDERR_FILENO) >= 0 && (!kind->unprivileged || give_up_root() == 0) &&
        prctl(PR_SET_PDEATHSIG, SIGKILL) == 0) /* a change of credentials forgets it */
        (void)execve(words[0], words, environment);
    (void)dprintf(STDERR_FILENO, "%s: %s\n", words[0], strerror(errno));
    _exit(126);
}

static int start_server(struct keeper *keeper, struct error *error)
{
    const struct arguments *arguments = &keeper->shell->arguments;
    struct keeper_words words = {0}, environment = {0};
    int log = open(arguments->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (log < 0)
        return error_set(error, -errno, "open %s: %s", arguments->log, strerror(errno));
    keeper_word(&environment, "PATH=/usr/local/bin:/usr/bin:/bin");
    keeper_word(&environment, "LANG=C");
    keeper_word(&environment, "HOME=%s", arguments->state);
    keeper->prepares = keeper->kind->command(keeper, &words, &environment);
    pid_t pid = fork();
    if (pid == 0)
        exec_server(keeper->kind, words.at, environment.at, log);
    int code = pid < 0 ? errno : 0;
    (void)close(log); /* ours wrote nothing */
    if (pid < 0)
        return error_set(error, -code, "fork: %s", strerror(code));
    keeper->server = pid;
    return 0;
}

/* --- the program --- */

static int keeper_open(struct shell *shell, struct mesh_config *config, struct error *error)
{
    struct keeper *keeper = shell->state;
    const struct arguments *arguments = &shell->arguments;
    keeper->shell = shell;
    for (uint32_t i = 0; kinds[i] && !keeper->kind; i++)
        if (strcmp(kinds[i]->name, arguments->service) == 0)
            keeper->kind = kinds[i];
    if (!keeper->kind)
        return error_usage(error, "this build of coup keeps no service '%.60s'",
                           arguments->service);
    config->self = PROCESS_NUMBER(PROCESS_COORDINATOR, 0);
    keeper->address = address_of((uint32_t)arguments->base, config->self);
    return open_mark(keeper, error);
}

static void keeper_start(struct shell *shell)
{
    struct keeper *keeper = shell->state;
    struct error error;
    (void)uv_signal_init(&shell->loop, &keeper->child); /* these fail for want of memory alone */
    (void)uv_signal_init(&shell->loop, &keeper->go_on);
    keeper->child.data = keeper->go_on.data = keeper;
    (void)uv_signal_start(&keeper->child, on_child, SIGCHLD);
    (void)uv_signal_start(&keeper->go_on, on_go_on, SIGCONT);
    if (start_server(keeper, &error) < 0 || keeper->kind->begin(keeper, &error) < 0)
        shell_fail(shell, &error);
}

static void keeper_message(struct shell *shell, const struct envelope *envelope)
{
    (void)shell;
    (void)envelope; /* nobody has anything to tell us */
}

static const char *drop(struct keeper *keeper, uint32_t node)
{
    if (!keeper->ready)
        return "the service does not answer yet";
    keeper->dropping_id = keeper->shell->asked_id;
    keeper->dropping_ns = keeper->shell->asked_ns;
    return keeper->kind->drop(keeper, node) ? shell_later : "sessions are being dropped already";
}

/* "drop N": forget the sessions of node N; "freeze": stop the server, before we are stopped */
static const char *keeper_command(struct shell *shell, const char *text)
{
    struct keeper *keeper = shell->state;
    unsigned node = 0;
    char end = '\0';
    if (strcmp(text, "freeze") == 0) {
        signal_all(keeper, SIGSTOP);
        return NULL;
    }
    if (sscanf(text, "drop %u%c", &node, &end) != 1 || node < 1 || node > shell->arguments.nodes)
        return "neither 'freeze' nor 'drop N' with N a node";
    return drop(keeper, node);
}

/* Its data is thrown away: there is nothing to save. */
static void keeper_stop(struct shell *shell)
{
    struct keeper *keeper = shell->state;
    if (keeper->server == 0)
        return;
    (void)uv_signal_stop(&keeper->child);
    signal_all(keeper, SIGKILL);
    (void)waitpid(keeper->server, NULL, 0);
}

static const struct shell_program program = {
    .program = PROGRAM_KEEPER,
    .name = "coup-keeper",
    .summary = "starts a real coordination service and records what it grants; speaks control "
               "frames on stdin and stdout",
    .late = true,
    .open = keeper_open,
    .start = keeper_start,
    .message = keeper_message,
    .command = keeper_command,
    .stop = keeper_stop,
};

int main(int argc, char **argv)
{
    struct keeper keeper = {0};
    shell_main(&program, &keeper, argc, argv);
}
