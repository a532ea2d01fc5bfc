/* The real world of a run: network namespaces, the network between them, the processes in them,
 * and the nemesis's hands. Everything that happens is recorded and shown to the view. Failures of
 * ours that end the run are told once, through `failed`; what the cluster does is never one. */
#ifndef COUP_CONTROLLER_WORLD_H
#define COUP_CONTROLLER_WORLD_H

#include "controller/children.h"
#include "controller/recorder.h"
#include "controller/run.h"
#include "controller/view.h"
#include "nemesis/engine.h"

struct world_config {
    const struct run_config *run;
    const struct schedule *schedule; /* what processes must be prepared for */
    struct uv_loop_s *loop;
    struct recorder *recorder;
    const char *folder; /* of the run: logs/ and state/ are made in it */
    uint64_t run_number;
    uint64_t origin_ns; /* true monotonic time of the run's start */
    void *context;
    void (*failed)(void *context, const struct error *error);
};

struct world;

/* Build the network and start every process. Copies `config`; borrows what it points to.
 * -errno: the machine or the installation lacks something; nothing is left. */
int world_open(const struct world_config *config, struct world **out, struct error *error);

/* True time since the run's start. */
uint64_t world_now(const struct world *world);
const struct view *world_view(const struct world *world);

/* Every process that runs has reported that it listens. */
bool world_ready(const struct world *world);
/* Some process that is not ready, for the message that says so, or WORLD_NOBODY. */
#define WORLD_NOBODY UINT32_MAX
uint32_t world_unready(const struct world *world);

/* Some process has ended by itself, in a way that is no failure of ours. */
bool world_crashed(const struct world *world);

/* What engine_new() needs; the engine is told of finished actions once attached. NULL detaches. */
void world_nemesis(struct world *world, struct nemesis_world *out);
void world_attach(struct world *world, struct engine *engine);

/* Stamp with the present, record, and show to the view. */
void world_record(struct world *world, struct event *event);

/* The longest that any process waited for a CPU since the last call. */
uint64_t world_waited(struct world *world);

/* Read what has arrived, start again what ended by itself long enough ago. Every few ms. */
void world_tick(struct world *world);

/* One line to every client: "start", "stop". */
void world_tell_clients(struct world *world, const char *words);

/* Let every process end by itself; world_left() is one that has not, or WORLD_NOBODY. */
void world_finish(struct world *world);
uint32_t world_left(const struct world *world);

/* Stop every process where it stands, and start none again. world_moving() is one that does not yet
 * stand still, or WORLD_NOBODY. */
void world_freeze(struct world *world);
uint32_t world_moving(const struct world *world);

/* Kill what still runs and free. The loop must run once more. NULL is fine. */
void world_close(struct world *world);

#endif
