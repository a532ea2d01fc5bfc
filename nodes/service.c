#include "nodes/service.h"

#include <assert.h>
#include <stdlib.h>

#define RESOURCE PROCESS_NUMBER(PROCESS_RESOURCE, 0)

void service_init(struct service *service, const struct service_config *config)
{
    *service = (struct service){.config = *config};
}

void service_release(struct service *service)
{
    free(service->pending);
    free(service->memory);
    *service = (struct service){0};
}

static bool leads(const struct belief *belief)
{
    return belief->role == ROLE_LEADER;
}

static bool may_act(const struct service *service, uint64_t now_ns)
{
    const struct belief *belief = &service->belief;
    return leads(belief) && belief->may_act && (belief->until_ns == 0 || now_ns < belief->until_ns);
}

static struct pending *pending_find(struct service *service, uint64_t id)
{
    for (uint32_t i = 0; i < service->pending_count; i++)
        if (service->pending[i].id == id)
            return &service->pending[i];
    return NULL;
}

static void pending_add(struct service *service, uint64_t id, uint32_t client, uint32_t reg,
                        uint64_t now_ns)
{
    assert(service->pending_count < SERVICE_PENDING_MAX);
    if (service->pending_count == service->pending_capacity) {
        service->pending_capacity = service->pending_capacity ? service->pending_capacity * 2 : 8;
        service->pending =
            must_grow(service->pending, service->pending_capacity, sizeof *service->pending);
    }
    service->pending[service->pending_count++] =
        (struct pending){.id = id,
                         .client = client,
                         .deadline_ns = now_ns + service->config.request_timeout_ns,
                         .token = service->belief.token,
                         .reg = reg};
}

static void pending_remove(struct service *service, struct pending *pending)
{
    if (pending->id == service->own_id)
        service->own_id = 0;
    *pending = service->pending[--service->pending_count];
}

/* Who acts. */
static uint32_t own_process(const struct service *service)
{
    return PROCESS_NUMBER(service->config.twin ? PROCESS_TWIN : PROCESS_NODE, service->config.id);
}

static struct event *own_event(const struct service *service, enum event_type type, uint64_t id,
                               uint64_t token, struct outbox *outbox)
{
    struct event *event = outbox_event(outbox, own_process(service), type, F_GUARDED_WRITE);
    event_set(event, FIELD_TOKEN, token);
    event_set(event, FIELD_REGISTER, SERVICE_OWN_REGISTER);
    event_set(event, FIELD_VALUE, id);
    event_set(event, FIELD_ID, id);
    return event;
}

static void ask_resource(const struct service *service, const struct request *request,
                         struct outbox *outbox)
{
    struct envelope *envelope = outbox_message(
        outbox, PROCESS_NUMBER(PROCESS_NODE, service->config.id), RESOURCE, WIRE_REQUEST);
    envelope->request = *request;
    envelope->request.token = service->belief.token;
    envelope->request.holder = own_process(service);
}

static void answer(const struct service *service, uint32_t client, const struct reply *reply,
                   struct outbox *outbox)
{
    struct envelope *envelope = outbox_message(
        outbox, PROCESS_NUMBER(PROCESS_NODE, service->config.id), client, WIRE_REPLY);
    envelope->reply = *reply;
    envelope->reply.leader = leads(&service->belief) ? service->config.id : service->belief.leader;
}

/* What the resource answered last, as a leader would know it that thinks nobody else can write. */

static void forget_memory(struct service *service)
{
    free(service->memory);
    service->memory = NULL;
    if (service->belief.from_memory)
        service->memory = must_alloc(WIRE_REGISTERS_MAX, sizeof *service->memory);
}

static void remember(struct service *service, uint32_t reg, const struct reply *reply)
{
    if (service->memory && reply->outcome == OUTCOME_OK &&
        reply->sequence >= service->memory[reg].sequence)
        service->memory[reg] = *reply;
}

static bool answer_from_memory(const struct service *service, uint32_t client,
                               const struct request *request, struct outbox *outbox)
{
    if (!service->memory || request->operation != OPERATION_READ ||
        !service->memory[request->reg].id)
        return false;
    struct reply reply = service->memory[request->reg];
    reply.id = request->id;
    answer(service, client, &reply, outbox);
    return true;
}

/* A write that falls due while the node may not act is put off, or the deadline would stay past. */
static void write_if_due(struct service *service, uint64_t now_ns, struct outbox *outbox)
{
    if (!leads(&service->belief) || service->own_id || now_ns < service->next_write_ns)
        return;
    service->next_write_ns = now_ns + service->config.write_every_ns;
    if (!may_act(service, now_ns) || service->pending_count == SERVICE_PENDING_MAX)
        return;
    uint64_t id =
        operation_number(own_process(service), service->config.incarnation, ++service->counter);
    service->own_id = id;
    pending_add(service, id, 0, SERVICE_OWN_REGISTER, now_ns);
    (void)own_event(service, EVENT_INVOKE, id, service->belief.token, outbox);
    ask_resource(
        service,
        &(struct request){
            .id = id, .operation = OPERATION_WRITE, .reg = SERVICE_OWN_REGISTER, .value = id},
        outbox);
}

/* Give up on an open request: nobody knows whether it happened. */
static void abandon(struct service *service, struct pending *pending, const char *why,
                    struct outbox *outbox)
{
    if (pending->client)
        answer(service, pending->client,
               &(struct reply){.id = pending->id, .outcome = OUTCOME_UNKNOWN}, outbox);
    else
        event_set_text(own_event(service, EVENT_INFO, pending->id, pending->token, outbox),
                       FIELD_ERROR, slice_of(why));
    pending_remove(service, pending);
}

/* Clients are told at once that the reign is over. Our own write still waits for its answer, which
 * is worth recording, unless the next reign has begun. */
static void end_reign(struct service *service, bool next_begins, struct outbox *outbox)
{
    for (uint32_t i = service->pending_count; i-- > 0;)
        if (service->pending[i].client || next_begins)
            abandon(service, &service->pending[i], "reign ended", outbox);
}

void service_belief(struct service *service, const struct belief *belief, uint64_t now_ns,
                    struct outbox *outbox)
{
    bool new_reign =
        leads(belief) && (!leads(&service->belief) || belief->token != service->belief.token ||
                          belief->term != service->belief.term);
    bool ended = leads(&service->belief) && !leads(belief);
    service->belief = *belief;
    if (new_reign || ended)
        end_reign(service, new_reign, outbox);
    if (new_reign) {
        service->next_write_ns = now_ns;
        forget_memory(service);
    }
    write_if_due(service, now_ns, outbox);
}

void service_request(struct service *service, uint32_t client, const struct request *request,
                     uint64_t now_ns, struct outbox *outbox)
{
    if (pending_find(service, request->id))
        return; /* came twice; the answer to the first will do */
    if (!may_act(service, now_ns)) {
        answer(service, client, &(struct reply){.id = request->id, .outcome = OUTCOME_NOT_LEADER},
               outbox);
    } else if (service->pending_count == SERVICE_PENDING_MAX ||
               request->reg == SERVICE_OWN_REGISTER) {
        answer(service, client, &(struct reply){.id = request->id, .outcome = OUTCOME_FAIL},
               outbox);
    } else if (!answer_from_memory(service, client, request, outbox)) {
        pending_add(service, request->id, client, request->reg, now_ns);
        ask_resource(service, request, outbox);
    }
}

static void own_write_answered(const struct service *service, const struct pending *pending,
                               const struct reply *reply, struct outbox *outbox)
{
    static const struct {
        enum event_type type;
        const char *error;
    } meaning[OUTCOMES] = {
        [OUTCOME_OK] = {EVENT_OK, NULL},
        [OUTCOME_FAIL] = {EVENT_FAIL, "refused"},
        [OUTCOME_STALE] = {EVENT_FAIL, "stale"},
        [OUTCOME_MISMATCH] = {EVENT_FAIL, "mismatch"},
        [OUTCOME_NOT_LEADER] = {EVENT_FAIL, "not leader"},
        [OUTCOME_UNKNOWN] = {EVENT_INFO, "unknown"},
    };
    struct event *event =
        own_event(service, meaning[reply->outcome].type, pending->id, pending->token, outbox);
    if (meaning[reply->outcome].error)
        event_set_text(event, FIELD_ERROR, slice_of(meaning[reply->outcome].error));
    if (reply->outcome == OUTCOME_OK)
        event_set(event, FIELD_SEQUENCE, reply->sequence);
    if (reply->outcome == OUTCOME_STALE)
        event_set(event, FIELD_HIGHEST, reply->highest);
}

void service_reply(struct service *service, const struct reply *reply, uint64_t now_ns,
                   struct outbox *outbox)
{
    struct pending *pending = pending_find(service, reply->id);
    if (!pending)
        return;
    remember(service, pending->reg, reply);
    if (pending->client)
        answer(service, pending->client, reply, outbox);
    else
        own_write_answered(service, pending, reply, outbox);
    pending_remove(service, pending);
    write_if_due(service, now_ns, outbox);
}

void service_wake(struct service *service, uint64_t now_ns, struct outbox *outbox)
{
    for (uint32_t i = service->pending_count; i-- > 0;)
        if (now_ns >= service->pending[i].deadline_ns)
            abandon(service, &service->pending[i], "timeout", outbox);
    write_if_due(service, now_ns, outbox);
}

void service_unsent(struct service *service, uint64_t id, uint64_t now_ns, struct outbox *outbox)
{
    struct pending *pending = pending_find(service, id);
    if (!pending)
        return;
    if (pending->client)
        answer(service, pending->client, &(struct reply){.id = id, .outcome = OUTCOME_FAIL},
               outbox);
    else
        event_set_text(own_event(service, EVENT_FAIL, id, pending->token, outbox), FIELD_ERROR,
                       slice_of("not sent"));
    pending_remove(service, pending);
    (void)now_ns;
}

uint64_t service_deadline(const struct service *service)
{
    uint64_t deadline = UINT64_MAX;
    if (leads(&service->belief) && service->own_id == 0)
        deadline = service->next_write_ns;
    for (uint32_t i = 0; i < service->pending_count; i++)
        if (service->pending[i].deadline_ns < deadline)
            deadline = service->pending[i].deadline_ns;
    return deadline;
}
