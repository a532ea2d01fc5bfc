#include "simulator/network.h"

#include <assert.h>
#include <stdlib.h>

#include "base/random.h"
#include "base/units.h"

struct sim_link {
    uint64_t last_ns;  /* newest arrival, for links that keep order */
    uint64_t clear_ns; /* when a limited link has sent what was queued on it */
    uint32_t number;   /* packets so far */
    uint32_t impaired; /* the rest is meaningful */
    struct impairment impairment;
    uint32_t touched[CAUSES]; /* messages by why they did not simply arrive */
};

/* What the draws of one packet are for. */
enum draw { DRAW_LATENCY, DRAW_LOSS, DRAW_CORRUPT, DRAW_JITTER, DRAW_REORDER, DRAW_DUPLICATE };

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* `packet` identifies the packet; one well-mixed word per purpose. */
static inline uint64_t draw(uint64_t packet, enum draw purpose)
{
    return mix64(packet + GOLDEN * ((uint64_t)purpose + 1));
}

static inline uint64_t scale(uint64_t word, uint64_t limit)
{
    return (uint64_t)(((__uint128_t)word * limit) >> 64);
}

static inline bool happens(uint64_t packet, enum draw purpose, uint32_t ppm)
{
    return ppm && scale(draw(packet, purpose), PPM_ONE) < ppm;
}

void sim_network_init(struct sim_network *network, uint32_t endpoints, uint64_t seed,
                      const struct network_knobs *knobs)
{
    assert(knobs->latency_min_ns <= knobs->latency_max_ns);
    struct random random;
    random_init(&random, seed, "network", 0);
    *network =
        (struct sim_network){.knobs = *knobs, .key = random_next(&random), .endpoints = endpoints};
    if (endpoints <= SIM_LINKS_ENDPOINTS_MAX)
        network->links = must_alloc((size_t)endpoints * endpoints, sizeof *network->links);
    else
        network->sent = must_alloc(endpoints, sizeof *network->sent);
}

void sim_network_release(struct sim_network *network)
{
    free(network->links);
    free(network->sent);
    *network = (struct sim_network){0};
}

static struct sim_link *link_of(const struct sim_network *network, uint32_t from, uint32_t to)
{
    assert(from < network->endpoints && to < network->endpoints);
    return network->links ? &network->links[(size_t)from * network->endpoints + to] : NULL;
}

uint64_t sim_network_change(struct sim_network *network, uint64_t now_ns,
                            const struct link_change *change)
{
    struct sim_link *link = link_of(network, change->from, change->to);
    assert(link); /* faults are refused for clusters too large for links */
    uint64_t before = link->impairment.rate_bits_per_s, rate = change->impairment.rate_bits_per_s;
    link->impairment = change->impairment;
    link->impaired = !impairment_is_clean(&change->impairment);
    if (rate != before)
        link->clear_ns = 0;
    if (before == 0 || rate)
        return UINT64_MAX;
    uint64_t latest_ns = now_ns + network->knobs.latency_max_ns;
    if (link->last_ns > latest_ns)
        link->last_ns = latest_ns;
    return latest_ns;
}

uint64_t sim_network_touched(const struct sim_network *network, const struct link_change *change)
{
    const struct sim_link *link = link_of(network, change->from, change->to);
    uint32_t causes = impairment_causes(&change->impairment);
    uint64_t touched = 0;
    for (enum link_cause cause = 0; link && cause < CAUSES; cause++)
        if (causes >> cause & 1)
            touched += link->touched[cause];
    return touched;
}

static inline uint64_t base_latency(const struct sim_network *network, uint64_t packet)
{
    uint64_t span = network->knobs.latency_max_ns - network->knobs.latency_min_ns;
    return network->knobs.latency_min_ns + scale(draw(packet, DRAW_LATENCY), span + 1);
}

/* Uniform in delay +- jitter, never negative. */
static uint64_t extra_delay(const struct impairment *impairment, uint64_t packet)
{
    if (impairment->jitter_ns == 0)
        return impairment->delay_ns;
    uint64_t high = impairment->delay_ns + impairment->jitter_ns;
    uint64_t low = impairment->delay_ns > impairment->jitter_ns
                       ? impairment->delay_ns - impairment->jitter_ns
                       : 0;
    return low + scale(draw(packet, DRAW_JITTER), high - low + 1);
}

static bool lost(struct sim_link *link, uint64_t packet)
{
    const struct impairment *impairment = &link->impairment;
    if (impairment_cuts(impairment))
        link->touched[CAUSE_CUT]++;
    else if (impairment->cut_data) /* a message always has data */
        link->touched[CAUSE_CUT_DATA]++;
    else if (happens(packet, DRAW_LOSS, impairment->loss_ppm))
        link->touched[CAUSE_LOSS]++;
    else if (happens(packet, DRAW_CORRUPT, impairment->corrupt_ppm))
        link->touched[CAUSE_CORRUPT]++;
    else
        return false;
    return true;
}

/* A limited link sends one message after the other: when this one has left, counted from now;
 * false: the wait would be too long. */
static bool pass_thin_link(struct sim_link *link, const struct sim_shipment *shipment,
                           uint64_t *ret_ns)
{
    uint64_t rate = link->impairment.rate_bits_per_s;
    uint64_t start = link->clear_ns > shipment->now_ns ? link->clear_ns : shipment->now_ns;
    link->touched[CAUSE_RATE]++;
    if (start - shipment->now_ns > SIM_RATE_QUEUE_NS)
        return false;
    link->clear_ns = start + (uint64_t)((__uint128_t)shipment->bytes * 8 * NS_PER_S / rate);
    *ret_ns = link->clear_ns - shipment->now_ns;
    return true;
}

/* What the faults on a link make of a packet; returns the number of copies. */
static uint32_t impaired(struct sim_link *link, const struct sim_shipment *shipment,
                         uint64_t packet, uint64_t *arrival_ns, bool *overtakes)
{
    const struct impairment *impairment = &link->impairment;
    uint64_t wait_ns = 0;
    if (lost(link, packet))
        return 0;
    if (impairment->rate_bits_per_s && !pass_thin_link(link, shipment, &wait_ns))
        return 0;
    *arrival_ns += wait_ns;
    *overtakes = happens(packet, DRAW_REORDER, impairment->reorder_ppm);
    link->touched[CAUSE_REORDER] += *overtakes;
    uint64_t extra_ns = *overtakes ? 0 : extra_delay(impairment, packet);
    link->touched[CAUSE_DELAY] += extra_ns > 0;
    *arrival_ns += extra_ns;
    bool twice = happens(packet, DRAW_DUPLICATE, impairment->duplicate_ppm);
    link->touched[CAUSE_DUPLICATE] += twice;
    return twice ? 2 : 1;
}

static uint64_t packet_key(struct sim_network *network, const struct sim_shipment *shipment,
                           struct sim_link *link)
{
    uint64_t number = link ? link->number++ : network->sent[shipment->from]++;
    uint64_t place = (uint64_t)shipment->from << 32 | shipment->to;
    return mix64(network->key ^ (place * GOLDEN)) + number * UINT64_C(0xd1342543de82ef95);
}

uint32_t sim_network_send(struct sim_network *network, const struct sim_shipment *shipment,
                          uint64_t ret_arrivals_ns[SIM_COPIES_MAX])
{
    struct sim_link *link = link_of(network, shipment->from, shipment->to);
    uint64_t packet = packet_key(network, shipment, link);
    uint64_t arrival_ns = shipment->now_ns + base_latency(network, packet);
    uint32_t copies = happens(packet, DRAW_LOSS, network->knobs.loss_ppm) ? 0 : 1;
    bool overtakes = false;
    if (copies && link && link->impaired)
        copies = impaired(link, shipment, packet, &arrival_ns, &overtakes);
    if (copies == 0) {
        network->dropped++;
        return 0;
    }
    network->passed++;
    if (link && network->knobs.in_order && !overtakes) {
        if (arrival_ns < link->last_ns)
            arrival_ns = link->last_ns;
        link->last_ns = arrival_ns;
    }
    ret_arrivals_ns[0] = ret_arrivals_ns[1] = arrival_ns;
    if (copies > 1)
        ret_arrivals_ns[1] += base_latency(network, draw(packet, DRAW_DUPLICATE));
    return copies;
}
