/* `coup suite`: many settings, each with what must come out of it. */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include "controller/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "controller/farm.h"
#include "controller/output.h"
#include "controller/run_folder.h"
#include "controller/sim_keep.h"
#include "controller/suite_compare.h"
#include "controller/suite_report.h"
#include "nemesis/shipped.h"
#include "nemesis/yaml_source.h"

/* What a command line asks for, with the suite's text. */
struct suite_use {
    struct suite_order order;
    struct text yaml, file, folder;
    struct suite_journal_head head; /* of a resumed one: texts behind the order */
};

static void suite_use_release(struct suite_use *use)
{
    text_release(&use->yaml);
    text_release(&use->file);
    text_release(&use->folder);
}

/* A file, or one that ships. */
static int read_suite(const char *name, struct suite_use *use, struct error *error)
{
    text_add(&use->file, "%s", name);
    if (source_is_path(name))
        return source_file(name, "suite", &use->yaml, error);
    struct text accepted = {0};
    for (const struct shipped_text *shipped = shipped_suites; shipped->name; shipped++) {
        if (strcmp(shipped->name, name) == 0)
            text_add(&use->yaml, "%s", shipped->text);
        text_add(&accepted, "%s, ", shipped->name);
    }
    int rc = use->yaml.length ? 0
                              : error_usage(error,
                                            "unknown suite '%.60s' (accepted: %sfiles that end in "
                                            ".yaml or have a / in their name)",
                                            name, text_string(&accepted));
    text_release(&accepted);
    return rc;
}

static void ignore(void *context, const struct suite_record *record)
{
    (void)context;
    (void)record;
}

/* Suite and words of a folder. */
static int read_folder(const char *folder, struct suite_use *use, struct error *error)
{
    text_add(&use->file, "%s/%s", folder, SUITE_COPY);
    int rc = suite_journal_read(folder, &use->head, ignore, NULL, NULL, error);
    if (rc == 0)
        rc = source_file(text_string(&use->file), "suite", &use->yaml, error);
    use->order.shard = use->head.shard;
    use->order.only = use->head.only;
    return rc;
}

/* Everything that decides the work comes from the folder. */
static int exclude(const struct command_line *line, const char *way, const char *const *others,
                   struct error *error)
{
    for (; *others; others++)
        if (command_given(line, *others))
            return error_usage(error, "--%s and --%s exclude each other: the folder says it",
                               *others, way);
    return 0;
}

static int read_resumed(const struct command_line *line, struct suite_use *use, struct error *error)
{
    static const char *const others[] = {"shard", "only", "output", "merge", NULL};
    int rc = exclude(line, "resume", others, error);
    if (rc == 0 && line->argument_count)
        rc = error_usage(error, "--resume takes the suite from its folder, no other one");
    if (rc < 0)
        return rc;
    text_add(&use->folder, "%s", command_text(line, "resume"));
    return read_folder(command_text(line, "resume"), use, error);
}

/* The suite is the first folder's; all the others must be of the same. */
static int read_merged(const struct command_line *line, struct suite_use *use, struct error *error)
{
    static const char *const others[] = {"shard", "only", "budget", NULL};
    int rc = exclude(line, "merge", others, error);
    if (rc == 0 && line->argument_count == 0)
        rc = error_usage(error, "--merge needs the folders of shards");
    if (rc == 0)
        rc = read_folder(line->arguments[0], use, error);
    use->order.shard = "1/1";
    return rc;
}

static int read_named(const struct command_line *line, struct suite_use *use, struct error *error)
{
    use->order.shard = command_text(line, "shard");
    use->order.only = command_given(line, "only") ? command_text(line, "only") : "";
    if (line->argument_count == 0)
        return error_usage(error, "names no suite (coup list suites shows those that ship)");
    if (line->argument_count > 1)
        return error_usage(error, "one suite at a time, not '%.60s' too", line->arguments[1]);
    return read_suite(line->arguments[0], use, error);
}

static int read_command(const struct command_line *line, struct suite_use *use, struct error *error)
{
    use->order.jobs = sim_order_jobs(line);
    use->order.budget_ns = command_given(line, "budget") ? command_number(line, "budget") : 0;
    use->order.fail_fast = command_given(line, "fail-fast");
    use->order.quiet = command_given(line, "quiet");
    int rc = command_given(line, "resume")  ? read_resumed(line, use, error)
             : command_given(line, "merge") ? read_merged(line, use, error)
                                            : read_named(line, use, error);
    use->order.file = text_string(&use->file);
    use->order.yaml = text_string(&use->yaml);
    return rc;
}

static int write_one(const char *folder, const char *name, struct text *text, struct error *error)
{
    struct text path = {0};
    text_add(&path, "%s/%s", folder, name);
    int rc = write_file(text_string(&path), (struct slice){text_string(text), text->length}, error);
    text_release(&path);
    text_clear(text);
    return rc;
}

static int write_reports(const struct suite_state *state, const char *folder, struct error *error)
{
    struct text text = {0};
    suite_report_junit(state, folder, &text);
    int rc = write_one(folder, "junit.xml", &text, error);
    suite_report_json(state, folder, &text);
    if (rc == 0)
        rc = write_one(folder, "results.json", &text, error);
    suite_report_markdown(state, folder, &text);
    if (rc == 0)
        rc = write_one(folder, "summary.md", &text, error);
    text_release(&text);
    return rc;
}

static int print(const struct suite_state *state, const char *folder, bool json,
                 struct error *error)
{
    struct text out = {0};
    if (json)
        suite_report_json(state, folder, &out);
    else
        suite_report_text(state, folder, output_colour(), output_columns(), &out);
    int rc = output_text(&out, error);
    text_release(&out);
    return rc;
}

/* A new folder with the suite in it and an empty journal. */
static int begin(const struct command_line *line, struct suite_use *use,
                 const struct suite_state *state, int *ret_fd, struct error *error)
{
    int rc = run_folder_create(command_text(line, "output"), "suite", 1, &use->folder, error);
    struct text copy = {0};
    text_add(&copy, "%s", use->order.yaml);
    if (rc == 0)
        rc = write_one(text_string(&use->folder), SUITE_COPY, &copy, error);
    text_release(&copy);
    return rc < 0 ? rc
                  : suite_journal_create(text_string(&use->folder), &state->head, ret_fd, error);
}

static int merge(const struct command_line *line, struct suite_state *state, int fd,
                 struct error *error)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < line->argument_count; i++)
        rc = suite_state_merge(state, line->arguments[i], fd, error);
    suite_state_settle(state);
    return rc;
}

static int do_work(const struct command_line *line, struct suite_use *use,
                   struct suite_state *state, struct error *error)
{
    int fd = -1;
    int rc = command_given(line, "resume")
                 ? suite_state_load(state, text_string(&use->folder), SUITE_SAME, &fd, error)
                 : begin(line, use, state, &fd, error);
    if (rc == 0 && command_given(line, "merge"))
        rc = merge(line, state, fd, error);
    else if (rc == 0)
        rc = suite_state_run(state, &use->order, text_string(&use->folder), fd, error);
    if (fd >= 0)
        (void)close(fd); /* every line was written whole */
    return rc;
}

/* Read before anything runs: a mistake should not wait for the night to be over. */
static int read_earlier(const struct command_line *line, struct suite_use *use,
                        struct suite_state *before, struct error *error)
{
    if (!command_given(line, "compare"))
        return 0;
    const char *folder = command_text(line, "compare");
    int rc = read_folder(folder, use, error);
    use->order.file = text_string(&use->file);
    use->order.yaml = text_string(&use->yaml);
    if (rc == 0)
        rc = suite_state_open(&use->order, before, error);
    if (rc == 0)
        rc = suite_state_load(before, folder, SUITE_EARLIER, NULL, error);
    suite_state_settle(before);
    if (rc < 0)
        error_prefix(error, "--compare");
    return rc;
}

static int show_comparison(const struct command_line *line, const struct suite_state *before,
                           const struct suite_state *now, struct error *error)
{
    struct text out = {0};
    if (!command_given(line, "compare") || command_given(line, "json"))
        return 0;
    suite_compare(before, now, &out);
    int rc = output_text(&out, error);
    text_release(&out);
    return rc;
}

static int add_to_trend(const char *path, const struct suite_state *state, struct error *error)
{
    struct text line = {0};
    struct tm utc;
    char stamp[32];
    time_t now;
    struct timespec clock;
    (void)clock_gettime(CLOCK_REALTIME, &clock);
    now = clock.tv_sec;
    (void)gmtime_r(&now, &utc);
    (void)strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
    suite_report_trend(state, stamp, &line);
    FILE *file = fopen(path, "ae");
    int rc = file ? 0 : error_usage(error, "--trend: %s: %s", path, strerror(errno));
    if (file && fwrite(line.at, 1, line.length, file) != line.length)
        rc = error_set(error, -EIO, "write %s", path);
    if (file && fclose(file) != 0 && rc == 0)
        rc = error_set(error, -errno, "write %s: %s", path, strerror(errno));
    text_release(&line);
    return rc;
}

static int execute(const struct command_line *line, struct suite_use *use,
                   struct suite_state *state, const struct suite_state *before, struct error *error)
{
    int rc = do_work(line, use, state, error);
    const char *folder = text_string(&use->folder);
    if (rc == 0)
        rc = write_reports(state, folder, error);
    if (rc == 0 && command_given(line, "trend"))
        rc = add_to_trend(command_text(line, "trend"), state, error);
    if (rc == 0)
        rc = print(state, folder, command_given(line, "json"), error);
    if (rc == 0)
        rc = show_comparison(line, before, state, error);
    return rc < 0 ? rc : (int)suite_exit_code(state->tallies, state->count);
}

static int suite_command(const struct command_line *line, struct error *error)
{
    struct suite_use use = {0}, earlier = {0};
    struct suite_state state = {0}, before = {0};
    int rc = read_command(line, &use, error);
    if (rc == 0)
        rc = suite_state_open(&use.order, &state, error);
    if (rc == 0)
        rc = read_earlier(line, &earlier, &before, error);
    if (rc == 0)
        rc = execute(line, &use, &state, &before, error);
    suite_state_release(&before);
    suite_state_release(&state);
    suite_use_release(&earlier);
    suite_use_release(&use);
    return rc;
}

static const struct command_option suite_options[] = {
    {"jobs", 'j', ARGUMENT_COUNT, "N", NULL, 1, FARM_WORKERS_MAX, NULL,
     "processes that work at once, each at a run; as many as there are cores when not given"},
    {"shard", 0, ARGUMENT_TEXT, "I/N", "1/1", 0, 0, NULL,
     "do the I-th of N parts: cell 1 is in part 1, cell 2 in part 2, and so on around"},
    {"only", 0, ARGUMENT_TEXT, "TEXT", NULL, 0, 0, NULL, "only cells with this text in their name"},
    {"budget", 0, ARGUMENT_DURATION, "D", NULL, NS_PER_MS, UINT64_MAX, NULL,
     "begin no run after so long; instead of the suite's own budget"},
    {"fail-fast", 0, ARGUMENT_NONE, NULL, NULL, 0, 0, NULL, "begin no run after a cell has failed"},
    {"resume", 0, ARGUMENT_TEXT, "DIR", NULL, 0, 0, NULL,
     "go on with the suite in this folder, which was stopped or killed"},
    {"merge", 0, ARGUMENT_NONE, NULL, NULL, 0, 0, NULL,
     "run nothing: put the folders of shards together, which are given instead of a suite"},
    {"compare", 0, ARGUMENT_TEXT, "OLD", NULL, 0, 0, NULL,
     "the folder of an earlier go: show which cells moved by more than chance"},
    {"trend", 0, ARGUMENT_TEXT, "FILE", NULL, 0, 0, NULL,
     "append outcomes, counts and failovers of the cells to this file, as a line of JSON"},
    {"output", 'o', ARGUMENT_TEXT, "DIR", NULL, 0, 0, NULL,
     "the suite's own folder, new or empty; otherwise one is made below coup-runs/"},
    {"json", 0, ARGUMENT_NONE, NULL, NULL, 0, 0, NULL, "print the outcome as one JSON object"},
    {"quiet", 'q', ARGUMENT_NONE, NULL, NULL, 0, 0, NULL, "nothing on standard error but errors"},
    {.name = NULL},
};

static const char *const suite_examples[] = {
    "coup suite smoke",
    "coup suite nightly --shard 2/4 -o night",
    "coup suite --resume night",
    "coup suite --merge night-1 night-2 night-3 night-4 -o night --compare last-night",
    NULL,
};

const struct command command_suite = {
    .name = "suite",
    .summary = "run many settings, simulated and real, each with what must come out of it",
    .arguments = "[SUITE|DIR...]",
    .arguments_max = COMMAND_ANY_NUMBER,
    .details =
        "SUITE is a file (docs/suites.md) or one that ships (see coup list suites). Its folder "
        "gets junit.xml, results.json, summary.md, the histories that were kept, and a journal, "
        "from which --resume goes on.\n\n"
        "Exit 0 when every cell came out as expected, 1 when one did not, 3 when coup itself "
        "failed in one, 2 when one could not be decided or was not run.",
    .options = suite_options,
    .examples = suite_examples,
    .run = suite_command,
};
