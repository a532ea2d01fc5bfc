#include "simulator/machine_internal.h"
#include "simulator/messages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

/* Machines have been up for different times, so that nobody can compare their clocks. */
#define UPTIME_MAX_NS (1000 * UINT64_C(1000000000))
/* 2024-01-01, about when the simulated runs take place. */
#define WALL_BASE_NS INT64_C(1704067200000000000)

static int64_t drawn_drift(struct random *random, uint64_t bound_ppm)
{
    return (int64_t)random_below(random, 2 * bound_ppm + 1) - (int64_t)bound_ppm;
}

int64_t machine_clock_init(const struct sim_world *world, struct sim_clock *clock, uint32_t id)
{
    const struct sim_config *config = world->config;
    struct random random;
    int64_t drift_ppm = 0;
    random_init(&random, config->seed, "machine", id);
    uint64_t uptime_ns = random_below(&random, UPTIME_MAX_NS) + 1;
    sim_clock_init(clock, uptime_ns, WALL_BASE_NS - (int64_t)uptime_ns);
    if (config->physics.drift)
        drift_ppm = drawn_drift(&random, config->physics.drift);
    sim_clock_rate(clock, 0, drift_ppm);
    return drift_ppm;
}

void machine_init(struct sim_world *world, struct machine *machine, uint32_t id)
{
    *machine = (struct machine){.id = id, .armed_ns = UINT64_MAX, .wake_ns = UINT64_MAX};
    machine->drift_ppm = machine_clock_init(world, &machine->clock, id);
    machine->bend.rate_ppm = CLOCK_TRUE_PPM;
    if (world->workload)
        machine->service = must_alloc(1, sizeof *machine->service);
}

void machine_release(struct machine *machine)
{
    if (machine->service)
        service_release(machine->service);
    free(machine->service);
    free(machine->parked);
    free(machine->kept);
}

/* --- the timer: one entry in the queue, which may come too early but never too late --- */

static uint64_t next_wake(const struct machine *machine)
{
    uint64_t wake_ns = machine->wake_ns;
    if (!machine->service)
        return wake_ns;
    uint64_t service_ns = service_deadline(machine->service);
    return service_ns < wake_ns ? service_ns : wake_ns;
}

/* A process that asks to be woken in the past spins; each turn takes it so long. */
#define SPIN_NS UINT64_C(1000)

/* A deadline that moves away, as a follower's does with each heartbeat, costs nothing: the entry in
 * the queue stays, comes early, and is put back. Only one that comes nearer makes a new entry. */
static void arm(struct sim_world *world, struct machine *machine)
{
    uint64_t due_ns = sim_clock_reaches(&machine->clock, world->now_ns, next_wake(machine));
    if (due_ns == world->now_ns)
        due_ns += SPIN_NS;
    if (due_ns >= machine->armed_ns)
        return;
    machine->armed_ns = due_ns;
    sim_world_push(world, due_ns, HAPPENING_WAKE, machine->endpoint, ++machine->generation);
}

/* What was armed by the old rate is void. */
void machine_bend(struct sim_world *world, struct machine *machine, const struct clock_bend *bend)
{
    sim_clock_bend(&machine->clock, world->now_ns, machine->drift_ppm, &machine->bend, bend);
    machine_disarm(machine);
    if (machine->life == LIFE_UP && !machine->held)
        arm(world, machine);
}

/* --- inputs --- */

static void take_message(struct sim_world *world, struct machine *machine,
                         const struct packet *packet)
{
    struct message message = {.source = process_index(packet->source),
                              .target = machine->id,
                              .kind = packet->kind,
                              .term = packet->message.term,
                              .ids = packet->message.ids,
                              .id_count = packet->id_count};
    memcpy(message.argument, packet->message.argument, sizeof message.argument);
    if (machine->service && machine->chronicle.trace) {
        chronicle_receive(&machine->chronicle, &message, &world->outbox);
        sim_world_carry(world, machine_now(world, machine), machine->endpoint);
    }
    struct input input = {.type = INPUT_MESSAGE, .message = &message};
    machine_step(world, machine, &input);
}

static void take_workload(struct sim_world *world, struct machine *machine,
                          const struct packet *packet)
{
    uint64_t now = machine_now(world, machine);
    if (packet->type == WIRE_REQUEST)
        service_request(machine->service, packet->source, &packet->request, now, &world->outbox);
    else
        service_reply(machine->service, &packet->reply, now, &world->outbox);
    machine_carry(world, machine, now);
}

static void take(struct sim_world *world, struct machine *machine, uint32_t slot)
{
    struct packet packet = *packet_at(&world->packets, slot); /* sending may move the slab */
    if (packet.type == WIRE_ELECTION)
        take_message(world, machine, &packet);
    else
        take_workload(world, machine, &packet);
    packets_drop(&world->packets, slot);
}

static void park(struct machine *machine, uint32_t slot)
{
    if (machine->parked_count == machine->parked_capacity) {
        machine->parked_capacity = machine->parked_capacity ? machine->parked_capacity * 2 : 16;
        machine->parked =
            must_grow(machine->parked, machine->parked_capacity, sizeof *machine->parked);
    }
    machine->parked[machine->parked_count++] =
        machine->life == LIFE_PAUSED ? slot | PARKED_UNREAD : slot;
}

static bool takes_input(const struct machine *machine)
{
    return machine->life == LIFE_UP && !machine->held;
}

static void take_parked(struct sim_world *world, struct machine *machine)
{
    while (takes_input(machine) && machine->parked_first < machine->parked_count) {
        uint32_t slot = machine->parked[machine->parked_first++];
        if (slot & PARKED_UNREAD)
            sim_world_deliver(world, machine->endpoint, slot & ~PARKED_UNREAD);
        else
            take(world, machine, slot);
    }
    if (machine->parked_first == machine->parked_count)
        machine->parked_first = machine->parked_count = 0;
}

void machine_deliver(struct sim_world *world, struct machine *machine, uint32_t slot)
{
    if (machine->life == LIFE_DOWN) {
        packets_drop(&world->packets, slot);
        return;
    }
    if (!takes_input(machine)) {
        park(machine, slot);
        return;
    }
    take(world, machine, slot);
    if (takes_input(machine))
        arm(world, machine);
}

static void take_wake(struct sim_world *world, struct machine *machine)
{
    uint64_t now = machine_now(world, machine);
    if (machine->service && service_deadline(machine->service) <= now) {
        service_wake(machine->service, now, &world->outbox);
        machine_carry(world, machine, now);
    }
    if (machine->wake_ns <= now && takes_input(machine)) {
        struct input input = {.type = INPUT_WAKE};
        machine_step(world, machine, &input);
    }
}

void machine_wake(struct sim_world *world, struct machine *machine, uint32_t generation)
{
    if (generation != machine->generation)
        return;
    machine->armed_ns = UINT64_MAX;
    if (!takes_input(machine))
        return; /* armed again when it does */
    take_wake(world, machine);
    if (takes_input(machine))
        arm(world, machine);
}

static void take_order(struct sim_world *world, struct machine *machine)
{
    struct input input = {.type = INPUT_COMMAND,
                          .command = {machine->order.type, machine->order.target}};
    if (!machine->order.waits || !takes_input(machine))
        return;
    machine->order.waits = false;
    machine_step(world, machine, &input);
    sim_world_commanded(world, machine, machine->life != LIFE_DOWN);
}

/* The process goes on after the disk, or its pause, held it up. A timer that ran out meanwhile and
 * packets that came in are served in either order, as in a real event loop. */
static void go_on(struct sim_world *world, struct machine *machine, bool wake_first)
{
    take_order(world, machine);
    if (wake_first && takes_input(machine))
        take_wake(world, machine);
    take_parked(world, machine);
    if (takes_input(machine))
        arm(world, machine);
}

void machine_synced(struct sim_world *world, struct machine *machine, uint32_t sync)
{
    if (!machine->held || sync != machine->syncs)
        return; /* the process that waited for it is gone */
    if (machine->life == LIFE_PAUSED) {
        machine->synced_asleep = true;
        return;
    }
    machine_sync_done(world, machine);
    go_on(world, machine, false);
}

/* --- life and death --- */

static void start_elector(struct sim_world *world, struct machine *machine)
{
    struct elector_config config = world->config->elector;
    config.id = machine->id;
    config.seed = mix64(world->config->seed +
                        mix64((uint64_t)machine_process(machine) << 32 | machine->incarnation));
    memset(machine->state, 0, world->config->algorithm->state_size(&world->config->elector));
    world->config->algorithm->init(machine->state, &config);
}

static void start_service(struct sim_world *world, struct machine *machine)
{
    const struct knobs *knobs = &world->config->elector.knobs;
    struct service_config config = {.id = machine->id,
                                    .twin = machine->twin,
                                    .incarnation = machine->incarnation,
                                    .write_every_ns = knobs->write_every,
                                    .request_timeout_ns = knobs->request_timeout};
    service_release(machine->service); /* of the incarnation before */
    service_init(machine->service, &config);
    chronicle_init(&machine->chronicle, world->config->algorithm, machine_process(machine),
                   world->config->trace);
}

bool machine_start(struct sim_world *world, struct machine *machine)
{
    if (machine->life != LIFE_DOWN)
        return false;
    machine->life = LIFE_UP;
    machine->incarnation++;
    machine->belief = (struct belief){0};
    machine->wake_ns = UINT64_MAX;
    start_elector(world, machine);
    if (machine->service)
        start_service(world, machine);
    machine_record_life(world, machine, F_SPAWN, END_BY_FAULT);
    if (machine_disk_errs(world, machine)) { /* what is stored cannot be read */
        machine_give_up(world, machine);
        return true;
    }
    struct input input = {.type = INPUT_START, .stored = &machine->disk.synced};
    machine_step(world, machine, &input);
    if (takes_input(machine))
        arm(world, machine);
    return true;
}

/* What the kernel holds of the files is in the copy, and durable there. */
void machine_copy(struct sim_world *world, struct machine *twin, const struct machine *node)
{
    twin->id = node->id;
    twin->twin = true;
    twin->disk = node->disk;
    if (twin->disk.dirty)
        disk_sync(&twin->disk);
    (void)machine_start(world, twin);
}

static bool end(struct sim_world *world, struct machine *machine)
{
    if (machine->life == LIFE_DOWN)
        return false;
    machine_come_down(world, machine);
    return true;
}

bool machine_kill(struct sim_world *world, struct machine *machine)
{
    if (!end(world, machine))
        return false;
    if (random_chance(&world->chance, world->config->physics.power_loss))
        disk_after_power_loss(&machine->disk);
    else
        disk_after_kill(&machine->disk);
    machine_ended(world, machine, END_BY_FAULT);
    return true;
}

/* A record is replaced by one rename, the last of what is not yet synced: it is there whole or not
 * at all. */
bool machine_power_loss(struct sim_world *world, struct machine *machine, uint64_t kept_ppm)
{
    if (!end(world, machine))
        return false;
    if (kept_ppm < PPM_ONE)
        disk_after_power_loss(&machine->disk);
    else
        disk_after_kill(&machine->disk);
    machine_ended(world, machine, END_BY_FAULT);
    return true;
}

bool machine_wipe(struct sim_world *world, struct machine *machine)
{
    if (!end(world, machine))
        return false;
    machine->disk = (struct disk){0};
    machine_ended(world, machine, END_BY_FAULT);
    return true;
}

bool machine_pause(struct sim_world *world, struct machine *machine)
{
    (void)world;
    if (machine->life != LIFE_UP)
        return false;
    machine->life = LIFE_PAUSED;
    return true;
}

bool machine_resume(struct sim_world *world, struct machine *machine)
{
    if (machine->life != LIFE_PAUSED)
        return false;
    machine->life = LIFE_UP;
    machine_say_kept(world, machine);
    if (machine->synced_asleep) {
        machine->synced_asleep = false;
        machine_sync_done(world, machine);
    }
    sim_messages_go_on(world, machine->endpoint);
    go_on(world, machine, random_chance(&world->chance, PPM_ONE / 2));
    return true;
}

void machine_command(struct sim_world *world, struct machine *machine, const struct order *order)
{
    if (machine->order.waits)
        sim_world_commanded(world, machine, false);
    machine->order = *order;
    machine->order.waits = machine->life != LIFE_DOWN;
    if (machine->life == LIFE_DOWN)
        sim_world_commanded(world, machine, false);
    else if (takes_input(machine))
        go_on(world, machine, false);
}

void machine_counts(struct sim_world *world, struct machine *machine)
{
    if (machine->life != LIFE_UP || !machine->service)
        return;
    chronicle_counts(&machine->chronicle, &world->outbox);
    sim_world_carry(world, machine_now(world, machine), machine->endpoint);
}
