#include "report/page.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "report/failover.h"
#include "report/page_facts.h"
#include "report/page_shell.h"

static void add_text(struct text *out, const char *name, const struct text *rows)
{
    text_add(out, ",\n\"%s\":[", name);
    text_add_bytes(out, text_string(rows), rows->length);
    text_add(out, "]");
}

static void add_lanes(const struct page *page, struct text *out)
{
    text_add(out, ",\n\"lanes\":[");
    for (uint32_t node = 1; node <= page->header->nodes; node++) {
        const struct lane *lane = &page->lanes[node];
        text_add(out, "%s\n{\"name\":\"n%" PRIu32 "\",\"roles\":[", node > 1 ? "," : "", node);
        text_add_bytes(out, text_string(&lane->roles), lane->roles.length);
        text_add(out, "],\"states\":[");
        text_add_bytes(out, text_string(&lane->states), lane->states.length);
        text_add(out, "]}");
    }
    text_add(out, "]");
}

static void add_bands(const struct page *page, struct text *out)
{
    text_add(out, ",\n\"faults\":[");
    for (uint32_t i = 0; i < page->band_count; i++) {
        const struct band *band = &page->bands[i];
        text_add(out, "%s\n[%" PRIu64 ",%" PRIu64 ",", i ? "," : "", page_us(band->begin_ns),
                 page_us(band->end_ns));
        page_number(out, band->touched);
        text_add(out, ",");
        text_add_bytes(out, band->rest.at, band->rest.length);
        text_add(out, "]");
    }
    text_add(out, "]");
}

static void add_failovers(const struct page *page, struct text *out)
{
    const struct measure *measure = &page->report->data->measure;
    text_add(out, ",\n\"failover_phases\":[");
    for (enum failover_phase phase = 0; phase < FAILOVER_PHASES; phase++)
        text_add(out, "%s\"%s\"", phase ? "," : "", failover_phase_title(phase));
    text_add(out, "],\n\"failovers\":[");
    for (uint32_t i = 0; i < measure->failover_count; i++) {
        const struct failover *failover = &measure->failovers[i];
        text_add(out, "%s\n[%" PRIu64 ",%" PRIu32 ",%" PRIu32, i ? "," : "",
                 page_us(failover->lost_ns), failover->old_leader, failover->new_leader);
        for (enum failover_phase phase = 0; phase < FAILOVER_PHASES; phase++) {
            uint64_t after_ns;
            if (failover_after(failover, phase, &after_ns))
                text_add(out, ",%" PRIu64, page_us(after_ns));
            else
                text_add(out, ",null");
        }
        text_add(out, "]");
    }
    text_add(out, "]");
}

static void add_counted(const struct page *page, struct text *out)
{
    text_add(out, ",\n\"clients\":[");
    for (uint32_t i = 0; i < PAGE_CLIENT_BINS; i++)
        text_add(out, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "", page->clients[i][0],
                 page->clients[i][1], page->clients[i][2]);
    text_add(out, "],\n\"messages\":[");
    for (uint32_t i = 0; i < page->kind_count; i++) {
        text_add(out, "%s[", i ? "," : "");
        text_add_json(out, slice_of(page->kinds[i].name));
        text_add(out, ",%" PRIu64 "]", page->kinds[i].count & INT64_MAX);
    }
    text_add(out, "],\n\"write_bins\":%u,\"common_step\":%" PRIu64 ",\"left_out\":%" PRIu64,
             PAGE_BINS, page->common_step, page->told_left_out);
}

static void add_header(const struct page *page, struct text *out)
{
    const struct history_header *header = page->header;
    struct text command = {0};
    report_repeat(header, &command);
    const struct {
        const char *name, *value;
    } rows[] = {{"command", text_string(&command)},
                {"version", header->version},
                {"host", header->host},
                {"world", header->world},
                {"algorithm", header->algorithm},
                {"options", header->options},
                {"network", header->network},
                {"resource", header->resource},
                {"program", page->report->program ? page->report->program : "coup"}};
    text_add(out, "\"run\":{\"seed\":");
    page_number(out, header->seed);
    text_add(out,
             ",\"nodes\":%" PRIu32 ",\"clients\":%" PRIu32 ",\"started_ms\":%" PRIu64
             ",\"end_us\":%" PRIu64,
             header->nodes, header->clients, header->started_unix_ns / NS_PER_MS,
             page_us(page->end_ns));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        text_add(out, ",\"%s\":", rows[i].name);
        text_add_json(out, slice_of(rows[i].value ? rows[i].value : ""));
    }
    text_add(out, "}");
    text_release(&command);
}

static void add_data(const struct page *page, struct text *out)
{
    struct text why = {0};
    text_add(out, "{");
    add_header(page, out);
    text_add(out, ",\n\"why\":");
    report_why(page->report, &why);
    text_add_json(out, (struct slice){text_string(&why), why.length});
    text_release(&why);
    text_add(out, ",\n\"judged\":");
    report_json(page->report, out);
    add_text(out, "phases", &page->phases);
    add_lanes(page, out);
    add_bands(page, out);
    add_text(out, "writes", &page->runs);
    add_text(out, "rejects", &page->rejects);
    add_failovers(page, out);
    add_counted(page, out);
    add_text(out, "events", &page->events);
    text_add(out, "}");
}

/* No "</script" may stand in a script. */
static void add_script_safe(struct slice json, struct text *out)
{
    for (size_t at = 0; at < json.length;) {
        const char *found = memchr(json.at + at, '<', json.length - at);
        size_t length = found ? (size_t)(found - json.at) - at : json.length - at;
        text_add_bytes(out, json.at + at, length);
        if (found)
            text_add(out, "\\u003c");
        at += length + (found != NULL);
    }
}

void page_html(const struct report *report, struct history_reader *reader, struct text *out)
{
    struct page page;
    struct text data = {0};
    page_gather(&page, report, reader);
    add_data(&page, &data);
    text_add_bytes(out, page_shell_before, page_shell_before_bytes);
    add_script_safe((struct slice){data.at, data.length}, out);
    text_add_bytes(out, page_shell_after, page_shell_after_bytes);
    text_release(&data);
    page_release(&page);
}
