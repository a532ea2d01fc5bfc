/* Everything there is in a simulated run, and how things reach each other. Internal to simulator/:
 * users see sim.h. */
#ifndef COUP_SIMULATOR_WORLD_H
#define COUP_SIMULATOR_WORLD_H

#include "nemesis/engine.h"
#include "nodes/client_core.h"
#include "nodes/filter.h"
#include "nodes/outbox.h"
#include "nodes/resource_core.h"
#include "simulator/coordinator.h"
#include "simulator/machine.h"
#include "simulator/network.h"
#include "simulator/packet.h"
#include "simulator/queue.h"
#include "simulator/recorder.h"
#include "simulator/sim.h"

/* What a queue entry stands for; its target is (happening, endpoint), see sim_world_push(). */
enum happening {
    HAPPENING_PACKET,  /* cargo: slot */
    HAPPENING_WAKE,    /* cargo: generation */
    HAPPENING_SYNCED,  /* cargo: number of the fsync */
    HAPPENING_START,   /* of a node; cargo: the incarnation before, 0 at first */
    HAPPENING_CLIENT,  /* cargo: generation */
    HAPPENING_NEMESIS, /* cargo: generation */
    HAPPENING_COUNTS,
    HAPPENING_SERVICE, /* cargo: generation */
};

struct sim_client {
    struct client core;
    uint64_t armed_ns;
    uint32_t generation;
};

/* An output on loan to a machine that waits for its disk, or waiting for the next one. */
struct spare_outputs {
    struct output **at;
    uint32_t count, capacity;
};

/* What a process that stands still was told of messages, and reads when it goes on. */
struct told_rule {
    uint32_t endpoint;
    bool undo;
    struct filter_rule rule;
};

struct sim_world {
    const struct sim_config *config;
    uint64_t now_ns;
    uint64_t happenings;
    uint64_t second_ns, second_happenings; /* when the present second began, and how many before */
    bool storms;                           /* there were too many in one: time stands still */
    struct queue queue;
    struct packets packets;
    uint64_t shipped[CHRONICLE_KINDS_MAX]; /* election messages, by kind */
    struct sim_network network;
    struct output *output; /* of the step at hand */
    struct outbox outbox;
    struct spare_outputs spare;
    struct machine *machines; /* by id - 1; behind the last one the twin's, if there may be one */
    bool has_twin;
    uint32_t twin_of;   /* the node that has a twin; 0: none has */
    bool twin_is_apart; /* each other node reaches one of the two */
    uint8_t *states;    /* behind machines' state */
    struct sim_coordinator coordinator;
    struct sim_client *clients;
    struct resource *resource;
    struct sim_recorder recorder;
    struct told_rule *told;
    uint32_t told_count, told_capacity;
    struct filter *filters; /* by endpoint, of nodes and coordinator; NULL: no message fault yet */
    struct random chance;   /* what no keyed draw decides: power loss, order after a pause */
    struct engine *engine;  /* NULL: a cluster too large for faults */
    uint64_t nemesis_armed_ns;
    uint32_t nemesis_generation;
    bool has_service; /* the algorithm asks a coordination service */
    bool workload;    /* services, resource, clients and events exist */
};

/* Endpoints: nodes 0..n-1 and, where there is one, the coordinator, as in the link matrix; then the
 * resource, the clients, and the twin, whose links no fault touches. */
static inline uint32_t endpoint_resource(const struct sim_world *world)
{
    return world->config->elector.nodes + world->has_service;
}

static inline uint32_t endpoint_of(const struct sim_world *world, uint32_t process)
{
    switch (process_kind(process)) {
    case PROCESS_NODE: return process_index(process) - 1;
    case PROCESS_COORDINATOR: return world->config->elector.nodes;
    case PROCESS_CLIENT: return endpoint_resource(world) + process_index(process);
    default: return endpoint_resource(world);
    }
}

static inline uint32_t endpoint_twin(const struct sim_world *world)
{
    return endpoint_resource(world) + 1 + world->config->clients;
}

static inline struct machine *sim_world_machine(const struct sim_world *world, uint32_t endpoint)
{
    uint32_t nodes = world->config->elector.nodes;
    return &world->machines[endpoint < nodes ? endpoint : nodes];
}

/* Zeroed storage; the config is borrowed until sim_world_release(). Nothing has started yet. */
int sim_world_open(struct sim_world *world, const struct sim_config *config,
                   const struct history_header *header, const struct schedule *schedule,
                   struct error *error);
void sim_world_release(struct sim_world *world);

/* Carry out all that is due up to and including `until_ns`; time stands at `until_ns` after, and
 * nothing is carried out any more when it storms. */
void sim_world_run(struct sim_world *world, uint64_t until_ns);

static inline void sim_world_push(struct sim_world *world, uint64_t time_ns,
                                  enum happening happening, uint32_t endpoint, uint32_t cargo)
{
    queue_push(&world->queue, time_ns, (uint32_t)happening << 24 | endpoint, cargo);
}

/* Put one more copy of the packet on the way, or two where the target has a twin. */
void sim_world_ship(struct sim_world *world, uint32_t slot, uint32_t from, uint32_t to);

/* A packet reaches this machine now, and message faults may meet it; or it has passed them. Takes
 * over one reference to it. */
void sim_world_deliver(struct sim_world *world, uint32_t endpoint, uint32_t slot);
void sim_world_arrive(struct sim_world *world, uint32_t endpoint, uint32_t slot);

enum life sim_world_life(const struct sim_world *world, uint32_t endpoint);

/* A fault begins or ends on a link. */
void sim_world_change_link(struct sim_world *world, const struct link_change *change);

/* Record `event` now, as of the process's own clock; or one that already has its times. */
void sim_world_record(struct sim_world *world, struct event *event, uint64_t node_ns);
void sim_world_record_late(struct sim_world *world, struct event *event);

/* Record the outbox's events, send its messages from where the process is, empty it. */
void sim_world_carry(struct sim_world *world, uint64_t node_ns, uint32_t from);

/* A phase begins, or the run ends. */
void sim_world_phase(struct sim_world *world, const char *name);

/* The newest leader by term among processes that run; 0: none. */
uint32_t sim_world_leader(const struct sim_world *world);

/* nemesis.c: the faults phase. */
void sim_world_faults_begin(struct sim_world *world);
void sim_world_nemesis_hear(struct sim_world *world, const struct event *event);
void sim_world_nemesis_wake(struct sim_world *world, uint32_t generation);
void sim_world_heal(struct sim_world *world);
/* The machine's order was carried out, or its process is gone. */
void sim_world_commanded(struct sim_world *world, struct machine *machine, bool taken);
/* A point at which the process was to stop, or be killed, was reached, or never will be; the fault
 * began to show at `begin_ns`. Clears the ticket; nothing happens when there is none. */
void sim_world_reached(struct sim_world *world, uint64_t *ticket, uint64_t begin_ns, bool reached);
struct nemesis_world sim_world_as_nemesis(struct sim_world *world);

/* clients.c */
void sim_world_clients_start(struct sim_world *world);
void sim_world_clients_stop(struct sim_world *world);
bool sim_world_clients_idle(const struct sim_world *world);
void sim_world_client_wake(struct sim_world *world, uint32_t index, uint32_t generation);
void sim_world_client_deliver(struct sim_world *world, uint32_t index, uint32_t slot);
void sim_world_resource_deliver(struct sim_world *world, uint32_t slot);

#endif
