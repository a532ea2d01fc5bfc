#include "controller/suite_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "controller/grid.h"
#include "controller/output.h"
#include "controller/version.h"

static const char *world_of(const struct suite_tally *tally)
{
    return tally->job->cell->real ? "real" : "sim";
}

static void add_expected(const struct suite_tally *tally, struct text *out)
{
    uint64_t needs = suite_tally_needs(tally);
    expectation_format(&tally->job->expect, out);
    if (tally->job->cell->at_least)
        text_add(out, " in %" PRIu64, needs);
}

static uint32_t count_of_outcome(const struct suite_state *state, enum suite_outcome outcome)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < state->count; i++)
        count += suite_tally_outcome(&state->tallies[i]) == outcome;
    return count;
}

static uint64_t all_runs(const struct suite_state *state)
{
    uint64_t runs = 0;
    for (uint32_t i = 0; i < state->count; i++)
        runs += state->tallies[i].runs;
    return runs;
}

static const char *state_word(const struct suite_state *state)
{
    switch (suite_exit_code(state->tallies, state->count)) {
    case EXIT_VALID: return "passed";
    case EXIT_INVALID: return "FAILED";
    case EXIT_HARNESS: return "broken";
    default: return "undecided";
    }
}

void suite_report_line(const struct suite_state *state, struct text *out)
{
    char cells[COUNT_TEXT_MAX], runs[COUNT_TEXT_MAX], took[UNIT_TEXT_MAX];
    text_add(out, "%s: %s", state_word(state), count_of(state->count, "cell", cells));
    for (enum suite_outcome outcome = SUITE_FAILED; outcome > SUITE_PASSED; outcome--)
        if (count_of_outcome(state, outcome))
            text_add(out, ", %" PRIu32 " %s", count_of_outcome(state, outcome),
                     suite_outcome_name(outcome));
    text_add(out, ", %s in %s%s", count_of(all_runs(state), "run", runs),
             human_duration(state->took_ns, took),
             state->interrupted   ? ", interrupted"
             : state->out_of_time ? ", out of time"
             : state->failed_fast ? ", stopped at the first failure"
                                  : "");
}

/* ---- for people ---- */

static const struct grid_column columns[] = {
    {"outcome", false},     {"cell", false},     {"world", false}, {"expected", false},
    {"as expected", false}, {"failover", false}, {"work", false},  {NULL, false},
};

static void add_row(const struct suite_tally *tally, struct grid *grid)
{
    struct text expected = {0};
    char text[UNIT_TEXT_MAX];
    add_expected(tally, &expected);
    grid_row(grid, 0);
    grid_cell(grid, "%s", suite_outcome_name(suite_tally_outcome(tally)));
    grid_cell(grid, "%s", tally->job->cell->name);
    grid_cell(grid, "%s", world_of(tally));
    grid_cell(grid, "%s", text_string(&expected));
    grid_cell(grid, "%" PRIu64 " of %" PRIu64, tally->met, tally->runs);
    grid_cell(grid, "%s",
              tally->failover_count
                  ? human_duration(suite_tally_failover_us(tally, 50) * NS_PER_US, text)
                  : "-");
    grid_cell(grid, "%s", human_duration(tally->took_ns, text));
    text_release(&expected);
}

/* Described of each cell; results.json has more. */
#define TOLD_MAX 3u

/* Runs that are no credit to the cell: of one that passed they are of no interest. */
static bool worth_telling(const struct suite_tally *tally, const struct suite_shown *shown)
{
    return !shown->met && suite_tally_outcome(tally) != SUITE_PASSED;
}

static void add_run(const struct suite_tally *tally, const struct suite_shown *shown,
                    const char *folder, struct text *out)
{
    text_add(out, "  seed %" PRIu64 ": %s%s%s%s%s\n", shown->seed, verdict_name(shown->verdict),
             shown->check[0] ? ", " : "", shown->check, shown->reason[0] ? ": " : "",
             shown->reason);
    if (shown->history[0] == '/') /* of a shard */
        text_add(out, "    history  %s\n", shown->history);
    else if (shown->history[0])
        text_add(out, "    history  %s/%s\n", folder, shown->history);
    text_add(out, "    repeat   ");
    suite_job_command(tally->job, shown->seed, output_program(), out);
    text_add(out, "\n");
}

static void add_trouble(const struct suite_tally *tally, const char *folder, struct text *out)
{
    enum suite_outcome outcome = suite_tally_outcome(tally);
    if (outcome == SUITE_PASSED || outcome == SUITE_NOT_RUN)
        return;
    text_add(out, "%s %s: ", suite_outcome_name(outcome), tally->job->cell->name);
    suite_tally_why(tally, out);
    text_add(out, "\n");
    for (uint32_t i = 0, told = 0; i < tally->shown_count && told < TOLD_MAX; i++) {
        if (!worth_telling(tally, &tally->shown[i]))
            continue;
        add_run(tally, &tally->shown[i], folder, out);
        told++;
    }
}

void suite_report_text(const struct suite_state *state, const char *folder, bool colour,
                       unsigned columns_max, struct text *out)
{
    struct grid grid = {.columns = columns};
    for (uint32_t i = 0; i < state->count; i++)
        add_row(&state->tallies[i], &grid);
    grid_text(&grid, columns_max, colour, out);
    grid_release(&grid);
    for (uint32_t i = 0; i < state->count; i++)
        add_trouble(&state->tallies[i], folder, out);
    suite_report_line(state, out);
    text_add(out, "; %s\n", folder);
}

/* ---- for programs ---- */

static void add_pair(struct text *out, const char *name, const char *value)
{
    text_add(out, ",\"%s\":", name);
    text_add_json(out, slice_of(value));
}

static void add_json_run(const struct suite_tally *tally, const struct suite_shown *shown,
                         struct text *out)
{
    struct text command = {0};
    suite_job_command(tally->job, shown->seed, "coup", &command);
    text_add(out, "{\"seed\":%" PRIu64 ",\"as_expected\":%s", shown->seed,
             shown->met ? "true" : "false");
    add_pair(out, "verdict", verdict_name(shown->verdict));
    add_pair(out, "check", shown->check);
    add_pair(out, "reason", shown->reason);
    add_pair(out, "history", shown->history);
    add_pair(out, "command", text_string(&command));
    text_add(out, "}");
    text_release(&command);
}

static void add_failovers(const struct suite_tally *tally, struct text *out)
{
    text_add(out,
             "\"failover_us\":{\"count\":%" PRIu32 ",\"p50\":%" PRIu32 ",\"p90\":%" PRIu32
             ",\"p99\":%" PRIu32 "}",
             tally->failover_count, suite_tally_failover_us(tally, 50),
             suite_tally_failover_us(tally, 90), suite_tally_failover_us(tally, 99));
}

static void add_json_cell(const struct suite_tally *tally, struct text *out)
{
    struct text expected = {0}, why = {0};
    expectation_format(&tally->job->expect, &expected);
    suite_tally_why(tally, &why);
    text_add(out, "{\"name\":");
    text_add_json(out, slice_of(tally->job->cell->name));
    add_pair(out, "outcome", suite_outcome_name(suite_tally_outcome(tally)));
    add_pair(out, "world", world_of(tally));
    add_pair(out, "expect", text_string(&expected));
    add_pair(out, "why", text_string(&why));
    text_add(out,
             ",\"at_least\":%" PRIu64 ",\"asked\":%" PRIu64 ",\"runs\":%" PRIu64
             ",\"as_expected\":%" PRIu64 ",\"valid\":%" PRIu64 ",\"invalid\":%" PRIu64
             ",\"unknown\":%" PRIu64 ",\"vacuous\":%" PRIu64 ",\"broken\":%" PRIu64
             ",\"took_ns\":%" PRIu64,
             tally->job->cell->at_least, tally->asked, tally->runs, tally->met, tally->valid,
             tally->invalid, tally->unknown, tally->vacuous, tally->broken, tally->took_ns);
    text_add(out, ",");
    add_failovers(tally, out);
    text_add(out, ",\"shown\":[");
    for (uint32_t i = 0; i < tally->shown_count; i++) {
        text_add(out, "%s", i ? "," : "");
        add_json_run(tally, &tally->shown[i], out);
    }
    text_add(out, "]}");
    text_release(&expected);
    text_release(&why);
}

void suite_report_json(const struct suite_state *state, const char *folder, struct text *out)
{
    text_add(out, "{\"suite\":");
    text_add_json(out, slice_of(state->suite.name));
    add_pair(out, "outcome", state_word(state));
    add_pair(out, "version", version_text());
    add_pair(out, "shard", state->head.shard);
    add_pair(out, "folder", folder);
    text_add(out, ",\"took_ns\":%" PRIu64 ",\"interrupted\":%s,\"cells\":[", state->took_ns,
             state->interrupted ? "true" : "false");
    for (uint32_t i = 0; i < state->count; i++) {
        text_add(out, "%s", i ? ",\n" : "\n");
        add_json_cell(&state->tallies[i], out);
    }
    text_add(out, "]}\n");
}

void suite_report_trend(const struct suite_state *state, const char *time, struct text *out)
{
    text_add(out, "{\"time\":\"%s\",\"suite\":", time);
    text_add_json(out, slice_of(state->suite.name));
    add_pair(out, "version", version_text());
    add_pair(out, "outcome", state_word(state));
    text_add(out, ",\"took_ns\":%" PRIu64 ",\"cells\":[", state->took_ns);
    for (uint32_t i = 0; i < state->count; i++) {
        const struct suite_tally *tally = &state->tallies[i];
        text_add(out, "%s{\"name\":", i ? "," : "");
        text_add_json(out, slice_of(tally->job->cell->name));
        add_pair(out, "outcome", suite_outcome_name(suite_tally_outcome(tally)));
        text_add(out,
                 ",\"runs\":%" PRIu64 ",\"as_expected\":%" PRIu64 ",\"valid\":%" PRIu64
                 ",\"invalid\":%" PRIu64 ",",
                 tally->runs, tally->met, tally->valid, tally->invalid);
        add_failovers(tally, out);
        text_add(out, "}");
    }
    text_add(out, "]}\n");
}

/* XML 1.0: what no document may hold is replaced. */
static void add_xml(struct text *out, const char *value)
{
    struct text clean = {0};
    text_add_utf8(&clean, slice_of(value));
    for (const char *at = text_string(&clean); *at; at++) {
        const char *entity = *at == '<'                                 ? "&lt;"
                             : *at == '>'                               ? "&gt;"
                             : *at == '&'                               ? "&amp;"
                             : *at == '"'                               ? "&quot;"
                             : *at == '\n'                              ? "&#10;"
                             : (unsigned char)*at < 0x20 && *at != '\t' ? "?"
                                                                        : NULL;
        text_add(out, entity ? "%s" : "%.1s", entity ? entity : at);
    }
    text_release(&clean);
}

static void add_attribute(struct text *out, const char *name, const char *value)
{
    text_add(out, " %s=\"", name);
    add_xml(out, value);
    text_add(out, "\"");
}

static void add_case(const struct suite_state *state, const struct suite_tally *tally,
                     const char *folder, struct text *out)
{
    static const char *const elements[] = {
        [SUITE_PASSED] = NULL,    [SUITE_NOT_RUN] = "skipped", [SUITE_UNDECIDED] = "error",
        [SUITE_BROKEN] = "error", [SUITE_FAILED] = "failure",
    };
    enum suite_outcome outcome = suite_tally_outcome(tally);
    struct text class = {0}, why = {0}, details = {0};
    text_add(&class, "%s.%s", state->suite.name, world_of(tally));
    suite_tally_why(tally, &why);
    add_trouble(tally, folder, &details);
    text_add(out, "  <testcase");
    add_attribute(out, "name", tally->job->cell->name);
    add_attribute(out, "classname", text_string(&class));
    text_add(out, " time=\"%.3f\"", (double)tally->took_ns / 1e9);
    if (elements[outcome]) {
        text_add(out, ">\n    <%s", elements[outcome]);
        add_attribute(out, "message", text_string(&why));
        if (outcome != SUITE_NOT_RUN)
            add_attribute(out, "type", suite_outcome_name(outcome));
        text_add(out, ">");
        add_xml(out, text_string(&details));
        text_add(out, "</%s>\n  </testcase>\n", elements[outcome]);
    } else {
        text_add(out, "/>\n");
    }
    text_release(&class);
    text_release(&why);
    text_release(&details);
}

void suite_report_junit(const struct suite_state *state, const char *folder, struct text *out)
{
    uint32_t errors =
        count_of_outcome(state, SUITE_UNDECIDED) + count_of_outcome(state, SUITE_BROKEN);
    text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite");
    add_attribute(out, "name", state->suite.name);
    text_add(out,
             " tests=\"%" PRIu32 "\" failures=\"%" PRIu32 "\" errors=\"%" PRIu32
             "\" skipped=\"%" PRIu32 "\" time=\"%.3f\">\n",
             state->count, count_of_outcome(state, SUITE_FAILED), errors,
             count_of_outcome(state, SUITE_NOT_RUN), (double)state->took_ns / 1e9);
    for (uint32_t i = 0; i < state->count; i++)
        add_case(state, &state->tallies[i], folder, out);
    text_add(out, "</testsuite>\n</testsuites>\n");
}

/* A '|' would end the table's cell. */
static void add_marked(struct text *out, const char *value)
{
    for (; *value; value++)
        text_add(out, *value == '|' ? "\\%c" : "%c", *value);
}

static void add_markdown_row(const struct suite_tally *tally, struct text *out)
{
    struct text expected = {0};
    char failover[UNIT_TEXT_MAX];
    enum suite_outcome outcome = suite_tally_outcome(tally);
    add_expected(tally, &expected);
    text_add(out, outcome == SUITE_PASSED ? "| %s | " : "| **%s** | ", suite_outcome_name(outcome));
    add_marked(out, tally->job->cell->name);
    text_add(out, " | %s | %s | %" PRIu64 " of %" PRIu64 " | %s |\n", world_of(tally),
             text_string(&expected), tally->met, tally->runs,
             tally->failover_count
                 ? human_duration(suite_tally_failover_us(tally, 50) * NS_PER_US, failover)
                 : "");
    text_release(&expected);
}

void suite_report_markdown(const struct suite_state *state, const char *folder, struct text *out)
{
    text_add(out, "## Suite %s\n\n", state->suite.name);
    suite_report_line(state, out);
    text_add(out, "\n\n| outcome | cell | world | expected | as expected | failover, median |\n"
                  "|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < state->count; i++)
        add_markdown_row(&state->tallies[i], out);
    struct text trouble = {0};
    for (uint32_t i = 0; i < state->count; i++)
        add_trouble(&state->tallies[i], folder, &trouble);
    if (trouble.length)
        text_add(out, "\n```\n%s```\n", text_string(&trouble));
    text_release(&trouble);
}
