/* Connection attempts that hang. A lost SYN is repeated by the kernel only after a second, which
 * after a cut is most of the time a cluster takes to recover. NNG cannot give an attempt up
 * (closing a dialer that is connecting corrupts its memory), but it copes with one that fails: so a
 * socket that has waited long enough for its SYN to be answered is shut down, which fails the
 * attempt, and NNG dials again. Most attempts get SHORT, one in eight LONG, so that a slow link is
 * crossed as well. When a peer has just reached us, those that wait for longer than RECENT are
 * failed. */
#ifndef COUP_NODES_HANGING_H
#define COUP_NODES_HANGING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

#define HANGING_RECENT_NS (30 * NS_PER_MS)
#define HANGING_SHORT_NS (120 * NS_PER_MS)
#define HANGING_LONG_NS (700 * NS_PER_MS)
#define HANGING_LOOK_NS (30 * NS_PER_MS) /* how often to look while something is not connected */
#define HANGING_FDS 512

/* Attempts seen so far, by descriptor; zeroed is none. */
struct hanging {
    struct {
        uint16_t port; /* local, tells one attempt from the next on the same descriptor */
        uint64_t since_ns;
    } attempts[HANGING_FDS];
};

/* Look at all TCP sockets of this process at `now_ns`, own monotonic clock; fail the overdue.
 * `reached`: a peer has connected to us since the last look. */
void hanging_look(struct hanging *hanging, uint64_t now_ns, bool reached);

#endif
