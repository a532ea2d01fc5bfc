#include "nemesis/yaml_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int source_open(struct source *source, const char *file, struct slice yaml, struct error *error)
{
    *source = (struct source){.file = file, .error = error};
    if (!yaml_parser_initialize(&source->parser))
        return error_set(error, -ENOMEM, "%s: cannot start the YAML parser", file);
    yaml_parser_set_input_string(&source->parser, (const unsigned char *)yaml.at, yaml.length);
    if (yaml_parser_load(&source->parser, &source->document))
        return 0;
    int rc = error_usage(error, "%s:%zu: %s", file, source->parser.problem_mark.line + 1,
                         source->parser.problem ? source->parser.problem : "not YAML");
    yaml_parser_delete(&source->parser);
    return rc;
}

void source_close(struct source *source)
{
    yaml_document_delete(&source->document);
    yaml_parser_delete(&source->parser);
}

int source_file(const char *path, const char *what, struct text *out, struct error *error)
{
    char piece[4096];
    FILE *file = fopen(path, "re");
    if (!file)
        return error_usage(error, "%s: %s", path, strerror(errno));
    for (size_t got;
         out->length <= YAML_BYTES_MAX && (got = fread(piece, 1, sizeof piece, file)) > 0;)
        text_add_bytes(out, piece, got);
    int rc = 0;
    if (ferror(file))
        rc = error_usage(error, "%s: cannot be read", path);
    else if (out->length > YAML_BYTES_MAX)
        rc = error_usage(error, "%s: larger than a %s may be (%u bytes)", path, what,
                         YAML_BYTES_MAX);
    (void)fclose(file); /* only read */
    return rc;
}

bool source_is_path(const char *name)
{
    const char *dot = strrchr(name, '.');
    return strchr(name, '/') || (dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0));
}

int source_fail(const struct source *source, const yaml_node_t *node, const char *what)
{
    return error_usage(source->error, "%s:%zu: %s", source->file, node ? source_line(node) : 1,
                       what);
}

int source_blame(const struct source *source, const yaml_node_t *node, const char *key)
{
    error_prefix(source->error, "%s:%zu: %s", source->file, source_line(node), key);
    return -EINVAL;
}

const char *source_scalar(const yaml_node_t *node)
{
    if (node->type != YAML_SCALAR_NODE ||
        strlen((const char *)node->data.scalar.value) != node->data.scalar.length)
        return NULL;
    return (const char *)node->data.scalar.value;
}

size_t source_line(const yaml_node_t *node)
{
    return node->start_mark.line + 1;
}

static int unknown_key(const struct source *source, const yaml_node_t *node,
                       const char *const *names, size_t count)
{
    struct text what = {0};
    text_add(&what,
             "unknown key '%.60s' (accepted: ", source_scalar(node) ? source_scalar(node) : "?");
    for (size_t i = 0; i < count; i++)
        text_add(&what, "%s%s", i ? ", " : "", names[i]);
    text_add(&what, ")");
    int rc = source_fail(source, node, text_string(&what));
    text_release(&what);
    return rc;
}

int source_values(struct source *source, const yaml_node_t *mapping, const char *expected,
                  const char *const *names, size_t count, const yaml_node_t **values)
{
    if (!mapping || mapping->type != YAML_MAPPING_NODE)
        return source_fail(source, mapping, expected);
    for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        const yaml_node_t *node = yaml_document_get_node(&source->document, pair->key);
        size_t i = 0;
        while (i < count && (!source_scalar(node) || strcmp(source_scalar(node), names[i]) != 0))
            i++;
        if (i == count)
            return unknown_key(source, node, names, count);
        if (values[i])
            return source_fail(source, node, "key given twice");
        values[i] = yaml_document_get_node(&source->document, pair->value);
    }
    return 0;
}

int source_options(struct source *source, const yaml_node_t *node, struct text *out)
{
    if (source_scalar(node)) {
        text_add(out, "%s", source_scalar(node));
        return 0;
    }
    if (node->type != YAML_MAPPING_NODE)
        return source_fail(source, node, "must be a mapping of names to values");
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *name = yaml_document_get_node(&source->document, pair->key);
        const yaml_node_t *value = yaml_document_get_node(&source->document, pair->value);
        if (!source_scalar(name) || !source_scalar(value))
            return source_fail(source, name, "must be a name and a plain value");
        text_add(out, "%s%s=%s", out->length ? "," : "", source_scalar(name), source_scalar(value));
    }
    return 0;
}
