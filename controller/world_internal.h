/* Shared by world.c (its life), world_build.c (what it stands on) and world_nemesis.c (what is done
 * to it). */
#ifndef COUP_CONTROLLER_WORLD_INTERNAL_H
#define COUP_CONTROLLER_WORLD_INTERNAL_H

#include "controller/stalls.h"
#include "controller/world.h"
#include "nemesis/network/backend.h"

#define WORLD_CHILDREN_MAX (NODES_MAX + CLIENTS_MAX + 1u)

enum action_kind { DO_KILL, DO_RESTART, DO_PAUSE, DO_RESUME };

/* Asked for by the nemesis, not yet seen to be done. */
struct action {
    uint64_t ticket;
#define WORLD_CHILDREN_MAX (NODES_MAX + CLIENTS_MAX + 1u)

    enum action_kind kind;
    uint32_t node;
    uint64_t begin_ns;
};

struct world {
    struct world_config config;
    struct children *children;               /* nodes first: slot id - 1 */
    uint64_t restart_ns[WORLD_CHILDREN_MAX]; /* by slot; 0: no restart is due */
    bool ever_ready[WORLD_CHILDREN_MAX];
    const char *client_words; /* last told to clients; who comes back is told again */
    uint32_t address_base;
    struct network *network;
    const struct network_backend *backend;
    struct engine *engine;
    struct view view;
    struct stalls stalls;
    struct action *actions;
    uint32_t action_count, action_capacity;
    bool crashed;         /* some process ended by itself */
    bool finishing;       /* ends are no crashes any more */
    bool broken;          /* failed() was told */
    struct text programs; /* folder of coup-node and the others */
};

/* Programs, folders, namespaces, network; children are added, none is started. */
int world_build(struct world *world, struct error *error);

/* "FOLDER/kind/name-ending" */
void world_path(const struct world *world, const char *kind, uint32_t process, const char *ending,
                struct text *out);

void world_fail(struct world *world, const struct error *error);

/* Start the next incarnation of `child` and record it. A failure ends the run. */
void world_start(struct world *world, struct child *child);

/* What the kernel or the child said; answers the actions that waited for it. */
void actions_ready(struct world *world, const struct child *child);
void actions_stopped(struct world *world, struct child *child);
void actions_resumed(struct world *world, const struct child *child);
void actions_ended(struct world *world, const struct child *child, const struct child_end *end);

/* The network's answer. */
void actions_network(void *context, uint64_t ticket, const char *failure, uint64_t begin_ns,
                     uint64_t end_ns, uint64_t touched, const char *proof);

#endif
