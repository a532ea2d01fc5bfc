/* What a step of the elector brings about: its record on the disk, which may take time or fail,
 * events, messages; and the end of the process. */
#include <assert.h>
#include <string.h>

#include "base/units.h"
#include "simulator/machine_internal.h"
#include "simulator/messages.h"

/* --- an end --- */

static void give_back(struct sim_world *world, struct machine *machine)
{
    struct spare_outputs *spare = &world->spare;
    if (spare->count == spare->capacity) {
        spare->capacity = spare->capacity ? spare->capacity * 2 : 8;
        spare->at = must_grow(spare->at, spare->capacity, sizeof(struct output *));
    }
    spare->at[spare->count++] = machine->held;
    machine->held = NULL;
}

static void drop_parked(struct sim_world *world, struct machine *machine)
{
    for (uint32_t i = machine->parked_first; i < machine->parked_count; i++)
        packets_drop(&world->packets, machine->parked[i] & ~PARKED_UNREAD);
    machine->parked_first = machine->parked_count = 0;
}

static void drop_kept(struct sim_world *world, struct machine *machine)
{
    for (uint32_t i = 0; i < machine->kept_count; i++)
        packets_drop(&world->packets, machine->kept[i].slot);
    machine->kept_count = 0;
    machine->decided = false;
}

void machine_record_life(struct sim_world *world, const struct machine *machine, enum event_f f,
                         enum end_cause cause)
{
    if (!machine->service)
        return;
    struct event event = {.process = machine_process(machine), .type = EVENT_INFO, .f = (uint8_t)f};
    event_set(&event, FIELD_PID, (machine->endpoint + 1) * 1000 + machine->incarnation);
    event_set(&event, FIELD_INCARNATION, machine->incarnation);
    if (f == F_EXIT && cause == END_BY_FAULT) {
        event_set(&event, FIELD_SIGNAL, 9);
        event_set_text(&event, FIELD_BY, slice_of("schedule"));
    } else if (f == F_EXIT) {
        event_set(&event, FIELD_STATUS, EXIT_HARNESS);
        event_set_text(&event, FIELD_BY, slice_of("itself"));
    }
    sim_world_record(world, &event, 0);
}

void machine_come_down(struct sim_world *world, struct machine *machine)
{
    machine->life = LIFE_DOWN;
    machine->synced_asleep = machine->stalled = false;
    machine->belief = (struct belief){0};
    if (machine->held)
        give_back(world, machine);
    if (machine->order.waits)
        sim_world_commanded(world, machine, false);
    machine->order.waits = false;
    drop_kept(world, machine);
    sim_world_reached(world, &machine->halt.ticket, world->now_ns, false);
    machine_disarm(machine);
    drop_parked(world, machine);
    sim_messages_lose(world, machine->endpoint);
}

void machine_ended(struct sim_world *world, struct machine *machine, enum end_cause cause)
{
    machine_record_life(world, machine, F_EXIT, cause);
    sim_world_reached(world, &machine->crash.ticket, machine->crash.begin_ns,
                      machine->crash.writes == 0);
}

void machine_uncrash(struct sim_world *world, struct machine *machine)
{
    sim_world_reached(world, &machine->crash.ticket, machine->crash.begin_ns, false);
}

void machine_give_up(struct sim_world *world, struct machine *machine)
{
    machine_come_down(world, machine);
    disk_after_kill(&machine->disk);
    machine_ended(world, machine, END_BY_DISK);
    sim_world_push(world, world->now_ns + world->config->elector.knobs.restart_after,
                   HAPPENING_START, machine->endpoint, machine->incarnation);
}

/* --- a step and what follows from it --- */

/* A packet leaves, or is kept by a process that stands still before it could. */
static void post(struct sim_world *world, struct machine *machine, uint32_t slot, uint32_t to,
                 bool keep)
{
    if (!keep) {
        sim_world_ship(world, slot, machine->endpoint, to);
        return;
    }
    if (machine->kept_count == machine->kept_capacity) {
        machine->kept_capacity = machine->kept_capacity ? machine->kept_capacity * 2 : 8;
        machine->kept = must_grow(machine->kept, machine->kept_capacity, sizeof *machine->kept);
    }
    packet_at(&world->packets, slot)->references++;
    machine->kept[machine->kept_count++] = (struct kept){slot, to};
}

static void send_all(struct sim_world *world, struct machine *machine, const struct output *output,
                     bool keep)
{
    uint32_t slot = PACKET_NONE;
    for (uint32_t i = 0; i < output->message_count; i++) {
        const struct message *message = &output->messages[i];
        assert(message->target <= world->config->elector.nodes);
        assert(message->target != SERVICE_ID || world->has_service);
        if (slot == PACKET_NONE || !packet_carries(packet_at(&world->packets, slot), message)) {
            if (slot != PACKET_NONE)
                packets_drop(&world->packets, slot);
            slot = packets_message(&world->packets, message);
            packet_at(&world->packets, slot)->references = 1; /* ours, while we hold the slot */
        }
        post(world, machine, slot, endpoint_of(world, election_process(message->target)), keep);
    }
    if (slot != PACKET_NONE)
        packets_drop(&world->packets, slot);
}

/* --- points at which a process stands still --- */

static bool halts_at(const struct machine *machine, enum halt_point point)
{
    return machine->halt.ticket && machine->halt.point == point;
}

static void stand_still(struct machine *machine)
{
    machine->life = LIFE_PAUSED;
    machine->halt.reached = true;
}

/* Whoever is told may let it go on at once, so nothing of the step may be left to do. */
static void tell_halt(struct sim_world *world, struct machine *machine)
{
    if (!machine->halt.reached)
        return;
    machine->halt.reached = false;
    sim_world_reached(world, &machine->halt.ticket, world->now_ns, true);
}

static bool writes(const struct outbox *outbox)
{
    for (uint32_t i = 0; i < outbox->message_count; i++)
        if (envelope_writes(&outbox->messages[i]))
            return true;
    return false;
}

static void keep_messages(struct sim_world *world, struct machine *machine)
{
    struct outbox *outbox = &world->outbox;
    for (uint32_t i = 0; i < outbox->message_count; i++) {
        const struct envelope *envelope = &outbox->messages[i];
        uint32_t slot = packets_envelope(&world->packets, envelope);
        packet_at(&world->packets, slot)->references = 1;
        post(world, machine, slot, endpoint_of(world, envelope->target), true);
        packets_drop(&world->packets, slot);
    }
    outbox->message_count = 0;
}

/* The beginning of its own write, if that is in the outbox, is not recorded either. Its fields are
 * numbers: nothing is borrowed. */
static bool keep_decision(struct sim_world *world, struct machine *machine)
{
    struct outbox *outbox = &world->outbox;
    for (uint32_t i = 0; i < outbox->event_count; i++) {
        if (outbox->events[i].f != F_GUARDED_WRITE || outbox->events[i].type != EVENT_INVOKE)
            continue;
        machine->decided = true;
        machine->decision = outbox->events[i];
        machine->decision.time_ns = world->now_ns;
        machine->decision.node_ns = machine_now(world, machine);
        memmove(&outbox->events[i], &outbox->events[i + 1],
                (--outbox->event_count - i) * sizeof outbox->events[0]);
        return true;
    }
    return false;
}

static void carry(struct sim_world *world, struct machine *machine, uint64_t now)
{
    bool halts = (halts_at(machine, HALT_BEFORE_WRITE) && writes(&world->outbox)) ||
                 (halts_at(machine, HALT_AFTER_CHECK) && keep_decision(world, machine));
    if (halts)
        keep_messages(world, machine);
    sim_world_carry(world, now, machine->endpoint);
    if (halts)
        stand_still(machine);
}

void machine_carry(struct sim_world *world, struct machine *machine, uint64_t now)
{
    carry(world, machine, now);
    tell_halt(world, machine);
}

void machine_say_kept(struct sim_world *world, struct machine *machine)
{
    if (machine->decided)
        sim_world_record_late(world, &machine->decision);
    for (uint32_t i = 0; i < machine->kept_count; i++)
        sim_world_ship(world, machine->kept[i].slot, machine->endpoint, machine->kept[i].to);
    drop_kept(world, machine);
}

/* True when the process was to be killed at this point, and was. */
static bool crashes(struct sim_world *world, struct machine *machine, enum write_point point)
{
    struct crash *crash = &machine->crash;
    if (!crash->ticket || crash->point != point || --crash->writes > 0)
        return false;
    (void)machine_kill(world, machine);
    return true;
}

/* Tell the workload and the history what the step made of the node. */
static void report(struct sim_world *world, struct machine *machine, const struct output *output)
{
    uint64_t now = machine_now(world, machine);
    struct outbox *outbox = &world->outbox;
    chronicle_step(&machine->chronicle, output, outbox);
    service_belief(machine->service, &output->belief, now, outbox);
    for (uint32_t i = 0; i < output->message_count; i++)
        chronicle_send(&machine->chronicle, &output->messages[i], outbox);
    carry(world, machine, now);
}

static void finish(struct sim_world *world, struct machine *machine, const struct output *output)
{
    machine->belief = output->belief;
    machine->wake_ns = output->wake_ns;
    if (machine->service)
        report(world, machine, output);
    if (output->message_count && halts_at(machine, HALT_BEFORE_SEND))
        stand_still(machine);
    bool silent = machine->halt.reached && machine->halt.point != HALT_BEFORE_WRITE;
    send_all(world, machine, output, silent);
    tell_halt(world, machine);
}

static uint64_t fsync_ns(struct sim_world *world, struct machine *machine)
{
    const struct physics *physics = &world->config->physics;
    uint64_t slower_ns = machine->trouble.fsync_delay_ns;
    machine->disk_touched[DISK_SLOW] += slower_ns > 0;
    if (physics->fsync_max == 0)
        return slower_ns;
    uint64_t place = (uint64_t)machine_process(machine) << 32 | machine->syncs;
    uint64_t word = mix64(world->config->seed ^ mix64(place));
    uint64_t span = physics->fsync_max - physics->fsync_min + 1;
    return slower_ns + physics->fsync_min + (uint64_t)(((__uint128_t)word * span) >> 64);
}

/* Lend the output at hand to the machine and take a spare one for the next step. */
static void hold(struct sim_world *world, struct machine *machine)
{
    machine->held = world->output;
    world->output = world->spare.count ? world->spare.at[--world->spare.count]
                                       : must_alloc(1, sizeof *world->output);
}

static void late_persist(struct sim_world *world, struct machine *machine,
                         const struct output *output)
{
    disk_sync(&machine->disk);
    if (!machine->service)
        return;
    chronicle_late_persist(&machine->chronicle, output, &world->outbox);
    sim_world_carry(world, machine_now(world, machine), machine->endpoint);
}

/* As large as the file that a real node writes anew each time, near enough. */
#define RECORD_BYTES (sizeof(struct durable) + 64)

bool machine_disk_errs(struct sim_world *world, struct machine *machine)
{
    uint64_t share = machine->trouble.error_ppm;
    bool errs = share && random_chance(&world->chance, share);
    machine->disk_touched[DISK_ERRORS] += errs;
    return errs;
}

/* A write that the disk does not take: the process cannot keep its word. */
static bool disk_refuses(struct sim_world *world, struct machine *machine)
{
    if (machine_disk_errs(world, machine))
        return true;
    if (!machine->trouble.full)
        return false;
    if (machine->room_bytes >= RECORD_BYTES) {
        machine->room_bytes -= RECORD_BYTES;
        return false;
    }
    machine->disk_touched[DISK_FULL]++;
    return true;
}

/* Make the step's record durable. True when that takes time: the rest waits. A planted bug sends
 * before the write has even begun, so that a kill in between loses the record. */
static bool persist(struct sim_world *world, struct machine *machine)
{
    struct output *output = world->output;
    bool stalled = machine->trouble.stalled;
    if (output->send_before_persist)
        finish(world, machine, output);
    if (crashes(world, machine, WRITE_BEFORE))
        return true;
    if (!stalled && disk_refuses(world, machine)) {
        machine_give_up(world, machine);
        return true;
    }
    if (!output->send_before_persist)
        disk_write(&machine->disk, &output->durable);
    if (crashes(world, machine, WRITE_DURING))
        return true;
    if (output->without_sync && !stalled)
        return crashes(world, machine, WRITE_AFTER);
    machine->syncs++;
    if (stalled) {
        machine->disk_touched[DISK_STALLED]++;
        machine->stalled = true;
        hold(world, machine);
        return true;
    }
    uint64_t takes_ns = fsync_ns(world, machine);
    if (takes_ns) {
        hold(world, machine);
        sim_world_push(world, world->now_ns + takes_ns, HAPPENING_SYNCED, machine->endpoint,
                       machine->syncs);
        return true;
    }
    disk_write(&machine->disk, &output->durable);
    disk_sync(&machine->disk);
    if (output->send_before_persist)
        late_persist(world, machine, output);
    return crashes(world, machine, WRITE_AFTER);
}

void machine_step(struct sim_world *world, struct machine *machine, struct input *input)
{
    struct output *output = world->output;
    output_reset(output);
    output->belief = machine->belief;
    output->wake_ns = machine->wake_ns;
    input->now_ns = machine_now(world, machine);
    input->wall_ns = sim_clock_wall(&machine->clock, input->now_ns);
    world->config->algorithm->step(machine->state, input, output);
    if (output->persist) {
        bool early = output->send_before_persist;
        if (persist(world, machine) || early)
            return;
    }
    finish(world, machine, output);
}

void machine_sync_done(struct sim_world *world, struct machine *machine)
{
    struct output *output = machine->held;
    if (output->send_before_persist) {
        disk_write(&machine->disk, &output->durable);
        late_persist(world, machine, output);
    } else {
        disk_sync(&machine->disk);
        if (crashes(world, machine, WRITE_AFTER))
            return;
        finish(world, machine, output);
    }
    give_back(world, machine);
}

/* What the disk held back goes on as if it had been asked now. */
void machine_trouble(struct sim_world *world, struct machine *machine,
                     const struct disk_trouble *trouble)
{
    bool same_room = machine->trouble.full && machine->trouble.room_bytes == trouble->room_bytes;
    machine->trouble = *trouble;
    if (!same_room)
        machine->room_bytes = trouble->room_bytes;
    if (!machine->stalled || trouble->stalled)
        return;
    machine->stalled = false;
    sim_world_push(world, world->now_ns + fsync_ns(world, machine), HAPPENING_SYNCED,
                   machine->endpoint, machine->syncs);
}
