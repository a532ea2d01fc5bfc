/* `coup convert`: a history from one form to another. */
#define _GNU_SOURCE
#include "controller/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "controller/output.h"
#include "histories/jsonl.h"
#include "report/export.h"

enum form { FORM_JSONL, FORM_COUP, FORM_EXPORTS };
static const char *const forms[] = {[FORM_JSONL] = "jsonl",
                                    [FORM_COUP] = "coup",
#define X(name) #name,
                                    COUP_EXPORTS(X)
#undef X
                                        NULL};

/* A new file; one that exists is never overwritten. */
static int create(const char *path, FILE **out, struct error *error)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        return error_usage(error, "%s exists (give --output another name, or remove it)", path);
    if (fd < 0)
        return error_usage(error, "%s: %s", path, strerror(errno));
    *out = fdopen(fd, "w");
    return *out ? 0 : error_set(error, -errno, "%s: %s", path, strerror(errno));
}

static int to_lines(struct history_reader *reader, enum form form, const char *path,
                    struct error *error)
{
    FILE *out = stdout;
    int rc = path ? create(path, &out, error) : 0;
    if (rc < 0)
        return rc;
    rc = form == FORM_JSONL ? history_to_jsonl(reader, out, error)
                            : export_history(export_forms[form - FORM_EXPORTS], reader, out, error);
    if (rc == 0 && fflush(out) != 0)
        rc = error_set(error, -errno, "%s: %s", path ? path : "write standard output",
                       strerror(errno));
    if (path) {
        (void)fclose(out); /* flushed above */
        if (rc < 0)
            (void)unlink(path); /* ours, and not whole */
    }
    return !path && rc == -EPIPE ? 0 : rc;
}

static int to_coup(struct history_reader *reader, const char *path, struct error *error)
{
    struct history_writer *writer;
    if (!path)
        return error_usage(error, "--to coup needs --output FILE");
    if (access(path, F_OK) == 0)
        return error_usage(error, "%s exists (give --output another name, or remove it)", path);
    int rc = history_create(path, history_header(reader), &writer, error);
    if (rc < 0)
        return rc;
    rc = history_copy(reader, writer, error);
    int closed = history_close(writer, rc == 0 ? error : NULL);
    rc = rc < 0 ? rc : closed;
    if (rc < 0)
        (void)unlink(path); /* ours, and not whole */
    return rc;
}

static int missing_form(struct error *error)
{
    struct text accepted = {0};
    for (size_t i = 0; forms[i]; i++)
        text_add(&accepted, "%s%s", i ? ", " : "", forms[i]);
    int rc = error_usage(error, "missing --to FORM (accepted: %s)", text_string(&accepted));
    text_release(&accepted);
    return rc;
}

static int convert_run(const struct command_line *line, struct error *error)
{
    struct history_reader *reader;
    const char *path = line->arguments[0], *output = command_text(line, "output");
    if (!command_given(line, "to"))
        return missing_form(error);
    int rc = history_open(path, &reader, error);
    if (rc < 0)
        return rc;
    enum form form = (enum form)command_number(line, "to");
    rc = form == FORM_COUP ? to_coup(reader, output, error) : to_lines(reader, form, output, error);
    if (rc == 0 && history_damage(reader)) {
        (void)error_set(error, -EBADMSG, "%s: %s: %s", line->path, path, history_damage(reader));
        output_error(error);
        rc = EXIT_UNKNOWN;
    }
    history_reader_close(reader);
    return rc;
}

static const struct command_option convert_options[] = {
    {"to", 't', ARGUMENT_WORD, "FORM", NULL, 0, 0, forms, "form to write"},
    {"output", 'o', ARGUMENT_TEXT, "FILE", NULL, 0, 0, NULL,
     "write here instead of standard output; must not exist"},
    {.name = NULL},
};

static const char *const convert_examples[] = {
    "coup convert history.coup --to jsonl",
    "coup convert history.jsonl --to coup -o again.coup",
    "coup convert history.coup --to perfetto -o timeline.json",
    NULL,
};

const struct command command_convert = {
    .name = "convert",
    .summary = "write a history in another form",
    .arguments = "HISTORY",
    .arguments_min = 1,
    .arguments_max = 1,
    .details = "jsonl: JSON lines, first the header, then one object an event. coup: the compact "
               "form coup writes itself. Either form is read by every command, and there and back "
               "again changes nothing. The others keep what their readers know. csv: failovers and "
               "how long each phase took. edn: what clients did and what the nemesis did, as "
               "Jepsen writes history.edn. perfetto: a timeline for ui.perfetto.dev. A damaged "
               "history is converted up to the damage; then the "
               "damage is named and the exit code is 2.",
    .options = convert_options,
    .examples = convert_examples,
    .run = convert_run,
};
