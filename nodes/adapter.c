#include "nodes/adapter.h"

#include <string.h>

extern const struct adapter_kind adapter_embedded;
#if COUP_WITH_CURL
extern const struct adapter_kind adapter_etcd;
#endif
#if COUP_WITH_PQ
extern const struct adapter_kind adapter_postgres;
#endif
#if COUP_WITH_ZOOKEEPER
extern const struct adapter_kind adapter_zookeeper;
#endif

const struct adapter_kind *const adapter_kinds[] = {
    &adapter_embedded,
#if COUP_WITH_CURL
    &adapter_etcd,
#endif
#if COUP_WITH_PQ
    &adapter_postgres,
#endif
#if COUP_WITH_ZOOKEEPER
    &adapter_zookeeper,
#endif
    NULL,
};

int adapter_open(const char *name, const struct adapter_config *config,
                 const struct adapter_events *events, struct adapter *out, struct error *error)
{
    for (uint32_t i = 0; adapter_kinds[i]; i++)
        if (strcmp(adapter_kinds[i]->name, name) == 0) {
            *out = (struct adapter){.kind = adapter_kinds[i]};
            return adapter_kinds[i]->open(config, events, &out->state, error);
        }
    return error_usage(error, "this build of coup cannot speak to the service '%.60s'", name);
}

bool adapter_ask(const struct adapter *adapter, const struct ask *ask)
{
    return adapter->kind->ask(adapter->state, ask);
}
