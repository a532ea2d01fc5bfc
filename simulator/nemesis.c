/* The simulated world as the nemesis sees it: every action takes effect in the nanosecond it is
 * asked for and is confirmed at once, with what was read back as its proof. */
#include "simulator/world.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"
#include "simulator/messages.h"
#include "simulator/suited.h"

static void view_service(const struct sim_world *world, struct cluster_view *out)
{
    if (!world->has_service)
        return;
    out->service = world->config->elector.nodes + 1;
    out->service_running = world->coordinator.life != LIFE_DOWN;
    out->service_paused = world->coordinator.life == LIFE_PAUSED;
}

static void view(void *context, struct cluster_view *out)
{
    const struct sim_world *world = context;
    const struct elector_config *elector = &world->config->elector;
    *out = (struct cluster_view){.nodes = elector->nodes,
                                 .witnesses = elector->witnesses,
                                 .leader = sim_world_leader(world)};
    suited_view(world->config->algorithm, out);
    out->twin = world->twin_of;
    for (uint32_t i = 0; i < elector->nodes; i++) {
        const struct machine *machine = &world->machines[i];
        if (machine->life != LIFE_DOWN)
            out->running |= node_bit(machine->id);
        if (machine->life == LIFE_PAUSED)
            out->paused |= node_bit(machine->id);
        if (machine->belief.role == ROLE_CANDIDATE)
            out->candidates |= node_bit(machine->id);
    }
    view_service(world, out);
}

static bool is_service(const struct sim_world *world, uint32_t node)
{
    return node > world->config->elector.nodes;
}

static void answer(struct sim_world *world, uint64_t ticket, bool ok, const char *proof)
{
    engine_done(world->engine, ticket, ok, world->now_ns, world->now_ns, 0, slice_of(proof));
}

static struct machine *machine_of(struct sim_world *world, uint32_t node)
{
    return &world->machines[node - 1];
}

static void do_kill(void *context, uint64_t ticket, uint32_t node)
{
    struct sim_world *world = context;
    bool done = is_service(world, node) ? sim_coordinator_kill(world)
                                        : machine_kill(world, machine_of(world, node));
    answer(world, ticket, done, done ? "exited by signal 9" : "was not running");
}

static void do_restart(void *context, uint64_t ticket, uint32_t node)
{
    struct sim_world *world = context;
    if (!is_service(world, node))
        machine_uncrash(world, machine_of(world, node));
    bool done = is_service(world, node) ? sim_coordinator_start(world)
                                        : machine_start(world, machine_of(world, node));
    answer(world, ticket, true, done ? "started" : "was already running");
}

static void do_pause(void *context, uint64_t ticket, uint32_t node)
{
    struct sim_world *world = context;
    if (is_service(world, node))
        (void)sim_coordinator_pause(world);
    else
        (void)machine_pause(world, machine_of(world, node));
    uint8_t life =
        is_service(world, node) ? world->coordinator.life : machine_of(world, node)->life;
    bool done = life == LIFE_PAUSED;
    answer(world, ticket, done, done ? "stopped" : "was not running");
}

static void do_resume(void *context, uint64_t ticket, uint32_t node)
{
    struct sim_world *world = context;
    if (!is_service(world, node))
        sim_world_reached(world, &machine_of(world, node)->halt.ticket, world->now_ns, false);
    bool done = is_service(world, node) ? sim_coordinator_resume(world)
                                        : machine_resume(world, machine_of(world, node));
    answer(world, ticket, true, done ? "running" : "was not stopped");
}

static void do_clock(struct sim_world *world, uint64_t ticket, uint32_t node,
                     const struct clock_bend *bend)
{
    char proof[CLOCK_BEND_TEXT_MAX];
    if (is_service(world, node))
        sim_coordinator_bend(world, bend);
    else
        machine_bend(world, machine_of(world, node), bend);
    answer(world, ticket, true, clock_bend_format(bend, proof));
}

static void do_disk(struct sim_world *world, uint64_t ticket, uint32_t node, const struct act *act)
{
    struct machine *machine = machine_of(world, node);
    char is[DISK_TROUBLE_TEXT_MAX];
    struct text proof = {0};
    machine_trouble(world, machine, &act->disk);
    uint64_t touched = machine->disk_touched[act->symptom];
    text_add(&proof, "disk %s, %" PRIu64 " requests touched so far",
             disk_trouble_format(&act->disk, is), touched);
    engine_done(world->engine, ticket, true, world->now_ns, world->now_ns, touched,
                slice_of(text_string(&proof)));
    text_release(&proof);
}

static void do_power_loss(struct sim_world *world, uint64_t ticket, uint32_t node,
                          const struct act *act)
{
    struct machine *machine = machine_of(world, node);
    bool dirty = machine->disk.dirty;
    bool done = machine_power_loss(world, machine, act->kept_ppm);
    answer(world, ticket, done,
           !done   ? "was not running"
           : dirty ? "exited by signal 9, a record was not synced"
                   : "exited by signal 9, all was synced");
}

static void drop_session(struct sim_world *world, uint64_t ticket, uint32_t node, bool undo)
{
    uint32_t dropped = undo ? 0 : sim_coordinator_drop(world, node);
    char proof[64];
    (void)snprintf(proof, sizeof proof, "%" PRIu32 " sessions dropped", dropped);
    answer(world, ticket, undo || dropped, undo ? "cannot be undone" : proof);
}

/* What the node makes of it is seen at once, or when its disk lets it go on. */
void sim_world_commanded(struct sim_world *world, struct machine *machine, bool taken)
{
    const struct belief *belief = machine->held ? &machine->held->belief : &machine->belief;
    static const char *const roles[] = {"follows", "stands", "leads"};
    char proof[64];
    enum command_type type = machine->order.type;
    bool leads = belief->role == ROLE_LEADER;
    bool good = taken && (type == COMMAND_FORCE ? leads : type != COMMAND_RESIGN || !leads);
    (void)snprintf(proof, sizeof proof, "%s in term %" PRIu64, roles[belief->role], belief->term);
    answer(world, machine->order.ticket, good, taken ? proof : "was not running");
}

static void do_command(struct sim_world *world, uint64_t ticket, uint32_t node,
                       const struct act *act)
{
    static const enum command_type types[] = {[OPERATOR_RESIGN] = COMMAND_RESIGN,
                                              [OPERATOR_TRANSFER] = COMMAND_TRANSFER,
                                              [OPERATOR_FORCE] = COMMAND_FORCE};
    machine_command(
        world, machine_of(world, node),
        &(struct order){.ticket = ticket, .type = types[act->command], .target = act->successor});
}

void sim_world_reached(struct sim_world *world, uint64_t *ticket, uint64_t begin_ns, bool reached)
{
    const char *proof = reached ? "came to its point" : "never came to its point";
    uint64_t which = *ticket;
    *ticket = 0;
    if (which)
        engine_done(world->engine, which, reached, begin_ns, world->now_ns, 0, slice_of(proof));
}

/* It stands for election, so that there is something to write. */
static void crash(struct sim_world *world, uint64_t ticket, struct machine *machine,
                  const struct act *act)
{
    if (machine->life == LIFE_DOWN) {
        answer(world, ticket, false, "was not running");
        return;
    }
    machine->crash = (struct crash){ticket, world->now_ns, act->point, act->write};
    if (act->resigner)
        machine_command(world, machine_of(world, act->resigner),
                        &(struct order){.type = COMMAND_RESIGN});
    machine_command(world, machine, &(struct order){.type = COMMAND_STAND});
}

static void halt(struct sim_world *world, uint64_t ticket, struct machine *machine,
                 enum halt_point point)
{
    bool comes_there = machine->service || point == HALT_BEFORE_SEND;
    if (machine->life == LIFE_UP && comes_there)
        machine->halt = (struct halt){.ticket = ticket, .point = point};
    else
        answer(world, ticket, false, "was not running, or has nothing to write");
}

static void duplicate(struct sim_world *world, uint64_t ticket, uint32_t node,
                      const struct act *act)
{
    struct machine *twin = &world->machines[world->config->elector.nodes];
    const struct machine *original = machine_of(world, node);
    bool done = !act->undo && world->twin_of == 0 && original->life != LIFE_DOWN;
    if (act->undo && world->twin_of == node) {
        world->twin_of = 0;
        (void)machine_kill(world, twin);
    } else if (done) {
        world->twin_of = node;
        world->twin_is_apart = act->apart;
        machine_copy(world, twin, original);
    }
    answer(world, ticket, act->undo || done,
           act->undo ? "twin ended"
           : done    ? "has a twin"
                     : "was not running, or another has a twin");
}

static void do_act(void *context, uint64_t ticket, uint32_t node, const struct act *act)
{
    struct sim_world *world = context;
    bool done;
    switch (act->action) {
    case ACTION_CLOCK: do_clock(world, ticket, node, &act->clock); break;
    case ACTION_DISK: do_disk(world, ticket, node, act); break;
    case ACTION_COMMAND: do_command(world, ticket, node, act); break;
    case ACTION_POWER: do_power_loss(world, ticket, node, act); break;
    case ACTION_WIPE:
        done = machine_wipe(world, machine_of(world, node));
        answer(world, ticket, done, done ? "exited by signal 9, disk empty" : "was not running");
        break;
    case ACTION_CRASH: crash(world, ticket, machine_of(world, node), act); break;
    case ACTION_HALT: halt(world, ticket, machine_of(world, node), act->halt); break;
    case ACTION_FREEZE: do_pause(world, ticket, node); break;
    case ACTION_TERMINATE: do_kill(world, ticket, node); break;
    case ACTION_MESSAGES: sim_messages_act(world, ticket, node, act); break;
    case ACTION_TWIN: duplicate(world, ticket, node, act); break;
    case ACTION_SESSION: drop_session(world, ticket, node, act->undo); break;
    case ACTION_NONE:
    case ACTION_KILL:
    case ACTION_PAUSE: assert(false); break;
    }
}

static void do_links(void *context, uint64_t ticket, const struct link_change *changes,
                     uint32_t count)
{
    struct sim_world *world = context;
    char proof[64];
    for (uint32_t i = 0; i < count; i++)
        sim_world_change_link(world, &changes[i]);
    (void)snprintf(proof, sizeof proof, "%" PRIu32 " links changed", count);
    answer(world, ticket, true, proof);
}

static void do_counters(void *context, uint64_t ticket, const struct link_change *links,
                        uint32_t count)
{
    struct sim_world *world = context;
    char proof[64];
    uint64_t touched = 0;
    for (uint32_t i = 0; i < count; i++)
        touched += sim_network_touched(&world->network, &links[i]);
    (void)snprintf(proof, sizeof proof, "%" PRIu64 " messages touched", touched);
    engine_done(world->engine, ticket, true, world->now_ns, world->now_ns, touched,
                slice_of(proof));
}

static void do_record(void *context, const struct event *event)
{
    struct sim_world *world = context;
    if (!world->workload)
        return;
    struct event own = *event;
    sim_world_record(world, &own, 0);
}

struct nemesis_world sim_world_as_nemesis(struct sim_world *world)
{
    return (struct nemesis_world){.context = world,
                                  .view = view,
                                  .kill = do_kill,
                                  .restart = do_restart,
                                  .pause = do_pause,
                                  .resume = do_resume,
                                  .act = do_act,
                                  .links = do_links,
                                  .counters = do_counters,
                                  .record = do_record};
}

static void arm(struct sim_world *world, uint64_t next_ns)
{
    if (next_ns == UINT64_MAX || next_ns == world->nemesis_armed_ns)
        return;
    if (next_ns < world->now_ns)
        next_ns = world->now_ns;
    world->nemesis_armed_ns = next_ns;
    sim_world_push(world, next_ns, HAPPENING_NEMESIS, 0, ++world->nemesis_generation);
}

static void advance(struct sim_world *world)
{
    arm(world, engine_advance(world->engine, world->now_ns));
}

/* From within what a process does: the engine must not act before that is over. */
void sim_world_nemesis_hear(struct sim_world *world, const struct event *event)
{
    uint64_t due_ns = world->engine ? engine_event(world->engine, event) : UINT64_MAX;
    if (due_ns < world->nemesis_armed_ns)
        arm(world, due_ns);
}

void sim_world_nemesis_wake(struct sim_world *world, uint32_t generation)
{
    if (generation != world->nemesis_generation)
        return;
    world->nemesis_armed_ns = UINT64_MAX;
    advance(world);
}

void sim_world_faults_begin(struct sim_world *world)
{
    if (!world->engine)
        return;
    engine_begin(world->engine, world->now_ns);
    advance(world);
}

void sim_world_heal(struct sim_world *world)
{
    if (!world->engine)
        return;
    engine_heal(world->engine, world->now_ns);
    advance(world);
}
