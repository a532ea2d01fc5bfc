/* Shared by the two readers of a scenario: scenario.c, which reads its keys, and scenario_steps.c.
 */
#ifndef COUP_NEMESIS_SCENARIO_SOURCE_H
#define COUP_NEMESIS_SCENARIO_SOURCE_H

#include "nemesis/scenario.h"
#include "nemesis/yaml_source.h"

/* The list of steps into the schedule, `nodes` and `duration_ns` being known. */
int steps_read(struct source *source, const yaml_node_t *list, struct scenario *out);

#endif
