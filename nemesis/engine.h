/* Runs a schedule against a world, real or simulated. Knows nothing of processes or packets: it
 * advances by the clock it is given, asks the world for actions and hears back what landed. Owns
 * the link matrix. Every fault of the schedule yields one `fault` event when its installation is
 * known (installed with proof, skipped with the reason, or failed) and, if installed, one `heal`
 * event, whose value says how many frames or processes it touched.
 *
 * A fault that cannot take effect yet (no leader is known, its links are cut by another) waits
 * until the time when it should end, unless it names its nodes. If it starts late it lasts at least
 * half of its duration.
 *
 * A fault with a trigger listens from its time on. Its own time is then that of the event it waited
 * for and the trigger's delay, a nanosecond at least: what comes with the event still happens. */
#ifndef COUP_NEMESIS_ENGINE_H
#define COUP_NEMESIS_ENGINE_H

#include "base/units.h"
#include "histories/event.h"
#include "nemesis/plan.h"

/* Asked of the world, which carries requests out in the order in which they were made. Each carries
 * a ticket, answered (at once, from within the request, or later) by engine_done(). Endpoint
 * numbers of links are node id - 1; behind the last node's comes the coordination service's, which
 * is also asked for by that id. kill and pause answer when the process is seen to be gone or
 * stopped. restart and resume undo them and are idempotent: the restart of a running process and
 * the resume of one that is running, or gone, are ok. */
struct nemesis_world {
    void *context;
    void (*view)(void *context, struct cluster_view *out);
    void (*kill)(void *context, uint64_t ticket, uint32_t node);
    void (*restart)(void *context, uint64_t ticket, uint32_t node);
    void (*pause)(void *context, uint64_t ticket, uint32_t node);
    void (*resume)(void *context, uint64_t ticket, uint32_t node);
    /* Everything else that is done to a process, and its undoing (act->undo), which is idempotent.
     */
    void (*act)(void *context, uint64_t ticket, uint32_t node, const struct act *act);
    /* Apply all changes as one. */
    void (*links)(void *context, uint64_t ticket, const struct link_change *changes,
                  uint32_t count);
    /* How many frames these links have dropped, delayed or otherwise touched since the run began,
     * by the causes (impairment_causes()) of the impairments given here, whatever is effective;
     * only ever grows, the engine subtracts. */
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

/* A request without an answer for so long counts as failed; a later answer is ignored. */
#define ENGINE_ANSWER_NS (5 * NS_PER_S)

/* Something happened in the cluster: faults that wait for it count it. Tell every event of nodes
 * and the resource, in the order in which they happened to each. Nothing is done yet: returns when
 * engine_advance() must be called at the latest, UINT64_MAX: this changed nothing. */
uint64_t engine_event(struct engine *engine, const struct event *event);

/* The world's answer to a ticket: `begin`..`end` true ns of the action; `proof` what was read back,
 * or why it failed when `ok` is false; `touched` is for counters. Unknown tickets are ignored.
 * engine_advance() must be called after it for the next time. */
void engine_done(struct engine *engine, uint64_t ticket, bool ok, uint64_t begin_ns,
                 uint64_t end_ns, uint64_t touched, struct slice proof);

/* Stop everything that is active: clean links, resume, restart; what had not begun is recorded as
 * skipped. Idempotent. engine_quiet() is true once all of it is answered, or has been given up
 * after ENGINE_ANSWER_NS (engine_advance() must go on being called). */
void engine_heal(struct engine *engine, uint64_t now_ns);
bool engine_quiet(const struct engine *engine);

/* What is still unanswered, "resume n2 (pause, fault 3)", one after the other; empty when nothing.
 */
void engine_pending(const struct engine *engine, struct text *out);

/* For the live line: names of active faults, "halves pause(n2)". */
void engine_active(const struct engine *engine, struct text *out);

#endif
