/* The history of a simulated run that turned out to be worth keeping. */
#ifndef COUP_CONTROLLER_SIM_KEEP_H
#define COUP_CONTROLLER_SIM_KEEP_H

#include "simulator/sweep.h"

/* The run of `outcome` once more, now recorded (nothing is slower for being able to be), with its
 * verdict, into a new file. `command` repeats it. It is our failure when it comes out another run.
 */
int sim_keep(const struct swarm_request *request, const struct sweep_outcome *outcome,
             const char *command, const char *path, struct error *error);

/* All of it into a file, made anew. */
int write_file(const char *path, struct slice bytes, struct error *error);

#endif
