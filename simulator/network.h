/* The simulated network: when does a message arrive, how often, if at all. Per message what
 * nemesis/link.h says per frame: cut, cut-data (a message always has data), loss, delay, jitter,
 * duplicate, reorder, corrupt (the checksum drops it), rate; on top of a base latency.
 *
 * Every draw is keyed by (seed, link, number of the packet on that link), not taken from one
 * stream: taking one fault out of a schedule leaves the fate of all other packets as it was. */
#ifndef COUP_SIMULATOR_NETWORK_H
#define COUP_SIMULATOR_NETWORK_H

#include "base/units.h"
#include "nemesis/link.h"

struct network_knobs {
    uint64_t latency_min_ns, latency_max_ns; /* one way, uniform */
    uint32_t loss_ppm;                       /* on every link, besides faults */
    bool in_order; /* a link delivers in the order of sending, as TCP does, unless reordered */
};

/* Links of more endpoints than this have no faults, no order and no numbers of their own: their
 * packets are numbered per sender. 10,000 nodes would need 10^8 counters. Enough for the largest
 * cluster that can be faulted, with all its clients. */
#define SIM_LINKS_ENDPOINTS_MAX 128u

/* Longest wait for a thin link, as in the real world's switch; then dropped. */
#define SIM_RATE_QUEUE_NS (500 * NS_PER_MS)

struct sim_link;

struct sim_network {
    struct network_knobs knobs;
    uint64_t key;
    uint32_t endpoints;
    struct sim_link *links; /* [from][to]; NULL above the bound */
    uint64_t *sent;         /* per sender, only above the bound */
    uint64_t passed, dropped;
};

/* `endpoints` numbered from 0, as in the link matrix. */
void sim_network_init(struct sim_network *network, uint32_t endpoints, uint64_t seed,
                      const struct network_knobs *knobs);
void sim_network_release(struct sim_network *network);

/* Effective from now on; messages on their way stay on their way. Only those that a limit of rate
 * held back do not wait for it longer than it lasts: returns by when all of the link's arrive now,
 * which the caller sees to; UINT64_MAX: nothing changed for them. */
uint64_t sim_network_change(struct sim_network *network, uint64_t now_ns,
                            const struct link_change *change);

/* Messages on change's link that were dropped, delayed or otherwise touched so far by the causes
 * its impairment names. */
uint64_t sim_network_touched(const struct sim_network *network, const struct link_change *change);

struct sim_shipment {
    uint32_t from, to;
    uint32_t bytes; /* for rate */
    uint64_t now_ns;
};

/* How many copies arrive (0, 1, 2) and when. */
#define SIM_COPIES_MAX 2u
uint32_t sim_network_send(struct sim_network *network, const struct sim_shipment *shipment,
                          uint64_t ret_arrivals_ns[SIM_COPIES_MAX]);

#endif
