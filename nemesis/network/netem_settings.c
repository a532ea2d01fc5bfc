#include "nemesis/network/netem_settings.h"

#define RATE_QUEUE_NS                                                                   \
    (500 * NS_PER_MS)         /* as long as the switch lets frames wait for a thin link \
                               */
#define RATE_FRAME_BYTES 150u /* of the frames that elections send */
#define RATE_FRAMES_MIN 4u
#define JITTER_MAX_NS INT32_MAX /* what the kernel stores */

static uint32_t share(uint32_t ppm)
{
    return (uint32_t)((uint64_t)ppm * UINT32_MAX / PPM_ONE);
}

/* netem lets a frame that is both lost and doubled pass once: a total loss would leak, any other
 * would be too small. So that as many as asked for are lost altogether. */
static uint32_t loss_beside(uint32_t loss_ppm, uint32_t duplicate_ppm)
{
    uint64_t single_ppm = PPM_ONE - duplicate_ppm;
    uint64_t ppm = single_ppm ? (uint64_t)loss_ppm * PPM_ONE / single_ppm : PPM_ONE;
    return loss_ppm ? share(ppm < PPM_ONE ? (uint32_t)ppm : PPM_ONE) : 0;
}

/* netem bounds frames and not time; as many as wait 500 ms if they are of the usual size. */
static uint32_t rate_limit(uint64_t bytes_per_s)
{
    uint64_t frames = bytes_per_s / (NS_PER_S / RATE_QUEUE_NS) / RATE_FRAME_BYTES;
    if (bytes_per_s == 0 || frames > NETEM_FRAMES_MAX)
        return NETEM_FRAMES_MAX;
    return frames < RATE_FRAMES_MIN ? RATE_FRAMES_MIN : (uint32_t)frames;
}

struct netem_settings netem_settings_of(const struct impairment *impairment)
{
    uint64_t jitter_ns = impairment->jitter_ns, rate = impairment->rate_bits_per_s;
    struct netem_settings settings = {.limit = NETEM_FRAMES_MAX};
    if (impairment_cuts(impairment)) {
        settings.loss = UINT32_MAX; /* alone: a duplicate would get through */
        return settings;
    }
    settings.duplicate = share(impairment->duplicate_ppm);
    settings.loss = loss_beside(impairment->loss_ppm, impairment->duplicate_ppm);
    settings.reorder = share(impairment->reorder_ppm);
    settings.corrupt = share(impairment->corrupt_ppm);
    settings.gap = impairment->reorder_ppm > 0;
    settings.latency_ns = (int64_t)impairment->delay_ns;
    settings.jitter_ns = jitter_ns < JITTER_MAX_NS ? (int64_t)jitter_ns : JITTER_MAX_NS;
    settings.rate_bytes_per_s = rate ? (rate < 8 ? 1 : rate / 8) : 0;
    settings.limit = rate_limit(settings.rate_bytes_per_s);
    return settings;
}

bool netem_settings_equal(const struct netem_settings *a, const struct netem_settings *b)
{
    return a->limit == b->limit && a->loss == b->loss && a->duplicate == b->duplicate &&
           a->reorder == b->reorder && a->corrupt == b->corrupt && a->gap == b->gap &&
           a->latency_ns == b->latency_ns && a->jitter_ns == b->jitter_ns &&
           a->rate_bytes_per_s == b->rate_bytes_per_s;
}

bool netem_settings_hold(const struct netem_settings *settings)
{
    return settings->latency_ns || settings->jitter_ns || settings->rate_bytes_per_s;
}

bool netem_needs_gate(const struct impairment *impairment)
{
    return impairment->cut_data || (impairment->duplicate_ppm && !impairment_cuts(impairment));
}

/* ---- counters ---- */

static void count_dropped(struct netem_ledger *ledger, uint32_t dropped)
{
    const struct impairment *now = &ledger->now;
    enum link_cause cause = impairment_cuts(now) ? CAUSE_CUT
                            : now->loss_ppm      ? CAUSE_LOSS
                                                 : CAUSE_RATE;
    if (cause != CAUSE_RATE || now->rate_bits_per_s) /* else too many were held back */
        ledger->touched[cause] += dropped;
}

static void count_accepted(struct netem_ledger *ledger, uint32_t accepted, uint32_t reordered)
{
    const struct impairment *now = &ledger->now;
    if (now->delay_ns || now->jitter_ns)
        ledger->touched[CAUSE_DELAY] += accepted > reordered ? accepted - reordered : 0;
    if (now->rate_bits_per_s)
        ledger->touched[CAUSE_RATE] += accepted;
    ledger->touched[CAUSE_REORDER] += reordered;
}

/* Copies are what came to the qdisc beyond what came to the gate, cut data what is missing there.
 * Where both are, they hide each other. */
static void count_gate(struct netem_ledger *ledger, const struct gate_reading *gate,
                       uint32_t accepted)
{
    uint32_t arrived = gate->arrived - ledger->last_gate.arrived;
    if (ledger->now.cut_data && arrived > accepted)
        ledger->touched[CAUSE_CUT_DATA] += arrived - accepted;
    if (ledger->now.duplicate_ppm && !impairment_cuts(&ledger->now) && accepted > arrived)
        ledger->touched[CAUSE_DUPLICATE] += accepted - arrived;
    ledger->last_gate = *gate;
}

void netem_ledger_read(struct netem_ledger *ledger, const struct netem_reading *reading,
                       const struct gate_reading *gate)
{
    const struct netem_reading *last = &ledger->last;
    uint32_t dropped = reading->dropped - last->dropped;
    uint32_t reordered = reading->reordered - last->reordered;
    uint32_t accepted = reading->sent + reading->queued - last->sent - last->queued;
    count_dropped(ledger, dropped);
    if (!impairment_cuts(&ledger->now))
        count_accepted(ledger, accepted, reordered);
    if (gate)
        count_gate(ledger, gate, accepted + dropped);
    ledger->last = *reading;
}

void netem_ledger_replaced(struct netem_ledger *ledger)
{
    ledger->touched[CAUSE_CUT] += ledger->last.queued;
    ledger->last = (struct netem_reading){0};
}
