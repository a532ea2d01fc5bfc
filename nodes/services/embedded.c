/* coup-coordinator, over the mesh: asks and answers are messages like any other. Its answers come
 * where all messages do. */
#include "nodes/adapter.h"

struct embedded {
    struct mesh *mesh;
    uint32_t node;
};

static int embedded_open(const struct adapter_config *config, const struct adapter_events *events,
                         void **ret_adapter, struct error *error)
{
    struct embedded *embedded = must_alloc(1, sizeof *embedded);
    (void)events;
    (void)error;
    *embedded = (struct embedded){.mesh = config->mesh, .node = config->node};
    *ret_adapter = embedded;
    return 0;
}

static bool embedded_ask(void *adapter, const struct ask *ask)
{
    const struct embedded *embedded = adapter;
    struct envelope envelope = {.source = embedded->node,
                                .target = election_process(SERVICE_ID),
                                .type = WIRE_ELECTION,
                                .message = ask_message(ask, embedded->node)};
    return mesh_send(embedded->mesh, &envelope);
}

const struct adapter_kind adapter_embedded = {
    .name = "embedded", .open = embedded_open, .ask = embedded_ask};
