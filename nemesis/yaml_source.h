/* Reading YAML by libyaml's document tree, for whoever has a table of keys. Every mistake is a
 * usage error with its place: "F.yaml:7: unknown key 'faults' (accepted: ...)". */
#ifndef COUP_NEMESIS_YAML_SOURCE_H
#define COUP_NEMESIS_YAML_SOURCE_H

#include <yaml.h>

#include "base/error.h"
#include "base/text.h"

#define YAML_BYTES_MAX (1u << 20)

/* The document being read and where its errors go; `file` names it in them. */
struct source {
    const char *file;
    yaml_parser_t parser;
    yaml_document_t document;
    struct error *error;
};

/* Borrows `file` and `yaml`. source_close() only after success. */
int source_open(struct source *source, const char *file, struct slice yaml, struct error *error);
void source_close(struct source *source);

/* A whole file, at most YAML_BYTES_MAX bytes; `what` says what it should be. */
int source_file(const char *path, const char *what, struct text *out, struct error *error);

/* A name that is meant as a file's: it has a '/' in it or ends in ".yaml" or ".yml". */
bool source_is_path(const char *name);

/* A usage error with the node's place; of no node, that of the first line. */
int source_fail(const struct source *source, const yaml_node_t *node, const char *what);

/* Put "file:line: key" before what a parser below said. */
int source_blame(const struct source *source, const yaml_node_t *node, const char *key);

/* The text of a plain value, NULL: it is none. */
const char *source_scalar(const yaml_node_t *node);

/* The line on which it stands, from 1. */
size_t source_line(const yaml_node_t *node);

/* Which value of the mapping belongs to which of `names`: all keys known, none twice. Values of
 * keys that are missing stay as they are. `expected` tells what a node that is no mapping should
 * be. */
int source_values(struct source *source, const yaml_node_t *mapping, const char *expected,
                  const char *const *names, size_t count, const yaml_node_t **values);

/* "a=1,b=2" from a mapping {a: 1, b: 2}, or the text as it is. */
int source_options(struct source *source, const yaml_node_t *node, struct text *out);

#endif
