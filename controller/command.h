/* controller: the `coup` program. May use every other folder but tests; nothing may use it.
 *
 * A subcommand is one file, controller/command_<name>.c, and one line in COUP_COMMANDS. What it
 * accepts is a table; from the tables come parsing, `coup COMMAND --help`, docs/coup.1.md and shell
 * completion. A command that only groups others (`coup` itself, `coup bench`) names them in
 * `subcommands`.
 *
 * Every mistake of the user is one line that names the thing, the reason and what would be
 * accepted, and exit 64. SIGPIPE is ignored in coup: a reader that goes away shows as a failed
 * write (output.h). */
#ifndef COUP_CONTROLLER_COMMAND_H
#define COUP_CONTROLLER_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum argument_type {
    ARGUMENT_NONE, /* a switch */
    ARGUMENT_TEXT,
    ARGUMENT_LIST,     /* text; given again, it is appended after a comma */
    ARGUMENT_COUNT,    /* whole number in min..max */
    ARGUMENT_DURATION, /* ns in min..max */
    ARGUMENT_WORD,     /* one of words; its number is the index */
};

/* One row of a command's option table; a row whose name is NULL ends it. */
struct command_option {
    const char *name; /* long name without dashes, kebab-case */
    char letter;      /* short name, 0: none */
    enum argument_type type;
    const char *argument;     /* what help calls the value, "FILE"; NULL for a switch */
    const char *initial;      /* default as a user would write it; NULL: none */
    uint64_t min, max;        /* counts and durations, both allowed */
    const char *const *words; /* ARGUMENT_WORD: NULL-terminated */
    const char *help;         /* one sentence without full stop; help wraps it */
};

#define COMMAND_OPTIONS_MAX 48u
#define COMMAND_ANY_NUMBER UINT32_MAX

struct command_value {
    bool given;       /* by the user; a default does not count */
    const char *text; /* as written, or the default; NULL: neither */
    uint64_t number;  /* counts, durations, words; switches: 1 when given */
};

/* A parsed command line. Borrows argv. */
struct command_line {
    const struct command *command;
    char path[64]; /* "coup bench history" */
    struct command_value values[COMMAND_OPTIONS_MAX];
    char *joined[COMMAND_OPTIONS_MAX]; /* owned texts behind lists */
    const char *const *arguments;      /* what is no option, argument_count */
    uint32_t argument_count;
    int argc; /* the whole command line, program name included, for the record */
    char **argv;
};

struct command {
    const char *name;
    const char *summary;   /* one line for lists, no full stop */
    const char *arguments; /* "HISTORY...", "" when it takes none */
    uint32_t arguments_min, arguments_max;
    const char *details; /* paragraphs separated by "\n\n"; help wraps them; or NULL */
    const struct command_option *options;     /* or NULL */
    const struct command *const *subcommands; /* NULL-terminated; or NULL */
    const char *const *examples;              /* whole command lines, NULL-terminated; or NULL */
    /* Returns the exit code (base/error.h), or -errno with `error` filled and nothing printed about
     * it. May be NULL when there are subcommands. */
    int (*run)(const struct command_line *line, struct error *error);
};

/* Values by long name; a name that is not in the command's table is our own bug (assert). */
const struct command_value *command_value(const struct command_line *line, const char *name);
bool command_given(const struct command_line *line, const char *name);
const char *command_text(const struct command_line *line, const char *name); /* may be NULL */
uint64_t command_number(const struct command_line *line, const char *name);

/* Whether the command has such an option at all. */
bool command_has(const struct command_line *line, const char *name);

/* As if the user had given the option with this text, which is borrowed; it must be no list that
 * was given already. Errors do not name the option. */
int command_give(struct command_line *line, const char *name, const char *text,
                 struct error *error);

/* The command as it was given, words quoted for a shell, without the options that `aside`
 * (NULL-terminated long names) lists. */
void command_again(const struct command_line *line, const char *const *aside, struct text *out);

/* Parse argv[1..] for `command`. `line` is filled on success; command_line_release() frees it.
 * Usage errors only. `ret_help` says that --help was asked for; then nothing else was looked at. */
int command_parse(const struct command *command, const char *path, int argc, char **argv,
                  struct command_line *line, bool *ret_help, struct error *error);
void command_line_release(struct command_line *line);

/* Find the subcommand argv names, parse, and run it or print its help. Returns like run(). */
int command_dispatch(const struct command *root, int argc, char **argv, struct error *error);

/* The usage error of a command that groups others and was named without one of them. */
int command_missing(const struct command *command, struct error *error);

/* The text of --help, and the same as a section of the manual page in Markdown. */
void command_help(const struct command *command, const char *path, struct text *out);
void command_manual(const struct command *root, struct text *out);

/* Add a line here and controller/command_<name>.c: done. Order is that of `coup --help`. */
#define COUP_COMMANDS(X) \
    X(run)               \
    X(check)             \
    X(show)              \
    X(report) X(convert) X(replay) X(shrink) X(sim) X(suite) X(list) X(doctor) X(selftest) X(bench)

extern const struct command command_coup; /* the root: all of the above */

#endif
