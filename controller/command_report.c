/* `coup report`: a saved history as one page for people. */
#define _GNU_SOURCE
#include "controller/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "controller/known.h"
#include "controller/output.h"
#include "report/page.h"

/* Beside the history, in its folder when that was named. */
static void default_output(const char *path, struct text *out)
{
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        text_add(out, "%s/report.html", path);
        return;
    }
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);
    text_add_bytes(out, path, stem);
    text_add(out, ".html");
}

static int fill(FILE *out, const struct text *page, const char *path, struct error *error)
{
    bool whole = fwrite(page->at, 1, page->length, out) == page->length && fflush(out) == 0;
    int rc = whole ? 0 : error_set(error, -errno, "%s: %s", path, strerror(errno));
    if (fclose(out) != 0 && whole)
        rc = error_set(error, -errno, "%s: %s", path, strerror(errno));
    return rc;
}

/* A new file, which is gone again if it could not be filled. */
static int write_new(const char *path, const struct text *page, struct error *error)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        return error_usage(error, "%s exists (give --output another name, or --force)", path);
    if (fd < 0)
        return error_usage(error, "%s: %s", path, strerror(errno));
    FILE *out = fdopen(fd, "w");
    int rc = out ? fill(out, page, path, error)
                 : error_set(error, -errno, "%s: %s", path, strerror(errno));
    if (rc < 0)
        (void)unlink(path); /* ours, and not whole */
    return rc;
}

/* In place of a file that is there until the new one is whole. What is no file is written to. */
static int write_over(const char *path, const struct text *page, struct error *error)
{
    struct stat status;
    struct text beside = {0};
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        FILE *out = fopen(path, "we");
        return out ? fill(out, page, path, error)
                   : error_usage(error, "%s: %s", path, strerror(errno));
    }
    text_add(&beside, "%s.%d.new", path, (int)getpid());
    int rc = write_new(text_string(&beside), page, error);
    if (rc == 0 && rename(text_string(&beside), path) < 0) {
        rc = error_usage(error, "%s: %s", path, strerror(errno));
        (void)unlink(text_string(&beside)); /* ours */
    }
    text_release(&beside);
    return rc;
}

static int judge_and_draw(const char *path, struct text *page, int *ret_code, struct error *error)
{
    struct report_data data;
    struct history_reader *reader;
    int rc = check_file(path, NULL, &data, error);
    if (rc < 0)
        return rc;
    rc = history_open(path, &reader, error);
    if (rc == 0) {
        struct report report = {.data = &data,
                                .header = history_header(reader),
                                .path = path,
                                .broken_by = known_to_break(history_header(reader)),
                                .program = output_program()};
        page_html(&report, reader, page);
        *ret_code = (int)verdict_exit_code(data.verdict);
        history_reader_close(reader);
    }
    report_data_release(&data);
    return rc;
}

static int report_run(const struct command_line *line, struct error *error)
{
    struct text page = {0}, output = {0};
    const char *path = line->arguments[0];
    int code = 0;
    if (command_given(line, "output"))
        text_add(&output, "%s", command_text(line, "output"));
    else
        default_output(path, &output);
    int rc = judge_and_draw(path, &page, &code, error);
    if (rc == 0)
        rc = (command_given(line, "force") ? write_over : write_new)(text_string(&output), &page,
                                                                     error);
    if (rc == 0) {
        text_add(&output, "\n");
        rc = output_text(&output, error);
    }
    text_release(&page);
    text_release(&output);
    return rc < 0 ? rc : code;
}

static const struct command_option report_options[] = {
    {"output", 'o', ARGUMENT_TEXT, "FILE", NULL, 0, 0, NULL,
     "the page; otherwise it stands beside the history, and its name is printed"},
    {"force", 0, ARGUMENT_NONE, NULL, NULL, 0, 0, NULL, "write over a file that exists"},
    {.name = NULL},
};

static const char *const report_examples[] = {
    "coup report coup-runs/latest/history.coup",
    "coup report history.coup -o page.html",
    NULL,
};

const struct command command_report = {
    .name = "report",
    .summary = "draw a saved history as one page for a browser",
    .arguments = "HISTORY",
    .arguments_min = 1,
    .arguments_max = 1,
    .details = "Verdict and why, a timeline with a lane for each node, faults, writes and clients, "
               "failovers, and the commands that repeat the run. One file that opens from disk and "
               "asks nobody for anything. The exit code is the verdict's, as of coup check.",
    .options = report_options,
    .examples = report_examples,
    .run = report_run,
};
