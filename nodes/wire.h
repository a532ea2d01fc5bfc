/* What travels over the faulted network, as bytes. Pure. Every message carries the run's number, so
 * that a stranger's, or an earlier run's, is dropped; every field is vetted before anything
 * reaches an elector. */
#ifndef COUP_NODES_WIRE_H
#define COUP_NODES_WIRE_H

#include "base/error.h"
#include "base/text.h"
#include "nodes/elector.h"

#define WIRE_BYTES_MAX 65536u
#define WIRE_REGISTERS_MAX 65u /* the bound of the registers knob, and the leaders' own, 0 */

enum wire_type {
    WIRE_ELECTION, /* node -> node, or node -> coordinator and back */
    WIRE_REQUEST,  /* client -> node, node -> resource */
    WIRE_REPLY,    /* the way back */
    WIRE_TYPES,
};

enum operation { OPERATION_READ, OPERATION_WRITE, OPERATION_CAS, OPERATIONS };

/* A register operation. A node adds its token before it passes one on to the resource. */
struct request {
    uint64_t id; /* the asker's, unique within it */
    enum operation operation;
    uint32_t reg;
    uint64_t value, expected; /* write, cas; 0 is "nothing written yet" and never written */
    uint64_t token;
    uint32_t holder; /* the process whose token it is, a node or a twin; 0: none yet */
};

enum outcome {
    OUTCOME_OK,
    OUTCOME_FAIL,       /* did not and will not happen */
    OUTCOME_STALE,      /* fail: the resource has seen a higher token */
    OUTCOME_MISMATCH,   /* fail: cas found another value */
    OUTCOME_NOT_LEADER, /* fail: the node does not lead; `leader` is its hint */
    OUTCOME_UNKNOWN,    /* may or may not have happened, or may still */
    OUTCOMES,
};

struct reply {
    uint64_t id;
    enum outcome outcome;
    uint32_t leader;             /* hint, 0: none */
    uint64_t value;              /* of the register now; 0: nothing written yet */
    uint64_t position, sequence; /* where that value was written: (token, sequence); 0, 0: never */
    uint64_t highest;            /* highest token the resource has seen */
};

struct envelope {
    uint64_t run;
    uint32_t source, target; /* process numbers */
    enum wire_type type;
    union {
        struct message message;
        struct request request;
        struct reply reply;
    };
};

/* It asks the resource to change something. */
static inline bool envelope_writes(const struct envelope *envelope)
{
    return envelope->type == WIRE_REQUEST && envelope->request.operation != OPERATION_READ;
}

/* What a receiver knows and a message must fit: its run, itself, the cluster. */
struct wire_context {
    uint64_t run;
    uint32_t self;
    uint32_t nodes;
    uint32_t kinds; /* message kinds of the algorithm */
    bool service;   /* which are those of a coordination service, not of peers */
};

void wire_encode(const struct envelope *envelope, struct text *out);

/* 0 and `*out` filled (ids borrow from `ids`, room for context->nodes); -ESTALE: another run's or
 * not for us, drop and count; -EBADMSG: malformed, `error` says how. */
int wire_decode(const struct wire_context *context, const uint8_t *bytes, size_t length,
                uint32_t *ids, struct envelope *out, struct error *error);

#endif
