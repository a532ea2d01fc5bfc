#include "controller/suite_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "controller/suite_entry.h"

enum top {
    TOP_NAME,
    TOP_SUMMARY,
    TOP_BUDGET,
    TOP_KEEP_EVERY,
    TOP_RETRIES,
    TOP_DEFAULTS,
    TOP_CELLS
};
static const char *const top_names[] = {"name",    "summary",  "budget", "keep-every",
                                        "retries", "defaults", "cells"};
enum { TOPS = sizeof top_names / sizeof top_names[0] };

static int top_text(struct source *source, const yaml_node_t *node, char **out)
{
    const char *text = node ? source_scalar(node) : "";
    if (!text)
        return source_fail(source, node, "must be a plain value");
    *out = must_copy(text);
    return 0;
}

static int top_number(struct source *source, const yaml_node_t *node, enum top key, uint64_t most,
                      uint64_t *out)
{
    uint64_t value;
    if (!node)
        return 0;
    const char *text = source_scalar(node);
    if (!text)
        return source_fail(source, node, "must be a plain value");
    int rc = key == TOP_BUDGET ? parse_duration(text, &value, source->error)
                               : parse_count(text, &value, source->error);
    if (rc == 0 && value > most)
        rc = error_usage(source->error, "'%.60s' must be at most %" PRIu64, text, most);
    if (rc < 0)
        return source_blame(source, node, top_names[key]);
    *out = value;
    return 0;
}

static int read_cells(struct source *source, const yaml_node_t *list,
                      const struct suite_defaults *defaults, struct suite *out)
{
    int rc = 0;
    if (!list)
        return source_fail(source, NULL, "key 'cells' is missing");
    if (list->type != YAML_SEQUENCE_NODE ||
        list->data.sequence.items.start == list->data.sequence.items.top)
        return source_fail(source, list, "cells must be a list of cells");
    for (const yaml_node_item_t *item = list->data.sequence.items.start;
         rc == 0 && item < list->data.sequence.items.top; item++)
        rc = suite_entry_add(source, yaml_document_get_node(&source->document, *item), defaults,
                             out);
    return rc;
}

static int read_suite(struct source *source, struct suite *out)
{
    const yaml_node_t *values[TOPS] = {NULL};
    struct suite_defaults defaults = {{NULL}};
    int rc = source_values(source, yaml_document_get_root_node(&source->document),
                           "not a suite: a mapping of keys to values is expected", top_names, TOPS,
                           values);
    out->retries = 1;
    if (rc == 0 && !values[TOP_NAME])
        rc = source_fail(source, NULL, "key 'name' is missing");
    if (rc == 0)
        rc = top_text(source, values[TOP_NAME], &out->name);
    if (rc == 0)
        rc = top_text(source, values[TOP_SUMMARY], &out->summary);
    if (rc == 0)
        rc = top_number(source, values[TOP_BUDGET], TOP_BUDGET, UINT64_MAX, &out->budget_ns);
    if (rc == 0)
        rc = top_number(source, values[TOP_KEEP_EVERY], TOP_KEEP_EVERY, UINT32_MAX,
                        &out->keep_every);
    if (rc == 0)
        rc = top_number(source, values[TOP_RETRIES], TOP_RETRIES, 100, &out->retries);
    if (rc == 0 && values[TOP_DEFAULTS])
        rc = suite_defaults_read(source, values[TOP_DEFAULTS], &defaults);
    return rc < 0 ? rc : read_cells(source, values[TOP_CELLS], &defaults, out);
}

int suite_parse(const char *file, struct slice yaml, struct suite *out, struct error *error)
{
    struct source source;
    struct suite suite = {.file = must_copy(file)};
    int rc = source_open(&source, file, yaml, error);
    if (rc == 0) {
        rc = read_suite(&source, &suite);
        source_close(&source);
    }
    if (rc < 0)
        suite_release(&suite);
    else
        *out = suite;
    return rc;
}

void suite_release(struct suite *suite)
{
    for (uint32_t i = 0; i < suite->count; i++)
        suite_cell_release(&suite->cells[i]);
    free(suite->cells);
    free(suite->file);
    free(suite->name);
    free(suite->summary);
    *suite = (struct suite){0};
}

uint64_t suite_cell_runs(const struct suite_cell *cell)
{
    return (cell->last - cell->first + 1) * cell->repeats;
}

int suite_shard_parse(const char *text, struct suite_shard *out, struct error *error)
{
    uint64_t shard = 0, shards = 0;
    const char *slash = strchr(text, '/');
    struct text head = {0};
    text_add_bytes(&head, text, slash ? (size_t)(slash - text) : 0);
    bool read = slash && parse_count(text_string(&head), &shard, NULL) == 0 &&
                parse_count(slash + 1, &shards, NULL) == 0;
    text_release(&head);
    if (!read || shard < 1 || shard > shards || shards > SUITE_CELLS_MAX)
        return error_usage(error, "'%.60s' must be I/N, with I from 1 to N and N at most %u", text,
                           SUITE_CELLS_MAX);
    *out = (struct suite_shard){(uint32_t)shard, (uint32_t)shards};
    return 0;
}

bool suite_in_shard(struct suite_shard shard, uint32_t cell)
{
    return cell % shard.shards == shard.shard - 1;
}
