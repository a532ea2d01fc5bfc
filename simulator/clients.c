/* The workload around the nodes: clients, and the resource they and the leaders write to. */
#include "simulator/world.h"

#include <assert.h>

/* Clients run on exact clocks that start with the run; 0 would mean "not stated". */
static uint64_t client_now(const struct sim_world *world)
{
    return world->now_ns + 1;
}

/* A bare world has none, whatever was asked for. */
static uint32_t client_count(const struct sim_world *world)
{
    return world->clients ? world->config->clients : 0;
}

static void arm(struct sim_world *world, uint32_t index)
{
    struct sim_client *client = &world->clients[index];
    uint64_t own_ns = client_deadline(&client->core);
    uint64_t due_ns = own_ns == UINT64_MAX ? own_ns : own_ns - 1;
    if (due_ns < world->now_ns)
        due_ns = world->now_ns;
    if (due_ns >= client->armed_ns)
        return;
    client->armed_ns = due_ns;
    sim_world_push(world, due_ns, HAPPENING_CLIENT, index, ++client->generation);
}

void sim_world_clients_start(struct sim_world *world)
{
    const struct sim_config *config = world->config;
    for (uint32_t i = 0; i < client_count(world); i++) {
        struct client_config client = {
            .client = i + 1,
            .incarnation = 1,
            .nodes = config->elector.nodes,
            .registers = (uint32_t)config->elector.knobs.registers,
            .pause_ns = config->client_pause_ns,
            .request_timeout_ns = config->elector.knobs.request_timeout,
            .seed = config->seed,
        };
        client_init(&world->clients[i].core, &client);
        world->clients[i].armed_ns = UINT64_MAX;
        client_start(&world->clients[i].core, client_now(world));
        arm(world, i);
    }
}

void sim_world_clients_stop(struct sim_world *world)
{
    for (uint32_t i = 0; i < client_count(world); i++)
        client_stop(&world->clients[i].core);
}

bool sim_world_clients_idle(const struct sim_world *world)
{
    for (uint32_t i = 0; i < client_count(world); i++)
        if (world->clients[i].core.open_id)
            return false;
    return true;
}

void sim_world_client_wake(struct sim_world *world, uint32_t index, uint32_t generation)
{
    struct sim_client *client = &world->clients[index];
    if (generation != client->generation)
        return;
    client->armed_ns = UINT64_MAX;
    client_wake(&client->core, client_now(world), &world->outbox);
    sim_world_carry(world, client_now(world), endpoint_resource(world) + 1 + index);
    arm(world, index);
}

void sim_world_client_deliver(struct sim_world *world, uint32_t index, uint32_t slot)
{
    struct packet packet = *packet_at(&world->packets, slot);
    packets_drop(&world->packets, slot);
    assert(packet.type == WIRE_REPLY);
    client_reply(&world->clients[index].core, process_index(packet.source), &packet.reply,
                 client_now(world), &world->outbox);
    sim_world_carry(world, client_now(world), endpoint_resource(world) + 1 + index);
    arm(world, index);
}

/* The resource decides one request at a time, at once and for good. */
void sim_world_resource_deliver(struct sim_world *world, uint32_t slot)
{
    struct packet packet = *packet_at(&world->packets, slot);
    packets_drop(&world->packets, slot);
    assert(packet.type == WIRE_REQUEST);
    resource_request(world->resource, packet.source, &packet.request, &world->outbox, NULL);
    sim_world_carry(world, 0, endpoint_resource(world));
}
