#include "report/verdict.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "report/failover.h"

struct style {
    const char *on, *off;
};

/* Select Graphic Rendition (ECMA-48 8.3.117): bold, and one colour per verdict. */
static struct style verdict_style(const struct report *report, enum verdict verdict)
{
    static const char *const on[] = {[VERDICT_VALID] = "\033[1;32m",
                                     [VERDICT_UNKNOWN] = "\033[1;33m",
                                     [VERDICT_INVALID] = "\033[1;31m"};
    return report->colour ? (struct style){on[verdict], "\033[0m"} : (struct style){"", ""};
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

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static const char *or_none(const char *text)
{
    return text && *text ? text : "none";
}

static uint32_t owed_count(const struct report_data *data)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < data->result_count; i++)
        count += data->results[i].owed;
    return count;
}

void report_why(const struct report *report, struct text *out)
{
    const struct report_data *data = report->data;
    uint32_t owed = owed_count(data);
    for (uint32_t i = 0; data->verdict != VERDICT_VALID && i < data->result_count; i++) {
        const struct check_result *result = &data->results[i];
        if (result->owed && result->finding.verdict == data->verdict) {
            text_add(out, "%s: %s", result->check->name, result->finding.reason);
            return;
        }
    }
    if (data->damage[0])
        text_add(out, "%s", data->damage);
    else if (owed == 0)
        text_add(out, "no check was owed, so nothing was judged");
    else
        text_add(out, "%" PRIu32 " check%s held over %" PRIu64 " event%s", owed, plural(owed),
                 data->events, plural(data->events));
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
    struct style style = verdict_style(report, finding->verdict);
    text_add(out, "%s%s%s", style.on, verdict_name(finding->verdict), style.off);
    if (finding->reason[0])
        text_add(out, "%*s%s", (int)(10 - strlen(verdict_name(finding->verdict))), "",
                 finding->reason);
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

static void add_run(const struct history_header *header, struct text *out)
{
    char duration[UNIT_TEXT_MAX];
    text_add(out, "  run         %s, %" PRIu32 " nodes, %" PRIu32 " client%s, %s, seed %" PRIu64,
             or_none(header->algorithm), header->nodes, header->clients, plural(header->clients),
             format_duration(header->duration_ns, duration), header->seed);
    text_add(out, ", %s network, %s resource\n", or_none(header->network),
             or_none(header->resource));
}

static void add_leaderless(const struct measure *m, struct text *out)
{
    char none[UNIT_TEXT_MAX], all[UNIT_TEXT_MAX], both[UNIT_TEXT_MAX];
    if (m->watched_ns > 0)
        text_add(out,
                 "  leaderless  %s of the %s from the first leader to the end of faults (%.1f %% "
                 "led)\n",
                 human_duration(m->leaderless_ns, none), human_duration(m->watched_ns, all),
                 100 - 100 * (double)m->leaderless_ns / (double)m->watched_ns);
    if (m->overlap_ns > 0)
        text_add(out, "  overlap     two claims of different terms at once for %s\n",
                 human_duration(m->overlap_ns, both));
}

static void add_summary(const struct report *report, struct text *out)
{
    const struct measure *m = &report->data->measure;
    add_title(out, report, "Summary");
    add_run(report->header, out);
    text_add(out,
             "  leadership  %" PRIu64 " term%s by %" PRIu64 " leader%s, %" PRIu64
             " campaign%s, %" PRIu64 " vote%s, %" PRIu64 " election message%s\n",
             m->terms, plural(m->terms), m->leaders, plural(m->leaders), m->elections,
             plural(m->elections), m->votes, plural(m->votes), m->messages, plural(m->messages));
    add_leaderless(m, out);
    text_add(out,
             "  writes      %" PRIu64 " accepted, %" PRIu64 " rejected (%" PRIu64
             " from a stale leader, stopped by fencing)\n",
             m->writes_accepted, m->writes_rejected, m->stale_attempts_rejected);
    text_add(out, "  clients     %" PRIu64 " ok, %" PRIu64 " failed, %" PRIu64 " unknown\n",
             m->client_ok, m->client_fail, m->client_unknown);
    text_add(out, "  processes   %" PRIu64 " kill%s by fault, %" PRIu64 " crash%s\n", m->kills,
             plural(m->kills), m->crashes, m->crashes == 1 ? "" : "es");
}

static void add_faults(const struct report *report, struct text *out)
{
    const struct measure *m = &report->data->measure;
    if (m->fault_kinds == 0)
        return;
    add_title(out, report, "Faults              planned  landed  skipped  failed");
    for (uint32_t i = 0; i < m->fault_kinds; i++) {
        const struct fault_count *fault = &m->faults[i];
        text_add(out, "  %-16s  %7" PRIu64 "  %6" PRIu64 "  %7" PRIu64 "  %6" PRIu64 "\n",
                 fault->kind, fault->planned, fault->installed, fault->skipped, fault->failed);
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

/* The run's own command, without the folder that now exists, with the seed it drew if the user
 * named none. */
static void add_repeat(const struct history_header *header, struct text *out)
{
    bool skip = false;
    text_add(out, "  repeat ");
    for (const char *at = header->command; *at;) {
        size_t length = shell_word(at);
        struct slice word = {at, length};
        bool names = slice_equals(word, "-o") || slice_equals(word, "--output");
        bool holds = strncmp(at, "-o", 2) == 0 || strncmp(at, "--output=", 9) == 0;
        if (!skip && !names && !holds)
            text_add(out, " %.*s", (int)length, at);
        skip = names;
        at += length + strspn(at + length, " ");
    }
    if (!strstr(header->command, "-s ") && !strstr(header->command, "--seed"))
        text_add(out, " --seed %" PRIu64, header->seed);
    text_add(out, "\n");
}

static void add_commands(const struct report *report, struct text *out)
{
    static const char *const uses[][2] = {{"show", "show"}, {"judge", "check"}};
    add_title(out, report, "History");
    text_add(out, "  %s (%" PRIu64 " event%s)\n", report->path, report->data->events,
             plural(report->data->events));
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        text_add(out, "  %-6s  %s %s ", uses[i][0], report->program ? report->program : "coup",
                 uses[i][1]);
        text_add_shell(out, slice_of(report->path));
        text_add(out, "\n");
    }
    if (report->header->command && *report->header->command)
        add_repeat(report->header, out);
}

void report_text(const struct report *report, struct text *out)
{
    static const char *const headline[] = {
        [VERDICT_VALID] = "VALID", [VERDICT_UNKNOWN] = "UNKNOWN", [VERDICT_INVALID] = "INVALID"};
    struct style style = verdict_style(report, report->data->verdict);
    text_add(out, "%s%s%s  ", style.on, headline[report->data->verdict], style.off);
    report_why(report, out);
    text_add(out, "\n");
    if (report->data->damage[0])
        text_add(out, "Damaged: %s\n", report->data->damage);
    add_checks(report, out);
    add_summary(report, out);
    add_faults(report, out);
    add_failovers(report, out);
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
