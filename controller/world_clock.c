/* The clocks of real nodes: which profile each has, what a fault makes of them, and what the node
 * itself reads on them, which is the proof. */
#define _GNU_SOURCE
#include "controller/world_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "controller/service_use.h"

/* Two readings so far apart tell a rate. */
#define READ_AGAIN_NS (30 * NS_PER_MS)
/* What a reading on a busy machine may be wrong by. */
#define STEP_ERROR_NS (5 * NS_PER_MS)
#define RATE_ERROR_PPM 10000

/* Where both kinds of clock faults are to come, half of the nodes are made for one, half for the
 * other; the seed says which. */
static bool is_monotonic(const struct world *world, uint32_t node)
{
    if (!world_asks_for(world, FACILITY_WALL_CLOCK))
        return true;
    return world_asks_for(world, FACILITY_CLOCK_RATE) && (node + world->config.run->seed) % 2 == 0;
}

/* The embedded service's wall clock can be bent as a node's, a real one's is left alone. */
static bool bends_service(const struct world *world)
{
    const struct service_use *service = world->config.run->service;
    const struct fault *fault = fault_find(slice_of("service-clock"));
    bool asked = false;
    for (uint32_t i = 0; i < world->config.schedule->count; i++)
        asked = asked || world->config.schedule->faults[i].fault == fault;
    return asked && service && !service->kind->program && bent_clock_library();
}

static void clock_open(struct world *world, uint32_t place, bool monotonic)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/dev/shm/coup-clock-n%" PRIu32, place + 1);
    bent_clock_init(&world->clocks[place], path, monotonic);
    bent_clock_environment(&world->clocks[place], world->clock_environment[place]);
}

void clocks_open(struct world *world)
{
    if (bends_service(world))
        clock_open(world, world->config.run->elector.nodes, false);
    bool wanted =
        world_asks_for(world, FACILITY_WALL_CLOCK) || world_asks_for(world, FACILITY_CLOCK_RATE);
    if (!wanted || !bent_clock_library())
        return;
    for (uint32_t i = 0; i < world->config.run->elector.nodes; i++)
        clock_open(world, i, is_monotonic(world, i + 1));
}

void clocks_close(struct world *world)
{
    for (uint32_t i = 0; i <= NODES_MAX; i++)
        bent_clock_release(&world->clocks[i]);
}

/* NULL: this process's clocks are left alone. */
static struct bent_clock *clock_of(struct world *world, const struct child *child)
{
    uint32_t place = process_kind(child->process) == PROCESS_NODE
                         ? process_index(child->process) - 1
                         : world->config.run->elector.nodes;
    bool may = process_kind(child->process) == PROCESS_NODE ||
               process_kind(child->process) == PROCESS_COORDINATOR;
    return may && world->clocks[place].path ? &world->clocks[place] : NULL;
}

int clocks_starting(struct world *world, struct child *child, struct error *error)
{
    struct bent_clock *clock = clock_of(world, child);
    if (!clock)
        return 0;
    child->environment = world->clock_environment[clock - world->clocks];
    bent_clock_start(clock, clock_true_ns());
    return bent_clock_write(clock, error);
}

void clocks_started(struct world *world, const struct child *child)
{
    struct bent_clock *clock = clock_of(world, child);
    if (clock)
        clock->pid = child->pid;
}

void clocks_ended(struct world *world, const struct child *child)
{
    struct bent_clock *clock = clock_of(world, child);
    if (clock)
        bent_clock_sweep(clock);
}

static void ask_reading(const struct action *action, struct child *child)
{
    child_send(child, &(struct control){.verb = CONTROL_COMMAND,
                                        .id = action->ticket,
                                        .text = slice_of("clocks")});
}

/* Readings under way are of clocks that have just changed: they begin anew. */
static void read_anew(struct world *world, uint32_t node)
{
    for (uint32_t i = 0; i < world->action_count; i++) {
        struct action *action = &world->actions[i];
        if (action->kind == DO_CLOCK && action->node == node)
            action->before = (struct clock_reading){0};
    }
}

void clocks_bend(struct world *world, uint64_t ticket, uint32_t node, const struct clock_bend *bend)
{
    struct action action = action_begin(world, DO_CLOCK, ticket, node);
    struct child *child = children_at(world->children, node - 1);
    struct bent_clock *clock = &world->clocks[node - 1];
    struct error error;
    bent_clock_set(clock, bend, clock_true_ns());
    if (bent_clock_write(clock, &error) < 0) {
        action_answer(world, &action, false, error.text);
    } else if (!child->ready || child->stopped) {
        action_answer(world, &action, true,
                      child->pid ? "set; it stands still" : "set; not running");
    } else {
        read_anew(world, node);
        action_wait(world, action);
        ask_reading(&action, child);
    }
}

static bool parse_reading(struct slice text, struct clock_reading *out)
{
    char line[128], end = '\0';
    if (text.length >= sizeof line)
        return false;
    memcpy(line, text.at, text.length);
    line[text.length] = '\0';
    return sscanf(line, "done %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%c", &out->true_ns,
                  &out->own_ns, &out->true_wall_ns, &out->wall_ns, &end) == 4;
}

static bool is_near(int64_t seen, int64_t wanted, int64_t error)
{
    return seen - wanted <= error && wanted - seen <= error;
}

/* What two readings say of the clocks, in the words of a bend. */
static struct clock_bend seen_bend(const struct clock_reading *before,
                                   const struct clock_reading *after)
{
    uint64_t true_ns = after->true_ns - before->true_ns, own_ns = after->own_ns - before->own_ns;
    return (struct clock_bend){
        .step_ns = (int64_t)(after->wall_ns - after->true_wall_ns),
        .rate_ppm = (uint64_t)((__uint128_t)own_ns * CLOCK_TRUE_PPM / (true_ns ? true_ns : 1)),
    };
}

static void judge(struct world *world, const struct action *action,
                  const struct clock_reading *after)
{
    const struct bent_clock *clock = &world->clocks[action->node - 1];
    const struct clock_bend seen = seen_bend(&action->before, after);
    struct clock_bend wanted = {bent_clock_ahead(clock, after->true_ns), clock->bend.rate_ppm};
    char is[CLOCK_BEND_TEXT_MAX], should[CLOCK_BEND_TEXT_MAX];
    struct text proof = {0};
    bool good = is_near(seen.step_ns, wanted.step_ns, STEP_ERROR_NS) &&
                is_near((int64_t)seen.rate_ppm, (int64_t)wanted.rate_ppm, RATE_ERROR_PPM);
    text_add(&proof, "reads %s", clock_bend_format(&seen, is));
    if (!good)
        text_add(&proof, " instead of %s", clock_bend_format(&wanted, should));
    action_settle_ticket(world, action->ticket, good, text_string(&proof));
    text_release(&proof);
}

void clocks_read(struct world *world, struct action *action, struct slice said)
{
    struct clock_reading reading;
    struct action whole = *action;
    if (!parse_reading(said, &reading)) {
        action_settle_ticket(world, whole.ticket, false, "gave no reading of its clocks");
    } else if (whole.before.true_ns == 0) {
        action->before = reading;
        action->again_ns = world_now(world) + READ_AGAIN_NS;
    } else {
        judge(world, &whole, &reading);
    }
}

void clocks_tick(struct world *world)
{
    uint64_t now_ns = world_now(world);
    for (uint32_t i = 0; i < world->action_count; i++) {
        struct action *action = &world->actions[i];
        if (action->kind != DO_CLOCK || action->again_ns == 0 || action->again_ns > now_ns)
            continue;
        action->again_ns = 0;
        ask_reading(action, children_at(world->children, action->node - 1));
    }
}

void clocks_view(const struct world *world, struct cluster_view *out)
{
    if (!bent_clock_library())
        out->missing[FACILITY_WALL_CLOCK] = out->missing[FACILITY_CLOCK_RATE] =
            "libfaketime is not installed (coup doctor)";
    for (uint32_t i = 0; i < out->nodes; i++) {
        const struct bent_clock *clock = &world->clocks[i];
        enum facility lacking = clock->monotonic ? FACILITY_WALL_CLOCK : FACILITY_CLOCK_RATE;
        if (clock->path)
            out->lacking[lacking] |= node_bit(i + 1);
    }
    if (!world->clocks[out->nodes].path)
        out->lacking[FACILITY_WALL_CLOCK] |= node_bit(out->nodes + 1);
}
