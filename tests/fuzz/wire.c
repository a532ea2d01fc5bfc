/* Whatever bytes arrive: refused, or a message whose every field is in range and which, encoded
 * again, decodes to the same. */
#include <assert.h>
#include <string.h>

#include "nodes/wire.h"

#define RUN 9u
#define NODES 7u
#define KINDS 5u
#define NUMBER_MAX (UINT64_C(1) << 62)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void vet_message(const struct message *message)
{
    assert(message->source >= 1 && message->source <= NODES);
    assert(message->target >= 1 && message->target <= NODES);
    assert(message->source != message->target);
    assert(message->kind < KINDS && message->term <= NUMBER_MAX && message->id_count <= NODES);
    for (uint32_t i = 0; i < message->id_count; i++)
        assert(message->ids[i] >= 1 && message->ids[i] <= NODES);
}

static void vet(const struct envelope *envelope)
{
    assert(envelope->run == RUN && envelope->type < WIRE_TYPES);
    switch (envelope->type) {
    case WIRE_ELECTION: vet_message(&envelope->message); break;
    case WIRE_REQUEST:
        assert(envelope->request.operation < OPERATIONS);
        assert(envelope->request.reg < WIRE_REGISTERS_MAX && envelope->request.holder <= NODES);
        break;
    case WIRE_REPLY:
        assert(envelope->reply.outcome < OUTCOMES && envelope->reply.leader <= NODES);
        break;
    case WIRE_TYPES: assert(false);
    }
}

static void round_trip(const struct wire_context *context, const struct envelope *envelope)
{
    struct text first = {0}, second = {0};
    struct envelope again;
    struct error error;
    uint32_t ids[NODES];
    wire_encode(envelope, &first);
    int rc = wire_decode(context, (const uint8_t *)first.at, first.length, ids, &again, &error);
    assert(rc == 0);
    wire_encode(&again, &second);
    assert(first.length == second.length && memcmp(first.at, second.at, first.length) == 0);
    text_release(&first);
    text_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t selves[] = {1, 7, PROCESS_NUMBER(PROCESS_RESOURCE, 0),
                                      PROCESS_NUMBER(PROCESS_CLIENT, 2),
                                      PROCESS_NUMBER(PROCESS_COORDINATOR, 0)};
    uint32_t ids[NODES];
    struct envelope envelope;
    struct error error = {0};
    if (size == 0)
        return 0;
    struct wire_context context = {RUN, selves[data[0] % 5], NODES, KINDS, data[0] & 8};
    int rc = wire_decode(&context, data + 1, size - 1, ids, &envelope, &error);
    if (rc < 0) {
        assert(error.text[0] != '\0');
        return 0;
    }
    assert(envelope.target == context.self);
    vet(&envelope);
    round_trip(&context, &envelope);
    return 0;
}
