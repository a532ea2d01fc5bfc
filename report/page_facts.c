#include "report/page_facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checker/fault_kinds.h"
#include "histories/show.h"

#define WRITES_MAX 40000u /* more accepted ones are counted into bins */
#define REJECTS_MAX 4000u
#define COMMON_MAX 6000u /* events that say little one by one */
#define TOLD_MAX 12000u  /* events that change something */
#define AROUND 40u       /* events told on both sides of one that proves a violation */

void page_number(struct text *out, uint64_t number)
{
    text_add(out, number >> 53 ? "\"%" PRIu64 "\"" : "%" PRIu64, number);
}

void page_comma(struct text *out)
{
    if (out->length)
        text_add(out, ",");
}

/* ---- lanes ---- */

static struct lane *lane_of(struct page *page, uint32_t process)
{
    return process >= 1 && process <= page->header->nodes ? &page->lanes[process] : NULL;
}

/* Recording order may lag behind time across processes: no segment ends before it begins. */
static uint64_t end_of(uint64_t since_ns, uint64_t now_ns)
{
    return now_ns > since_ns ? now_ns : since_ns;
}

static void set_role(struct lane *lane, enum role role, const struct event *event)
{
    static const char letters[] = "-lcf";
    uint64_t now_ns = end_of(lane->role_ns, event->time_ns);
    if (lane->role != ROLE_NONE) {
        page_comma(&lane->roles);
        text_add(&lane->roles, "[%" PRIu64 ",%" PRIu64 ",\"%c\",", page_us(lane->role_ns),
                 page_us(now_ns), letters[lane->role]);
        page_number(&lane->roles, lane->term);
        text_add(&lane->roles, ",%" PRIu32 "]", lane->leader);
    }
    lane->role = role;
    lane->role_ns = now_ns;
    lane->term = event_number(event, FIELD_TERM);
    lane->leader = (uint32_t)event_number(event, FIELD_LEADER);
}

static void set_state(struct lane *lane, uint64_t time_ns)
{
    enum state state = lane->down ? STATE_DOWN : lane->pauses ? STATE_PAUSED : STATE_RUNS;
    uint64_t now_ns = end_of(lane->state_ns, time_ns);
    if (state == lane->state)
        return;
    if (lane->state != STATE_RUNS && now_ns > lane->state_ns) {
        page_comma(&lane->states);
        text_add(&lane->states, "[%" PRIu64 ",%" PRIu64 ",\"%s\"]", page_us(lane->state_ns),
                 page_us(now_ns), lane->state == STATE_DOWN ? "down" : "paused");
    }
    lane->state = state;
    lane->state_ns = now_ns;
}

static void see_node(struct lane *lane, const struct event *event)
{
    switch (event->f) {
    case F_LEAD: set_role(lane, ROLE_LEADER, event); break;
    case F_CAMPAIGN: set_role(lane, ROLE_CANDIDATE, event); break;
    case F_FOLLOW: set_role(lane, ROLE_FOLLOWER, event); break;
    case F_STEP_DOWN: set_role(lane, ROLE_NONE, event); break;
    case F_SPAWN:
        lane->down = false;
        lane->pauses = 0; /* it was another process that was paused */
        set_state(lane, event->time_ns);
        break;
    case F_EXIT:
        set_role(lane, ROLE_NONE, event);
        lane->down = true;
        set_state(lane, event->time_ns);
        break;
    default: break;
    }
}

/* ---- faults ---- */

struct pausing {
    struct page *page;
    uint64_t time_ns;
};

static void see_pause(void *context, uint32_t node, bool begins)
{
    const struct pausing *pausing = context;
    struct lane *lane = lane_of(pausing->page, node);
    if (!lane || (!begins && lane->pauses == 0))
        return;
    lane->pauses += begins ? 1 : UINT32_MAX; /* one less */
    set_state(lane, pausing->time_ns);
}

static struct band *find_band(struct page *page, uint64_t id)
{
    for (uint32_t i = page->band_count; i-- > 0;)
        if (page->bands[i].id == id)
            return &page->bands[i];
    return NULL;
}

static void add_words(const struct event *event, struct text *out)
{
    static const enum event_field fields[] = {FIELD_KIND, FIELD_TARGETS, FIELD_OUTCOME,
                                              FIELD_PARAMETERS};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        text_add_json(out, event_text(event, fields[i]));
        text_add(out, ",");
    }
    text_add_json(out,
                  event_text(event, event_has(event, FIELD_PROOF) ? FIELD_PROOF : FIELD_REASON));
}

static void see_fault(struct page *page, const struct event *event)
{
    struct pausing pausing = {page, event->time_ns};
    struct band *band = find_band(page, event_number(event, FIELD_ID));
    pauses_see(&page->pauses, event, see_pause, &pausing);
    if (event->f == F_HEAL) {
        if (band) {
            band->end_ns = event->time_ns;
            band->touched = event_number(event, FIELD_VALUE);
        }
        return;
    }
    if (page->band_count == page->band_capacity) {
        page->band_capacity = page->band_capacity ? 2 * page->band_capacity : 64;
        page->bands = must_grow(page->bands, page->band_capacity, sizeof *page->bands);
    }
    band = &page->bands[page->band_count++];
    *band =
        (struct band){.id = event_number(event, FIELD_ID),
                      .begin_ns = event_has(event, FIELD_BEGIN) ? event_number(event, FIELD_BEGIN)
                                                                : event->time_ns,
                      .end_ns = fault_installed(event) ? page->end_ns : event->time_ns};
    add_words(event, &band->rest);
}

/* ---- writes and clients ---- */

static bool is_binned(const struct page *page)
{
    return page->report->data->measure.writes_accepted > WRITES_MAX;
}

static uint64_t bin_of(const struct page *page, uint64_t time_ns, uint64_t bins)
{
    uint64_t bin =
        page->end_ns ? (uint64_t)((double)time_ns / (double)page->end_ns * (double)bins) : 0;
    return bin < bins ? bin : bins - 1;
}

static void end_bin(struct page *page)
{
    if (page->bin_count)
        text_add(&page->runs, "%s%" PRIu64 ",%" PRIu64,
                 page->runs.at[page->runs.length - 1] == '[' ? "" : ",", page->bin,
                 page->bin_count);
    page->bin_count = 0;
}

static void end_run(struct page *page)
{
    if (!page->run_open)
        return;
    end_bin(page);
    text_add(&page->runs, "]}");
    page->run_open = false;
}

/* Writes of one holder under one token, in a row: times as differences, or counts of bins. */
static void see_accept(struct page *page, const struct event *event)
{
    uint64_t holder = event_number(event, FIELD_HOLDER), token = event_number(event, FIELD_TOKEN);
    if (!page->run_open || page->run_holder != holder || page->run_token != token) {
        end_run(page);
        page_comma(&page->runs);
        text_add(&page->runs, "{\"holder\":%" PRIu64 ",\"token\":", holder);
        page_number(&page->runs, token);
        text_add(&page->runs, ",\"%s\":[", is_binned(page) ? "bins" : "times");
        page->run_open = true;
        page->run_holder = holder;
        page->run_token = token;
        page->run_ns = 0;
    }
    if (is_binned(page)) {
        uint64_t bin = bin_of(page, event->time_ns, PAGE_BINS);
        if (bin != page->bin)
            end_bin(page);
        page->bin = bin;
        page->bin_count++;
        return;
    }
    bool first = page->runs.at[page->runs.length - 1] == '[';
    text_add(&page->runs, "%s%" PRId64, first ? "" : ",",
             (int64_t)page_us(event->time_ns) - (int64_t)page_us(page->run_ns));
    page->run_ns = event->time_ns;
}

static void see_reject(struct page *page, const struct event *event)
{
    if (page->rejected++ >= REJECTS_MAX)
        return;
    page_comma(&page->rejects);
    text_add(&page->rejects, "[%" PRIu64 ",%" PRIu64 ",", page_us(event->time_ns),
             event_number(event, FIELD_HOLDER));
    page_number(&page->rejects, event_number(event, FIELD_TOKEN));
    text_add(&page->rejects, "]");
}

static void see_client(struct page *page, const struct event *event)
{
    if (event->type == EVENT_INVOKE || process_kind(event->process) != PROCESS_CLIENT)
        return;
    uint64_t bin = bin_of(page, event->time_ns, PAGE_CLIENT_BINS);
    page->clients[bin][event->type - EVENT_OK]++;
}

/* "kind=number,..." */
static void see_counts(struct page *page, const struct event *event)
{
    struct slice counts = event_text(event, FIELD_COUNTS);
    for (size_t at = 0; at < counts.length;) {
        const char *word = counts.at + at;
        size_t length = 0, name = 0;
        uint64_t number = 0;
        while (at + length < counts.length && word[length] != ',')
            length++;
        while (name < length && word[name] != '=')
            name++;
        for (size_t i = name + 1; i < length && word[i] >= '0' && word[i] <= '9'; i++)
            number = number * 10 + (uint64_t)(word[i] - '0');
        uint32_t kind = 0;
        while (kind < page->kind_count && (strncmp(page->kinds[kind].name, word, name) != 0 ||
                                           page->kinds[kind].name[name] != '\0'))
            kind++;
        if (kind == page->kind_count && kind < PAGE_KINDS_MAX && name < sizeof page->kinds[0].name)
            memcpy(page->kinds[page->kind_count++].name, word, name);
        if (kind < page->kind_count)
            page->kinds[kind].count += number;
        at += length + 1;
    }
}

/* ---- events told one by one ---- */

#define CHANGES                                                                        \
    (1u << F_LEAD | 1u << F_STEP_DOWN | 1u << F_SPAWN | 1u << F_EXIT | 1u << F_FAULT | \
     1u << F_HEAL | 1u << F_PHASE | 1u << F_REJECT | 1u << F_GRANT | 1u << F_REVOKE |  \
     1u << F_EXPIRE)
#define COMMON                                                                              \
    (1u << F_CAMPAIGN | 1u << F_VOTE | 1u << F_SUSPECT | 1u << F_FOLLOW | 1u << F_PERSIST | \
     1u << F_MESSAGE | 1u << F_NOTE)

static bool is_around_violation(const struct page *page, uint64_t index)
{
    const struct report_data *data = page->report->data;
    for (uint32_t i = 0; i < data->result_count; i++) {
        const struct finding *finding = &data->results[i].finding;
        for (uint32_t k = 0; data->results[i].owed && k < finding->witness_count; k++)
            if (index + AROUND >= finding->witness[k] && index <= finding->witness[k] + AROUND)
                return true;
    }
    return false;
}

static bool is_told(struct page *page, const struct event *event)
{
    if (is_around_violation(page, event->index))
        return true;
    if (CHANGES & 1u << event->f) {
        page->told_left_out += page->told >= TOLD_MAX;
        return page->told++ < TOLD_MAX;
    }
    if (COMMON & 1u << event->f)
        return page->common++ % page->common_step == 0;
    return false;
}

static void tell(struct page *page, const struct event *event)
{
    struct text line = {0};
    if (!is_told(page, event))
        return;
    event_to_text(event, false, &line);
    size_t blank = strspn(line.at, " "); /* the index comes first: it is a number of its own here */
    blank += strspn(line.at + blank, "0123456789");
    blank += strspn(line.at + blank, " ");
    page_comma(&page->events);
    text_add(&page->events, "\n[%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",", event->index,
             page_us(event->time_ns), lane_of(page, event->process) ? event->process : 0);
    text_add_json(&page->events, (struct slice){line.at + blank, line.length - blank});
    text_add(&page->events, "]");
    text_release(&line);
}

/* ---- the pass ---- */

static void see(struct page *page, const struct event *event)
{
    struct lane *lane = lane_of(page, event->process);
    if (lane)
        see_node(lane, event);
    switch (event->f) {
    case F_FAULT:
    case F_HEAL: see_fault(page, event); break;
    case F_ACCEPT: see_accept(page, event); break;
    case F_REJECT: see_reject(page, event); break;
    case F_READ:
    case F_WRITE:
    case F_CAS: see_client(page, event); break;
    case F_MESSAGE_COUNTS: see_counts(page, event); break;
    case F_PHASE:
        page_comma(&page->phases);
        text_add(&page->phases, "[%" PRIu64 ",", page_us(event->time_ns));
        text_add_json(&page->phases, event_text(event, FIELD_NAME));
        text_add(&page->phases, "]");
        break;
    default: break;
    }
    tell(page, event);
}

/* How many of the events will be common is not known before they were seen; their share hardly
 * changes, so the whole number of events stands for it. */
static void open_page(struct page *page, const struct report *report)
{
    const struct report_data *data = report->data;
    *page = (struct page){.report = report, .header = report->header};
    page->end_ns = data->measure.duration_ns;
    page->common_step = 1 + data->events / (10 * COMMON_MAX);
    page->lanes = must_alloc(page->header->nodes + 1, sizeof *page->lanes);
    for (uint32_t node = 1; node <= page->header->nodes; node++)
        page->lanes[node].down = true;
}

static void end_lanes(struct page *page)
{
    const struct event last = {.time_ns = page->end_ns};
    for (uint32_t node = 1; node <= page->header->nodes; node++) {
        struct lane *lane = &page->lanes[node];
        set_role(lane, ROLE_NONE, &last);
        lane->down = false; /* whatever it is now ends here */
        lane->pauses = 0;
        set_state(lane, page->end_ns);
    }
}

void page_release(struct page *page)
{
    for (uint32_t node = 1; node <= page->header->nodes; node++) {
        text_release(&page->lanes[node].roles);
        text_release(&page->lanes[node].states);
    }
    for (uint32_t i = 0; i < page->band_count; i++)
        text_release(&page->bands[i].rest);
    free(page->lanes);
    free(page->bands);
    pauses_release(&page->pauses);
    text_release(&page->phases);
    text_release(&page->runs);
    text_release(&page->rejects);
    text_release(&page->events);
}

void page_gather(struct page *page, const struct report *report, struct history_reader *reader)
{
    struct event event;
    open_page(page, report);
    while (history_next(reader, &event) == 1)
        see(page, &event);
    end_run(page);
    end_lanes(page);
}
