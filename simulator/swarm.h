/* Swarm testing: every seed draws its own subset of what was asked for (fault kinds, rates,
 * timeouts, cluster size, the machine's speed), so that rare combinations come up; one fixed mix of
 * everything hides what only shows when most of it is absent. What a user fixed stays as it is.
 * Pure. */
#ifndef COUP_SIMULATOR_SWARM_H
#define COUP_SIMULATOR_SWARM_H

#include "simulator/sim.h"

struct swarm_request {
    struct sim_config base;        /* what is not drawn, and bounds of what is */
    uint32_t nodes_min, nodes_max; /* drawn between */
    uint64_t knobs_given;          /* bit per row of knob_table that the user fixed */
    uint64_t physics_given;        /* the same of physics_table */
    bool off;                      /* draw the size, and nothing else */
};

/* Which rows of `table` does `text` name? Usage errors as options_parse(). */
int options_given(const struct option *table, const char *what, const char *text, uint64_t *ret,
                  struct error *error);

/* The run that `seed` stands for. Always one its algorithm accepts if it accepts the base. */
void swarm_draw(const struct swarm_request *request, uint64_t seed, struct sim_config *out);

/* "n=5 clients=2 faults=kill,pause every=2s ... " for people and for `coup sim --list`. */
void swarm_format(const struct sim_config *config, struct text *out);

#endif
