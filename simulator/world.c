#include "simulator/world.h"

#include <assert.h>
#include <stdlib.h>

#include "base/units.h"
#include "simulator/messages.h"

/* As often as a real node reports its messages. */
#define COUNTS_EVERY_NS NS_PER_S

static void schedule_starts(struct sim_world *world)
{
    struct random random;
    random_init(&random, world->config->seed, "start", 0);
    for (uint32_t i = 0; i < world->config->elector.nodes; i++)
        sim_world_push(world, random_between(&random, 0, world->config->physics.start_spread),
                       HAPPENING_START, i, 0);
    if (world->has_service)
        sim_world_push(world, random_between(&random, 0, world->config->physics.start_spread),
                       HAPPENING_START, world->config->elector.nodes, 0);
    if (world->workload)
        sim_world_push(world, COUNTS_EVERY_NS, HAPPENING_COUNTS, 0, 0);
}

static void open_machines(struct sim_world *world)
{
    const struct sim_config *config = world->config;
    uint32_t nodes = config->elector.nodes + world->has_twin;
    /* Rounded up to a cache line: states of two nodes never share one, and all are aligned. */
    size_t bytes = (config->algorithm->state_size(&config->elector) + 63) & ~(size_t)63;
    world->machines = must_alloc(nodes, sizeof *world->machines);
    world->states = must_alloc(nodes, bytes);
    for (uint32_t i = 0; i < nodes; i++) {
        machine_init(world, &world->machines[i], i + 1);
        world->machines[i].endpoint = i < config->elector.nodes ? i : endpoint_twin(world);
        world->machines[i].state = world->states + i * bytes;
    }
}

static void open_workload(struct sim_world *world)
{
    const struct sim_config *config = world->config;
    struct resource_config resource = {.fenced = config->fenced,
                                       .registers = (uint32_t)config->elector.knobs.registers + 1};
    world->resource = resource_new(&resource);
    if (config->clients)
        world->clients = must_alloc(config->clients, sizeof *world->clients);
}

int sim_world_open(struct sim_world *world, const struct sim_config *config,
                   const struct history_header *header, const struct schedule *schedule,
                   struct error *error)
{
    *world = (struct sim_world){
        .config = config,
        .has_service = algorithm_has_service(config->algorithm->traits(&config->elector.options)),
        .workload = config->record != SIM_BARE,
        .nemesis_armed_ns = UINT64_MAX,
    };
    if (world->workload) {
        int rc = sim_recorder_open(&world->recorder, header, config->checks,
                                   config->record == SIM_KEEP, error);
        if (rc < 0)
            return rc;
        open_workload(world);
    }
    world->has_twin = schedule_needs(schedule, FACILITY_TWIN);
    struct network_knobs network = {.latency_min_ns = config->physics.latency_min,
                                    .latency_max_ns = config->physics.latency_max,
                                    .loss_ppm = (uint32_t)config->physics.base_loss,
                                    .in_order = config->physics.in_order};
    sim_network_init(&world->network, endpoint_twin(world) + world->has_twin, config->seed,
                     &network);
    random_init(&world->chance, config->seed, "chance", 0);
    world->output = must_alloc(1, sizeof *world->output);
    open_machines(world);
    if (world->has_service)
        sim_coordinator_init(world, &world->coordinator);
    struct nemesis_world nemesis = sim_world_as_nemesis(world);
    if (config->elector.nodes <= NODES_MAX) /* larger clusters are run without faults */
        world->engine = engine_new(schedule, config->elector.nodes, &nemesis);
    schedule_starts(world);
    return 0;
}

static void output_free(struct output *output)
{
    output_release(output);
    free(output);
}

void sim_world_release(struct sim_world *world)
{
    for (uint32_t i = 0; world->machines && i < world->config->elector.nodes + world->has_twin;
         i++) {
        struct machine *machine = &world->machines[i];
        if (machine->held)
            output_free(machine->held);
        machine_release(machine);
    }
    if (world->output)
        output_free(world->output);
    for (uint32_t i = 0; i < world->spare.count; i++)
        output_free(world->spare.at[i]);
    free(world->spare.at);
    if (world->resource)
        resource_free(world->resource);
    if (world->engine)
        engine_free(world->engine);
    sim_coordinator_release(&world->coordinator);
    sim_messages_release(world);
    outbox_release(&world->outbox);
    packets_release(&world->packets);
    sim_network_release(&world->network);
    queue_release(&world->queue);
    free(world->machines);
    free(world->states);
    free(world->clients);
    *world = (struct sim_world){0};
}

static void ship(struct sim_world *world, uint32_t slot, uint32_t from, uint32_t to)
{
    struct packet *packet = packet_at(&world->packets, slot);
    struct sim_shipment shipment = {from, to, packet_bytes(packet), world->now_ns};
    uint64_t arrivals_ns[SIM_COPIES_MAX];
    uint32_t copies = sim_network_send(&world->network, &shipment, arrivals_ns);
    if (packet->type == WIRE_ELECTION)
        world->shipped[packet->kind]++;
    packet->references += copies;
    for (uint32_t i = 0; i < copies; i++)
        sim_world_push(world, arrivals_ns[i], HAPPENING_PACKET, to, slot);
}

/* Clients ask one process; other nodes may be apart; whoever answers both gives both the answer. */
static bool reaches_one(const struct sim_world *world, uint32_t from)
{
    return from > endpoint_resource(world) ||
           (from < world->config->elector.nodes && world->twin_is_apart);
}

void sim_world_ship(struct sim_world *world, uint32_t slot, uint32_t from, uint32_t to)
{
    bool twinned = world->twin_of && to == world->twin_of - 1;
    uint32_t index =
        from < world->config->elector.nodes ? from + 1 : from - endpoint_resource(world);
    bool one = twinned && reaches_one(world, from);
    if (!one || !twin_takes(index))
        ship(world, slot, from, to);
    if (twinned && (!one || twin_takes(index)))
        ship(world, slot, from, endpoint_twin(world));
}

struct packets_of_link {
    const struct sim_world *world;
    uint32_t from, to;
};

static bool travels_on(const void *context, const struct queued *entry)
{
    const struct packets_of_link *link = context;
    const struct sim_world *world = link->world;
    return entry->target == ((uint32_t)HAPPENING_PACKET << 24 | link->to) &&
           endpoint_of(world, packet_at(&world->packets, entry->cargo)->source) == link->from;
}

void sim_world_change_link(struct sim_world *world, const struct link_change *change)
{
    struct packets_of_link link = {world, change->from, change->to};
    uint64_t latest_ns = sim_network_change(&world->network, world->now_ns, change);
    if (latest_ns != UINT64_MAX)
        queue_hasten(&world->queue, latest_ns, travels_on, &link);
}

void sim_world_record(struct sim_world *world, struct event *event, uint64_t node_ns)
{
    event->time_ns = world->now_ns;
    event->node_ns = node_ns;
    sim_world_record_late(world, event);
}

void sim_world_record_late(struct sim_world *world, struct event *event)
{
    sim_recorder_event(&world->recorder, event);
    sim_world_nemesis_hear(world, event);
}

void sim_world_carry(struct sim_world *world, uint64_t node_ns, uint32_t from)
{
    struct outbox *outbox = &world->outbox;
    for (uint32_t i = 0; i < outbox->event_count; i++)
        sim_world_record(world, &outbox->events[i], node_ns);
    for (uint32_t i = 0; i < outbox->message_count; i++) {
        const struct envelope *envelope = &outbox->messages[i];
        uint32_t slot = envelope->type == WIRE_ELECTION
                            ? packets_message(&world->packets, &envelope->message)
                            : packets_envelope(&world->packets, envelope);
        packet_at(&world->packets, slot)->references = 1;
        sim_world_ship(world, slot, from, endpoint_of(world, envelope->target));
        packets_drop(&world->packets, slot);
    }
    outbox_reset(outbox);
}

void sim_world_phase(struct sim_world *world, const char *name)
{
    if (!world->workload)
        return;
    struct event event = {
        .process = PROCESS_NUMBER(PROCESS_CONTROLLER, 0), .type = EVENT_INFO, .f = F_PHASE};
    event_set_text(&event, FIELD_NAME, slice_of(name));
    sim_world_record(world, &event, 0);
}

uint32_t sim_world_leader(const struct sim_world *world)
{
    const struct machine *newest = NULL;
    for (uint32_t i = 0; i < world->config->elector.nodes; i++) {
        const struct machine *machine = &world->machines[i];
        bool leads = machine->life != LIFE_DOWN && machine->belief.role == ROLE_LEADER;
        if (leads && (!newest || machine->belief.term > newest->belief.term))
            newest = machine;
    }
    return newest ? newest->id : 0;
}

enum life sim_world_life(const struct sim_world *world, uint32_t endpoint)
{
    if (endpoint < world->config->elector.nodes)
        return (enum life)world->machines[endpoint].life;
    return endpoint < endpoint_resource(world) ? (enum life)world->coordinator.life : LIFE_UP;
}

void sim_world_arrive(struct sim_world *world, uint32_t endpoint, uint32_t slot)
{
    if (endpoint < world->config->elector.nodes || endpoint == endpoint_twin(world))
        machine_deliver(world, sim_world_machine(world, endpoint), slot);
    else if (endpoint < endpoint_resource(world))
        sim_coordinator_deliver(world, slot);
    else if (endpoint == endpoint_resource(world))
        sim_world_resource_deliver(world, slot);
    else
        sim_world_client_deliver(world, endpoint - endpoint_resource(world) - 1, slot);
}

void sim_world_deliver(struct sim_world *world, uint32_t endpoint, uint32_t slot)
{
    if (!world->filters || !sim_messages_meet(world, endpoint, slot))
        sim_world_arrive(world, endpoint, slot);
}

static void count_messages(struct sim_world *world)
{
    for (uint32_t i = 0; i < world->config->elector.nodes + world->has_twin; i++)
        machine_counts(world, &world->machines[i]);
    sim_world_push(world, world->now_ns + COUNTS_EVERY_NS, HAPPENING_COUNTS, 0, 0);
}

/* Void when the process was started by somebody else meanwhile. */
static void start(struct sim_world *world, uint32_t endpoint, uint32_t incarnation)
{
    struct machine *machine = sim_world_machine(world, endpoint);
    if (world->has_service && endpoint == world->config->elector.nodes)
        (void)sim_coordinator_start(world);
    else if (machine->incarnation == incarnation)
        (void)machine_start(world, machine);
}

static void carry_out(struct sim_world *world, const struct queued *entry)
{
    uint32_t endpoint = entry->target & 0xffffffu;
    switch ((enum happening)(entry->target >> 24)) {
    case HAPPENING_PACKET: sim_world_deliver(world, endpoint, entry->cargo); break;
    case HAPPENING_WAKE:
        machine_wake(world, sim_world_machine(world, endpoint), entry->cargo);
        break;
    case HAPPENING_SYNCED:
        machine_synced(world, sim_world_machine(world, endpoint), entry->cargo);
        break;
    case HAPPENING_START: start(world, endpoint, entry->cargo); break;
    case HAPPENING_CLIENT: sim_world_client_wake(world, endpoint, entry->cargo); break;
    case HAPPENING_NEMESIS: sim_world_nemesis_wake(world, entry->cargo); break;
    case HAPPENING_COUNTS: count_messages(world); break;
    case HAPPENING_SERVICE: sim_coordinator_wake(world, entry->cargo); break;
    }
}

/* All nodes may talk to all, some times over: a healthy election of n nodes takes n squared. */
#define STORM_BASE UINT64_C(2000000)
#define STORM_ROUNDS 8u

static uint64_t storm_limit(const struct sim_config *config)
{
    uint64_t nodes = config->elector.nodes;
    return config->storm ? config->storm : STORM_BASE + STORM_ROUNDS * nodes * nodes;
}

/* Whether messages breed messages: more in one second than any algorithm has a use for. */
static bool storms(struct sim_world *world, uint64_t limit)
{
    if (world->now_ns - world->second_ns >= NS_PER_S) {
        world->second_ns = world->now_ns;
        world->second_happenings = world->happenings;
    }
    return world->happenings - world->second_happenings > limit;
}

void sim_world_run(struct sim_world *world, uint64_t until_ns)
{
    uint64_t limit = storm_limit(world->config);
    while (!world->storms && queue_next_ns(&world->queue) <= until_ns) {
        struct queued entry = queue_pop(&world->queue);
        assert(entry.time_ns >= world->now_ns);
        world->now_ns = entry.time_ns;
        world->happenings++;
        carry_out(world, &entry);
        world->storms = storms(world, limit);
    }
    world->now_ns = until_ns;
}
