/* A fault: one file in nemesis/faults, one line in COUP_FAULTS. Pure: it chooses targets and says
 * what to do to them; the engine (nemesis/engine.h) does it through the world it was given. */
#ifndef COUP_NEMESIS_FAULT_H
#define COUP_NEMESIS_FAULT_H

#include "base/options.h"
#include "nemesis/act.h"
#include "nemesis/link.h"
#include "nemesis/target.h"

/* What a started fault does: any mix of link contributions and one process action. */
struct injection {
    struct act act;
    node_set targets;          /* of the action; for link faults: the nodes the shape is about */
    struct link_change *links; /* contributions, link_count; owned, injection_release() */
    uint32_t link_count, link_capacity;
    /* > 0: in force for so long, then not for so long, and again. Links are clean between, a killed
     * process runs, a stepped wall clock is stepped the other way. */
    uint64_t flap_ns;
    uint64_t rest_ns; /* how long it is not in force each time; 0: as long as it is */
};

/* Nodes by id; the same directed link may be given once only. */
void injection_link(struct injection *injection, uint32_t from_node, uint32_t to_node,
                    struct impairment impairment);
void injection_release(struct injection *injection);

/* What drawn strengths are measured by: a delay of a tenth and of twice the election timeout are
 * different faults. */
struct fault_scale {
    uint32_t nodes;
    uint64_t election_timeout_ns; /* the longest; never 0 */
    uint64_t clock_drift_ppm;     /* what the algorithm declares to survive; 0: it relies on none */
    enum target_role on;          /* whom this one is meant for */
    const char *const *message_kinds; /* that the algorithm sends, NULL-terminated; or NULL */
    uint32_t turn;                    /* how many of its kind, or group, the schedule has already */
};

struct fault {
    const char *name, *summary;
    const char *group;  /* what --faults may name besides the fault: kill, pause, partition, link */
    uint32_t nodes_min; /* smallest cluster it makes sense in */
    enum facility needs; /* of FACILITY_SERVICE: "all" leaves it out, few algorithms have one */
    /* No algorithm can keep its promises under it, or it is nothing by itself: "all" leaves it out,
     * and its group where that has others. */
    bool by_name;
    bool between; /* of two sides, "from" and "to", instead of those it is "on" */
    /* Whom the planner means, drawn evenly (repeat one to favour it); the first is also meant when
     * a schedule does not say "on". */
    const struct target *targets;
    uint32_t target_count;
    const struct option *parameters; /* table, may be NULL; words of a step are taken */
    /* Draw parameters the schedule left open (strength, not targets). NULL: none to draw. */
    void (*plan)(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters);
    /* Choose among `chosen` (what "on" resolved to, never empty) for this view and fill `out`
     * (zeroed). Returns false with a static `*ret_why` when it cannot take effect now. Called
     * through fault_start() only. */
    bool (*start)(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why);
};

/* Start a fault, having checked what holds for all of them: the cluster is large enough, and some
 * link it touches has a running node at both ends. On false `out` is empty. */
bool fault_start(const struct fault *fault, const struct cluster_view *view, node_set chosen,
                 const struct option_values *parameters, struct random *random,
                 struct injection *out, const char **ret_why);

/* Why this world can never carry the fault out; NULL: it can. Static text. */
const char *fault_missing(const struct fault *fault, const struct cluster_view *view);

/* True if "on=any" means something to it: its shape chooses by itself. */
bool fault_takes_any(const struct fault *fault);

/* clang-format off */
#define COUP_FAULTS(X) \
    X(kill) \
    X(kill_during_write) \
    X(crash_loop) \
    X(term_stop) \
    X(pause) \
    X(starve) \
    X(isolate_leader) \
    X(isolate_one) \
    X(halves) \
    X(minority_third) \
    X(majorities_ring) \
    X(bridge) \
    X(single_link) \
    X(one_way) \
    X(one_way_data) \
    X(flapping) \
    X(loss) \
    X(delay) \
    X(jitter) \
    X(duplicate) \
    X(reorder) \
    X(corrupt) \
    X(rate) \
    X(clock_step) \
    X(clock_rate) \
    X(clock_strobe) \
    X(power_loss) \
    X(slow_fsync) \
    X(disk_full) \
    X(io_error) \
    X(disk_stall) \
    X(disk_wipe) \
    X(message_drop) \
    X(message_hold) \
    X(message_duplicate) \
    X(message_reorder) \
    X(message_release) \
    X(service_kill) \
    X(service_pause) \
    X(service_session_drop) \
    X(service_clock) \
    X(degraded_service) \
    X(resign) \
    X(transfer) \
    X(force_leader) \
    X(duplicate_id)
/* clang-format on */

extern const struct fault *const faults[]; /* NULL-terminated */
const struct fault *fault_find(struct slice name);

/* Names and groups, comma-separated, "all" or "none", to a list without repeats in registry order.
 * `out` has room for FAULTS_MAX. */
#define FAULTS_MAX 64
int faults_parse(const char *text, const struct fault *out[FAULTS_MAX], uint32_t *ret_count,
                 struct error *error);

/* Leave out kinds that need what cannot be had, as part of a group or of all; if nothing else was
 * asked for they stay, to be recorded as skipped. Returns how many are left. */
uint32_t faults_without(const struct fault *kinds[FAULTS_MAX], uint32_t count,
                        enum facility facility);

/* What was asked for, as each must come round: a whole group by the group's name, the members of an
 * incomplete group by their own. "kill,pause,partition,loss". Fault events carry both names. */
void faults_format(const struct fault *const *kinds, uint32_t count, struct text *out);

/* True if `kinds` holds every registered fault that the group's name means. */
bool faults_whole_group(const struct fault *const *kinds, uint32_t count, const char *group);

#endif
