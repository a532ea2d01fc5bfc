/* Who an event, a message or an address belongs to: one number per process of a run.
 * Election nodes are 1..n, so a node's id is its process number. */
#ifndef COUP_BASE_PROCESS_H
#define COUP_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum process_kind {
    PROCESS_NODE,        /* n1, n2, ... */
    PROCESS_CLIENT,      /* client-1, ... */
    PROCESS_RESOURCE,    /* resource */
    PROCESS_COORDINATOR, /* coordinator */
    PROCESS_NEMESIS,     /* nemesis */
    PROCESS_CONTROLLER,  /* controller */
    PROCESS_SWITCH,      /* switch */
    PROCESS_TWIN,        /* twin-2: another process under the id of n2 */
    PROCESS_KINDS,
};

#define PROCESS_NUMBER(kind, index) ((uint32_t)(kind) << 24 | (uint32_t)(index))
#define PROCESS_INDEX_MAX 0xffffffu

/* Real processes on one machine; the simulator goes to SIMULATED_NODES_MAX. */
#define NODES_MAX 50u
#define SIMULATED_NODES_MAX 10000u
#define CLIENTS_MAX 64u

static inline enum process_kind process_kind(uint32_t process)
{
    return (enum process_kind)(process >> 24);
}

static inline uint32_t process_index(uint32_t process)
{
    return process & PROCESS_INDEX_MAX;
}

/* Whether it runs elections; as whom it does, for those it talks to: a twin passes for its node. */
static inline bool process_elects(uint32_t process)
{
    return process_kind(process) == PROCESS_NODE || process_kind(process) == PROCESS_TWIN;
}

static inline uint32_t process_identity(uint32_t process)
{
    return process_kind(process) == PROCESS_TWIN
               ? PROCESS_NUMBER(PROCESS_NODE, process_index(process))
               : process;
}

/* Whether the number stands for a process: numbers from outside may be any. */
bool process_valid(uint32_t process);

#define PROCESS_NAME_MAX 32
const char *process_name(uint32_t process, char buffer[PROCESS_NAME_MAX]);

/* False unless `name` is exactly what process_name() prints for some process. */
bool process_parse(struct slice name, uint32_t *ret_process);

#endif
