#include "tests/script/world.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct script_node *world_node(struct world *world, uint32_t id)
{
    assert(id >= 1 && id <= world->count);
    return &world->nodes[id - 1];
}

int world_open(struct world *world, const char *algorithm, const struct elector_config *config,
               struct error *error)
{
    struct elector_config common = *config;
    int rc = algorithm_parse(algorithm, &world->algorithm, &common, error);
    if (rc == 0 && world->algorithm->validate)
        rc = world->algorithm->validate(&common, error);
    if (rc < 0)
        return rc;
    world->count = common.nodes;
    for (uint32_t id = 1; id <= world->count; id++) {
        common.id = id;
        world->nodes[id - 1].config = common;
    }
    return 0;
}

static void free_ids(const struct message *message)
{
    union {
        const uint32_t *read;
        uint32_t *own;
    } ids = {.read = message->ids}; /* the queue's copies are its own to free */
    free(ids.own);
}

void world_release(struct world *world)
{
    for (uint32_t i = 0; i < world->count; i++) {
        free(world->nodes[i].state);
        output_release(&world->nodes[i].output);
    }
    while (world->queued > 0)
        free_ids(&world->queue[--world->queued].message);
    outbox_release(&world->outbox);
    text_release(&world->events);
}

static void print_event(struct world *world, const struct event *event)
{
    char name[PROCESS_NAME_MAX];
    text_add(world->trace, "  %s %s", process_name(event->process, name),
             event_f_name((enum event_f)event->f));
    for (uint32_t field = 0; field < EVENT_FIELDS; field++) {
        if (!event_has(event, (enum event_field)field))
            continue;
        const union field *value = &event->field[field];
        text_add(world->trace, " %s=", event_field_name((enum event_field)field));
        switch (event_field_kind((enum event_field)field)) {
        case FIELD_KIND_NUMBER: text_add(world->trace, "%" PRIu64, value->number); break;
        case FIELD_KIND_PROCESS:
            text_add(world->trace, "%s", process_name((uint32_t)value->number, name));
            break;
        case FIELD_KIND_TEXT: text_add_json(world->trace, value->text); break;
        }
    }
    text_add(world->trace, "\n");
}

void world_event(struct world *world, struct event *event)
{
    event->time_ns = world->now_ns;
    print_event(world, event);
    event_encode(event, &world->events);
}

static void flush_outbox(struct world *world)
{
    for (uint32_t i = 0; i < world->outbox.event_count; i++)
        world_event(world, &world->outbox.events[i]);
    outbox_reset(&world->outbox);
}

static void print_message(struct world *world, const struct message *message, const char *fate)
{
    if (world->quiet)
        return;
    text_add(world->trace, "  %" PRIu32 "->%" PRIu32 " %s term=%" PRIu64, message->source,
             message->target, world->algorithm->kinds[message->kind], message->term);
    uint32_t arguments = MESSAGE_ARGUMENTS;
    while (arguments > 0 && message->argument[arguments - 1] == 0)
        arguments--;
    for (uint32_t i = 0; i < arguments; i++)
        text_add(world->trace, "%s%" PRIu64, i ? "," : " with ", message->argument[i]);
    for (uint32_t i = 0; i < message->id_count; i++)
        text_add(world->trace, "%s%" PRIu32, i ? "," : " ids ", message->ids[i]);
    text_add(world->trace, "%s\n", fate);
}

void world_send(struct world *world, const struct message *message)
{
    assert(world->queued < SCRIPT_QUEUE_MAX);
    struct flight *flight = &world->queue[world->queued++];
    *flight = (struct flight){*message, world->now_ns};
    flight->message.ids = NULL;
    if (message->id_count) {
        uint32_t *ids = must_alloc(message->id_count, sizeof *ids);
        memcpy(ids, message->ids, message->id_count * sizeof *ids);
        flight->message.ids = ids;
    }
}

static void report_and_send(struct world *world, struct script_node *node)
{
    chronicle_step(&node->chronicle, &node->output, &world->outbox);
    flush_outbox(world);
    for (uint32_t i = 0; i < node->output.message_count; i++)
        world_send(world, &node->output.messages[i]);
}

/* elector.h's order: durable, reported, sent; a planted bug turns it round. A slow disk stops the
 * node where it waits for its record. */
static void carry_out(struct world *world, struct script_node *node)
{
    const struct output *output = &node->output;
    if (output->persist && output->send_before_persist && !node->blocked)
        report_and_send(world, node);
    node->blocked = output->persist && node->slow_disk;
    if (node->blocked)
        return;
    if (output->persist)
        node->disk = output->durable;
    if (output->persist && output->send_before_persist)
        chronicle_late_persist(&node->chronicle, output, &world->outbox);
    else
        report_and_send(world, node);
    flush_outbox(world);
}

void world_input(struct world *world, uint32_t id, const struct input *input)
{
    struct script_node *node = world_node(world, id);
    struct input stamped = *input;
    stamped.now_ns = stamped.wall_ns = world->now_ns;
    output_reset(&node->output);
    world->algorithm->step(node->state, &stamped, &node->output);
    carry_out(world, node);
}

/* As the controller records the life of a process. */
static void record_life(struct world *world, uint32_t id, enum event_f f)
{
    struct event event = {.process = id, .type = EVENT_INFO, .f = (uint8_t)f};
    const uint64_t incarnation = world_node(world, id)->incarnation;
    event_set(&event, FIELD_INCARNATION, incarnation);
    if (f == F_SPAWN)
        event_set(&event, FIELD_PID, id * 1000 + incarnation);
    else
        event_set_text(&event, FIELD_BY, slice_of("schedule"));
    world_event(world, &event);
}

void world_start(struct world *world, uint32_t id)
{
    struct script_node *node = world_node(world, id);
    assert(!node->state);
    node->config.seed = id * 1000 + ++node->incarnation;
    record_life(world, id, F_SPAWN);
    node->state = must_alloc(1, world->algorithm->state_size(&node->config));
    node->output.wake_ns = UINT64_MAX;
    world->algorithm->init(node->state, &node->config);
    chronicle_init(&node->chronicle, world->algorithm, id, false);
    struct durable stored = node->disk;
    world_input(world, id, &(struct input){.type = INPUT_START, .stored = &stored});
}

void world_crash(struct world *world, uint32_t id)
{
    struct script_node *node = world_node(world, id);
    free(node->state);
    node->state = NULL;
    node->paused = node->blocked = node->slow_disk = false;
    record_life(world, id, F_EXIT);
}

void world_crash_unreported(struct world *world, uint32_t id)
{
    struct script_node *node = world_node(world, id);
    if (node->blocked)
        node->disk = node->output.durable;
    world_crash(world, id);
}

void world_disk_done(struct world *world, uint32_t id)
{
    struct script_node *node = world_node(world, id);
    node->slow_disk = false;
    if (node->blocked)
        carry_out(world, node);
}

void world_timeout(struct world *world, uint32_t id)
{
    struct script_node *node = world_node(world, id);
    if (node->output.wake_ns != UINT64_MAX && node->output.wake_ns > world->now_ns)
        world->now_ns = node->output.wake_ns;
    world_input(world, id, &(struct input){.type = INPUT_WAKE});
}

static bool takes_input(const struct script_node *node)
{
    return node->state && !node->paused && !node->blocked;
}

bool world_can_deliver(const struct world *world, const struct message *message)
{
    const struct script_node *target = &world->nodes[message->target - 1];
    enum link_state link = world->links[message->source - 1][message->target - 1];
    bool waits = target->state && !takes_input(target);
    return link != LINK_HELD && !waits;
}

static struct message take(struct world *world, uint32_t at)
{
    struct message message = world->queue[at].message;
    world->queued--;
    memmove(&world->queue[at], &world->queue[at + 1],
            (world->queued - at) * sizeof world->queue[0]);
    return message;
}

void world_drop(struct world *world, uint32_t at)
{
    struct message message = take(world, at);
    print_message(world, &message, " dropped");
    free_ids(&message);
}

void world_deliver(struct world *world, uint32_t at)
{
    const struct message *queued = &world->queue[at].message;
    bool cut = world->links[queued->source - 1][queued->target - 1] == LINK_CUT;
    if (cut || !world_node(world, queued->target)->state) {
        world_drop(world, at);
        return;
    }
    struct message message = take(world, at);
    print_message(world, &message, "");
    world_input(world, message.target, &(struct input){.type = INPUT_MESSAGE, .message = &message});
    free_ids(&message);
}

/* The oldest message that has been long enough under way, or queued. */
static uint32_t next_flight(const struct world *world, uint64_t latency_ns, uint64_t *ret_due_ns)
{
    for (uint32_t at = 0; latency_ns && at < world->queued; at++) {
        if (!world_can_deliver(world, &world->queue[at].message))
            continue;
        *ret_due_ns = world->queue[at].sent_ns + latency_ns;
        return at;
    }
    *ret_due_ns = UINT64_MAX;
    return world->queued;
}

static uint32_t next_wake(const struct world *world, uint64_t *ret_due_ns)
{
    uint32_t first = 0;
    *ret_due_ns = UINT64_MAX;
    for (uint32_t id = 1; id <= world->count; id++) {
        const struct script_node *node = &world->nodes[id - 1];
        if (takes_input(node) && node->output.wake_ns < *ret_due_ns) {
            *ret_due_ns = node->output.wake_ns;
            first = id;
        }
    }
    return first;
}

void world_run(struct world *world, uint64_t duration_ns, uint64_t latency_ns)
{
    const uint64_t end_ns = world->now_ns + duration_ns;
    for (;;) {
        uint64_t wake_ns, flight_ns;
        uint32_t id = next_wake(world, &wake_ns);
        uint32_t at = next_flight(world, latency_ns, &flight_ns);
        uint64_t due_ns = wake_ns < flight_ns ? wake_ns : flight_ns;
        if (due_ns > end_ns)
            break;
        if (due_ns > world->now_ns)
            world->now_ns = due_ns;
        if (flight_ns <= wake_ns)
            world_deliver(world, at);
        else
            world_timeout(world, id);
    }
    world->now_ns = end_ns;
}
