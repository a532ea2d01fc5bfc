/* What Jepsen and its checkers read, history.edn: one op map a line, in the order of true time,
 * `:index` dense from 0. Clients' operations under whole numbers as processes, faults under
 * :nemesis as its two :info lines, start and result. A process never returns after :info: its
 * client goes on under a number that is higher by the number of clients (jepsen.history). With
 * several registers a value is [REGISTER VALUE] (jepsen.independent). */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "report/export.h"

struct row {
    uint64_t time_ns, index;
    uint32_t process; /* ours */
    uint8_t type;
    size_t text, length; /* of what follows :process, in `texts` */
};

struct edn {
    uint32_t clients;
    bool keyed;
    struct row *rows; /* owned */
    size_t count, capacity;
    struct text texts;
};

static void *begin(const struct history_header *header, struct text *out)
{
    struct edn *edn = must_alloc(1, sizeof *edn);
    (void)out;
    edn->clients = header->clients;
    edn->keyed = header->knobs.registers > 1;
    return edn;
}

/* A long of Clojure has 63 bits and a sign; N makes it a big one. */
static void add_number(uint64_t number, struct text *out)
{
    text_add(out, number > INT64_MAX ? "%" PRIu64 "N" : "%" PRIu64, number);
}

/* 0: nothing written yet. */
static void add_value(uint64_t value, struct text *out)
{
    if (value)
        add_number(value, out);
    else
        text_add(out, "nil");
}

static void add_string(struct slice slice, struct text *out)
{
    text_add_json(out, slice); /* its escapes are EDN's too */
}

/* A history written by hand may hold any kind. */
static void add_keyword(struct slice slice, struct text *out)
{
    for (size_t i = 0; i < slice.length; i++) {
        char c = slice.at[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        text_add_bytes(out, plain ? &c : "-", 1);
    }
}

static void add_operation(const struct edn *edn, const struct event *event, struct text *out)
{
    text_add(out, ":f :%s, :value ", event_f_name(event->f));
    if (edn->keyed) {
        text_add(out, "[");
        add_number(event_number(event, FIELD_REGISTER), out);
        text_add(out, " ");
    }
    if (event->f == F_CAS) {
        text_add(out, "[");
        add_value(event_number(event, FIELD_EXPECTED), out);
        text_add(out, " ");
    }
    add_value(event_number(event, FIELD_VALUE), out);
    text_add(out, "%s%s", event->f == F_CAS ? "]" : "", edn->keyed ? "]" : "");
    if (event_has(event, FIELD_ERROR)) {
        text_add(out, ", :error ");
        add_string(event_text(event, FIELD_ERROR), out);
    }
}

static struct row *new_row(struct edn *edn, const struct event *event)
{
    if (edn->count == edn->capacity) {
        edn->capacity = edn->capacity ? 2 * edn->capacity : 256;
        edn->rows = must_grow(edn->rows, edn->capacity, sizeof *edn->rows);
    }
    struct row *row = &edn->rows[edn->count];
    *row = (struct row){.time_ns = event->time_ns,
                        .index = edn->count++, /* keeps the order of recording */
                        .process = event->process,
                        .type = event->type,
                        .text = edn->texts.length};
    return row;
}

static void end_row(struct edn *edn, struct row *row)
{
    row->length = edn->texts.length - row->text;
}

static void add_nemesis(struct edn *edn, const struct event *event, enum event_field told)
{
    struct row *row = new_row(edn, event);
    text_add(&edn->texts, ":f :%s-", event->f == F_FAULT ? "start" : "stop");
    add_keyword(event_text(event, FIELD_KIND), &edn->texts);
    text_add(&edn->texts, ", :value ");
    add_string(event_text(event, told), &edn->texts);
    end_row(edn, row);
}

static void step(void *state, const struct event *event, struct text *out)
{
    struct edn *edn = state;
    (void)out;
    switch (event->f) {
    case F_READ:
    case F_WRITE:
    case F_CAS: {
        struct row *row = new_row(edn, event);
        add_operation(edn, event, &edn->texts);
        end_row(edn, row);
        break;
    }
    case F_FAULT:
    case F_HEAL:
        add_nemesis(edn, event, FIELD_TARGETS);
        add_nemesis(edn, event, event->f == F_FAULT ? FIELD_OUTCOME : FIELD_PROOF);
        break;
    default: break;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct row *left = a, *right = b;
    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

static void end(void *state, struct text *out)
{
    static const char *const types[] = {
        [EVENT_INVOKE] = "invoke", [EVENT_OK] = "ok", [EVENT_FAIL] = "fail", [EVENT_INFO] = "info"};
    struct edn *edn = state;
    uint64_t lost[CLIENTS_MAX + 1] = {0}; /* operations of each that ended by :info */
    if (edn->count)
        qsort(edn->rows, edn->count, sizeof *edn->rows, by_time);
    for (size_t i = 0; i < edn->count; i++) {
        const struct row *row = &edn->rows[i];
        uint32_t client = process_index(row->process);
        text_add(out, "{:index %zu, :time %" PRIu64 ", :type :%s, :process ", i, row->time_ns,
                 types[row->type]);
        if (process_kind(row->process) == PROCESS_CLIENT && client >= 1 && client <= CLIENTS_MAX)
            text_add(out, "%" PRIu64 ", ", client - 1 + lost[client] * edn->clients);
        else
            text_add(out, ":nemesis, ");
        text_add_bytes(out, edn->texts.at + row->text, row->length);
        text_add(out, "}\n");
        if (row->type == EVENT_INFO && process_kind(row->process) == PROCESS_CLIENT)
            lost[client <= CLIENTS_MAX ? client : 0]++;
    }
    free(edn->rows);
    text_release(&edn->texts);
    free(edn);
}

extern const struct export_form export_edn;
const struct export_form export_edn = {
    .name = "edn",
    .summary = "operations of clients and faults as Jepsen writes them (history.edn)",
    .begin = begin,
    .event = step,
    .end = end,
};
