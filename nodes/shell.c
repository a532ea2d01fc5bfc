#include "nodes/shell.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/knobs.h"
#include "base/random.h"
#include "nodes/address.h"
#include "nodes/clock.h"
#include "nodes/edge.h"

void shell_fail(struct shell *shell, const struct error *error)
{
    if (!shell->failed)
        shell->failure = *error;
    shell->failed = true;
    uv_stop(&shell->loop);
}

void shell_pass(struct shell *shell, enum halt point)
{
    if (shell->halt != point)
        return;
    shell->halt = HALT_NOWHERE;
    (void)raise(SIGSTOP); /* cannot fail */
}

/* Its own write follows from "may I act?", which is not asked again: the act begins here, whenever
 * anybody hears of it. */
static void record_act(struct shell *shell, struct event *event)
{
    child_flush(&shell->child);
    child_event(&shell->child, event);
    shell_pass(shell, HALT_AT_CHECK);
}

void shell_record(struct shell *shell)
{
    while (shell->recorded < shell->outbox.event_count) {
        struct event *event = &shell->outbox.events[shell->recorded++];
        if (shell->halt == HALT_AT_CHECK && event->f == F_GUARDED_WRITE &&
            event->type == EVENT_INVOKE)
            record_act(shell, event);
        else
            child_event(&shell->child, event);
    }
    child_flush(&shell->child);
}

static void pass_write(struct shell *shell)
{
    for (uint32_t i = 0; i < shell->outbox.message_count; i++)
        if (envelope_writes(&shell->outbox.messages[i]))
            shell_pass(shell, HALT_AT_WRITE);
}

void shell_carry(struct shell *shell)
{
    struct outbox *outbox = &shell->outbox;
    shell_record(shell);
    pass_write(shell);
    for (uint32_t i = 0; i < outbox->message_count; i++) {
        struct envelope envelope = outbox->messages[i]; /* unsent() may move the array */
        if (mesh_send(shell->mesh, &envelope) || !shell->program->unsent)
            continue;
        shell->program->unsent(shell, &envelope);
        shell_record(shell);
    }
    outbox_reset(outbox);
    shell->recorded = 0;
}

static void on_message(void *context, const struct envelope *envelope)
{
    struct shell *shell = context;
    if (!shell->failed)
        edge_message(shell, envelope);
}

static void on_drained(void *context)
{
    struct shell *shell = context;
    if (!shell->failed && shell->program->drained)
        shell->program->drained(shell);
}

const char *const shell_later = "later";

void shell_done(struct shell *shell, uint64_t asked_id, uint64_t asked_ns, const char *text)
{
    child_done(&shell->child, asked_id, asked_ns, text);
    child_flush(&shell->child);
}

/* "true, own, true wall, own wall" */
static bool clocks_command(struct shell *shell, const char *text)
{
    struct clock_reading reading = {0};
    if (strcmp(text, "clocks") != 0)
        return false;
    clock_read(&reading);
    text_add(&shell->answer, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, reading.true_ns,
             reading.own_ns, reading.true_wall_ns, reading.wall_ns);
    return true;
}

/* "twin N off|both|only" is for every program; false: it is another command. */
static bool twin_command(struct shell *shell, const char *text, const char **ret_refusal)
{
    static const char *const words[] = {
        [REACH_NODE] = "off", [REACH_BOTH] = "both", [REACH_TWIN] = "only"};
    struct error error;
    unsigned node = 0;
    char word[8] = "", end = '\0';
    if (strncmp(text, "twin ", 5) != 0)
        return false;
    *ret_refusal = "not: twin N off|both|only";
    bool formed = sscanf(text, "twin %u %7s%c", &node, word, &end) == 2 && node >= 1 &&
                  node <= shell->arguments.nodes;
    for (int i = 0; formed && i < 3; i++)
        if (strcmp(word, words[i]) == 0)
            *ret_refusal = mesh_twin(shell->mesh, node, (enum mesh_reach)i, &error) < 0
                               ? "cannot reach a twin"
                               : NULL;
    return true;
}

static void on_command(void *context, uint64_t id, const char *text)
{
    struct shell *shell = context;
    shell->asked_id = id;
    shell->asked_ns = child_now(&shell->child);
    text_clear(&shell->answer);
    text_add(&shell->answer, "done");
    const char *refusal = NULL;
    if (!edge_command(shell, text, &refusal) && !twin_command(shell, text, &refusal) &&
        !clocks_command(shell, text))
        refusal = shell->program->command(shell, text);
    if (refusal != shell_later)
        shell_done(shell, id, shell->asked_ns, refusal ? refusal : text_string(&shell->answer));
}

static void on_end(void *context, const struct error *why)
{
    struct shell *shell = context;
    if (why)
        shell_fail(shell, why);
    uv_stop(&shell->loop);
}

static int parse(struct shell *shell, int argc, char **argv, struct error *error)
{
    int rc = arguments_parse(shell->program->program, argc, argv, &shell->arguments, error);
    if (rc < 0)
        return rc;
    knobs_defaults(&shell->knobs);
    return knobs_parse(shell->arguments.knobs, &shell->knobs, error);
}

static void on_terminate(uv_signal_t *handle, int number)
{
    (void)number;
    uv_stop(handle->loop);
}

/* SIGTERM ends a child as the end of its stdin does. */
static int watch_signals(struct shell *shell, struct error *error)
{
    int rc = uv_signal_init(&shell->loop, &shell->terminate);
    if (rc == 0)
        rc = uv_signal_start(&shell->terminate, on_terminate, SIGTERM);
    return rc < 0 ? error_set(error, rc, "watch signals: %s", uv_strerror(rc)) : 0;
}

static int join(struct shell *shell, struct error *error)
{
    const struct child_events child_events = {on_command, on_end, shell};
    const struct mesh_events mesh_events = {on_message, on_drained, shell};
    const struct arguments *arguments = &shell->arguments;
    struct mesh_config config = {.run = arguments->run,
                                 .base = (uint32_t)arguments->base,
                                 .nodes = (uint32_t)arguments->nodes,
                                 .seed = mix64(arguments->seed ^ arguments->incarnation)};
    int rc = shell->program->open(shell, &config, error);
    if (rc < 0)
        return rc;
    rc = child_open(&shell->child, &shell->loop, arguments->origin, &child_events, error);
    if (rc < 0)
        return rc;
    return mesh_open(&shell->loop, &config, &mesh_events, &shell->mesh, error);
}

void shell_ready(struct shell *shell)
{
    char address[ADDRESS_TEXT_MAX];
    uint32_t own = address_of((uint32_t)shell->arguments.base, mesh_home(shell->mesh));
    child_ready(&shell->child, address_format(own, address));
    child_flush(&shell->child);
}

static void run(struct shell *shell)
{
    if (!shell->program->late)
        shell_ready(shell);
    if (shell->program->start)
        shell->program->start(shell);
    if (!shell->failed)
        (void)uv_run(&shell->loop, UV_RUN_DEFAULT); /* until stopped */
    if (shell->program->stop)
        shell->program->stop(shell);
}

static void log_strangers(const struct shell *shell)
{
    uint64_t foreign = mesh_foreign(shell->mesh), malformed = mesh_malformed(shell->mesh);
    if (foreign || malformed)
        (void)fprintf(stderr, "%s: dropped %llu foreign and %llu malformed messages\n",
                      shell->program->name, (unsigned long long)foreign,
                      (unsigned long long)malformed);
}

/* 0, or the negative errno that `error` tells of. */
static int live(struct shell *shell, int argc, char **argv, struct error *error)
{
    int rc = parse(shell, argc, argv, error);
    if (rc < 0)
        return rc;
    rc = uv_loop_init(&shell->loop);
    if (rc < 0)
        return error_set(error, rc, "start the event loop: %s", uv_strerror(rc));
    rc = watch_signals(shell, error);
    if (rc == 0)
        rc = join(shell, error);
    if (rc < 0)
        return rc;
    run(shell);
    log_strangers(shell);
    if (!shell->failed)
        return 0;
    *error = shell->failure;
    return -EIO;
}

static void print_help(const struct shell_program *program)
{
    struct text text = {0};
    text_add(&text, "%s: %s\nusage: %s name=value...\n", program->name, program->summary,
             program->name);
    arguments_help(program->program, &text);
    (void)fputs(text_string(&text), stdout);
    (void)fflush(stdout);
    text_release(&text);
}

_Noreturn void shell_main(const struct shell_program *program, void *state, int argc, char **argv)
{
    struct shell shell = {.program = program, .state = state};
    struct error error;
    /* NNG brings a dozen threads; a heap for each would cost more memory than all our data. */
    (void)mallopt(M_ARENA_MAX, 1);
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        print_help(program);
        _exit(EXIT_VALID);
    }
    if (live(&shell, argc - 1, argv + 1, &error) == 0)
        _exit(EXIT_VALID);
    (void)fprintf(stderr, "%s: %s\n", program->name, error.text);
    _exit((int)error_exit_code(&error));
}
