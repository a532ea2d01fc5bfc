/* Shared by machine.c (inputs, life and death) and machine_step.c (what a step brings about). */
#ifndef COUP_SIMULATOR_MACHINE_INTERNAL_H
#define COUP_SIMULATOR_MACHINE_INTERNAL_H

#include "simulator/machine.h"
#include "simulator/world.h"

static inline uint64_t machine_now(const struct sim_world *world, const struct machine *machine)
{
    return sim_clock_own(&machine->clock, world->now_ns);
}

/* Of a parked slot: it came while the process stood still. Message faults meet it when it is read.
 */
#define PARKED_UNREAD (UINT32_C(1) << 31)

static inline uint32_t machine_process(const struct machine *machine)
{
    return PROCESS_NUMBER(machine->twin ? PROCESS_TWIN : PROCESS_NODE, machine->id);
}

/* The timer in the queue is void. */
static inline void machine_disarm(struct machine *machine)
{
    machine->generation++;
    machine->armed_ns = UINT64_MAX;
}

/* Run the elector on this input and do what it asks for. It may end the process, or leave it
 * waiting for its disk (machine->held). */
void machine_step(struct sim_world *world, struct machine *machine, struct input *input);

/* The outbox's events and messages go out; between the two a process may have to stop. */
void machine_carry(struct sim_world *world, struct machine *machine, uint64_t now);
/* What it was about to record and send when it was halted. */
void machine_say_kept(struct sim_world *world, struct machine *machine);

/* The disk has what the process waited for. */
void machine_sync_done(struct sim_world *world, struct machine *machine);

/* Whether the disk fails this request. */
bool machine_disk_errs(struct sim_world *world, struct machine *machine);

/* The process is gone, and what only it knew. */
void machine_come_down(struct sim_world *world, struct machine *machine);

/* The process ends because the machine failed it. Who runs it starts it again after a while. */
void machine_give_up(struct sim_world *world, struct machine *machine);

enum end_cause { END_BY_FAULT, END_BY_DISK };
void machine_record_life(struct sim_world *world, const struct machine *machine, enum event_f f,
                         enum end_cause cause);
/* Its end is recorded, and whoever waited for it is told. */
void machine_ended(struct sim_world *world, struct machine *machine, enum end_cause cause);

#endif
