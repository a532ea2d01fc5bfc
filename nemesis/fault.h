/* A fault: one file in nemesis/faults, one line in COUP_FAULTS. Pure: it chooses targets and says
 * what to do to them; the engine (nemesis/engine.h) does it through the world it was given. */
#ifndef COUP_NEMESIS_FAULT_H
#define COUP_NEMESIS_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"
#include "base/process.h"
#include "base/random.h"
#include "nemesis/link.h"

/* Sets of nodes, ids 1..NODES_MAX as bits 0..49. */
typedef uint64_t node_set; /* a plain integer with a name, not a hidden struct */

static inline node_set node_bit(uint32_t id)
{
    return UINT64_C(1) << (id - 1);
}

/* What the nemesis can know when a fault begins. */
struct cluster_view {
    uint32_t nodes, witnesses;
    uint32_t leader;  /* newest leader by term that runs; 0: none known */
    node_set running; /* process exists */
    node_set paused;  /* stopped by us */
    node_set candidates;
};

/* What a started fault does: any mix of link contributions and process actions. */
enum process_action { ACTION_NONE, ACTION_KILL, ACTION_PAUSE };

struct injection {
    enum process_action action;
    node_set targets;          /* of the action; for link faults: the nodes named in the record */
    struct link_change *links; /* contributions, link_count; owned, injection_release() */
    uint32_t link_count, link_capacity;
    uint64_t flap_ns; /* > 0: links alternate between applied and clean with this period */
};

void injection_link(struct injection *injection, uint32_t from_node, uint32_t to_node,
                    struct impairment impairment);
void injection_release(struct injection *injection);

struct fault {
    const char *name, *summary;
    const char *group; /* what --faults may name besides the fault: kill, pause, partition, link */
    const struct option
        *parameters; /* table, may be NULL; "for" (duration) and "on" (targets) are common to all */
    /* Draw parameters the schedule left open (strength, not targets). NULL: none to draw. */
    void (*plan)(struct random *random, uint32_t nodes, struct option_values *parameters);
    /* Choose targets among `chosen` (what "on" resolved to, never empty) for this view and fill
     * `out`. Returns false with a static `*ret_why` when it cannot take effect now. */
    bool (*start)(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why);
};

#define COUP_FAULTS(X)                                                                             \
    X(kill)                                                                                        \
    X(pause) X(isolate_leader) X(isolate_one) X(halves) X(minority_third) X(majorities_ring)       \
        X(bridge) X(single_link) X(one_way) X(one_way_data) X(flapping) X(loss) X(delay) X(jitter) \
            X(duplicate) X(reorder) X(corrupt) X(rate)

extern const struct fault *const faults[]; /* NULL-terminated */
const struct fault *fault_find(struct slice name);

/* Names and groups, comma-separated, "all" or "none", to a list without repeats in registry order.
 * `out` has room for FAULTS_MAX. */
#define FAULTS_MAX 64
int faults_parse(const char *text, const struct fault *out[FAULTS_MAX], uint32_t *ret_count,
                 struct error *error);

#endif
