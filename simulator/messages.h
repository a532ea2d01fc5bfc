/* Message faults in the simulated world: the rules that a real process keeps at its edge
 * (nodes/filter.h), applied as a message arrives at its machine. */
#ifndef COUP_SIMULATOR_MESSAGES_H
#define COUP_SIMULATOR_MESSAGES_H

#include "simulator/world.h"

void sim_messages_act(struct sim_world *world, uint64_t ticket, uint32_t node,
                      const struct act *act);

/* A packet arrives. True: it was met by a rule, or let others go, and has been seen to. */
bool sim_messages_meet(struct sim_world *world, uint32_t endpoint, uint32_t slot);

/* The process reads what it was told while it stood still. */
void sim_messages_go_on(struct sim_world *world, uint32_t endpoint);

/* The process has ended: what was held back for it is lost. */
void sim_messages_lose(struct sim_world *world, uint32_t endpoint);

void sim_messages_release(struct sim_world *world);

#endif
