/* Shared by the two readers of a scenario: scenario.c, which reads its keys, and scenario_steps.c.
 */
#ifndef COUP_NEMESIS_SCENARIO_SOURCE_H
#define COUP_NEMESIS_SCENARIO_SOURCE_H

#include <yaml.h>

#include "nemesis/scenario.h"

/* The document being read and where its errors go. */
struct source {
    const char *file;
    yaml_document_t document;
    struct error *error;
};

/* A usage error with the node's place; of no node, that of the first line. */
int source_fail(const struct source *source, const yaml_node_t *node, const char *what);

/* Put "file:line: key" before what a parser below said. */
int source_blame(const struct source *source, const yaml_node_t *node, const char *key);

/* The text of a plain value, NULL: it is none. */
const char *source_scalar(const yaml_node_t *node);

/* The list of steps into the schedule, `nodes` and `duration_ns` being known. */
int steps_read(struct source *source, const yaml_node_t *list, struct scenario *out);

#endif
