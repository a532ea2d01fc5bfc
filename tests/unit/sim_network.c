/* The simulated network does to messages what nemesis/link.h says, as often as it says. */
#include "simulator/network.h"

#include "base/units.h"
#include "tests/test.h"

#define PACKETS 20000u
#define MIN_NS (100 * NS_PER_US)
#define MAX_NS (300 * NS_PER_US)

static const struct network_knobs plain = {MIN_NS, MAX_NS, 0, false};

struct counts {
    uint32_t lost, once, twice, late, overtaken;
    uint64_t shortest_ns, longest_ns;
};

/* Send PACKETS messages 1->2, one every millisecond. */
static struct counts send_many(struct sim_network *network, uint64_t every_ns, uint32_t bytes)
{
    struct counts counts = {.shortest_ns = UINT64_MAX};
    uint64_t newest = 0;
    for (uint32_t i = 0; i < PACKETS; i++) {
        struct sim_shipment shipment = {0, 1, bytes, i * every_ns};
        uint64_t arrivals[SIM_COPIES_MAX];
        uint32_t copies = sim_network_send(network, &shipment, arrivals);
        counts.lost += copies == 0;
        counts.once += copies == 1;
        counts.twice += copies == 2;
        if (copies == 0)
            continue;
        uint64_t took = arrivals[0] - shipment.now_ns;
        counts.shortest_ns = took < counts.shortest_ns ? took : counts.shortest_ns;
        counts.longest_ns = took > counts.longest_ns ? took : counts.longest_ns;
        counts.late += took > MAX_NS;
        counts.overtaken += arrivals[0] < newest;
        newest = arrivals[0] > newest ? arrivals[0] : newest;
    }
    return counts;
}

static struct counts send_under(struct impairment impairment, uint64_t every_ns, bool in_order)
{
    struct network_knobs knobs = plain;
    knobs.in_order = in_order;
    struct sim_network network;
    sim_network_init(&network, 3, 42, &knobs);
    struct link_change change = {0, 1, impairment};
    sim_network_change(&network, 0, &change);
    struct counts counts = send_many(&network, every_ns, 100);
    sim_network_release(&network);
    return counts;
}

static void assert_share(uint32_t count, uint32_t percent)
{
    assert_in_range(count, PACKETS / 100 * percent * 9 / 10, PACKETS / 100 * percent * 11 / 10);
}

static void clean_link_takes_the_base_latency(void **state)
{
    (void)state;
    struct counts counts = send_under((struct impairment){0}, NS_PER_MS, false);
    assert_int_equal(counts.once, PACKETS);
    assert_in_range(counts.shortest_ns, MIN_NS, MIN_NS + NS_PER_US);
    assert_in_range(counts.longest_ns, MAX_NS - NS_PER_US, MAX_NS);
}

static void cut_link_lets_nothing_pass_in_its_direction_only(void **state)
{
    (void)state;
    for (int data = 0; data <= 1; data++) {
        struct sim_network network;
        sim_network_init(&network, 3, 42, &plain);
        struct link_change change = {0, 1, {.cut = !data, .cut_data = data}};
        sim_network_change(&network, 0, &change);
        assert_int_equal(send_many(&network, NS_PER_MS, 100).lost, PACKETS);
        assert_int_equal(sim_network_touched(&network, &change), PACKETS);
        assert_int_equal(
            sim_network_touched(&network, &(struct link_change){0, 1, {.loss_ppm = 1}}), 0);
        struct sim_shipment back = {1, 0, 100, 0};
        uint64_t arrivals[SIM_COPIES_MAX];
        assert_int_equal(sim_network_send(&network, &back, arrivals), 1);
        change.impairment = (struct impairment){0};
        sim_network_change(&network, 0, &change);
        assert_int_equal(send_many(&network, NS_PER_MS, 100).once, PACKETS);
        sim_network_release(&network);
    }
}

static void loss_corruption_and_duplication_come_at_their_rates(void **state)
{
    (void)state;
    assert_share(send_under((struct impairment){.loss_ppm = 200000}, NS_PER_MS, false).lost, 20);
    assert_share(send_under((struct impairment){.corrupt_ppm = 50000}, NS_PER_MS, false).lost, 5);
    struct counts counts =
        send_under((struct impairment){.duplicate_ppm = 300000}, NS_PER_MS, true);
    assert_share(counts.twice, 30);
    assert_int_equal(counts.lost, 0);
}

static void delay_and_jitter_stay_within_their_bounds(void **state)
{
    (void)state;
    struct impairment impairment = {.delay_ns = 50 * NS_PER_MS, .jitter_ns = 20 * NS_PER_MS};
    struct counts counts = send_under(impairment, NS_PER_S, false);
    assert_in_range(counts.shortest_ns, 30 * NS_PER_MS + MIN_NS, 31 * NS_PER_MS);
    assert_in_range(counts.longest_ns, 69 * NS_PER_MS, 70 * NS_PER_MS + MAX_NS);
    impairment = (struct impairment){.delay_ns = NS_PER_MS, .jitter_ns = 20 * NS_PER_MS};
    counts = send_under(impairment, NS_PER_S, false);
    assert_in_range(counts.shortest_ns, MIN_NS, NS_PER_MS);
}

/* Two messages in one latency span overtake each other unless the link keeps order; the reorder
 * fault breaks order even then. */
static void order_is_kept_unless_reordered(void **state)
{
    (void)state;
    assert_true(send_under((struct impairment){0}, 50 * NS_PER_US, false).overtaken > 0);
    assert_int_equal(send_under((struct impairment){0}, 50 * NS_PER_US, true).overtaken, 0);
    struct impairment reorder = {.delay_ns = 10 * NS_PER_MS, .reorder_ppm = 250000};
    assert_share(send_under(reorder, NS_PER_MS, true).overtaken, 25);
}

static void limited_rate_queues_what_comes_too_fast(void **state)
{
    (void)state;
    struct impairment slow = {.rate_bits_per_s =
                                  8 * 100 * 1000}; /* 1,000 of our messages a second */
    struct counts counts = send_under(slow, 2 * NS_PER_MS, true);
    assert_in_range(counts.longest_ns, NS_PER_MS, NS_PER_MS + MAX_NS);
    counts = send_under(slow, NS_PER_MS / 2, true); /* twice as fast as it can */
    assert_in_range(counts.longest_ns, SIM_RATE_QUEUE_NS, SIM_RATE_QUEUE_NS + 2 * NS_PER_MS);
    assert_share(counts.lost, 49); /* the first 1,000 of 10,000 surplus ones still found place */
}

/* No message waits for a limit that is gone, and order holds. */
static void lifted_limit_holds_nothing_back(void **state)
{
    (void)state;
    struct network_knobs knobs = plain;
    knobs.in_order = true;
    struct sim_network network;
    sim_network_init(&network, 2, 42, &knobs);
    struct link_change thin = {0, 1, {.rate_bits_per_s = 8 * 1000}}; /* 100 ms for each message */
    struct link_change clean = {0, 1, {0}};
    struct sim_shipment shipment = {0, 1, 100, 0};
    uint64_t arrivals[SIM_COPIES_MAX];
    assert_true(sim_network_change(&network, 0, &thin) == UINT64_MAX);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(sim_network_send(&network, &shipment, arrivals), 1);
    assert_in_range(arrivals[0], 300 * NS_PER_MS, 300 * NS_PER_MS + MAX_NS);
    assert_int_equal(sim_network_change(&network, NS_PER_MS, &clean), NS_PER_MS + MAX_NS);
    assert_true(sim_network_change(&network, NS_PER_MS, &clean) == UINT64_MAX);
    shipment.now_ns = NS_PER_MS;
    assert_int_equal(sim_network_send(&network, &shipment, arrivals), 1);
    assert_int_equal(arrivals[0], NS_PER_MS + MAX_NS);
    sim_network_release(&network);
}

/* Fates are keyed: what happens on one link does not shift what happens on another. */
static void links_draw_independently(void **state)
{
    (void)state;
    struct sim_network a, b;
    sim_network_init(&a, 3, 7, &plain);
    sim_network_init(&b, 3, 7, &plain);
    (void)send_many(&b, NS_PER_MS, 100);
    for (uint32_t i = 0; i < 1000; i++) {
        struct sim_shipment shipment = {1, 2, 100, i};
        uint64_t first[SIM_COPIES_MAX], second[SIM_COPIES_MAX];
        assert_int_equal(sim_network_send(&a, &shipment, first), 1);
        assert_int_equal(sim_network_send(&b, &shipment, second), 1);
        assert_int_equal(first[0], second[0]);
    }
    sim_network_release(&a);
    sim_network_release(&b);
}

static void seeds_give_different_fates(void **state)
{
    (void)state;
    uint64_t arrivals[2][SIM_COPIES_MAX];
    for (uint64_t seed = 0; seed < 2; seed++) {
        struct sim_network network;
        sim_network_init(&network, 3, seed, &plain);
        struct sim_shipment shipment = {0, 1, 100, 0};
        (void)sim_network_send(&network, &shipment, arrivals[seed]);
        sim_network_release(&network);
    }
    assert_int_not_equal(arrivals[0][0], arrivals[1][0]);
}

static void large_clusters_have_no_matrix(void **state)
{
    (void)state;
    struct sim_network network;
    sim_network_init(&network, SIM_LINKS_ENDPOINTS_MAX + 1, 7, &plain);
    assert_null(network.links);
    assert_int_equal(send_many(&network, NS_PER_MS, 100).once, PACKETS);
    sim_network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_link_takes_the_base_latency),
        cmocka_unit_test(cut_link_lets_nothing_pass_in_its_direction_only),
        cmocka_unit_test(loss_corruption_and_duplication_come_at_their_rates),
        cmocka_unit_test(delay_and_jitter_stay_within_their_bounds),
        cmocka_unit_test(order_is_kept_unless_reordered),
        cmocka_unit_test(limited_rate_queues_what_comes_too_fast),
        cmocka_unit_test(lifted_limit_holds_nothing_back),
        cmocka_unit_test(links_draw_independently),
        cmocka_unit_test(seeds_give_different_fates),
        cmocka_unit_test(large_clusters_have_no_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
