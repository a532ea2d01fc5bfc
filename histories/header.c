#include "histories/header.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "histories/json.h"

enum key_kind { KEY_FORMAT, KEY_TEXT, KEY_SMALL, KEY_LARGE, KEY_LIST, KEY_TRAITS, KEY_KNOBS };

/* One key of the JSON object and the member it stands for. */
struct key {
    const char *name;
    enum key_kind kind;
    size_t offset;
    size_t count_offset; /* KEY_LIST */
    uint32_t max;        /* KEY_SMALL: what checks may size their memory by */
    bool optional;       /* zero or empty where it is missing */
};

#define MEMBER(name) offsetof(struct history_header, name)

/* In the order in which they are written. */
static const struct key keys[] = {
    {"format", KEY_FORMAT, MEMBER(format), 0, 0, false},
    {"version", KEY_TEXT, MEMBER(version), 0, 0, false},
    {"command", KEY_TEXT, MEMBER(command), 0, 0, false},
    {"world", KEY_TEXT, MEMBER(world), 0, 0, false},
    {"run", KEY_LARGE, MEMBER(run), 0, 0, false},
    {"seed", KEY_LARGE, MEMBER(seed), 0, 0, false},
    {"started_unix_ns", KEY_LARGE, MEMBER(started_unix_ns), 0, 0, false},
    {"algorithm", KEY_TEXT, MEMBER(algorithm), 0, 0, false},
    {"options", KEY_TEXT, MEMBER(options), 0, 0, false},
    {"traits", KEY_TRAITS, MEMBER(traits), 0, 0, false},
    {"nodes", KEY_SMALL, MEMBER(nodes), 0, SIMULATED_NODES_MAX, false},
    {"witnesses", KEY_SMALL, MEMBER(witnesses), 0, SIMULATED_NODES_MAX, false},
    {"clients", KEY_SMALL, MEMBER(clients), 0, SIMULATED_NODES_MAX, false},
    {"network", KEY_TEXT, MEMBER(network), 0, 0, false},
    {"resource", KEY_TEXT, MEMBER(resource), 0, 0, false},
    {"service", KEY_TEXT, MEMBER(service), 0, 0, true},
    {"service_lease_ns", KEY_LARGE, MEMBER(service_lease_ns), 0, 0, true},
    {"faults", KEY_TEXT, MEMBER(faults), 0, 0, false},
    {"fault_every_ns", KEY_LARGE, MEMBER(fault_every_ns), 0, 0, false},
    {"duration_ns", KEY_LARGE, MEMBER(duration_ns), 0, 0, false},
    {"client_pause_ns", KEY_LARGE, MEMBER(client_pause_ns), 0, 0, true},
    {"traced", KEY_SMALL, MEMBER(traced), 0, 1, true},
    {"physics", KEY_TEXT, MEMBER(physics), 0, 0, true},
    {"knobs", KEY_KNOBS, MEMBER(knobs), 0, 0, false},
    {"schedule", KEY_LIST, MEMBER(schedule), MEMBER(schedule_count), 0, false},
    {"capabilities", KEY_LIST, MEMBER(capabilities), MEMBER(capability_count), 0, false},
    {"host", KEY_TEXT, MEMBER(host), 0, 0, false},
    {"clock_uncertainty_ns", KEY_LARGE, MEMBER(clock_uncertainty_ns), 0, 0, false},
    {"scenario", KEY_TEXT, MEMBER(scenario), 0, 0, true},
    {"expect", KEY_TEXT, MEMBER(expect), 0, 0, true},
};

#define KEY_COUNT (sizeof keys / sizeof keys[0])

static const char *const trait_names[TRAITS] = {
#define X(id, name) [TRAIT_##id] = name,
    COUP_TRAITS(X)
#undef X
};

const char *trait_name(enum trait trait)
{
    assert(trait < TRAITS);
    return trait_names[trait];
}

int trait_parse(struct slice name)
{
    for (int trait = 0; trait < TRAITS; trait++)
        if (slice_equals(name, trait_names[trait]))
            return trait;
    return -1;
}

/* The member a key stands for, to write to and to read from. */
static void *member(struct history_header *header, size_t offset)
{
    return (char *)header + offset;
}

static const void *member_of(const struct history_header *header, size_t offset)
{
    return (const char *)header + offset;
}

static void add_list(char *const *items, uint32_t count, struct text *out)
{
    text_add(out, "[");
    for (uint32_t i = 0; i < count; i++) {
        text_add(out, i ? "," : "");
        text_add_json(out, slice_of(items[i]));
    }
    text_add(out, "]");
}

static void add_traits(uint32_t traits, struct text *out)
{
    const char *comma = "";
    text_add(out, "[");
    for (int trait = 0; trait < TRAITS; trait++) {
        if (!(traits >> trait & 1))
            continue;
        text_add(out, "%s\"%s\"", comma, trait_names[trait]);
        comma = ",";
    }
    text_add(out, "]");
}

/* Values as for --set, so that they can be pasted there. */
static void add_knobs(const struct knobs *knobs, struct text *out)
{
    struct text list = {0};
    knobs_format(knobs, false, &list);
    const char *comma = "{";
    for (const char *at = text_string(&list); *at; at += *at == ',') {
        size_t name = strcspn(at, "="), value = strcspn(at + name + 1, ",");
        text_add(out, "%s\"%.*s\":\"%.*s\"", comma, (int)name, at, (int)value, at + name + 1);
        at += name + 1 + value;
        comma = ",";
    }
    text_add(out, "}");
    text_release(&list);
}

static void add_value(const struct history_header *header, const struct key *key, struct text *out)
{
    const void *at = member_of(header, key->offset);
    const char *text;
    switch (key->kind) {
    case KEY_FORMAT: json_add_number(out, HISTORY_FORMAT); break;
    case KEY_TEXT:
        text = *(char *const *)at;
        text_add_json(out, slice_of(text ? text : ""));
        break;
    case KEY_SMALL: json_add_number(out, *(const uint32_t *)at); break;
    case KEY_LARGE: json_add_number(out, *(const uint64_t *)at); break;
    case KEY_LIST:
        add_list(*(char **const *)at, *(const uint32_t *)member_of(header, key->count_offset), out);
        break;
    case KEY_TRAITS: add_traits(*(const uint32_t *)at, out); break;
    case KEY_KNOBS: add_knobs(at, out); break;
    }
}

/* An optional key that says nothing is left out, so that older files survive a round trip. */
static bool is_silent(const struct history_header *header, const struct key *key)
{
    const void *at = member_of(header, key->offset);
    const char *text;
    if (!key->optional)
        return false;
    switch (key->kind) {
    case KEY_TEXT: text = *(char *const *)at; return !text || !*text;
    case KEY_SMALL: return *(const uint32_t *)at == 0;
    case KEY_LARGE: return *(const uint64_t *)at == 0;
    default: return false;
    }
}

void header_to_json(const struct history_header *header, struct text *out)
{
    text_add(out, "{");
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (is_silent(header, &keys[i]))
            continue;
        text_add(out, "%s\"%s\":", i ? "," : "", keys[i].name);
        add_value(header, &keys[i], out);
    }
    text_add(out, "}");
}

static int wrong_type(struct error *error, const char *wanted)
{
    return error_usage(error, "must be %s", wanted);
}

static int read_format(const json_t *value, uint32_t *out, struct error *error)
{
    uint64_t format;
    if (!json_read_number(value, &format) || format == 0)
        return wrong_type(error, "a format number");
    if (format > HISTORY_FORMAT)
        return error_usage(error,
                           "%" PRIu64 " is newer than this coup reads (%d): use a newer coup",
                           format, HISTORY_FORMAT);
    *out = (uint32_t)format;
    return 0;
}

/* Texts end at a NUL here, so one inside would be cut off unseen. */
static int read_text(const json_t *value, char **out, struct error *error)
{
    if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value))
        return wrong_type(error, "a text");
    *out = must_copy(json_string_value(value));
    return 0;
}

static int read_small(const json_t *value, uint32_t max, uint32_t *out, struct error *error)
{
    uint64_t number;
    if (!json_read_number(value, &number) || number > max)
        return error_usage(error, "must be a whole number up to %" PRIu32, max);
    *out = (uint32_t)number;
    return 0;
}

static int read_large(const json_t *value, uint64_t *out, struct error *error)
{
    uint64_t number;
    if (!json_read_number(value, &number))
        return wrong_type(error, "a whole number");
    *out = number;
    return 0;
}

/* Counts what it has taken over, so that release frees just that after a failure. */
static int read_list(const json_t *value, char ***out, uint32_t *count, struct error *error)
{
    if (!json_is_array(value))
        return wrong_type(error, "a list of texts");
    size_t length = json_array_size(value);
    *out = must_alloc(length, sizeof **out);
    for (size_t i = 0; i < length; i++) {
        int rc = read_text(json_array_get(value, i), *out + i, error);
        if (rc < 0)
            return rc;
        *count = (uint32_t)(i + 1);
    }
    return 0;
}

/* A trait this program does not know cannot be one that a check of this program needs. */
static int read_traits(const json_t *value, uint32_t *out, struct error *error)
{
    if (!json_is_array(value))
        return wrong_type(error, "a list of traits");
    uint32_t traits = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *name = json_array_get(value, i);
        if (!json_is_string(name))
            return wrong_type(error, "a list of traits");
        int trait = trait_parse(json_slice(name));
        if (trait >= 0)
            traits |= UINT32_C(1) << trait;
    }
    *out = traits;
    return 0;
}

/* Knobs that came or went between versions: absent ones have their default, unknown ones are passed
 * over like every unknown key. */
static int read_knobs(json_t *value, struct knobs *out, struct error *error)
{
    if (!json_is_object(value))
        return wrong_type(error, "an object of knobs");
    struct text list = {0};
    const char *name;
    json_t *setting;
    int rc = 0;
    json_object_foreach(value, name, setting)
    {
        if (options_find(knob_table, slice_of(name)) < 0)
            continue;
        if (!json_is_string(setting)) {
            rc = error_usage(error, "'%s' must be a text like \"150ms\"", name);
            break;
        }
        text_add(&list, "%s%s=%s", list.length ? "," : "", name, json_string_value(setting));
    }
    knobs_defaults(out);
    if (rc == 0)
        rc = knobs_parse(text_string(&list), out, error);
    text_release(&list);
    return rc;
}

static int read_value(json_t *value, const struct key *key, struct history_header *header,
                      struct error *error)
{
    void *at = member(header, key->offset);
    switch (key->kind) {
    case KEY_FORMAT: return read_format(value, at, error);
    case KEY_TEXT: return read_text(value, at, error);
    case KEY_SMALL: return read_small(value, key->max, at, error);
    case KEY_LARGE: return read_large(value, at, error);
    case KEY_LIST: return read_list(value, at, member(header, key->count_offset), error);
    case KEY_TRAITS: return read_traits(value, at, error);
    case KEY_KNOBS: return read_knobs(value, at, error);
    }
    return error_set(error, -EINVAL, "key kind %d", (int)key->kind);
}

static int read_keys(const json_t *root, struct history_header *header, struct error *error)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        json_t *value = json_object_get(root, keys[i].name);
        if (!value && keys[i].optional) {
            if (keys[i].kind == KEY_TEXT)
                *(char **)member(header, keys[i].offset) = must_copy("");
            continue;
        }
        if (!value)
            return error_usage(error, "key '%s' is missing", keys[i].name);
        int rc = read_value(value, &keys[i], header, error);
        if (rc < 0) {
            error_prefix(error, "key '%s'", keys[i].name);
            return rc;
        }
    }
    if (header->witnesses > header->nodes)
        return error_usage(error, "key 'witnesses': more than there are nodes");
    return 0;
}

int header_from_object(const json_t *root, struct history_header *out, struct error *error)
{
    struct history_header header = {0};
    int rc = read_keys(root, &header, error);
    if (rc < 0)
        header_release(&header);
    else
        *out = header;
    return rc;
}

int header_from_json(const char *json, size_t length, struct history_header *out,
                     struct error *error)
{
    json_t *root;
    int rc = json_read_object(json, length, &root, error);
    if (rc < 0)
        return rc;
    rc = header_from_object(root, out, error);
    json_decref(root);
    return rc;
}

static void release_list(char **items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(items[i]);
    free(items);
}

void header_release(struct history_header *header)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (keys[i].kind == KEY_TEXT)
            free(*(char **)member(header, keys[i].offset));
    release_list(header->schedule, header->schedule_count);
    release_list(header->capabilities, header->capability_count);
    *header = (struct history_header){0};
}
