#include "simulator/coordinator.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/messages.h"

static uint64_t own_now(const struct sim_world *world)
{
    return sim_clock_own(&world->coordinator.clock, world->now_ns);
}

void sim_coordinator_init(struct sim_world *world, struct sim_coordinator *coordinator)
{
    *coordinator = (struct sim_coordinator){.life = LIFE_DOWN, .armed_ns = UINT64_MAX};
    coordinator->drift_ppm =
        machine_clock_init(world, &coordinator->clock, world->config->elector.nodes + 1);
    coordinator->bend.rate_ppm = CLOCK_TRUE_PPM;
}

void sim_coordinator_release(struct sim_coordinator *coordinator)
{
    coordinator_free(coordinator->core);
    stored_list_release(&coordinator->disk);
    free(coordinator->parked);
    *coordinator = (struct sim_coordinator){0};
}

static void disarm(struct sim_coordinator *coordinator)
{
    coordinator->generation++;
    coordinator->armed_ns = UINT64_MAX;
}

static void arm(struct sim_world *world)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    uint64_t due_ns = sim_clock_reaches(&coordinator->clock, world->now_ns,
                                        coordinator_deadline(coordinator->core));
    if (due_ns >= coordinator->armed_ns)
        return;
    coordinator->armed_ns = due_ns;
    sim_world_push(world, due_ns, HAPPENING_SERVICE, 0, ++coordinator->generation);
}

/* Durable at once, then recorded, then sent. */
static void carry(struct sim_world *world)
{
    coordinator_changes(world->coordinator.core)->count = 0;
    if (!world->workload)
        world->outbox.event_count = 0;
    sim_world_carry(world, own_now(world), world->config->elector.nodes);
    arm(world);
}

static void take(struct sim_world *world, uint32_t slot)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    const struct packet packet = *packet_at(&world->packets, slot);
    packets_drop(&world->packets, slot);
    assert(packet.type == WIRE_ELECTION);
    struct message message = {.source = process_index(packet.source),
                              .target = SERVICE_ID,
                              .kind = packet.kind,
                              .term = packet.message.term};
    memcpy(message.argument, packet.message.argument, sizeof message.argument);
    uint64_t now_ns = own_now(world);
    struct service_time time = {now_ns, sim_clock_wall(&coordinator->clock, now_ns)};
    coordinator_ask(coordinator->core, &message, time, &world->outbox);
    carry(world);
}

static void park(struct sim_coordinator *coordinator, uint32_t slot)
{
    if (coordinator->parked_count == coordinator->parked_capacity) {
        coordinator->parked_capacity =
            coordinator->parked_capacity ? coordinator->parked_capacity * 2 : 16;
        coordinator->parked = must_grow(coordinator->parked, coordinator->parked_capacity,
                                        sizeof *coordinator->parked);
    }
    coordinator->parked[coordinator->parked_count++] = slot;
}

void sim_coordinator_deliver(struct sim_world *world, uint32_t slot)
{
    switch ((enum life)world->coordinator.life) {
    case LIFE_DOWN: packets_drop(&world->packets, slot); break;
    case LIFE_PAUSED: park(&world->coordinator, slot); break;
    case LIFE_UP: take(world, slot); break;
    }
}

void sim_coordinator_wake(struct sim_world *world, uint32_t generation)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    if (generation != coordinator->generation)
        return;
    coordinator->armed_ns = UINT64_MAX;
    if (coordinator->life != LIFE_UP)
        return; /* armed again when it is */
    coordinator_wake(coordinator->core, own_now(world), &world->outbox);
    carry(world);
}

static void record_life(struct sim_world *world, enum event_f f)
{
    const struct sim_coordinator *coordinator = &world->coordinator;
    if (!world->workload)
        return;
    struct event event = {
        .process = PROCESS_NUMBER(PROCESS_COORDINATOR, 0), .type = EVENT_INFO, .f = (uint8_t)f};
    event_set(&event, FIELD_PID,
              1000 * (world->config->elector.nodes + 1) + coordinator->incarnation);
    event_set(&event, FIELD_INCARNATION, coordinator->incarnation);
    if (f == F_EXIT) {
        event_set(&event, FIELD_SIGNAL, 9);
        event_set_text(&event, FIELD_BY, slice_of("schedule"));
    }
    sim_world_record(world, &event, 0);
}

bool sim_coordinator_start(struct sim_world *world)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    if (coordinator->life != LIFE_DOWN)
        return false;
    coordinator->life = LIFE_UP;
    coordinator->incarnation++;
    coordinator->core = coordinator_new(world->config->elector.nodes);
    for (uint32_t i = 0; i < coordinator->disk.count; i++) {
        bool whole = coordinator_load(coordinator->core, &coordinator->disk.at[i], own_now(world));
        assert(whole); /* as it was written */
        (void)whole;
    }
    coordinator->disk.count = 0;
    record_life(world, F_SPAWN);
    arm(world);
    return true;
}

bool sim_coordinator_kill(struct sim_world *world)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    if (coordinator->life == LIFE_DOWN)
        return false;
    coordinator->life = LIFE_DOWN;
    coordinator_dump(coordinator->core, &coordinator->disk);
    coordinator_free(coordinator->core);
    coordinator->core = NULL;
    disarm(coordinator);
    while (coordinator->parked_count)
        packets_drop(&world->packets, coordinator->parked[--coordinator->parked_count]);
    sim_messages_lose(world, world->config->elector.nodes);
    record_life(world, F_EXIT);
    return true;
}

bool sim_coordinator_pause(struct sim_world *world)
{
    if (world->coordinator.life != LIFE_UP)
        return false;
    world->coordinator.life = LIFE_PAUSED;
    return true;
}

/* Every ask is held against the time at which it is read, so sessions that ran out are gone. */
bool sim_coordinator_resume(struct sim_world *world)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    if (coordinator->life != LIFE_PAUSED)
        return false;
    coordinator->life = LIFE_UP;
    sim_messages_go_on(world, world->config->elector.nodes);
    for (uint32_t i = 0; i < coordinator->parked_count; i++)
        sim_world_deliver(world, world->config->elector.nodes, coordinator->parked[i]);
    coordinator->parked_count = 0;
    disarm(coordinator);
    arm(world);
    return true;
}

void sim_coordinator_bend(struct sim_world *world, const struct clock_bend *bend)
{
    struct sim_coordinator *coordinator = &world->coordinator;
    sim_clock_bend(&coordinator->clock, world->now_ns, coordinator->drift_ppm, &coordinator->bend,
                   bend);
    disarm(coordinator);
    if (coordinator->life == LIFE_UP)
        arm(world);
}

uint32_t sim_coordinator_drop(struct sim_world *world, uint32_t node)
{
    if (world->coordinator.life != LIFE_UP)
        return 0;
    uint32_t dropped = coordinator_drop(world->coordinator.core, node, &world->outbox);
    carry(world);
    return dropped;
}
