#include "simulator/messages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/suited.h"

static uint32_t process_at(const struct sim_world *world, uint32_t endpoint)
{
    return endpoint == world->config->elector.nodes ? PROCESS_NUMBER(PROCESS_COORDINATOR, 0)
                                                    : PROCESS_NUMBER(PROCESS_NODE, endpoint + 1);
}

static void record(struct sim_world *world, uint32_t endpoint, const struct filtered *filtered)
{
    const struct message *message = &filtered->message;
    struct event event = {
        .process = process_at(world, endpoint), .type = EVENT_INFO, .f = F_MESSAGE};
    if (!world->workload)
        return;
    event_set(&event, FIELD_ID, filtered->fault);
    event_set_text(&event, FIELD_OUTCOME, slice_of(filtered->outcome));
    event_set_text(&event, FIELD_KIND, slice_of(world->config->algorithm->kinds[message->kind]));
    event_set(&event, FIELD_PEER, election_process(message->source));
    event_set(&event, FIELD_TERM, message->term);
    sim_world_record(world, &event, 0);
}

/* All events first: a process that stands still from the first message on says nothing more. One
 * that takes nothing just now finds the messages when it does. */
static void carry_out(struct sim_world *world, uint32_t endpoint)
{
    struct filter *filter = &world->filters[endpoint];
    for (uint32_t i = 0; i < filter->passed_count; i++)
        if (filter->passed[i].outcome)
            record(world, endpoint, &filter->passed[i]);
    for (uint32_t i = 0; i < filter->passed_count; i++) {
        if (!filter->passed[i].delivered)
            continue;
        uint32_t slot = packets_message(&world->packets, &filter->passed[i].message);
        packet_at(&world->packets, slot)->references = 1;
        sim_world_arrive(world, endpoint, slot);
    }
}

bool sim_messages_meet(struct sim_world *world, uint32_t endpoint, uint32_t slot)
{
    const struct packet packet = *packet_at(&world->packets, slot);
    if (endpoint >= endpoint_resource(world) || packet.type != WIRE_ELECTION ||
        filter_is_idle(&world->filters[endpoint]) || sim_world_life(world, endpoint) != LIFE_UP)
        return false;
    struct message message = {.source = process_index(packet.source),
                              .target = process_index(process_at(world, endpoint)),
                              .kind = packet.kind,
                              .term = packet.message.term,
                              .ids = packet.message.ids,
                              .id_count = packet.id_count};
    memcpy(message.argument, packet.message.argument, sizeof message.argument);
    filter_message(&world->filters[endpoint], &message);
    carry_out(world, endpoint);
    packets_drop(&world->packets, slot);
    return true;
}

/* How many messages that let go. */
static uint32_t apply(struct sim_world *world, const struct told_rule *told)
{
    struct filter *filter = &world->filters[told->endpoint];
    if (told->undo)
        filter_take_out(filter, told->rule.fault);
    else
        filter_put(filter, &told->rule);
    uint32_t passed = filter->passed_count;
    carry_out(world, told->endpoint);
    return passed;
}

static void keep_for_later(struct sim_world *world, const struct told_rule *told)
{
    if (world->told_count == world->told_capacity) {
        world->told_capacity = world->told_capacity ? world->told_capacity * 2 : 8;
        world->told = must_grow(world->told, world->told_capacity, sizeof *world->told);
    }
    world->told[world->told_count++] = *told;
}

void sim_messages_go_on(struct sim_world *world, uint32_t endpoint)
{
    uint32_t first = 0;
    while (first < world->told_count) {
        const struct told_rule told = world->told[first];
        if (told.endpoint != endpoint || sim_world_life(world, endpoint) == LIFE_PAUSED) {
            first++;
            continue;
        }
        world->told_count--;
        memmove(&world->told[first], &world->told[first + 1],
                (world->told_count - first) * sizeof told);
        (void)apply(world, &told);
    }
}

void sim_messages_lose(struct sim_world *world, uint32_t endpoint)
{
    if (!world->filters || endpoint >= endpoint_resource(world)) /* a twin has none */
        return;
    filter_forget_kept(&world->filters[endpoint]);
    sim_messages_go_on(world, endpoint); /* who is started next knows the rules */
}

void sim_messages_act(struct sim_world *world, uint64_t ticket, uint32_t node,
                      const struct act *act)
{
    struct told_rule told = {.endpoint = node - 1, .undo = act->undo};
    struct text proof = {0};
    bool known = suited_rule(world->config->algorithm, &act->message, &told.rule);
    if (!world->filters)
        world->filters = must_alloc(endpoint_resource(world), sizeof *world->filters);
    if (!known)
        text_add(&proof, "the algorithm sends no such message");
    else if (sim_world_life(world, told.endpoint) == LIFE_PAUSED)
        keep_for_later(world, &told);
    else if (act->undo || act->message.deed == MESSAGE_RELEASE)
        text_add(&proof, "%" PRIu32 " messages let go", apply(world, &told));
    else
        (void)apply(world, &told);
    if (proof.length == 0)
        text_add(&proof, sim_world_life(world, told.endpoint) == LIFE_PAUSED
                             ? "told, has not answered yet"
                             : "in force");
    engine_done(world->engine, ticket, known, world->now_ns, world->now_ns, 0,
                slice_of(text_string(&proof)));
    text_release(&proof);
}

void sim_messages_release(struct sim_world *world)
{
    for (uint32_t i = 0; world->filters && i < endpoint_resource(world); i++)
        filter_release(&world->filters[i]);
    free(world->filters);
    free(world->told);
    world->filters = NULL;
    world->told = NULL;
}
