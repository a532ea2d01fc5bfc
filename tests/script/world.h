/* A cluster of electors for data scripts: an explicit queue of messages, a virtual clock, disks
 * that survive crashes. Everything that happens is printed and, as history events, kept for the
 * checks. */
#ifndef COUP_TESTS_SCRIPT_WORLD_H
#define COUP_TESTS_SCRIPT_WORLD_H

#include "nodes/chronicle.h"
#include "nodes/elector.h"

#define SCRIPT_NODES_MAX 32u
#define SCRIPT_QUEUE_MAX 4096u

struct script_node {
    struct elector_config config;
    void *state; /* NULL: not running */
    uint64_t incarnation;
    struct output output;
    struct chronicle chronicle;
    struct durable disk;
    bool paused;
    bool slow_disk; /* a record waits for `disk done` */
    bool blocked;   /* in that wait: takes no input */
};

struct flight {
    struct message message;
    uint64_t sent_ns;
};

enum link_state { LINK_OPEN, LINK_HELD, LINK_CUT };

struct world {
    const struct algorithm *algorithm;
    uint32_t count;
    struct script_node nodes[SCRIPT_NODES_MAX]; /* by id - 1 */
    enum link_state links[SCRIPT_NODES_MAX][SCRIPT_NODES_MAX];
    struct flight queue[SCRIPT_QUEUE_MAX];
    uint32_t queued;
    uint64_t now_ns;
    bool quiet; /* print events, not messages */
    struct text *trace;
    struct outbox outbox;
    struct text events; /* encoded, for the checks */
};

/* "raft:prevote=off" as after -a; `config` carries nodes, witnesses and knobs. */
int world_open(struct world *world, const char *algorithm, const struct elector_config *config,
               struct error *error);
void world_release(struct world *world);

struct script_node *world_node(struct world *world, uint32_t id);

void world_start(struct world *world, uint32_t id);
void world_crash(struct world *world, uint32_t id); /* what was not durable is lost */
/* What the node waits for is durable, but killed, it never says so. */
void world_crash_unreported(struct world *world, uint32_t id);
void world_disk_done(struct world *world, uint32_t id);

/* Wake one node at its deadline; the clock moves there if that is ahead. */
void world_timeout(struct world *world, uint32_t id);
void world_input(struct world *world, uint32_t id, const struct input *input);
void world_send(struct world *world, const struct message *message);

/* Take message `at` out of the queue and hand it over, or print why not. */
void world_deliver(struct world *world, uint32_t at);
void world_drop(struct world *world, uint32_t at);
bool world_can_deliver(const struct world *world, const struct message *message);

/* Let the time pass, waking who is due; with `latency_ns` > 0 messages arrive so long after they
 * were sent, else they wait in the queue. */
void world_run(struct world *world, uint64_t duration_ns, uint64_t latency_ns);

/* Record and print an event of another process, as the controller would. */
void world_event(struct world *world, struct event *event);

#endif
