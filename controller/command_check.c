/* `coup check`: saved histories to verdicts. */
#include "controller/command.h"

#include <inttypes.h>
#include <stdio.h>

#include "controller/check_imported.h"
#include "controller/expectation.h"
#include "controller/known.h"
#include "controller/minimal.h"
#include "controller/output.h"
#include "report/verdict.h"

/* What the run was expected to come to, if anything was: told, but no part of the verdict. */
static void add_expected(const struct report *report, struct text *out)
{
    struct expectation expect;
    struct error ignored;
    if (expectation_parse(report->header->expect, &expect, &ignored) == 0)
        expectation_line(&expect, expectation_judge(&expect, report->data) == EXIT_VALID, out);
}

/* Judge one history, append what is to be printed. Returns the exit code, or -errno. */
static int check_one(const struct command_line *line, const char *path, struct text *out,
                     struct error *error)
{
    struct history_reader *reader;
    struct report_data data;
    if (command_given(line, "model"))
        return check_imported(line, path, out, error);
    int rc = history_open(path, &reader, error);
    if (rc < 0) {
        if (error->kind == ERROR_USAGE && check_looks_foreign(path))
            (void)error_usage(error,
                              "%s: looks like a history of another tool: what is it of? Say "
                              "--model register, or another (see coup list models)",
                              path);
        return rc;
    }
    rc = check_history(reader, command_text(line, "checks"), &data, error);
    if (rc == 0) {
        struct report report = {.data = &data,
                                .header = history_header(reader),
                                .path = path,
                                .title = line->argument_count > 1 ? path : NULL,
                                .broken_by = known_to_break(history_header(reader)),
                                .program = output_program(),
                                .colour = output_colour()};
        if (command_given(line, "json")) {
            report_json(&report, out);
            text_add(out, "\n");
        } else {
            report_text_with_events(&report, out);
            add_expected(&report, out);
        }
        rc = (int)verdict_exit_code(data.verdict);
        report_data_release(&data);
    }
    history_reader_close(reader);
    return rc;
}

/* Told beside the verdict, for programs read that. */
static int write_minimal(const struct command_line *line, struct error *error)
{
    struct minimal_result result;
    const char *file = command_text(line, "minimal");
    int rc = minimal_write(line->arguments[0], command_text(line, "checks"), file, &result, error);
    if (rc == 0)
        (void)fprintf(stderr,
                      "%s: %s is still violated by %" PRIu64 " of %" PRIu64
                      " events%s (judge them with --checks %s)\n",
                      file, result.check->name, result.after, result.before,
                      result.whole ? "" : ", stopped before they were the fewest",
                      result.check->name);
    return rc;
}

/* A proven violation is never hidden by anything else that went wrong. */
static int worse(int a, int b)
{
    static const int order[] = {EXIT_VALID, EXIT_UNKNOWN, EXIT_USAGE_BAD, EXIT_HARNESS,
                                EXIT_INVALID};
    int worst = EXIT_VALID;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (order[i] == a || order[i] == b)
            worst = order[i];
    return worst;
}

static int check_run(const struct command_line *line, struct error *error)
{
    int code = EXIT_VALID, rc = check_imported_vet(line, error);
    struct text out = {0};
    if (command_given(line, "minimal") && line->argument_count > 1)
        return error_usage(error, "--minimal takes one history");
    if (command_given(line, "minimal"))
        rc = write_minimal(line, error);
    for (uint32_t i = 0; i < line->argument_count && rc == 0; i++) {
        text_clear(&out);
        if (i > 0 && !command_given(line, "json"))
            text_add(&out, "\n");
        int one = check_one(line, line->arguments[i], &out, error);
        if (one < 0 && line->argument_count == 1)
            rc = one;
        else if (one < 0) { /* say so, and judge the others */
            error_prefix(error, "%s", line->path);
            output_error(error);
            code = worse(code, (int)error_exit_code(error));
        } else {
            rc = output_text(&out, error);
            code = worse(code, one);
        }
    }
    text_release(&out);
    return rc < 0 ? rc : code;
}

static const struct command_option check_options[] = {
    {"checks", 0, ARGUMENT_LIST, "LIST", NULL, 0, 0, NULL,
     "judge by these checks only, comma-separated (see coup list checks)"},
    {"minimal", 0, ARGUMENT_TEXT, "FILE", NULL, 0, 0, NULL,
     "write the fewest events that still show the first violation to a new history"},
    {"model", 0, ARGUMENT_TEXT, "MODEL", NULL, 0, 0, NULL,
     "the histories are another tool's, of operations on an object of this kind: register, "
     "cas-register, kv, mutex, ... (see coup list models)"},
    {"initial", 0, ARGUMENT_TEXT, "EDN", NULL, 0, 0, NULL,
     "with --model: value that registers begin with; nil when not given, \"\" of kv, 0 of "
     "multi-register"},
    {"nil", 0, ARGUMENT_WORD, "WHAT", NULL, 0, 0, check_nil_words,
     "with --model: a read that was answered nil found that value, or what it found is unknown; "
     "value for a Jepsen log, else unknown"},
    {"fail", 0, ARGUMENT_WORD, "WHAT", NULL, 0, 0, check_fail_words,
     "with --model: a cas that failed did not take place, or met another value than it expected; "
     "refused for a Jepsen log, else not-done"},
    {.name = "json", .help = "print one JSON object a history, each on a line"},
    {.name = NULL},
};

static const char *const check_examples[] = {
    "coup check coup-runs/latest/history.coup",
    "coup check --json --checks fencing-monotonic *.coup",
    "coup check --model cas-register history.edn",
    "coup check --minimal small.coup coup-runs/latest/history.coup",
    NULL,
};

const struct command command_check = {
    .name = "check",
    .summary = "judge saved histories",
    .arguments = "HISTORY...",
    .arguments_min = 1,
    .arguments_max = COMMAND_ANY_NUMBER,
    .details = "Decides from the file alone, with the same checks and exit codes as the run that "
               "wrote it. A file that was cut off or damaged is judged up to the damage and then "
               "at best unknown. With several histories the worst exit code wins: 1 before 3, 64, "
               "2 and 0.\n\n"
               "With --model the histories are Jepsen's or Knossos' (EDN, history.txt, a log with "
               "such lines): is there one order of the operations that respects real time and "
               "that the object allows?",
    .options = check_options,
    .examples = check_examples,
    .run = check_run,
};
