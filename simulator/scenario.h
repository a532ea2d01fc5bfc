/* A scenario file as a simulated run. */
#ifndef COUP_SIMULATOR_SCENARIO_H
#define COUP_SIMULATOR_SCENARIO_H

#include "nemesis/scenario.h"
#include "simulator/sim.h"

/* Everything but seed and record from the scenario, which is borrowed and must outlive the
 * configuration. Usage errors name what the scenario asks for and cannot have. */
int sim_from_scenario(const struct scenario *scenario, struct sim_config *out, struct error *error);

#endif
