#include "report/verdict.h"

#include <inttypes.h>

#include "report/failover.h"

static void add_name(struct text *out, const char *name)
{
    text_add_json(out, slice_of(name));
    text_add(out, ":");
}

static void add_string(struct text *out, const char *name, const char *value)
{
    add_name(out, name);
    text_add_json(out, slice_of(value ? value : ""));
}

static void add_numbers(struct text *out, const uint64_t *numbers, uint32_t count)
{
    text_add(out, "[");
    for (uint32_t i = 0; i < count; i++)
        text_add(out, "%s%" PRIu64, i ? "," : "", numbers[i]);
    text_add(out, "]");
}

static void add_check(struct text *out, const struct check_result *result)
{
    const struct finding *finding = &result->finding;
    text_add(out, "{");
    add_string(out, "name", result->check->name);
    text_add(out, ",");
    add_string(out, "verdict", check_result_word(result));
    text_add(out, ",");
    add_string(out, "reason", finding->reason);
    text_add(out, ",\"judged\":%" PRIu64 ",", finding->judged);
    add_string(out, "evidence", finding->evidence);
    text_add(out, ",\"violations\":%" PRIu64 ",\"witness\":", finding->violations);
    add_numbers(out, finding->witness, finding->witness_count);
    text_add(out, "}");
}

static void add_checks(struct text *out, const struct report_data *data)
{
    const char *comma = "";
    text_add(out, "\"checks\":[");
    for (uint32_t i = 0; i < data->result_count; i++) {
        if (!data->results[i].owed)
            continue;
        text_add(out, "%s", comma);
        add_check(out, &data->results[i]);
        comma = ",";
    }
    comma = "";
    text_add(out, "],\"not_owed\":[");
    for (uint32_t i = 0; i < data->result_count; i++) {
        if (data->results[i].owed)
            continue;
        text_add(out, "%s", comma);
        text_add_json(out, slice_of(data->results[i].check->name));
        comma = ",";
    }
    text_add(out, "]");
}

/* What was run, so that the object means something away from its history. */
static void add_run(struct text *out, const struct history_header *header)
{
    add_string(out, "algorithm", header->algorithm);
    text_add(out, ",");
    add_string(out, "options", header->options);
    text_add(out, ",\"nodes\":%" PRIu32 ",\"clients\":%" PRIu32 ",\"seed\":%" PRIu64 ",",
             header->nodes, header->clients, header->seed);
    add_string(out, "network", header->network);
    text_add(out, ",");
    add_string(out, "resource", header->resource);
}

static void add_counts(struct text *out, const struct measure *m)
{
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"duration_ns", m->duration_ns},
        {"terms", m->terms},
        {"leaders", m->leaders},
        {"elections", m->elections},
        {"votes", m->votes},
        {"messages", m->messages},
        {"writes_accepted", m->writes_accepted},
        {"writes_rejected", m->writes_rejected},
        {"stale_attempts_rejected", m->stale_attempts_rejected},
        {"client_ok", m->client_ok},
        {"client_fail", m->client_fail},
        {"client_unknown", m->client_unknown},
        {"watched_ns", m->watched_ns},
        {"leaderless_ns", m->leaderless_ns},
        {"overlap_ns", m->overlap_ns},
        {"kills", m->kills},
        {"crashes", m->crashes},
        {"stalls", m->stalls},
        {"stalled_ns", m->stalled_ns},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        text_add(out, ",\"%s\":%" PRIu64, rows[i].name, rows[i].value);
}

static void add_faults(struct text *out, const struct measure *m)
{
    text_add(out, ",\"faults\":[");
    for (uint32_t i = 0; i < m->fault_kinds; i++) {
        const struct fault_count *fault = &m->faults[i];
        text_add(out, "%s{", i ? "," : "");
        add_string(out, "kind", fault->kind);
        text_add(out,
                 ",\"planned\":%" PRIu64 ",\"installed\":%" PRIu64 ",\"landed\":%" PRIu64
                 ",\"skipped\":%" PRIu64 ",\"failed\":%" PRIu64 "}",
                 fault->planned, fault->installed, fault->landed, fault->skipped, fault->failed);
    }
    text_add(out, "]");
}

static void add_failovers(struct text *out, const struct measure *m)
{
    text_add(out, ",\"failovers\":{\"count\":%" PRIu32, m->failover_count);
    for (int phase = 0; phase < FAILOVER_PHASES; phase++) {
        struct failover_times times = failover_times(m, (enum failover_phase)phase);
        text_add(out,
                 ",\"%s\":{\"count\":%" PRIu32 ",\"median_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64 "}",
                 failover_phase_name((enum failover_phase)phase), times.count, times.median_ns,
                 times.max_ns);
    }
    text_add(out, "}");
}

void report_json(const struct report *report, struct text *out)
{
    const struct report_data *data = report->data;
    text_add(out, "{");
    add_string(out, "verdict", verdict_name(data->verdict));
    text_add(out, ",");
    add_checks(out, data);
    text_add(out, ",\"stats\":{");
    add_run(out, report->header);
    add_counts(out, &data->measure);
    add_faults(out, &data->measure);
    add_failovers(out, &data->measure);
    text_add(out, "},\"events\":%" PRIu64 ",", data->events);
    add_string(out, "damage", data->damage);
    text_add(out, ",\"interrupted\":");
    if (data->measure.interrupted)
        text_add(out, "{\"after_ns\":%" PRIu64 ",\"of_ns\":%" PRIu64 "}",
                 data->measure.interrupted_ns, report->header->duration_ns);
    else
        text_add(out, "null");
    text_add(out, ",");
    add_string(out, "history", report->path);
    text_add(out, "}");
}
