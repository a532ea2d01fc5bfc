/* Shared by the two readers of a suite: suite_plan.c, which reads its own keys, and suite_entry.c,
 * which makes cells of the entries of its list. */
#ifndef COUP_CONTROLLER_SUITE_ENTRY_H
#define COUP_CONTROLLER_SUITE_ENTRY_H

#include "controller/suite_plan.h"
#include "nemesis/yaml_source.h"

#define SUITE_KEYS_MAX 24u

/* By place in the table of keys; NULL: none. */
struct suite_defaults {
    const yaml_node_t *nodes[SUITE_KEYS_MAX];
};

int suite_defaults_read(struct source *source, const yaml_node_t *node, struct suite_defaults *out);

/* All cells of the entry's matrix, at the end of the suite's. */
int suite_entry_add(struct source *source, const yaml_node_t *node,
                    const struct suite_defaults *defaults, struct suite *suite);
void suite_cell_release(struct suite_cell *cell);

#endif
