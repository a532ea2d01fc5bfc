/* How a node speaks to a coordination service: one small interface for the embedded one and for
 * real ones. What is asked (acquire, keep alive, release, watch, list, update, read) and answered
 * is nodes/coordination.h; an adapter is one file that takes asks and yields answers. It lives in
 * the uv loop and never waits. An ask may get no answer, an answer may come late: who asked asks
 * again.
 *
 * Adapters last as long as their process. */
#ifndef COUP_NODES_ADAPTER_H
#define COUP_NODES_ADAPTER_H

#include <uv.h>

#include "nodes/coordination.h"
#include "nodes/mesh.h"

struct adapter_events {
    void (*answer)(void *context, const struct answer *answer);
    /* What the service said that makes no sense, for the history; said once for each kind of it. */
    void (*note)(void *context, const char *text);
    void *context;
};

struct adapter_config {
    uv_loop_t *loop;
    struct mesh *mesh;    /* of the node; real services do without */
    uint32_t node, nodes; /* who asks; how many there are */
    uint64_t incarnation;
    uint32_t address;     /* of the service, host order */
    uint32_t port;        /* 0: the usual one */
    uint64_t patience_ns; /* how long a request is waited for */
};

struct adapter_kind {
    const char *name; /* as in nodes/services.h */
    int (*open)(const struct adapter_config *config, const struct adapter_events *events,
                void **ret_adapter, struct error *error);
    /* False: it certainly did not leave. */
    bool (*ask)(void *adapter, const struct ask *ask);
};

extern const struct adapter_kind *const adapter_kinds[]; /* NULL-terminated: those built */

/* An open one. */
struct adapter {
    const struct adapter_kind *kind;
    void *state;
};
/* `name` is one of nodes/services.h; one this build does without is a usage error. */
int adapter_open(const char *name, const struct adapter_config *config,
                 const struct adapter_events *events, struct adapter *out, struct error *error);
bool adapter_ask(const struct adapter *adapter, const struct ask *ask);

#endif
