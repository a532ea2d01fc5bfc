#include "nodes/client_core.h"

#include <assert.h>

#define NO_LEADER_PAUSE_NS UINT64_C(20000000)

/* Of a hundred operations. */
#define READS 50u
#define WRITES 35u

void client_init(struct client *client, const struct client_config *config)
{
    assert(config->nodes > 0 && config->registers > 0 && config->registers < WIRE_REGISTERS_MAX);
    *client = (struct client){.config = *config};
    random_init(&client->random, config->seed, "client", config->client);
    client->node = 1 + (uint32_t)random_below(&client->random, config->nodes);
}

void client_start(struct client *client, uint64_t now_ns)
{
    client->running = true;
    client->next_ns = now_ns;
}

void client_stop(struct client *client)
{
    client->running = false;
}

/* Even pauses around the mean: clients drift apart instead of beating in step. */
static uint64_t drawn_pause(struct client *client)
{
    uint64_t mean = client->config.pause_ns;
    return random_between(&client->random, mean / 2, mean + mean / 2);
}

static struct request drawn_request(struct client *client)
{
    uint32_t reg = 1 + (uint32_t)random_below(&client->random, client->config.registers);
    uint64_t dice = random_below(&client->random, 100);
    struct request request = {
        .id = operation_number(PROCESS_NUMBER(PROCESS_CLIENT, client->config.client),
                               client->config.incarnation, ++client->counter),
        .operation = dice < READS            ? OPERATION_READ
                     : dice < READS + WRITES ? OPERATION_WRITE
                                             : OPERATION_CAS,
        .reg = reg};
    if (request.operation != OPERATION_READ)
        request.value = request.id;
    if (request.operation == OPERATION_CAS)
        request.expected = client->seen[reg];
    return request;
}

static struct event *operation_event(const struct client *client, enum event_type type,
                                     struct outbox *outbox)
{
    static const enum event_f names[OPERATIONS] = {F_READ, F_WRITE, F_CAS};
    const struct request *open = &client->open;
    struct event *event =
        outbox_event(outbox, PROCESS_NUMBER(PROCESS_CLIENT, client->config.client), type,
                     names[open->operation]);
    event_set(event, FIELD_ID, open->id);
    event_set(event, FIELD_NODE, client->open_node);
    event_set(event, FIELD_REGISTER, open->reg);
    if (open->operation != OPERATION_READ)
        event_set(event, FIELD_VALUE, open->value);
    if (open->operation == OPERATION_CAS)
        event_set(event, FIELD_EXPECTED, open->expected);
    return event;
}

static void begin(struct client *client, uint64_t now_ns, struct outbox *outbox)
{
    client->next_ns = now_ns + drawn_pause(client);
    client->open = drawn_request(client);
    client->open_id = client->open.id;
    client->open_node = client->node;
    client->since_ns = now_ns;
    (void)operation_event(client, EVENT_INVOKE, outbox);
    struct envelope *envelope =
        outbox_message(outbox, PROCESS_NUMBER(PROCESS_CLIENT, client->config.client),
                       PROCESS_NUMBER(PROCESS_NODE, client->open_node), WIRE_REQUEST);
    envelope->request = client->open;
}

static void end(struct client *client, enum event_type type, const char *error,
                struct outbox *outbox)
{
    struct event *event = operation_event(client, type, outbox);
    if (error)
        event_set_text(event, FIELD_ERROR, slice_of(error));
    client->open_id = 0;
}

static void end_well(struct client *client, const struct reply *reply, struct outbox *outbox)
{
    struct event *event = operation_event(client, EVENT_OK, outbox);
    if (client->open.operation == OPERATION_READ && reply->value)
        event_set(event, FIELD_VALUE, reply->value);
    if (reply->sequence) {
        event_set(event, FIELD_POSITION, reply->position);
        event_set(event, FIELD_SEQUENCE, reply->sequence);
    }
    client->seen[client->open.reg] = reply->value;
    client->open_id = 0;
}

static void ask_next_node(struct client *client)
{
    client->node = client->open_node % client->config.nodes + 1;
}

/* Follow a hint to another node; a node that names itself, or nobody, is not worth asking again
 * before the others. */
static void ask_elsewhere(struct client *client, uint32_t hint, uint64_t now_ns)
{
    if (hint >= 1 && hint <= client->config.nodes && hint != client->open_node) {
        client->node = hint;
        return;
    }
    ask_next_node(client);
    if (client->next_ns < now_ns + NO_LEADER_PAUSE_NS)
        client->next_ns = now_ns + NO_LEADER_PAUSE_NS;
}

void client_wake(struct client *client, uint64_t now_ns, struct outbox *outbox)
{
    if (client->open_id && now_ns >= client->since_ns + client->config.request_timeout_ns) {
        end(client, EVENT_INFO, "timeout", outbox);
        ask_next_node(client);
    }
    if (!client->open_id && client->running && now_ns >= client->next_ns)
        begin(client, now_ns, outbox);
}

void client_reply(struct client *client, uint32_t source, const struct reply *reply,
                  uint64_t now_ns, struct outbox *outbox)
{
    static const struct {
        enum event_type type;
        const char *error;
        bool elsewhere;
    } meaning[OUTCOMES] = {
        [OUTCOME_OK] = {EVENT_OK, NULL, false},
        [OUTCOME_FAIL] = {EVENT_FAIL, "refused", true},
        [OUTCOME_STALE] = {EVENT_FAIL, "stale", true},
        [OUTCOME_MISMATCH] = {EVENT_FAIL, "mismatch", false},
        [OUTCOME_NOT_LEADER] = {EVENT_FAIL, "not leader", true},
        [OUTCOME_UNKNOWN] = {EVENT_INFO, "unknown", true},
    };
    if (!client->open_id || reply->id != client->open_id ||
        source != PROCESS_NUMBER(PROCESS_NODE, client->open_node))
        return;
    if (reply->outcome == OUTCOME_OK)
        end_well(client, reply, outbox);
    else
        end(client, meaning[reply->outcome].type, meaning[reply->outcome].error, outbox);
    if (reply->outcome == OUTCOME_MISMATCH)
        client->seen[client->open.reg] = reply->value;
    if (meaning[reply->outcome].elsewhere)
        ask_elsewhere(client, reply->leader, now_ns);
}

void client_unsent(struct client *client, uint64_t id, uint64_t now_ns, struct outbox *outbox)
{
    if (!client->open_id || id != client->open_id)
        return;
    end(client, EVENT_FAIL, "not sent", outbox);
    ask_elsewhere(client, 0, now_ns);
}

uint64_t client_deadline(const struct client *client)
{
    if (client->open_id)
        return client->since_ns + client->config.request_timeout_ns;
    return client->running ? client->next_ns : UINT64_MAX;
}
