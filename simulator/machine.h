/* One simulated machine and the election process on it: clocks and disk outlive the process, which
 * can be killed, restarted, paused and resumed. The counterpart of the real node's loop: an input
 * in, then persist, record, send, rearm. */
#ifndef COUP_SIMULATOR_MACHINE_H
#define COUP_SIMULATOR_MACHINE_H

#include "nemesis/act.h"
#include "nodes/chronicle.h"
#include "nodes/elector.h"
#include "nodes/service.h"
#include "simulator/clock.h"
#include "simulator/disk.h"

enum life { LIFE_DOWN, LIFE_UP, LIFE_PAUSED };

struct sim_world;

/* What an operator told the node, which may be waiting for its disk. */
struct order {
    bool waits;
    uint64_t ticket;
    enum command_type type;
    uint32_t target;
};

/* To be killed at this point of its so-manyth write. */
struct crash {
    uint64_t ticket;   /* 0: not to be */
    uint64_t begin_ns; /* when it was asked for: what was provoked for its sake comes after */
    enum write_point point;
    uint32_t writes; /* left */
};

/* To stand still at this point of its code. */
struct halt {
    uint64_t ticket; /* 0: not to */
    enum halt_point point;
    bool reached; /* just now: nobody was told yet */
};

/* A packet that has not left; counts as one of its references. */
struct kept {
    uint32_t slot, to;
};

struct machine {
    uint32_t id;          /* node id, 1.. */
    uint32_t endpoint;    /* where it is in the network */
    bool twin;            /* another process under that id; the machine is the same for all nodes */
    uint8_t life;         /* enum life */
    bool synced_asleep;   /* the fsync came back while paused */
    bool stalled;         /* what is held waits for a disk that answers nothing */
    uint32_t generation;  /* of the armed timer: an older one in the queue is void */
    uint32_t incarnation; /* 1 at the first start */
    void *state;          /* the elector's */
    struct belief belief;
    uint64_t wake_ns;  /* the elector's, own clock */
    uint64_t armed_ns; /* true time of the timer in the queue; UINT64_MAX: none */
    struct order order;
    struct crash crash;
    struct halt halt;
    bool decided; /* a halted process has begun a write, `decision`, that nobody has heard of */
    struct event decision;
    struct kept *kept; /* what it was about to send, in order */
    uint32_t kept_count, kept_capacity;
    struct output *held; /* what waits for fsync; NULL: nothing, and inputs are taken */
    struct sim_clock clock;
    int64_t drift_ppm;      /* the clock's own; faults come on top */
    struct clock_bend bend; /* by faults */
    struct disk disk;
    struct disk_trouble trouble;          /* by faults */
    uint64_t room_bytes;                  /* left of trouble.room_bytes */
    uint64_t disk_touched[DISK_SYMPTOMS]; /* requests that showed the symptom */
    uint32_t syncs;                       /* fsyncs begun: names the one that is awaited */
    uint32_t *parked; /* packets that wait for the process, in order of arrival */
    uint32_t parked_first, parked_count, parked_capacity;
    struct service *service; /* NULL: bare */
    struct chronicle chronicle;
};

/* A machine's clocks as they are at the start; how fast they run by themselves, in ppm. */
int64_t machine_clock_init(const struct sim_world *world, struct sim_clock *clock, uint32_t id);

void machine_init(struct sim_world *world, struct machine *machine, uint32_t id);
void machine_release(struct machine *machine);

/* What can happen to a machine; each is legal in any state and does nothing where it makes no
 * sense (killing the dead). Return whether something was done. */
bool machine_start(struct sim_world *world, struct machine *machine);
bool machine_kill(struct sim_world *world, struct machine *machine);
/* The same, and the disk keeps of what was not synced only `kept_ppm`. */
bool machine_power_loss(struct sim_world *world, struct machine *machine, uint64_t kept_ppm);
bool machine_wipe(struct sim_world *world, struct machine *machine);
bool machine_pause(struct sim_world *world, struct machine *machine);
bool machine_resume(struct sim_world *world, struct machine *machine);

/* A twin of the node begins, from a copy of its disk. */
void machine_copy(struct sim_world *world, struct machine *twin, const struct machine *node);

/* Tell the elector something; sim_world_commanded() hears what came of it. */
void machine_command(struct sim_world *world, struct machine *machine, const struct order *order);

/* A packet arrives; takes over one reference to it. */
void machine_deliver(struct sim_world *world, struct machine *machine, uint32_t slot);
void machine_wake(struct sim_world *world, struct machine *machine, uint32_t generation);
void machine_synced(struct sim_world *world, struct machine *machine, uint32_t sync);

/* It is not to be killed at its point any more. */
void machine_uncrash(struct sim_world *world, struct machine *machine);

/* Record the messages sent since the last time. */
void machine_counts(struct sim_world *world, struct machine *machine);

/* From now on the clocks are bent like this, whoever runs on the machine. */
void machine_bend(struct sim_world *world, struct machine *machine, const struct clock_bend *bend);

/* From now on the disk treats requests like this; what it held back and may answer, it answers. */
void machine_trouble(struct sim_world *world, struct machine *machine,
                     const struct disk_trouble *trouble);

#endif
