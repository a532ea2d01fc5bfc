/* Scenarios from YAML. */
#include "nemesis/scenario_source.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

enum key_type { KEY_TEXT, KEY_COUNT, KEY_DURATION, KEY_SEED, KEY_OPTIONS, KEY_STEPS };

/* The top-level keys. Steps come last when read, since targets depend on `nodes`. */
static const struct key {
    const char *name;
    enum key_type type;
    size_t offset;
    const char *initial; /* NULL: must be given */
    uint64_t min, max;   /* of numbers, both allowed */
} keys[] = {
    {"name", KEY_TEXT, offsetof(struct scenario, name), NULL, 0, 0},
    {"summary", KEY_TEXT, offsetof(struct scenario, summary), "", 0, 0},
    {"source", KEY_TEXT, offsetof(struct scenario, source), "", 0, 0},
    {"algorithm", KEY_TEXT, offsetof(struct scenario, algorithm), NULL, 0, 0},
    {"nodes", KEY_COUNT, offsetof(struct scenario, nodes), "5", 1, NODES_MAX},
    {"witnesses", KEY_COUNT, offsetof(struct scenario, witnesses), "0", 0, NODES_MAX},
    {"clients", KEY_COUNT, offsetof(struct scenario, clients), "2", 0, CLIENTS_MAX},
    {"rate", KEY_COUNT, offsetof(struct scenario, rate), "50", 1, 100000},
    {"seed", KEY_SEED, offsetof(struct scenario, seed), "1", 0, UINT64_MAX},
    {"time", KEY_DURATION, offsetof(struct scenario, duration_ns), NULL, 100 * NS_PER_MS,
     24 * 3600 * NS_PER_S},
    {"resource", KEY_TEXT, offsetof(struct scenario, resource), "fenced", 0, 0},
    {"set", KEY_OPTIONS, offsetof(struct scenario, knobs), "", 0, 0},
    {"physics", KEY_OPTIONS, offsetof(struct scenario, physics), "", 0, 0},
    {"expect", KEY_TEXT, offsetof(struct scenario, expect), "valid", 0, 0},
    {"steps", KEY_STEPS, 0, "", 0, 0},
};
#define KEY_NUMBER (sizeof keys / sizeof keys[0])
_Static_assert(KEY_NUMBER <= SCENARIO_KEYS_MAX, "room for every key's line");

static void set_text(struct scenario *scenario, const struct key *key, const char *text)
{
    char **field = (char **)(void *)((char *)scenario + key->offset);
    free(*field);
    *field = must_copy(text);
}

static int out_of_range(const struct key *key, const char *text, struct error *error)
{
    char low[UNIT_TEXT_MAX], high[UNIT_TEXT_MAX];
    if (key->type == KEY_DURATION)
        return error_usage(error, "'%.60s' must be between %s and %s", text,
                           format_duration(key->min, low), format_duration(key->max, high));
    return error_usage(error, "'%.60s' must be between %" PRIu64 " and %" PRIu64, text, key->min,
                       key->max);
}

static int set_number(struct scenario *scenario, const struct key *key, const char *text,
                      struct error *error)
{
    uint64_t value;
    int rc = key->type == KEY_DURATION ? parse_duration(text, &value, error)
                                       : parse_count(text, &value, error);
    if (rc < 0)
        return rc;
    if (value < key->min || value > key->max)
        return out_of_range(key, text, error);
    if (key->type == KEY_COUNT)
        *(uint32_t *)(void *)((char *)scenario + key->offset) = (uint32_t)value;
    else
        *(uint64_t *)(void *)((char *)scenario + key->offset) = value;
    return 0;
}

static int read_key(struct source *source, const struct key *key, const yaml_node_t *node,
                    struct scenario *out)
{
    struct text text = {0};
    int rc;
    switch (key->type) {
    case KEY_STEPS: return steps_read(source, node, out);
    case KEY_OPTIONS:
        rc = source_options(source, node, &text);
        if (rc == 0)
            set_text(out, key, text_string(&text));
        text_release(&text);
        return rc;
    case KEY_TEXT:
    case KEY_COUNT:
    case KEY_DURATION:
    case KEY_SEED: break;
    }
    if (!source_scalar(node))
        return source_fail(source, node, "must be a plain value");
    if (key->type == KEY_TEXT) {
        set_text(out, key, source_scalar(node));
        return 0;
    }
    rc = set_number(out, key, source_scalar(node), source->error);
    return rc < 0 ? source_blame(source, node, key->name) : 0;
}

static int set_initial(const struct source *source, const struct key *key, struct scenario *out)
{
    struct text what = {0};
    int rc = 0;
    if (!key->initial) {
        text_add(&what, "key '%s' is missing", key->name);
        rc = source_fail(source, NULL, text_string(&what));
        text_release(&what);
    } else if (key->type == KEY_TEXT || key->type == KEY_OPTIONS) {
        set_text(out, key, key->initial);
    } else if (key->type != KEY_STEPS) {
        rc = set_number(out, key, key->initial, source->error);
    }
    return rc;
}

static int read_root(struct source *source, struct scenario *out)
{
    const char *names[KEY_NUMBER];
    const yaml_node_t *values[KEY_NUMBER] = {NULL};
    for (size_t i = 0; i < KEY_NUMBER; i++)
        names[i] = keys[i].name;
    int rc = source_values(source, yaml_document_get_root_node(&source->document),
                           "not a scenario: a mapping of keys to values is expected", names,
                           KEY_NUMBER, values);
    for (size_t i = 0; rc == 0 && i < KEY_NUMBER; i++) {
        out->lines[i] = values[i] ? source_line(values[i]) : 0;
        rc = values[i] ? read_key(source, &keys[i], values[i], out)
                       : set_initial(source, &keys[i], out);
    }
    return rc;
}

int scenario_parse(const char *file, struct slice yaml, struct scenario *out, struct error *error)
{
    struct source source;
    struct scenario scenario = {.file = must_copy(file)};
    int rc = source_open(&source, file, yaml, error);
    if (rc == 0) {
        rc = read_root(&source, &scenario);
        source_close(&source);
    }
    if (rc < 0)
        scenario_release(&scenario);
    else
        *out = scenario;
    return rc;
}

int scenario_read(const char *path, struct scenario *out, struct error *error)
{
    struct text yaml = {0};
    int rc = source_file(path, "scenario", &yaml, error);
    if (rc == 0)
        rc = scenario_parse(path, (struct slice){text_string(&yaml), yaml.length}, out, error);
    text_release(&yaml);
    return rc;
}

void scenario_release(struct scenario *scenario)
{
    for (size_t i = 0; i < KEY_NUMBER; i++)
        if (keys[i].type == KEY_TEXT || keys[i].type == KEY_OPTIONS)
            free(*(char **)(void *)((char *)scenario + keys[i].offset));
    schedule_release(&scenario->schedule);
    free(scenario->file);
    *scenario = (struct scenario){0};
}

/* ---- after reading ---- */

static const struct key *key_named(const char *name)
{
    size_t i = 0;
    while (i < KEY_NUMBER && strcmp(keys[i].name, name) != 0)
        i++;
    assert(i < KEY_NUMBER);
    return &keys[i];
}

bool scenario_gives(const struct scenario *scenario, const char *key)
{
    return scenario->lines[key_named(key) - keys] > 0;
}

void scenario_value(const struct scenario *scenario, const char *name, struct text *out)
{
    const struct key *key = key_named(name);
    const void *field = (const char *)scenario + key->offset;
    char buffer[UNIT_TEXT_MAX];
    switch (key->type) {
    case KEY_TEXT:
    case KEY_OPTIONS: text_add(out, "%s", *(char *const *)field); break;
    case KEY_COUNT: text_add(out, "%" PRIu32, *(const uint32_t *)field); break;
    case KEY_SEED: text_add(out, "%" PRIu64, *(const uint64_t *)field); break;
    case KEY_DURATION:
        text_add(out, "%s", format_duration(*(const uint64_t *)field, buffer));
        break;
    case KEY_STEPS: break; /* no option takes them */
    }
}

int scenario_blame(const struct scenario *scenario, const char *key, struct error *error)
{
    size_t line = scenario->lines[key_named(key) - keys];
    error_prefix(error, "%s:%zu: %s", scenario->file, line ? line : 1, key);
    return -EINVAL;
}

int scenario_fits(const struct scenario *scenario, uint32_t nodes, uint64_t duration_ns,
                  struct error *error)
{
    struct text line = {0};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < scenario->schedule.count; i++) {
        const struct scheduled_fault *scheduled = &scenario->schedule.faults[i];
        struct scheduled_fault again;
        text_clear(&line);
        scheduled_fault_format(scheduled, &line);
        rc = scheduled_fault_parse(text_string(&line), nodes, &again, error);
        if (rc == 0 && scheduled->at_ns >= duration_ns)
            rc = error_usage(error, "begins after the time is over");
        if (rc < 0)
            error_prefix(error, "%s: step '%.80s'", scenario->file, text_string(&line));
    }
    text_release(&line);
    return rc;
}
