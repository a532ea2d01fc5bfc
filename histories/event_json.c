/* One event as JSON, both ways. */
#include <inttypes.h>
#include <string.h>

#include "histories/json.h"

static void add_key(struct text *out, const char *key)
{
    text_add_bytes(out, "\"", 1);
    text_add_bytes(out, key, strlen(key));
    text_add_bytes(out, "\":", 2);
}

static void add_name(struct text *out, const char *key, const char *name)
{
    add_key(out, key);
    text_add_bytes(out, "\"", 1);
    text_add_bytes(out, name, strlen(name));
    text_add_bytes(out, "\",", 2);
}

static void add_number(struct text *out, const char *key, uint64_t number)
{
    add_key(out, key);
    json_add_number(out, number);
    text_add_bytes(out, ",", 1);
}

static void add_field(const struct event *event, enum event_field field, struct text *out)
{
    char name[PROCESS_NAME_MAX];
    add_key(out, event_field_name(field));
    switch (event_field_kind(field)) {
    case FIELD_KIND_NUMBER: json_add_number(out, event->field[field].number); break;
    case FIELD_KIND_PROCESS:
        text_add(out, "\"%s\"", process_name((uint32_t)event->field[field].number, name));
        break;
    case FIELD_KIND_TEXT: text_add_json(out, event->field[field].text); break;
    }
}

void event_to_json(const struct event *event, struct text *out)
{
    char name[PROCESS_NAME_MAX];
    text_add_bytes(out, "{", 1);
    add_number(out, "index", event->index);
    add_number(out, "time", event->time_ns);
    if (event->node_ns)
        add_number(out, "node_time", event->node_ns);
    add_name(out, "process", process_name(event->process, name));
    add_name(out, "type", event_type_name((enum event_type)event->type));
    add_name(out, "f", event_f_name((enum event_f)event->f));
    add_key(out, "value");
    text_add_bytes(out, "{", 1);
    size_t comma = 0;
    for (uint64_t left = event_present(event) & ~FIELD_BIT(FIELD_ERROR); left; left &= left - 1) {
        text_add_bytes(out, ",", comma);
        add_field(event, (enum event_field)__builtin_ctzll(left), out);
        comma = 1;
    }
    text_add_bytes(out, "}", 1);
    if (event_has(event, FIELD_ERROR)) {
        text_add_bytes(out, ",", 1);
        add_field(event, FIELD_ERROR, out);
    }
    text_add_bytes(out, "}", 1);
}

static int read_number(const json_t *value, const char *key, uint64_t *out, struct error *error)
{
    if (!json_read_number(value, out))
        return error_usage(error, "key '%s' must be a whole number", key);
    return 0;
}

static int read_process(const json_t *value, const char *key, uint64_t *out, struct error *error)
{
    uint32_t process;
    if (!json_is_string(value) || !process_parse(json_slice(value), &process))
        return error_usage(error, "key '%s' must name a process (n1, client-1, resource, ...)",
                           key);
    *out = process;
    return 0;
}

static int read_field(const json_t *value, enum event_field field, struct event *out,
                      struct error *error)
{
    const char *name = event_field_name(field);
    uint64_t number = 0;
    int rc = 0;
    switch (event_field_kind(field)) {
    case FIELD_KIND_NUMBER: rc = read_number(value, name, &number, error); break;
    case FIELD_KIND_PROCESS: rc = read_process(value, name, &number, error); break;
    case FIELD_KIND_TEXT:
        if (!json_is_string(value))
            return error_usage(error, "key '%s' must be a text", name);
        event_set_text(out, field, json_slice(value));
        return 0;
    }
    if (rc == 0)
        event_set(out, field, number);
    return rc;
}

/* A misspelt field would otherwise change a verdict unseen. */
static int read_fields(json_t *value, struct event *out, struct error *error)
{
    const char *name;
    json_t *item;
    if (!json_is_object(value))
        return error_usage(error, "key 'value' must be an object");
    json_object_foreach(value, name, item)
    {
        int field = event_field_parse(slice_of(name));
        if (field < 0 || field == FIELD_ERROR)
            return error_usage(error, "unknown key '%.60s' in 'value'", name);
        int rc = read_field(item, (enum event_field)field, out, error);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Index of the word `value` among those `parse` knows. */
static int read_word(const json_t *value, const char *key, int (*parse)(struct slice name),
                     uint8_t *out, struct error *error)
{
    int word = json_is_string(value) ? parse(json_slice(value)) : -1;
    if (word < 0)
        return error_usage(error, "key '%s': %s%.60s", key,
                           json_is_string(value) ? "unknown word " : "must be a text",
                           json_is_string(value) ? json_string_value(value) : "");
    *out = (uint8_t)word;
    return 0;
}

static int read_key(const char *key, json_t *value, struct event *out, struct error *error)
{
    uint64_t process = 0;
    if (strcmp(key, "index") == 0)
        return read_number(value, key, &out->index, error);
    if (strcmp(key, "time") == 0)
        return read_number(value, key, &out->time_ns, error);
    if (strcmp(key, "node_time") == 0)
        return read_number(value, key, &out->node_ns, error);
    if (strcmp(key, "type") == 0)
        return read_word(value, key, event_type_parse, &out->type, error);
    if (strcmp(key, "f") == 0)
        return read_word(value, key, event_f_parse, &out->f, error);
    if (strcmp(key, "value") == 0)
        return read_fields(value, out, error);
    if (strcmp(key, "error") == 0)
        return read_field(value, FIELD_ERROR, out, error);
    if (strcmp(key, "process") != 0)
        return error_usage(error, "unknown key '%.60s'", key);
    int rc = read_process(value, key, &process, error);
    out->process = (uint32_t)process;
    return rc;
}

int event_from_object(json_t *root, struct event *out, struct error *error)
{
    static const char *const needed[] = {"time", "process", "type", "f"};
    const char *key;
    json_t *value;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!json_object_get(root, needed[i]))
            return error_usage(error, "key '%s' is missing", needed[i]);
    out->index = EVENT_INDEX_UNSTATED;
    out->node_ns = 0;
    out->present = 0;
    json_object_foreach(root, key, value)
    {
        int rc = read_key(key, value, out, error);
        if (rc < 0)
            return rc;
    }
    return 0;
}
