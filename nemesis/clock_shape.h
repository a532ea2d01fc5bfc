/* What the clock faults share: parameters, and whose clocks can be bent. Pure. */
#ifndef COUP_NEMESIS_CLOCK_SHAPE_H
#define COUP_NEMESIS_CLOCK_SHAPE_H

#include "nemesis/fault.h"

/* Beyond it a clock is as wrong as it can be. */
#define CLOCK_STEP_MAX_NS (24 * 3600 * NS_PER_S)

extern const char *const clock_directions[]; /* forward, back */

/* A step that somebody may notice: from a part of the election timeout to many of them. */
uint64_t clock_draw_step(struct random *random, const struct fault_scale *scale);

/* Bend the clocks of those among `chosen` that run and have what the fault needs. */
bool clock_start(const struct cluster_view *view, node_set chosen, enum facility needs,
                 struct clock_bend bend, struct injection *out, const char **ret_why);

#endif
