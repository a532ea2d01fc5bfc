/* What the engine tells the history: one fault event and, if it was installed, one heal event per
 * scheduled fault. Pure. */
#ifndef COUP_NEMESIS_RECORD_H
#define COUP_NEMESIS_RECORD_H

#include "histories/event.h"
#include "nemesis/plan.h"

struct fault_record {
    const struct scheduled_fault *scheduled;
    uint32_t nodes; /* of the cluster; the coordination service comes behind them */
    const struct injection *injection; /* what was done; empty if nothing was */
    node_set landed;                   /* process actions: those that were hit */
    const char *outcome;               /* installed, skipped, failed; heals: healed, failed */
    const char *details;               /* proof, or the reason when it did not go well */
    uint64_t begin_ns, end_ns;
    uint64_t touched; /* heals */
    uint64_t due_ns;  /* of a fault that waited for an event: its time in the faults phase; or 0 */
    uint32_t actor;   /* whose event that was; or 0 */
};

/* The finished event, texts in `scratch` until it is cleared. */
void record_fault(const struct fault_record *record, uint64_t time_ns, struct text scratch[2],
                  struct event *out);
void record_heal(const struct fault_record *record, uint64_t time_ns, struct event *out);

/* The value of a name in the parameters of a fault's event, "on=n2,loss=30%"; empty: it has none.
 * Borrows the event. */
struct slice record_parameter(const struct event *event, const char *name);

#endif
