/* Shared by world.c (its life), world_build.c (what it stands on) and world_nemesis.c (what is done
 * to it). */
#ifndef COUP_CONTROLLER_WORLD_INTERNAL_H
#define COUP_CONTROLLER_WORLD_INTERNAL_H

#include "controller/bent_clock.h"
#include "controller/stalls.h"
#include "controller/world.h"
#include "nemesis/network/backend.h"
#include "nodes/clock.h"
#include "nodes/filter.h"

#define WORLD_CHILDREN_MAX (NODES_MAX + CLIENTS_MAX + 3u)

enum action_kind {
    DO_KILL,
    DO_RESTART,
    DO_PAUSE,
    DO_RESUME,
    DO_CLOCK,
    DO_COMMAND,
    DO_DISK,
    DO_TERMINATE,
    DO_CRASH,
    DO_HALT,
    DO_FREEZE,
    DO_THAW,
    DO_MESSAGES,
    DO_TWIN
};

/* Asked for by the nemesis, not yet seen to be done. */
struct action {
    uint64_t ticket;
    enum action_kind kind;
    uint32_t node;
    uint64_t begin_ns;
    uint64_t again_ns;           /* DO_CLOCK: when to read the clocks anew; 0: an answer is due */
    struct act act;              /* DO_DISK: asked of the disk once the process is gone */
    struct clock_reading before; /* DO_CLOCK: the first reading; zeroed: none yet */
    bool asked;                  /* DO_DISK: it is asked */
    uint64_t touched;            /* for the answer */
};

/* What befalls messages to a node as long as the fault lasts. */
struct standing_rule {
    uint32_t node; /* as the nemesis calls it */
    struct filter_rule rule;
};

struct world {
    struct world_config config;
    struct children *children; /* slot id - 1: nodes, the coordinator if there is one, others */
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
    struct standing_rule *rules;
    uint32_t rule_count, rule_capacity;
    node_set disarmed;                       /* told not to stop itself after all, maybe too late */
    struct bent_clock clocks[NODES_MAX + 1]; /* by node id - 1; behind them the service's */
    const char *clock_environment[NODES_MAX + 1][BENT_CLOCK_WORDS];
    struct child *twin;      /* runs while a node has one; NULL: the schedule wants none */
    uint32_t twin_of;        /* the node that has it; 0: none has */
    uint32_t twin_copies;    /* so many were made */
    bool twin_is_apart;      /* each other node reaches one of the two */
    struct freezer *freezer; /* NULL: nothing was frozen yet */
    struct helper *disks;    /* coup-disk; NULL: disks are the machine's own */
    uint64_t failing_until_ns[NODES_MAX]; /* by node id - 1: its disk may make it give up */
    struct text disks_problem;            /* why they cannot be troubled here; empty: they can */
    bool crashed;                         /* some process ended by itself */
    bool finishing;                       /* ends are no crashes any more */
    bool broken;                          /* failed() was told */
    struct text programs;                 /* folder of coup-node and the others */
};

/* Programs, folders, namespaces, network; children are added, none is started. */
int world_build(struct world *world, struct error *error);

/* "FOLDER/kind/name-ending" */
void world_path(const struct world *world, const char *kind, uint32_t process, const char *ending,
                struct text *out);

/* A real service's keeper, not a program that is all there is to it. */
bool world_keeps(const struct world *world, const struct child *child);

/* What the server of a real service wrote. */
void world_throw_away(const struct world *world);

void world_fail(struct world *world, const struct error *error);

/* Start the next incarnation of `child` and record it. A failure ends the run. */
void world_start(struct world *world, struct child *child);

/* What the kernel or the child said; answers the actions that waited for it. */
void actions_ready(struct world *world, const struct child *child);
void actions_stopped(struct world *world, struct child *child);
void actions_resumed(struct world *world, const struct child *child);
void actions_ended(struct world *world, struct child *child, const struct child_end *end);

void actions_done(struct world *world, const struct control *done);
void actions_tick(struct world *world);

/* world_act.c: what is told to a node, and points at which it stops itself. */
void act_begin(struct world *world, uint64_t ticket, uint32_t node, const struct act *act);
/* The child's answer to these words is the action's. */
void act_tell(struct world *world, struct action action, struct child *child, const char *words);
/* Its answer. */
void act_told(struct world *world, const struct action *action, struct slice said);
/* It stopped, and nobody sent the signal; false: not for us. */
bool act_stopped(struct world *world, struct child *child);
/* It ended. */
void act_ended(struct world *world, const struct child *child, bool by_schedule, const char *how);
/* What was to stop it at its point, and has not, will not any more. */
void act_disarm(struct world *world, enum action_kind kind, uint32_t node);

/* An action from its request to its answer. Settling takes out all that wait for this of the node.
 */
struct action action_begin(const struct world *world, enum action_kind kind, uint64_t ticket,
                           uint32_t node);
void action_wait(struct world *world, struct action action);
void action_answer(struct world *world, const struct action *action, bool ok, const char *proof);
struct action *action_find(struct world *world, uint64_t ticket); /* NULL: none waits */
void action_settle_ticket(struct world *world, uint64_t ticket, bool ok, const char *proof);
bool action_waits(const struct world *world, enum action_kind kind, uint32_t node);
void action_settle(struct world *world, enum action_kind kind, uint32_t node, bool ok,
                   const char *proof);

/* world_clock.c: clocks that can be bent, if the schedule asks for it. */
void clocks_open(struct world *world);
void clocks_close(struct world *world);
/* A node's process is about to start, has started, has ended. */
int clocks_starting(struct world *world, struct child *child, struct error *error);
void clocks_started(struct world *world, const struct child *child);
void clocks_ended(struct world *world, const struct child *child);
void clocks_bend(struct world *world, uint64_t ticket, uint32_t node,
                 const struct clock_bend *bend);
/* A node's answer to a reading. */
void clocks_read(struct world *world, struct action *action, struct slice said);
void clocks_tick(struct world *world);
/* What cannot be done, for the nemesis. */
void clocks_view(const struct world *world, struct cluster_view *out);

/* world_disk.c: disks that can be troubled, if the schedule asks for it. -errno: they could not be
 * made although this machine can. */
int disks_open(struct world *world, struct error *error);
void disks_close(struct world *world);
void disks_act(struct world *world, uint64_t ticket, uint32_t node, const struct act *act);
/* A node's process has ended. */
void disks_ended(struct world *world, const struct child *child);
/* Whether a node that says that its machine failed it may blame its disk. */
bool disks_explain(const struct world *world, const struct child *child);
/* Why they cannot be troubled here, and what changes it; NULL: they can. */
const char *disks_missing(const struct world *world);

/* world_messages.c: rules for the messages that reach a process. */
void messages_act(struct world *world, uint64_t ticket, uint32_t node, const struct act *act);
/* A process has been started: tell it the rules that hold on its machine. */
void messages_started(struct world *world, struct child *child);
/* Why they cannot be met here; NULL: they can. */
const char *messages_missing(const struct world *world);
/* A rule that has met a message has one less to meet. */
void messages_event(struct world *world, const struct event *event);

/* world_twin.c: a second process under the id of a node, if the schedule asks for it. */
void twin_act(struct world *world, uint64_t ticket, uint32_t node, const struct act *act);
/* Some process reports that it listens, or has ended. */
void twin_ready(struct world *world, struct child *child);
void twin_ended(struct world *world, const struct child *child, const char *how);
/* The node that has a twin, or had one that has not ended yet; 0: none. */
uint32_t twin_node(const struct world *world);
/* The folder that the twin keeps its state in. */
void twin_folder(const struct world *world, struct text *out);

/* world_freezer.c: pauses by the kernel's freezer. False: it was not frozen by that. */
void freezer_act(struct world *world, uint64_t ticket, uint32_t node);
bool freezer_resume(struct world *world, uint64_t ticket, uint32_t node);
void freezer_tick(struct world *world);
void freezer_ended(struct world *world, struct child *child, uint32_t party, const char *how);
/* Why nothing can be frozen here; NULL: it can. */
const char *freezer_missing(const struct world *world);

/* True if the run's schedule has a fault that needs it. */
bool world_asks_for(const struct world *world, enum facility facility);

/* The network's answer. */
void actions_network(void *context, uint64_t ticket, const char *failure, uint64_t begin_ns,
                     uint64_t end_ns, uint64_t touched, const char *proof);

#endif
