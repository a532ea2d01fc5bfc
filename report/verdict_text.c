#include "report/verdict.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "report/failover.h"

/* Select Graphic Rendition (ECMA-48 8.3.117): bold, and one colour per verdict. */
struct report_style report_style(bool colour, enum verdict verdict)
{
    static const char *const on[] = {[VERDICT_VALID] = "\033[1;32m",
                                     [VERDICT_UNKNOWN] = "\033[1;33m",
                                     [VERDICT_INVALID] = "\033[1;31m"};
    return colour ? (struct report_style){on[verdict], "\033[0m"} : (struct report_style){"", ""};
}

static void add_title(struct text *out, const struct report *report, const char *title)
{
    text_add(out, "\n%s%s%s\n", report->colour ? "\033[1m" : "", title,
             report->colour ? "\033[0m" : "");
}

enum exit_code verdict_exit_code(enum verdict verdict)
{
    static const enum exit_code codes[] = {[VERDICT_VALID] = EXIT_VALID,
                                           [VERDICT_UNKNOWN] = EXIT_UNKNOWN,
                                           [VERDICT_INVALID] = EXIT_INVALID};
    return codes[verdict];
}

static void add_count(struct text *out, uint64_t count, const char *noun)
{
    char buffer[COUNT_TEXT_MAX];
    text_add(out, "%s", count_of(count, noun, buffer));
}

static const char *or_none(const char *text)
{
    return text && *text ? text : "none";
}

static uint32_t judged_count(const struct report_data *data)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < data->result_count; i++)
        count += check_result_counts(&data->results[i]);
    return count;
}

static bool decided(const struct report_data *data, const struct check_result *result)
{
    return check_result_counts(result) && result->finding.verdict == data->verdict;
}

/* The check that was expected to, if it did, else the first in the registry's order. */
static const struct check_result *find_decisive(const struct report *report)
{
    const struct report_data *data = report->data;
    const struct check_result *first = NULL;
    for (uint32_t i = 0; i < data->result_count; i++) {
        const struct check_result *result = &data->results[i];
        if (decided(data, result) && (!first || result->check == report->expected))
            first = result;
    }
    return first;
}

static void add_also(const struct report_data *data, const struct check_result *decisive,
                     struct text *out)
{
    const char *before = "; also invalid: ";
    for (uint32_t i = 0; data->verdict == VERDICT_INVALID && i < data->result_count; i++) {
        const struct check_result *result = &data->results[i];
        if (result == decisive || !decided(data, result))
            continue;
        text_add(out, "%s%s", before, result->check->name);
        before = ", ";
    }
}

static void add_interruption(const struct report *report, struct text *out)
{
    char after[UNIT_TEXT_MAX], all[UNIT_TEXT_MAX];
    text_add(out, "interrupted after %s of %s",
             human_duration(report->data->measure.interrupted_ns, after),
             format_duration(report->header->duration_ns, all));
}

/* Every check that counts holds. */
static void add_held(const struct report *report, struct text *out)
{
    const struct report_data *data = report->data;
    bool whole = !data->damage[0] && !data->measure.interrupted;
    uint32_t judged = judged_count(data);
    if (data->damage[0])
        text_add(out, "%s; ", data->damage);
    if (data->measure.interrupted) {
        add_interruption(report, out);
        text_add(out, "; ");
    }
    if (judged == 0) {
        text_add(out, "no check was owed and tested, so nothing was judged");
        return;
    }
    add_count(out, judged, "check");
    text_add(out, " held %s", whole ? "over " : "so far, over ");
    add_count(out, data->events, "event");
}

void report_why(const struct report *report, struct text *out)
{
    const struct report_data *data = report->data;
    const struct check_result *decisive = NULL;
    if (data->verdict != VERDICT_VALID)
        decisive = find_decisive(report);
    if (!decisive) {
        add_held(report, out);
        return;
    }
    if (data->measure.interrupted) {
        add_interruption(report, out);
        text_add(out, "; ");
    }
    text_add(out, "%s: %s", decisive->check->name, decisive->finding.reason);
    add_also(data, decisive, out);
}

void report_not_owed(const struct report *report, const struct check_result *result,
                     struct text *out)
{
    uint32_t missing = result->check->traits & ~report->header->traits;
    const char *between = " does not promise ";
    if (missing == 0) {
        text_add(out, "nothing in this run to judge it by");
        return;
    }
    text_add(out, "%s", or_none(report->header->algorithm));
    for (int trait = 0; trait < TRAITS; trait++) {
        if (!(missing & (1u << trait)))
            continue;
        text_add(out, "%s%s", between, trait_name((enum trait)trait));
        between = ", ";
    }
}

static void add_witness(const struct report *report, const struct finding *finding,
                        struct text *out)
{
    for (uint32_t i = 0; i < finding->witness_count; i++) {
        const char *line =
            report->witness ? witness_lines_find(report->witness, finding->witness[i]) : NULL;
        if (line)
            text_add(out, "    %s\n", line);
        else
            text_add(out, "    event #%" PRIu64 "\n", finding->witness[i]);
    }
}

static void add_check(const struct report *report, const struct check_result *result, int width,
                      struct text *out)
{
    const struct finding *finding = &result->finding;
    text_add(out, "  %-*s  ", width, result->check->name);
    if (!result->owed) {
        text_add(out, "not owed  ");
        report_not_owed(report, result, out);
        text_add(out, "\n");
        return;
    }
    const char *word = check_result_word(result);
    struct report_style style = report_style(report->colour && !result->untested, finding->verdict);
    text_add(out, "%s%s%s", style.on, word, style.off);
    bool holds = finding->verdict == VERDICT_VALID;
    text_add(out, "%*s%s%s", (int)(10 - strlen(word)), "",
             holds && report->data->damage[0] ? "so far: " : "",
             holds ? finding->evidence : finding->reason);
    if (finding->violations > 1)
        text_add(out, " (and %" PRIu64 " more)", finding->violations - 1);
    text_add(out, "\n");
    add_witness(report, finding, out);
}

static void add_checks(const struct report *report, struct text *out)
{
    const struct report_data *data = report->data;
    int width = 0;
    for (uint32_t i = 0; i < data->result_count; i++) {
        int length = (int)strlen(data->results[i].check->name);
        width = length > width ? length : width;
    }
    add_title(out, report, "Checks");
    for (uint32_t i = 0; i < data->result_count; i++)
        add_check(report, &data->results[i], width, out);
}

static void add_run(const struct report *report, struct text *out)
{
    const struct history_header *header = report->header;
    char duration[UNIT_TEXT_MAX];
    text_add(out, "  run         %s, ", or_none(header->algorithm));
    add_count(out, header->nodes, "node");
    text_add(out, ", ");
    add_count(out, header->clients, "client");
    text_add(out, ", %s, seed %" PRIu64 "\n", format_duration(header->duration_ns, duration),
             header->seed);
    if (report->data->measure.interrupted) {
        text_add(out, "              ");
        add_interruption(report, out);
        text_add(out, "\n");
    }
    text_add(out, "  world       %s network, %s resource\n", or_none(header->network),
             or_none(header->resource));
}

static void add_leadership(const struct measure *m, struct text *out)
{
    text_add(out, "  leadership  ");
    add_count(out, m->terms, "term");
    text_add(out, " by ");
    add_count(out, m->leaders, "leader");
    text_add(out, ", ");
    add_count(out, m->elections, "campaign");
    text_add(out, ", ");
    add_count(out, m->votes, "vote");
    text_add(out, "\n  messages    %" PRIu64 " for elections\n", m->messages);
}

/* A claimant that is paused, or cut off from the majority, leads nobody. */
static void add_leaderless(const struct measure *m, struct text *out)
{
    char none[UNIT_TEXT_MAX], all[UNIT_TEXT_MAX], both[UNIT_TEXT_MAX];
    if (m->watched_ns > 0)
        text_add(out, "  leaderless  %s of %s from first leader to end of %s (%.1f %% led)\n",
                 human_duration(m->leaderless_ns, none), human_duration(m->watched_ns, all),
                 m->faults_ended ? "faults" : "file",
                 100 - 100 * (double)m->leaderless_ns / (double)m->watched_ns);
    if (m->overlap_ns > 0)
        text_add(out, "  overlap     two claims of different terms at once for %s\n",
                 human_duration(m->overlap_ns, both));
}

/* The checks of liveness allow for it. */
static void add_stalls(const struct measure *m, struct text *out)
{
    char sum[UNIT_TEXT_MAX], longest[UNIT_TEXT_MAX];
    if (m->stalls == 0)
        return;
    text_add(out, "  stalls      %s in ", human_duration(m->stalled_ns, sum));
    add_count(out, m->stalls, "stall");
    text_add(out, ", at most %s: liveness got so much longer\n",
             human_duration(m->longest_stall_ns, longest));
}

static void add_summary(const struct report *report, struct text *out)
{
    const struct measure *m = &report->data->measure;
    add_title(out, report, "Summary");
    add_run(report, out);
    add_leadership(m, out);
    add_leaderless(m, out);
    text_add(out,
             "  writes      %" PRIu64 " accepted, %" PRIu64 " rejected (%" PRIu64
             " stale, fenced off)\n",
             m->writes_accepted, m->writes_rejected, m->stale_attempts_rejected);
    text_add(out, "  clients     %" PRIu64 " ok, %" PRIu64 " failed, %" PRIu64 " unknown\n",
             m->client_ok, m->client_fail, m->client_unknown);
    text_add(out, "  processes   ");
    add_count(out, m->kills, "kill");
    text_add(out, " by fault, ");
    add_count(out, m->crashes, "crash");
    text_add(out, "\n");
    add_stalls(m, out);
}

/* So that who reads of a violation for the first time knows whether it is news. */
static void add_known(const struct report *report, struct text *out)
{
    if (report->data->verdict != VERDICT_INVALID || !report->broken_by)
        return;
    add_title(out, report, "Known");
    text_add(out, "  %s breaks under: %s\n", or_none(report->header->algorithm), report->broken_by);
}

static void add_faults(const struct report *report, struct text *out)
{
    const struct measure *m = &report->data->measure;
    if (m->fault_kinds == 0)
        return;
    add_title(out, report, "Faults                  planned  landed  skipped  failed");
    for (uint32_t i = 0; i < m->fault_kinds; i++) {
        const struct fault_count *fault = &m->faults[i];
        text_add(out, "  %-20s  %7" PRIu64 "  %6" PRIu64 "  %7" PRIu64 "  %6" PRIu64 "\n",
                 fault->kind, fault->planned, fault->landed, fault->skipped, fault->failed);
    }
}

static void add_failovers(const struct report *report, struct text *out)
{
    const struct measure *m = &report->data->measure;
    char median[UNIT_TEXT_MAX], longest[UNIT_TEXT_MAX];
    if (m->failover_count == 0)
        return;
    add_title(out, report, "Failover from loss    times   median      max");
    for (int phase = 0; phase < FAILOVER_PHASES; phase++) {
        struct failover_times times = failover_times(m, (enum failover_phase)phase);
        text_add(out, "  to %-15s  %6" PRIu32 "  %7s  %7s\n",
                 failover_phase_title((enum failover_phase)phase), times.count,
                 times.count ? human_duration(times.median_ns, median) : "-",
                 times.count ? human_duration(times.max_ns, longest) : "-");
    }
}

/* Length of the shell word at `at`: up to a blank that stands in no quotes. */
static size_t shell_word(const char *at)
{
    size_t length = 0;
    bool quoted = false;
    for (; at[length] && (quoted || at[length] != ' '); length++)
        quoted = quoted != (at[length] == '\'');
    return length;
}

/* Of a foreign history it may hold anything; a terminal would obey. */
static void add_printable(struct slice word, const char *before, struct text *out)
{
    text_add(out, "%s", before);
    size_t from = out->length;
    text_add_utf8(out, word);
    for (size_t i = from; i < out->length; i++)
        if ((unsigned char)out->at[i] < ' ' || out->at[i] == 0x7f)
            out->at[i] = '?';
}

void report_repeat(const struct history_header *header, struct text *out)
{
    bool skip = false;
    size_t start = out->length;
    for (const char *at = header->command; *at;) {
        size_t length = shell_word(at);
        struct slice word = {at, length};
        bool names = slice_equals(word, "-o") || slice_equals(word, "--output");
        bool holds = strncmp(at, "-o", 2) == 0 || strncmp(at, "--output=", 9) == 0;
        if (!skip && !names && !holds)
            add_printable(word, out->length > start ? " " : "", out);
        skip = names;
        at += length + strspn(at + length, " ");
    }
    if (!strstr(header->command, "-s ") && !strstr(header->command, "--seed"))
        text_add(out, " --seed %" PRIu64, header->seed);
}

static void add_commands(const struct report *report, struct text *out)
{
    static const char *const uses[][2] = {{"show", "show"}, {"judge", "check"}};
    add_title(out, report, "History");
    text_add(out, "  %s (", report->path);
    add_count(out, report->data->events, "event");
    text_add(out, ")\n");
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        text_add(out, "  %-6s  %s %s ", uses[i][0], report->program ? report->program : "coup",
                 uses[i][1]);
        text_add_shell(out, slice_of(report->path));
        text_add(out, "\n");
    }
    if (report->header->command && *report->header->command) {
        text_add(out, "  repeat  ");
        report_repeat(report->header, out);
        text_add(out, "\n");
    }
}

const char *report_headline(enum verdict verdict)
{
    static const char *const words[] = {
        [VERDICT_VALID] = "VALID", [VERDICT_UNKNOWN] = "UNKNOWN", [VERDICT_INVALID] = "INVALID"};
    return words[verdict];
}

void report_text(const struct report *report, struct text *out)
{
    struct report_style style = report_style(report->colour, report->data->verdict);
    if (report->title)
        text_add(out, "%s: ", report->title);
    text_add(out, "%s%s%s  ", style.on, report_headline(report->data->verdict), style.off);
    report_why(report, out);
    text_add(out, "\n");
    if (report->data->damage[0])
        text_add(out, "Damaged: %s\n", report->data->damage);
    add_checks(report, out);
    add_summary(report, out);
    add_faults(report, out);
    add_failovers(report, out);
    add_known(report, out);
    if (report->path)
        add_commands(report, out);
}

void report_text_with_events(const struct report *report, struct text *out)
{
    struct witness_lines witness;
    struct report shown = *report;
    witness_lines_want(report->data, &witness);
    (void)witness_lines_read(&witness, report->path, NULL);
    shown.witness = &witness;
    report_text(&shown, out);
    witness_lines_release(&witness);
}
