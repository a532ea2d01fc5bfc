/* Runs a schedule against a world, real or simulated. Knows nothing of processes or packets: it
 * advances by the clock it is given, asks the world for actions and hears back what landed. Owns
 * the link matrix. Every fault yields one `fault` event when its installation is known (installed
 * with proof, skipped with the reason, or failed) and, if installed, one `heal` event. */
#ifndef COUP_NEMESIS_ENGINE_H
#define COUP_NEMESIS_ENGINE_H

#include "histories/event.h"
#include "nemesis/plan.h"

/* Asked of the world. Each request carries a ticket, answered (at once or later) by
 * engine_done(). Endpoint numbers of links are node id - 1. */
struct nemesis_world {
    void *context;
    void (*view)(void *context, struct cluster_view *out);
    void (*kill)(void *context, uint64_t ticket, uint32_t node);
    void (*restart)(void *context, uint64_t ticket, uint32_t node);
    void (*pause)(void *context, uint64_t ticket, uint32_t node);
    void (*resume)(void *context, uint64_t ticket, uint32_t node);
    /* Apply all changes as one; `proof` of links is asked by a later counters request. */
    void (*links)(void *context, uint64_t ticket, const struct link_change *changes,
                  uint32_t count);
    /* How many frames the links of this fault have dropped, delayed or otherwise touched so far. */
    void (*counters)(void *context, uint64_t ticket, const struct link_change *links,
                     uint32_t count);
    /* The finished event, time_ns already set. */
    void (*record)(void *context, const struct event *event);
};

struct engine;
struct engine *engine_new(const struct schedule *schedule, uint32_t nodes,
                          const struct nemesis_world *world);
void engine_free(struct engine *engine);

/* The faults phase begins at `now_ns` (true time since the run's start). */
void engine_begin(struct engine *engine, uint64_t now_ns);

/* Do what is due. Returns the next time at which something is, UINT64_MAX: nothing. */
uint64_t engine_advance(struct engine *engine, uint64_t now_ns);

/* The world's answer to a ticket: `begin`..`end` true ns of the action; `proof` what was read back;
 * failed when `ok` is false. For counters `proof` is the text and `touched` the number. */
void engine_done(struct engine *engine, uint64_t ticket, bool ok, uint64_t begin_ns,
                 uint64_t end_ns, uint64_t touched, struct slice proof);

/* Stop everything that is active: clean links, resume, restart. Idempotent. engine_quiet() is true
 * once all of it is confirmed. */
void engine_heal(struct engine *engine, uint64_t now_ns);
bool engine_quiet(const struct engine *engine);

/* For the live line: names of active faults, "halves pause(n2)". */
void engine_active(const struct engine *engine, struct text *out);

#endif
