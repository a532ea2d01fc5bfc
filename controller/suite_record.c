#include "controller/suite_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

static const struct number {
    const char *name;
    size_t offset;
} numbers[] = {
#define NUMBER(field)                                \
    {                                                \
#field, offsetof(struct suite_record, field) \
    }
    NUMBER(first), NUMBER(last),    NUMBER(repeat),       NUMBER(runs),
    NUMBER(valid), NUMBER(invalid), NUMBER(unknown),      NUMBER(vacuous),
    NUMBER(met),   NUMBER(took_ns), NUMBER(simulated_ns), NUMBER(at_ns),
#undef NUMBER
};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static void add_text(struct text *out, const char *name, const char *value)
{
    text_add(out, ",\"%s\":", name);
    text_add_json(out, slice_of(value));
}

static void add_shown(const struct suite_shown *shown, struct text *out)
{
    text_add(out, "{\"seed\":%" PRIu64 ",\"met\":%s", shown->seed, shown->met ? "true" : "false");
    add_text(out, "verdict", verdict_name(shown->verdict));
    add_text(out, "check", shown->check);
    add_text(out, "reason", shown->reason);
    add_text(out, "history", shown->history);
    text_add(out, "}");
}

void suite_record_format(const struct suite_record *record, struct text *out)
{
    text_add(out, "{\"cell\":%" PRIu32, record->cell);
    for (size_t i = 0; i < NUMBERS; i++) {
        uint64_t value;
        memcpy(&value, (const char *)record + numbers[i].offset, sizeof value);
        text_add(out, ",\"%s\":%" PRIu64, numbers[i].name, value);
    }
    text_add(out, "%s%s", record->out_of_budget ? ",\"out_of_budget\":true" : "",
             record->stopped ? ",\"stopped\":true" : "");
    if (record->failure[0])
        add_text(out, "failure", record->failure);
    text_add(out, ",\"failovers_us\":[");
    for (uint32_t i = 0; i < record->failover_count; i++)
        text_add(out, "%s%" PRIu32, i ? "," : "", record->failovers_us[i]);
    text_add(out, "],\"shown\":[");
    for (uint32_t i = 0; i < record->shown_count; i++) {
        text_add(out, "%s", i ? "," : "");
        add_shown(&record->shown[i], out);
    }
    text_add(out, "]}");
}

static uint64_t number_of(const json_t *object, const char *name)
{
    json_int_t value = json_integer_value(json_object_get(object, name));
    return value < 0 ? 0 : (uint64_t)value;
}

static void text_of(const json_t *object, const char *name, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(object, name));
    (void)snprintf(out, size, "%s", text ? text : "");
}

static void parse_shown(const json_t *object, struct suite_shown *out)
{
    char verdict[20];
    text_of(object, "verdict", verdict, sizeof verdict);
    *out = (struct suite_shown){.seed = number_of(object, "seed"),
                                .met = json_is_true(json_object_get(object, "met"))};
    for (int i = VERDICT_VALID; i <= VERDICT_INVALID; i++)
        if (strcmp(verdict, verdict_name((enum verdict)i)) == 0)
            out->verdict = (enum verdict)i;
    text_of(object, "check", out->check, sizeof out->check);
    text_of(object, "reason", out->reason, sizeof out->reason);
    text_of(object, "history", out->history, sizeof out->history);
}

int suite_record_parse(struct slice line, struct suite_record *out)
{
    json_t *root = json_loadb(line.at, line.length, 0, NULL), *item;
    size_t i;
    *out = (struct suite_record){.cell = (uint32_t)number_of(root, "cell")};
    if (!json_is_integer(json_object_get(root, "cell"))) {
        json_decref(root);
        return -EINVAL;
    }
    for (i = 0; i < NUMBERS; i++) {
        uint64_t value = number_of(root, numbers[i].name);
        memcpy((char *)out + numbers[i].offset, &value, sizeof value);
    }
    out->out_of_budget = json_is_true(json_object_get(root, "out_of_budget"));
    out->stopped = json_is_true(json_object_get(root, "stopped"));
    text_of(root, "failure", out->failure, sizeof out->failure);
    json_array_foreach(json_object_get(root, "failovers_us"), i, item)
    {
        if (out->failover_count < SUITE_FAILOVERS_MAX)
            out->failovers_us[out->failover_count++] = (uint32_t)json_integer_value(item);
    }
    json_array_foreach(json_object_get(root, "shown"), i, item)
    {
        if (out->shown_count < SUITE_SHOWN_MAX)
            parse_shown(item, &out->shown[out->shown_count++]);
    }
    json_decref(root);
    return 0;
}
