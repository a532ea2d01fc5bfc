/* The simulated process of the embedded coordination service: what coup-coordinator is among real
 * processes. What it has answered is on its disk; a kill loses watches and the time that sessions
 * had left. */
#ifndef COUP_SIMULATOR_COORDINATOR_H
#define COUP_SIMULATOR_COORDINATOR_H

#include "nemesis/act.h"
#include "nodes/coordinator_core.h"
#include "simulator/clock.h"
#include "simulator/machine.h"

struct sim_coordinator {
    struct coordinator *core; /* NULL: down */
    uint8_t life;             /* enum life */
    uint32_t incarnation;
    struct stored_list disk; /* of the process that is down */
    struct sim_clock clock;
    int64_t drift_ppm;
    struct clock_bend bend;
    uint64_t armed_ns; /* true time of the timer in the queue; UINT64_MAX: none */
    uint32_t generation;
    uint32_t *parked; /* packets that wait for the paused process */
    uint32_t parked_count, parked_capacity;
};

void sim_coordinator_init(struct sim_world *world, struct sim_coordinator *coordinator);
void sim_coordinator_release(struct sim_coordinator *coordinator);

/* As machine.h: legal in any state; whether something was done. */
bool sim_coordinator_start(struct sim_world *world);
bool sim_coordinator_kill(struct sim_world *world);
bool sim_coordinator_pause(struct sim_world *world);
bool sim_coordinator_resume(struct sim_world *world);
void sim_coordinator_bend(struct sim_world *world, const struct clock_bend *bend);
/* How many sessions of the node it forgot. */
uint32_t sim_coordinator_drop(struct sim_world *world, uint32_t node);

void sim_coordinator_deliver(struct sim_world *world, uint32_t slot);
void sim_coordinator_wake(struct sim_world *world, uint32_t generation);

#endif
