#include "controller/suite_entry.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "controller/sim_order.h"

enum key_kind {
    KEY_NAME,
    KEY_WORLD,
    KEY_WORD,    /* an option of the run */
    KEY_OPTIONS, /* of the algorithm, added to it */
    KEY_SEEDS,
    KEY_REPEATS,
    KEY_EXPECT,
    KEY_AT_LEAST,
    KEY_BUDGET,
};

enum worlds { IN_SIM = 1, IN_REAL = 2, IN_BOTH = 3 };

/* Keys of an entry and of `defaults`, in the order of the dimensions: the last varies fastest. */
static const struct key {
    const char *name;
    enum key_kind kind;
    const char *option; /* KEY_WORD */
    enum worlds worlds;
    bool list; /* may be a list, and then is a dimension */
} keys[] = {
    {"name", KEY_NAME, NULL, IN_BOTH, false},
    {"world", KEY_WORLD, NULL, IN_BOTH, true},
    {"scenario", KEY_WORD, "scenario", IN_BOTH, true},
    {"algorithm", KEY_WORD, "algorithm", IN_BOTH, true},
    {"options", KEY_OPTIONS, NULL, IN_BOTH, true},
    {"service", KEY_WORD, "service", IN_REAL, true},
    {"faults", KEY_WORD, "faults", IN_BOTH, true},
    {"every", KEY_WORD, "every", IN_BOTH, true},
    {"nodes", KEY_WORD, "nodes", IN_BOTH, true},
    {"witnesses", KEY_WORD, "witness", IN_BOTH, true},
    {"clients", KEY_WORD, "clients", IN_BOTH, true},
    {"rate", KEY_WORD, "rate", IN_BOTH, true},
    {"time", KEY_WORD, "time", IN_BOTH, true},
    {"resource", KEY_WORD, "resource", IN_BOTH, true},
    {"set", KEY_WORD, "set", IN_BOTH, true},
    {"physics", KEY_WORD, "physics", IN_SIM, true},
    {"swarm", KEY_WORD, "swarm", IN_SIM, true},
    {"network", KEY_WORD, "network", IN_REAL, true},
    {"seeds", KEY_SEEDS, NULL, IN_BOTH, false},
    {"repeats", KEY_REPEATS, NULL, IN_REAL, false},
    {"expect", KEY_EXPECT, NULL, IN_BOTH, false},
    {"at-least", KEY_AT_LEAST, NULL, IN_BOTH, false},
    {"budget", KEY_BUDGET, NULL, IN_BOTH, false},
};
enum { KEYS = sizeof keys / sizeof keys[0] };
_Static_assert((int)KEYS <= (int)SUITE_KEYS_MAX, "room for every default");

/* The values of one key of an entry: several are a dimension. */
struct values {
    const yaml_node_t **nodes; /* owned */
    uint32_t count;
    uint32_t at; /* of the cell that is being made */
    bool by_default;
};

/* An entry of `cells`, while its matrix is walked. */
struct entry {
    struct source *source;
    const yaml_node_t *node;
    struct values values[KEYS];
};

static const struct key *key_of(const struct entry *entry, const struct values *values)
{
    return &keys[values - entry->values];
}

static const struct values *values_of(const struct entry *entry, enum key_kind kind)
{
    uint32_t i = 0;
    while (keys[i].kind != kind)
        i++;
    return &entry->values[i];
}

static const yaml_node_t *value_at(const struct values *values)
{
    return values->count ? values->nodes[values->at] : NULL;
}

static int take_values(struct source *source, const struct key *key, const yaml_node_t *node,
                       struct values *out)
{
    bool list = node->type == YAML_SEQUENCE_NODE;
    if (list && !key->list)
        return source_fail(source, node, "must be a single value, not a list");
    const yaml_node_item_t *first = list ? node->data.sequence.items.start : NULL;
    size_t count = list ? (size_t)(node->data.sequence.items.top - first) : 1;
    if (count == 0 || count > SUITE_CELLS_MAX)
        return source_fail(source, node, "a list must have values");
    out->nodes = must_alloc(count, sizeof(const yaml_node_t *));
    out->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        out->nodes[i] = list ? yaml_document_get_node(&source->document, first[i]) : node;
    return 0;
}

/* What a scenario says is not for the defaults to say again. */
static bool default_fits(const struct key *key, bool scenario)
{
    bool about_run = key->kind == KEY_WORD || key->kind == KEY_OPTIONS || key->kind == KEY_EXPECT;
    return !scenario || !about_run || strcmp(key->name, "network") == 0;
}

static int open_entry(struct source *source, const yaml_node_t *node,
                      const struct suite_defaults *defaults, struct entry *out)
{
    const char *names[KEYS];
    const yaml_node_t *given[KEYS] = {NULL};
    for (size_t i = 0; i < KEYS; i++)
        names[i] = keys[i].name;
    *out = (struct entry){.source = source, .node = node};
    int rc =
        source_values(source, node, "a cell is a mapping of keys to values", names, KEYS, given);
    bool scenario = false;
    for (size_t i = 0; i < KEYS; i++)
        scenario = scenario || (given[i] && strcmp(keys[i].name, "scenario") == 0);
    for (size_t i = 0; rc == 0 && i < KEYS; i++) {
        bool by_default = !given[i] && defaults->nodes[i] && default_fits(&keys[i], scenario);
        const yaml_node_t *from = by_default ? defaults->nodes[i] : given[i];
        if (from)
            rc = take_values(source, &keys[i], from, &out->values[i]);
        out->values[i].by_default = by_default;
    }
    return rc;
}

static void close_entry(struct entry *entry)
{
    for (size_t i = 0; i < KEYS; i++)
        free(entry->values[i].nodes);
}

/* ---- one cell ---- */

static int plain(const struct entry *entry, const yaml_node_t *node, const char **out)
{
    *out = source_scalar(node);
    return *out ? 0 : source_fail(entry->source, node, "must be a plain value");
}

static int read_number(const struct entry *entry, enum key_kind kind, uint64_t least, uint64_t most,
                       uint64_t *out)
{
    const struct values *values = values_of(entry, kind);
    const yaml_node_t *node = value_at(values);
    const char *text;
    uint64_t value;
    if (!node)
        return 0;
    int rc = plain(entry, node, &text);
    if (rc < 0)
        return rc;
    rc = kind == KEY_BUDGET ? parse_duration(text, &value, entry->source->error)
                            : parse_count(text, &value, entry->source->error);
    if (rc == 0 && (value < least || value > most))
        rc = error_usage(entry->source->error, "'%.60s' must be between %" PRIu64 " and %" PRIu64,
                         text, least, most);
    if (rc < 0)
        return source_blame(entry->source, node, key_of(entry, values)->name);
    *out = value;
    return 0;
}

/* `seeds: 1..20`, or `seeds: {sim: 1..200, real: 2}`. */
static int read_seeds(const struct entry *entry, struct suite_cell *cell)
{
    static const char *const worlds[] = {"sim", "real"};
    const yaml_node_t *node = value_at(values_of(entry, KEY_SEEDS));
    const yaml_node_t *each[2] = {NULL, NULL};
    const char *text;
    cell->first = 1;
    cell->last = cell->real ? 1 : 20;
    if (node && node->type == YAML_MAPPING_NODE) {
        int rc = source_values(entry->source, node, "", worlds, 2, each);
        if (rc < 0)
            return rc;
        node = each[cell->real];
    }
    if (!node)
        return 0;
    int rc = plain(entry, node, &text);
    if (rc < 0)
        return rc;
    rc = sim_order_range(text, "seeds", &cell->first, &cell->last, entry->source->error);
    if (rc == 0 && cell->last - cell->first >= UINT32_MAX)
        rc = error_usage(entry->source->error, "'%.60s': too many", text);
    return rc < 0 ? source_blame(entry->source, node, "seeds") : 0;
}

static int read_expect(const struct entry *entry, struct suite_cell *cell)
{
    const yaml_node_t *node = value_at(values_of(entry, KEY_EXPECT));
    const char *text;
    if (!node)
        return 0;
    int rc = plain(entry, node, &text);
    if (rc == 0 && (rc = expectation_parse(text, &cell->expect, entry->source->error)) < 0)
        return source_blame(entry->source, node, "expect");
    return rc;
}

static int read_rest(const struct entry *entry, struct suite_cell *cell)
{
    uint64_t repeats = 1;
    int rc = read_seeds(entry, cell);
    if (rc == 0)
        rc = read_expect(entry, cell);
    if (rc == 0)
        rc = read_number(entry, KEY_REPEATS, 1, 10000, &repeats);
    cell->repeats = cell->real ? (uint32_t)repeats : 1;
    if (rc == 0)
        rc = read_number(entry, KEY_BUDGET, NS_PER_MS, UINT64_MAX, &cell->budget_ns);
    if (rc == 0)
        rc = read_number(entry, KEY_AT_LEAST, 1, suite_cell_runs(cell), &cell->at_least);
    return rc;
}

/* "raft:a=1" and "b=2" are "raft:a=1,b=2". */
static int add_options(const struct entry *entry, struct text *algorithm)
{
    const yaml_node_t *node = value_at(values_of(entry, KEY_OPTIONS));
    struct text options = {0};
    if (!node)
        return 0;
    int rc = source_options(entry->source, node, &options);
    if (rc == 0 && options.length)
        text_add(algorithm, "%s%s", strchr(text_string(algorithm), ':') ? "," : ":",
                 text_string(&options));
    text_release(&options);
    return rc;
}

static int add_word(const struct entry *entry, const struct key *key, const yaml_node_t *node,
                    struct suite_cell *cell)
{
    struct text text = {0};
    int rc = source_options(entry->source, node, &text);
    if (rc == 0 && strcmp(key->name, "algorithm") == 0)
        rc = add_options(entry, &text);
    if (rc < 0) {
        text_release(&text);
        return rc;
    }
    cell->words[cell->word_count++] = (struct suite_word){
        .key = key->name,
        .option = key->option,
        .text = must_copy(text_string(&text)),
        .line = source_line(node),
    };
    text_release(&text);
    return 0;
}
_Static_assert((int)KEYS <= (int)SUITE_WORDS_MAX + 5, "room for every option of a run");

/* What belongs to the other world is left out where the entry, or the suite, speaks of both. */
static int misplaced(const struct entry *entry, const struct values *values, bool real)
{
    const struct key *key = key_of(entry, values);
    bool both = values_of(entry, KEY_WORLD)->count > 1;
    struct text what = {0};
    if (both || values->by_default)
        return 0;
    text_add(&what, "%s: there is none in world %s", key->name, real ? "real" : "sim");
    int rc = source_fail(entry->source, values->nodes[0], text_string(&what));
    text_release(&what);
    return rc;
}

static int read_words(struct entry *entry, struct suite_cell *cell)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < KEYS; i++) {
        const struct values *values = &entry->values[i];
        if (!values->count)
            continue;
        if (!(keys[i].worlds & (cell->real ? IN_REAL : IN_SIM)))
            rc = misplaced(entry, values, cell->real);
        else if (keys[i].kind == KEY_WORD)
            rc = add_word(entry, &keys[i], value_at(values), cell);
    }
    return rc;
}

static int read_word_of(const struct entry *entry, enum key_kind kind, const char *const *accepted,
                        uint32_t *out)
{
    const struct values *values = values_of(entry, kind);
    const yaml_node_t *node = value_at(values);
    struct text list = {0};
    const char *text = node ? source_scalar(node) : accepted[0];
    for (uint32_t i = 0; accepted[i]; i++) {
        if (text && strcmp(text, accepted[i]) == 0) {
            *out = i;
            text_release(&list);
            return 0;
        }
        text_add(&list, "%s%s", i ? ", " : "", accepted[i]);
    }
    (void)error_usage(entry->source->error, "'%.60s' is unknown (accepted: %s)", text ? text : "",
                      text_string(&list));
    text_release(&list);
    return source_blame(entry->source, node, key_of(entry, values)->name);
}

/* The entry's name, or what it runs; then where in its matrix the cell stands. */
static void name_cell(struct entry *entry, struct suite_cell *cell)
{
    struct text name = {0};
    const yaml_node_t *given = value_at(values_of(entry, KEY_NAME));
    const char *subject = "raft";
    for (uint32_t i = 0; i < cell->word_count; i++) {
        bool is = strcmp(cell->words[i].key, "algorithm") == 0 ||
                  strcmp(cell->words[i].key, "scenario") == 0;
        subject = is ? cell->words[i].text : subject;
    }
    text_add(&name, "%s", given && source_scalar(given) ? source_scalar(given) : subject);
    for (size_t i = 0; i < KEYS; i++) {
        const struct values *values = &entry->values[i];
        struct text text = {0};
        bool subject_too =
            !given && (strcmp(keys[i].name, "algorithm") == 0 || keys[i].kind == KEY_OPTIONS);
        if (values->count < 2 || subject_too || (!given && strcmp(keys[i].name, "scenario") == 0))
            continue;
        (void)source_options(entry->source, value_at(values), &text);
        if (keys[i].kind == KEY_WORD && strcmp(keys[i].name, "algorithm") != 0)
            text_add(&name, " %s=%s", keys[i].name, text_string(&text));
        else if (text.length)
            text_add(&name, " %s", text_string(&text));
        text_release(&text);
    }
    cell->name = name.at;
}

void suite_cell_release(struct suite_cell *cell)
{
    free(cell->name);
    for (uint32_t i = 0; i < cell->word_count; i++)
        free(cell->words[i].text);
}

static int same_name(const struct suite *suite, const struct suite_cell *cell,
                     const struct entry *entry)
{
    struct text what = {0};
    for (uint32_t i = 0; i < suite->count; i++) {
        if (strcmp(suite->cells[i].name, cell->name) != 0)
            continue;
        text_add(&what, "name: '%.100s' is also the cell's of line %zu", cell->name,
                 suite->cells[i].line);
        int rc = source_fail(entry->source, entry->node, text_string(&what));
        text_release(&what);
        return rc;
    }
    return 0;
}

static int add_cell(struct entry *entry, struct suite *suite)
{
    static const char *const worlds[] = {"sim", "real", NULL};
    struct suite_cell cell = {.line = source_line(entry->node)};
    uint32_t world = 0;
    if (suite->count == SUITE_CELLS_MAX)
        return source_fail(entry->source, entry->node, "more cells than a suite may have");
    int rc = read_word_of(entry, KEY_WORLD, worlds, &world);
    cell.real = world == 1;
    if (rc == 0)
        rc = read_words(entry, &cell);
    if (rc == 0)
        rc = read_rest(entry, &cell);
    if (rc == 0) {
        name_cell(entry, &cell);
        rc = same_name(suite, &cell, entry);
    }
    if (rc < 0) {
        suite_cell_release(&cell);
        return rc;
    }
    suite->cells = must_grow(suite->cells, suite->count + 1, sizeof *suite->cells);
    suite->cells[suite->count++] = cell;
    return 0;
}

/* The next point of the matrix, the last dimension first; false: that was the last. */
static bool advance(struct entry *entry)
{
    for (size_t i = KEYS; i-- > 0;) {
        struct values *values = &entry->values[i];
        if (values->count == 0)
            continue;
        if (++values->at < values->count)
            return true;
        values->at = 0;
    }
    return false;
}

int suite_entry_add(struct source *source, const yaml_node_t *node,
                    const struct suite_defaults *defaults, struct suite *suite)
{
    struct entry entry;
    int rc = open_entry(source, node, defaults, &entry);
    bool more = rc == 0;
    while (more) {
        rc = add_cell(&entry, suite);
        more = rc == 0 && advance(&entry);
    }
    close_entry(&entry);
    return rc;
}

int suite_defaults_read(struct source *source, const yaml_node_t *node, struct suite_defaults *out)
{
    const char *names[KEYS];
    for (size_t i = 0; i < KEYS; i++)
        names[i] = keys[i].name;
    return source_values(source, node, "defaults are a mapping of keys to values", names, KEYS,
                         out->nodes);
}
