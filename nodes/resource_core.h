/* The guarded resource: registers, and the highest token it has seen. Decides each request
 * atomically. Pure; the program makes its log durable, the simulator may keep it in memory.
 *
 * Fenced: a request whose token is below the highest is refused as stale, whatever it asks; any
 * other raises the highest to its token, a read too: a new leader's first read must already shut
 * out its predecessors, or what it read could change behind its back. Unfenced: all are done and
 * the highest is only observed. The token alone decides; two holders of one token both pass, which
 * the history shows and the checker judges.
 *
 * A write's position is (token, sequence); the sequence counts accepted writes from 1 and is the
 * order in which they took effect. A request that comes twice (same operation number) is answered
 * as before and never done twice; one too old to be remembered is answered "unknown" and not done.
 */
#ifndef COUP_NODES_RESOURCE_CORE_H
#define COUP_NODES_RESOURCE_CORE_H

#include "nodes/outbox.h"

/* Replies remembered per owner of operations (a client, or a node for its own writes). */
#define RESOURCE_REMEMBERED 16u

struct resource_config {
    bool fenced;
    uint32_t registers; /* 0..registers-1 exist: the leaders' own and the clients' */
    uint64_t run;       /* names the log; a log of another run is refused */
};

struct resource;
struct resource *resource_new(const struct resource_config *config);
void resource_free(struct resource *resource);

uint64_t resource_highest(const struct resource *resource);

/* Decide one request that the node `source` passed on: an accept or reject event and one reply are
 * added to `outbox`, the record to `log` (may be NULL). The record must be durable before the
 * outbox is carried out; several requests may share one outbox and one write of the log. */
void resource_request(struct resource *resource, uint32_t source, const struct request *request,
                      struct outbox *outbox, struct text *log);

/* The bytes a new log begins with. */
void resource_log_head(const struct resource *resource, struct text *log);

/* Rebuild a fresh resource from its log. `*ret_used` is the length that is good: what lies behind
 * it is the torn end of the last write, to be cut off, and was never answered. -EBADMSG: damaged
 * with good records behind the damage, or another file, version or run. */
int resource_replay(struct resource *resource, struct slice log, size_t *ret_used,
                    struct error *error);

#endif
