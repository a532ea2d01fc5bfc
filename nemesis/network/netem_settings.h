/* An impairment as netem has it, and what netem's counters say about it. Pure. */
#ifndef COUP_NEMESIS_NETWORK_NETEM_SETTINGS_H
#define COUP_NEMESIS_NETWORK_NETEM_SETTINGS_H

#include "nemesis/link.h"

#define NETEM_FRAMES_MAX 1000u /* waiting on one link; more are dropped */

/* Every field that the qdisc has: it keeps those that a change does not name. */
struct netem_settings {
    uint32_t limit;                             /* frames */
    uint32_t loss, duplicate, reorder, corrupt; /* of UINT32_MAX, which is always */
    uint32_t gap;                               /* 1: reorders at all */
    int64_t latency_ns, jitter_ns;
    uint64_t rate_bytes_per_s; /* 0: unlimited */
};

struct netem_settings netem_settings_of(const struct impairment *impairment);
bool netem_settings_equal(const struct netem_settings *a, const struct netem_settings *b);

/* Frames may wait in the qdisc under these. */
bool netem_settings_hold(const struct netem_settings *settings);

/* What must be counted before the qdisc: data that is cut, and frames, to tell how many were
 * doubled. */
bool netem_needs_gate(const struct impairment *impairment);

/* The counters of a link. They wrap. */
struct netem_reading {
    uint32_t sent, queued, dropped, reordered; /* of the qdisc */
};

struct gate_reading {
    uint32_t arrived;
};

/* Who touched how many frames, since the link exists. Zeroed is a new link. */
struct netem_ledger {
    struct impairment now; /* what counts are attributed to */
    struct netem_reading last;
    struct gate_reading last_gate;
    uint64_t touched[CAUSES];
};

/* Attribute what happened since the last reading. The gate is read after the qdisc or, while
 * nothing needs it, not at all (NULL). */
void netem_ledger_read(struct netem_ledger *ledger, const struct netem_reading *reading,
                       const struct gate_reading *gate);

/* The qdisc was replaced: what was queued is gone, its successor's counters begin at 0. */
void netem_ledger_replaced(struct netem_ledger *ledger);

#endif
