#include "controller/command.h"

#include <stdio.h>
#include <string.h>

#define HELP_COLUMNS 88u
#define HELP_INDENT 30u

/* Append `words` wrapped at HELP_COLUMNS; the cursor stands at `column`, later lines start at
 * `indent`. No newline at the end. */
static void add_wrapped(struct text *out, const char *words, size_t column, size_t indent)
{
    bool first = true;
    while (*words) {
        size_t length = strcspn(words, " ");
        if (!first && column + 1 + length > HELP_COLUMNS) {
            text_add(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            text_add(out, " ");
            column++;
        }
        text_add_bytes(out, words, length);
        column += length;
        words += length + strspn(words + length, " ");
        first = false;
    }
}

static void add_paragraphs(struct text *out, const char *paragraphs)
{
    struct text one = {0};
    while (*paragraphs) {
        const char *end = strstr(paragraphs, "\n\n");
        size_t length = end ? (size_t)(end - paragraphs) : strlen(paragraphs);
        text_clear(&one);
        text_add_bytes(&one, paragraphs, length);
        add_wrapped(out, text_string(&one), 0, 0);
        text_add(out, "\n\n");
        paragraphs += length + (end ? 2 : 0);
    }
    text_release(&one);
}

static void add_usage(struct text *out, const struct command *command, const char *path)
{
    text_add(out, "%s%s%s%s", path, command->run ? " [OPTION]..." : "",
             *command->arguments ? " " : "", command->arguments);
}

/* "-a, --algorithm NAME" */
static void add_option_name(struct text *out, const struct command_option *option)
{
    if (option->letter)
        text_add(out, "-%c, ", option->letter);
    text_add(out, "--%s%s%s", option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
}

/* Help sentence, what is accepted, default. */
static void add_option_meaning(struct text *out, const struct command_option *option)
{
    text_add(out, "%s", option->help);
    if (option->type == ARGUMENT_WORD) {
        text_add(out, ":");
        for (uint32_t i = 0; option->words[i]; i++)
            text_add(out, "%s%s", i ? ", " : " ", option->words[i]);
    }
    if (option->initial)
        text_add(out, " (default %s)", option->initial);
}

static void add_row(struct text *out, const char *left, const char *right)
{
    size_t start = out->length;
    text_add(out, "  %s", left);
    size_t column = out->length - start;
    if (column + 2 > HELP_INDENT)
        text_add(out, "\n%*s", (int)HELP_INDENT, "");
    else
        text_add(out, "%*s", (int)(HELP_INDENT - column), "");
    add_wrapped(out, right, HELP_INDENT, HELP_INDENT);
    text_add(out, "\n");
}

static void add_option_rows(struct text *out, const struct command *command)
{
    struct text left = {0}, right = {0};
    text_add(out, "Options:\n");
    for (const struct command_option *option = command->options; option && option->name; option++) {
        text_clear(&left);
        text_clear(&right);
        text_add(&left, "%s", option->letter ? "" : "    ");
        add_option_name(&left, option);
        add_option_meaning(&right, option);
        add_row(out, text_string(&left), text_string(&right));
    }
    add_row(out, "-h, --help", "show this and exit");
    text_release(&left);
    text_release(&right);
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* "COMMAND" -> "Commands:" */
static void add_group_title(struct text *out, const char *what)
{
    text_add(out, "%c", what[0]);
    for (const char *c = what + 1; *c; c++)
        text_add(out, "%c", *c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    text_add(out, "s:\n");
}

void command_help(const struct command *command, const char *path, struct text *out)
{
    text_add(out, "Usage: ");
    add_usage(out, command, path);
    text_add(out, "\n\n");
    text_add(out, "%c%s.\n\n", upper(command->summary[0]), command->summary + 1);
    if (command->details)
        add_paragraphs(out, command->details);
    if (command->subcommands) {
        add_group_title(out, command->arguments);
        for (uint32_t i = 0; command->subcommands[i]; i++)
            add_row(out, command->subcommands[i]->name, command->subcommands[i]->summary);
        text_add(out, "\n");
    }
    add_option_rows(out, command);
    for (uint32_t i = 0; command->examples && command->examples[i]; i++)
        text_add(out, "%s  %s\n", i ? "" : "\nExamples:\n", command->examples[i]);
    if (command->subcommands)
        text_add(out, "\nSee %s %s --help for each.\n", path, command->arguments);
}

static void manual_options(const struct command *command, struct text *out)
{
    struct text meaning = {0};
    for (const struct command_option *option = command->options; option && option->name; option++) {
        text_clear(&meaning);
        add_option_meaning(&meaning, option);
        text_add(out, "- `");
        add_option_name(out, option);
        text_add(out, "`: %s.\n", text_string(&meaning));
    }
    if (command->options && command->options[0].name)
        text_add(out, "\n");
    text_release(&meaning);
}

static void manual_section(const struct command *command, const char *path, struct text *out)
{
    text_add(out, "### %s\n\n    ", path);
    add_usage(out, command, path);
    text_add(out, "\n\n%s.\n\n", command->summary);
    if (command->details)
        add_paragraphs(out, command->details);
    manual_options(command, out);
    for (uint32_t i = 0; command->examples && command->examples[i]; i++)
        text_add(out, "    %s\n%s", command->examples[i], command->examples[i + 1] ? "" : "\n");
    struct text inner = {0};
    for (uint32_t i = 0; command->subcommands && command->subcommands[i]; i++) {
        text_clear(&inner);
        text_add(&inner, "%s %s", path, command->subcommands[i]->name);
        manual_section(command->subcommands[i], text_string(&inner), out);
    }
    text_release(&inner);
}

void command_manual(const struct command *root, struct text *out)
{
    text_add(out, "# %s(1)\n\n## Name\n\n%s - %s\n\n## Synopsis\n\n    ", root->name, root->name,
             root->summary);
    add_usage(out, root, root->name);
    text_add(out, "\n\n## Description\n\n");
    add_paragraphs(out, root->details);
    manual_options(root, out);
    text_add(out, "## Commands\n\n");
    struct text path = {0};
    for (uint32_t i = 0; root->subcommands[i]; i++) {
        text_clear(&path);
        text_add(&path, "%s %s", root->name, root->subcommands[i]->name);
        manual_section(root->subcommands[i], text_string(&path), out);
    }
    text_release(&path);
}
