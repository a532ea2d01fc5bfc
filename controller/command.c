#include "controller/command.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "controller/output.h"

/* getopt reports long options by these numbers, above every letter. */
#define LONG_FIRST 256
#define LONG_HELP (LONG_FIRST + (int)COMMAND_OPTIONS_MAX)

static uint32_t options_of(const struct command *command)
{
    uint32_t count = 0;
    while (command->options && command->options[count].name)
        count++;
    assert(count <= COMMAND_OPTIONS_MAX);
    return count;
}

/* Index in the table, or the number of options. */
static uint32_t find_option(const struct command *command, const char *name)
{
    uint32_t index = 0, count = options_of(command);
    while (index < count && strcmp(command->options[index].name, name) != 0)
        index++;
    return index;
}

bool command_has(const struct command_line *line, const char *name)
{
    return find_option(line->command, name) < options_of(line->command);
}

const struct command_value *command_value(const struct command_line *line, const char *name)
{
    assert(command_has(line, name));
    return &line->values[find_option(line->command, name)];
}

bool command_given(const struct command_line *line, const char *name)
{
    return command_value(line, name)->given;
}

const char *command_text(const struct command_line *line, const char *name)
{
    return command_value(line, name)->text;
}

uint64_t command_number(const struct command_line *line, const char *name)
{
    return command_value(line, name)->number;
}

static int parse_bounded(const struct command_option *option, const char *text, uint64_t *ret,
                         struct error *error)
{
    bool duration = option->type == ARGUMENT_DURATION;
    int rc = duration ? parse_duration(text, ret, error) : parse_count(text, ret, error);
    if (rc < 0 || (*ret >= option->min && *ret <= option->max))
        return rc;
    char low[UNIT_TEXT_MAX], high[UNIT_TEXT_MAX];
    if (duration)
        return error_usage(error, "'%.60s' must be between %s and %s", text,
                           format_duration(option->min, low), format_duration(option->max, high));
    return error_usage(error, "'%.60s' must be between %llu and %llu", text,
                       (unsigned long long)option->min, (unsigned long long)option->max);
}

static int parse_word(const struct command_option *option, const char *text, uint64_t *ret,
                      struct error *error)
{
    struct text accepted = {0};
    for (uint64_t i = 0; option->words[i]; i++) {
        if (strcmp(option->words[i], text) == 0) {
            *ret = i;
            text_release(&accepted);
            return 0;
        }
        text_add(&accepted, "%s%s", i ? ", " : "", option->words[i]);
    }
    int rc = error_usage(error, "'%.60s' is unknown (accepted: %s)", text, text_string(&accepted));
    text_release(&accepted);
    return rc;
}

static int parse_value(const struct command_option *option, const char *text,
                       struct command_value *value, struct error *error)
{
    switch (option->type) {
    case ARGUMENT_NONE: value->number = 1; break;
    case ARGUMENT_TEXT:
    case ARGUMENT_LIST: break;
    case ARGUMENT_COUNT:
    case ARGUMENT_DURATION: return parse_bounded(option, text, &value->number, error);
    case ARGUMENT_WORD: return parse_word(option, text, &value->number, error);
    }
    return 0;
}

/* The user gave option `index`; `text` is NULL for a switch. */
static int take_option(struct command_line *line, uint32_t index, const char *text,
                       struct error *error)
{
    const struct command_option *option = &line->command->options[index];
    struct command_value *value = &line->values[index];
    if (parse_value(option, text, value, error) < 0) {
        error_prefix(error, "--%s", option->name);
        return -EINVAL;
    }
    if (option->type == ARGUMENT_LIST && value->given) {
        struct text both = {0};
        text_add(&both, "%s,%s", value->text, text);
        free(line->joined[index]);
        text = line->joined[index] = both.at;
    }
    value->given = true;
    value->text = text;
    return 0;
}

int command_give(struct command_line *line, const char *name, const char *text, struct error *error)
{
    uint32_t index = find_option(line->command, name);
    assert(command_has(line, name));
    struct command_value value = {.given = true, .text = text};
    int rc = parse_value(&line->command->options[index], text, &value, error);
    if (rc == 0)
        line->values[index] = value;
    return rc;
}

static void take_defaults(struct command_line *line)
{
    struct error error;
    for (uint32_t i = 0; i < options_of(line->command); i++) {
        const struct command_option *option = &line->command->options[i];
        if (!option->initial)
            continue;
        int rc = parse_value(option, option->initial, &line->values[i], &error);
        assert(rc == 0);
        (void)rc;
        line->values[i].text = option->initial;
    }
}

static void getopt_tables(const struct command *command, struct option *longs, char *letters)
{
    uint32_t count = options_of(command);
    *letters++ = ':'; /* a missing value is told apart from an unknown option */
    *letters++ = 'h';
    for (uint32_t i = 0; i < count; i++) {
        const struct command_option *option = &command->options[i];
        int takes = option->type == ARGUMENT_NONE ? no_argument : required_argument;
        longs[i] = (struct option){option->name, takes, NULL, LONG_FIRST + (int)i};
        if (!option->letter)
            continue;
        *letters++ = option->letter;
        if (takes == required_argument)
            *letters++ = ':';
    }
    longs[count] = (struct option){"help", no_argument, NULL, LONG_HELP};
    longs[count + 1] = (struct option){0};
    *letters = '\0';
}

/* Index of the option getopt returned or complains about, -1: none of ours. */
static int option_index(const struct command *command, int code)
{
    uint32_t count = options_of(command);
    if (code >= LONG_FIRST)
        return code - LONG_FIRST < (int)count ? code - LONG_FIRST : -1;
    for (uint32_t i = 0; i < count; i++)
        if (code > 0 && command->options[i].letter == code)
            return (int)i;
    return -1;
}

static int unknown_option(const struct command *command, const char *word, struct error *error)
{
    struct text accepted = {0};
    for (uint32_t i = 0; i < options_of(command); i++)
        text_add(&accepted, "--%s, ", command->options[i].name);
    int rc = error_usage(error, "unknown option '%.60s' (accepted: %s--help)", word,
                         text_string(&accepted));
    text_release(&accepted);
    return rc;
}

/* getopt refused something: '?' or ':'. Letters are named as such, inside a cluster too. */
static int refused_option(const struct command *command, int code, int about, const char *word,
                          struct error *error)
{
    int index = option_index(command, about);
    if (code == ':')
        return error_usage(error, "--%s needs a value: %s", command->options[index].name,
                           command->options[index].argument);
    if (index >= 0 || about == LONG_HELP)
        return error_usage(error, "--%s takes no value",
                           index >= 0 ? command->options[index].name : "help");
    char letter[3] = {'-', (char)about, '\0'};
    return unknown_option(command, about ? letter : word, error);
}

static int check_argument_count(const struct command_line *line, struct error *error)
{
    const struct command *command = line->command;
    if (line->argument_count < command->arguments_min)
        return error_usage(error, "missing argument (usage: %s [OPTION]... %s)", line->path,
                           command->arguments);
    if (line->argument_count <= command->arguments_max)
        return 0;
    return error_usage(error, "stray argument '%.60s' (usage: %s [OPTION]...%s%s)",
                       line->arguments[command->arguments_max], line->path,
                       *command->arguments ? " " : "", command->arguments);
}

static int parse_options(struct command_line *line, int argc, char **argv, bool *ret_help,
                         struct error *error)
{
    struct option longs[COMMAND_OPTIONS_MAX + 2];
    char letters[2 * COMMAND_OPTIONS_MAX + 3];
    int code;
    getopt_tables(line->command, longs, letters);
    opterr = 0;
    optind = 0; /* GNU: start afresh */
    while ((code = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        if (code == '?' || code == ':')
            return refused_option(line->command, code, optopt, argv[optind - 1], error);
        if (code == 'h' || code == LONG_HELP) {
            *ret_help = true;
            return 0;
        }
        int index = option_index(line->command, code);
        assert(index >= 0);
        if (take_option(line, (uint32_t)index, optarg, error) < 0)
            return -EINVAL;
    }
    line->arguments = (const char *const *)(argv + optind);
    line->argument_count = (uint32_t)(argc - optind);
    return check_argument_count(line, error);
}

int command_parse(const struct command *command, const char *path, int argc, char **argv,
                  struct command_line *line, bool *ret_help, struct error *error)
{
    *line = (struct command_line){.command = command};
    (void)snprintf(line->path, sizeof line->path, "%s", path);
    take_defaults(line);
    *ret_help = false;
    int rc = parse_options(line, argc, argv, ret_help, error);
    if (rc < 0)
        command_line_release(line);
    return rc;
}

void command_line_release(struct command_line *line)
{
    for (uint32_t i = 0; i < COMMAND_OPTIONS_MAX; i++)
        free(line->joined[i]);
    *line = (struct command_line){0};
}

static void list_subcommands(const struct command *command, struct text *out)
{
    for (uint32_t i = 0; command->subcommands[i]; i++)
        text_add(out, "%s%s", i ? ", " : "", command->subcommands[i]->name);
}

int command_missing(const struct command *command, struct error *error)
{
    struct text accepted = {0};
    list_subcommands(command, &accepted);
    int rc =
        error_usage(error, "missing %s (accepted: %s)", command->arguments, text_string(&accepted));
    text_release(&accepted);
    return rc;
}

static int unknown_subcommand(const struct command *command, const char *word, struct error *error)
{
    struct text accepted = {0};
    list_subcommands(command, &accepted);
    int rc = error_usage(error, "unknown %s '%.60s' (accepted: %s)", command->arguments, word,
                         text_string(&accepted));
    text_release(&accepted);
    return rc;
}

static const struct command *find_subcommand(const struct command *command, const char *name)
{
    for (uint32_t i = 0; command->subcommands[i]; i++)
        if (strcmp(command->subcommands[i]->name, name) == 0)
            return command->subcommands[i];
    return NULL;
}

static int run_parsed(const struct command_line *line, bool help, struct error *error)
{
    if (help) {
        struct text text = {0};
        command_help(line->command, line->path, &text);
        int rc = output_text(&text, error);
        text_release(&text);
        return rc < 0 ? rc : EXIT_VALID;
    }
    if (!line->command->run)
        return command_missing(line->command, error);
    return line->command->run(line, error);
}

/* Errors name the command they come from: "coup check: ...". */
int command_dispatch(const struct command *root, int argc, char **argv, struct error *error)
{
    const struct command *command = root;
    struct text path = {0};
    int depth = 0, rc = 0;
    text_add(&path, "%s", root->name);
    while (command->subcommands && depth + 1 < argc && argv[depth + 1][0] != '-') {
        const struct command *sub = find_subcommand(command, argv[depth + 1]);
        if (!sub) {
            rc = unknown_subcommand(command, argv[depth + 1], error);
            goto out;
        }
        command = sub;
        depth++;
        text_add(&path, " %s", command->name);
    }
    struct command_line line;
    bool help;
    rc =
        command_parse(command, text_string(&path), argc - depth, argv + depth, &line, &help, error);
    if (rc < 0)
        goto out;
    line.argc = argc;
    line.argv = argv;
    rc = run_parsed(&line, help, error);
    command_line_release(&line);
out:
    if (rc < 0)
        error_prefix(error, "%s", text_string(&path));
    text_release(&path);
    return rc;
}

static bool listed(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

void command_again(const struct command_line *line, const char *const *aside, struct text *out)
{
    text_add(out, "%s", line->path);
    for (uint32_t i = 0; line->command->options[i].name; i++) {
        const struct command_option *option = &line->command->options[i];
        if (!line->values[i].given || listed(aside, option->name))
            continue;
        text_add(out, " --%s", option->name);
        if (option->type == ARGUMENT_NONE)
            continue;
        text_add(out, " ");
        text_add_shell(out, slice_of(line->values[i].text));
    }
}
