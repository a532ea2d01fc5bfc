/* `coup`: find the subcommand, run it, print the one line that says why it failed. */
#include "controller/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "controller/output.h"
#include "controller/version.h"

/* A caller may have closed 0, 1 or 2; a file opened later must not become standard output. The
 * substitutes fail when used the wrong way round, so a missing output is still noticed. */
static void occupy_standard_descriptors(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd]) < 0)
            _exit(EXIT_HARNESS);
}

static int coup_run(const struct command_line *line, struct error *error)
{
    struct text out = {0};
    if (command_given(line, "version"))
        text_add(&out, "coup %s\n", version_text());
    else if (command_given(line, "manual"))
        command_manual(&command_coup, &out);
    else
        return command_missing(line->command, error);
    int rc = output_text(&out, error);
    text_release(&out);
    return rc < 0 ? rc : EXIT_VALID;
}

#define X(name) extern const struct command command_##name;
COUP_COMMANDS(X)
#undef X

static const struct command *const commands[] = {
#define X(name) &command_##name,
    COUP_COMMANDS(X)
#undef X
        NULL,
};

static const struct command_option coup_options[] = {
    {.name = "version", .letter = 'V', .help = "print version and commit"},
    {.name = "manual", .help = "print the manual page in Markdown"},
    {.name = NULL},
};

const struct command command_coup = {
    .name = "coup",
    .summary = "break leader election on purpose and prove whether it held",
    .arguments = "COMMAND",
    .details =
        "coup starts real node processes that run a chosen election algorithm, breaks their "
        "network, pauses, kills and restarts them, records everything in one history file, and "
        "decides from that file alone whether leadership stayed safe.\n\n"
        "Durations are a number and ns, us, ms, s, m or h. Exit codes: 0 valid or as expected; 1 "
        "invalid or not as expected; 2 unknown: could not decide, or nothing happened that could "
        "be judged; 3 coup itself failed; 64 wrong usage. A failure is one line on standard "
        "error.",
    .options = coup_options,
    .subcommands = commands,
    .run = coup_run,
};

int main(int argc, char **argv)
{
    struct error error = {.kind = ERROR_HARNESS};
    occupy_standard_descriptors();
    if (argc > 0)
        output_called(argv[0]);
    (void)signal(SIGPIPE, SIG_IGN); /* cannot fail for these signals */
    (void)signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes shows as a failed write */
    int rc = command_dispatch(&command_coup, argc, argv, &error);
    if (rc >= 0)
        return rc;
    output_error(&error);
    return (int)error_exit_code(&error);
}
