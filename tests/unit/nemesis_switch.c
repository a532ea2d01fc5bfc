/* The switch without descriptors: frames in, frames out, under every impairment. */
#include "nemesis/network/switch_core.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "nemesis/network/ethernet.h"
#include "tests/test.h"

#define ENDPOINTS 4
#define MS NS_PER_MS

/* ---- frames ---- */

static void put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

/* Ones' complement sum, RFC 1071. */
static uint32_t sum(const uint8_t *at, size_t length, uint32_t start)
{
    for (size_t i = 0; i < length; i++)
        start += (uint32_t)at[i] << (i % 2 ? 0 : 8);
    while (start >> 16)
        start = (start & 0xffff) + (start >> 16);
    return start;
}

static uint32_t transport_sum(const uint8_t *frame, uint32_t protocol, size_t length)
{
    return sum(frame + 34, length, sum(frame + 26, 8, protocol + (uint32_t)length));
}

/* An IPv4 frame with correct checksums; returns its length. `payload` bytes behind the header. */
static size_t make_frame(uint8_t *frame, uint32_t to, uint32_t protocol, size_t payload)
{
    size_t head = protocol == 6 ? 20 : 8, transport = head + payload;
    memset(frame, 0, 34 + transport);
    ethernet_address(to, frame);
    put16(frame + 12, 0x0800);
    frame[14] = 0x45;
    put16(frame + 16, (uint32_t)(20 + transport));
    frame[23] = (uint8_t)protocol;
    put16(frame + 24, ~sum(frame + 14, 20, 0) & 0xffff);
    if (protocol == 6)
        frame[46] = 0x50;
    else
        put16(frame + 38, (uint32_t)transport);
    for (size_t i = 0; i < payload; i++)
        frame[34 + head + i] = (uint8_t)(i * 7);
    put16(frame + (protocol == 6 ? 50 : 40), ~transport_sum(frame, protocol, transport) & 0xffff);
    return 34 + transport;
}

static void test_frame_targets(void **state)
{
    (void)state;
    uint8_t frame[14] = {0};
    for (uint32_t endpoint = 0; endpoint < 300; endpoint++) {
        ethernet_address(endpoint, frame);
        assert_int_equal(ethernet_target(frame, sizeof frame), endpoint);
    }
    assert_int_equal(ethernet_target(frame, 13), ETHERNET_NOBODY);
    memset(frame, 0xff, 6);
    assert_int_equal(ethernet_target(frame, sizeof frame), ETHERNET_EVERYBODY);
    frame[0] = 0x52;
    assert_int_equal(ethernet_target(frame, sizeof frame), ETHERNET_NOBODY);
}

static void test_tcp_payload_is_exact(void **state)
{
    (void)state;
    uint8_t frame[256];
    size_t length = make_frame(frame, 1, 6, 0);
    assert_false(ethernet_carries_data(frame, length));
    assert_false(ethernet_carries_data(frame, length + 6)); /* padding is no payload */
    length = make_frame(frame, 1, 6, 1);
    assert_true(ethernet_carries_data(frame, length));
    frame[46] = 0x60; /* an option word instead of the payload would need 4 bytes */
    assert_false(ethernet_carries_data(frame, length));
    length = make_frame(frame, 1, 6, 12);
    frame[46] = 0x80; /* 12 bytes of options: timestamps of a bare acknowledgement */
    assert_false(ethernet_carries_data(frame, length));
    length = make_frame(frame, 1, 17, 50);
    assert_false(ethernet_carries_data(frame, length));
    length = make_frame(frame, 1, 6, 10);
    put16(frame + 20, 0x2001); /* a later fragment has no header of its own */
    assert_true(ethernet_carries_data(frame, length));
}

static void test_any_bytes_are_survived(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 1, "test", 0);
    for (int i = 0; i < 20000; i++) {
        size_t length = random_below(&random, 80);
        uint8_t *frame = must_alloc(length ? length : 1, 1); /* exact, for the sanitizer */
        for (size_t at = 0; at < length; at++)
            frame[at] = (uint8_t)random_next(&random);
        if (length > 14 && i % 3) {
            put16(frame + 12, i % 3 == 1 ? 0x0800 : 0x86dd);
            frame[14] = (uint8_t)(i % 3 == 1 ? 0x45 + i % 4 : 0x60);
        }
        if (length > 23 && i % 2)
            frame[23] = 6;
        struct byte_range range = ethernet_payload(frame, length);
        assert_true(range.start <= length && range.length <= length - range.start);
        (void)ethernet_carries_data(frame, length);
        (void)ethernet_target(frame, length);
        free(frame);
    }
}

/* ---- the switch ---- */

struct sink {
    struct switch_core *core;
    uint64_t now_ns;
    uint32_t count[ENDPOINTS];
    uint8_t last[SWITCH_FRAME_BYTES_MAX];
    size_t last_length;
    uint64_t fate;        /* hash of what was delivered, when */
    uint32_t order[2000]; /* first payload word of the frames at endpoint 1 */
};

static void deliver(void *context, uint32_t to, const uint8_t *frame, size_t length)
{
    struct sink *sink = context;
    if (to == 1 && length > 44 && sink->count[1] < 2000)
        sink->order[sink->count[1]] = (uint32_t)frame[42] << 8 | frame[43];
    sink->count[to]++;
    memcpy(sink->last, frame, length);
    sink->last_length = length;
    sink->fate = mix64(sink->fate ^ sink->now_ns ^ (uint64_t)to << 56 ^ frame[43] ^ frame[42]);
}

static struct sink *sink_new(uint64_t seed)
{
    struct sink *sink = must_alloc(1, sizeof *sink);
    const struct switch_output output = {deliver, sink};
    sink->core = switch_core_new(ENDPOINTS, seed, &output);
    return sink;
}

static void sink_free(struct sink *sink)
{
    switch_core_free(sink->core);
    free(sink);
}

static void impair(struct sink *sink, uint32_t from, uint32_t to, const char *text)
{
    struct link_change change = {from, to, {0}};
    struct error error;
    assert_int_equal(impairment_parse(text, &change.impairment, &error), 0);
    switch_core_set(sink->core, &change);
}

static uint64_t touched(const struct sink *sink, uint32_t from, uint32_t to, const char *causes)
{
    struct link_change change = {from, to, {0}};
    struct error error;
    assert_int_equal(impairment_parse(causes, &change.impairment, &error), 0);
    return switch_core_touched(sink->core, &change);
}

/* `count` UDP frames from 0 to 1, one every `every_ns`, numbered in their payload. */
static void pour(struct sink *sink, uint32_t count, uint64_t every_ns)
{
    uint8_t frame[256];
    for (uint32_t i = 0; i < count; i++) {
        size_t length = make_frame(frame, 1, 17, 60);
        put16(frame + 42, i);
        (void)switch_core_due(sink->core, sink->now_ns);
        switch_core_frame(sink->core, sink->now_ns, 0, frame, length);
        sink->now_ns += every_ns;
    }
}

/* Let time pass until nothing is held back. */
static void drain(struct sink *sink)
{
    uint64_t next;
    while ((next = switch_core_due(sink->core, sink->now_ns)) != UINT64_MAX)
        sink->now_ns = next;
}

static void test_clean_links_deliver_at_once(void **state)
{
    (void)state;
    struct sink *sink = sink_new(1);
    pour(sink, 10, 0);
    assert_int_equal(sink->count[1], 10);
    assert_true(switch_core_due(sink->core, 0) == UINT64_MAX);
    assert_int_equal(switch_core_totals(sink->core).frames, 10);
    sink_free(sink);
}

static void test_strays_and_broadcasts(void **state)
{
    (void)state;
    struct sink *sink = sink_new(1);
    uint8_t frame[64] = {0};
    ethernet_address(ENDPOINTS, frame);
    switch_core_frame(sink->core, 0, 0, frame, sizeof frame);
    ethernet_address(0, frame); /* to itself */
    switch_core_frame(sink->core, 0, 0, frame, sizeof frame);
    switch_core_frame(sink->core, 0, 0, frame, 3);
    assert_int_equal(switch_core_totals(sink->core).strays, 3);
    memset(frame, 0xff, 6);
    impair(sink, 2, 0, "cut"); /* each copy is judged by its own link */
    switch_core_frame(sink->core, 0, 2, frame, sizeof frame);
    assert_int_equal(sink->count[0], 0);
    assert_int_equal(sink->count[1], 1);
    assert_int_equal(sink->count[2], 0);
    assert_int_equal(sink->count[3], 1);
    sink_free(sink);
}

static void test_cut_is_one_way(void **state)
{
    (void)state;
    struct sink *sink = sink_new(1);
    uint8_t frame[256];
    size_t length = make_frame(frame, 0, 17, 10);
    impair(sink, 0, 1, "cut");
    pour(sink, 20, 0);
    switch_core_frame(sink->core, 0, 1, frame, length);
    assert_int_equal(sink->count[1], 0);
    assert_int_equal(sink->count[0], 1);
    assert_int_equal(touched(sink, 0, 1, "cut"), 20);
    assert_int_equal(touched(sink, 0, 1, "loss=1%,delay=1ms"), 0);
    impair(sink, 0, 1, "");
    pour(sink, 5, 0);
    assert_int_equal(sink->count[1], 5);
    assert_int_equal(touched(sink, 0, 1, "cut"), 20); /* counters only grow */
    sink_free(sink);
}

static void test_cut_data_lets_acknowledgements_pass(void **state)
{
    (void)state;
    struct sink *sink = sink_new(1);
    uint8_t frame[256];
    impair(sink, 0, 1, "cut-data");
    switch_core_frame(sink->core, 0, 0, frame, make_frame(frame, 1, 6, 0));
    assert_int_equal(sink->count[1], 1);
    switch_core_frame(sink->core, 0, 0, frame, make_frame(frame, 1, 6, 1));
    assert_int_equal(sink->count[1], 1);
    assert_int_equal(touched(sink, 0, 1, "cut-data"), 1);
    sink_free(sink);
}

static void test_a_cut_is_hard(void **state)
{
    (void)state;
    struct sink *sink = sink_new(1);
    uint8_t frame[256];
    impair(sink, 0, 1, "delay=50ms");
    pour(sink, 30, 0);
    impair(sink, 0, 1, "cut,delay=50ms");
    assert_int_equal(touched(sink, 0, 1, "cut"), 30);
    impair(sink, 0, 1, "");
    drain(sink);
    assert_int_equal(sink->count[1], 0); /* nothing leaks, not even after the heal */
    impair(sink, 0, 1, "delay=50ms");
    switch_core_frame(sink->core, sink->now_ns, 0, frame, make_frame(frame, 1, 6, 0));
    switch_core_frame(sink->core, sink->now_ns, 0, frame, make_frame(frame, 1, 6, 9));
    impair(sink, 0, 1, "cut-data");
    drain(sink);
    assert_int_equal(sink->count[1], 1);
    assert_int_equal(touched(sink, 0, 1, "cut-data"), 1);
    assert_int_equal(switch_core_totals(sink->core).held, 0);
    assert_int_equal(switch_core_totals(sink->core).held_bytes, 0);
    sink_free(sink);
}

static void test_a_soft_cut_drains(void **state)
{
    (void)state;
    struct sink *sink = sink_new(1);
    impair(sink, 0, 1, "delay=50ms");
    pour(sink, 30, 0);
    impair(sink, 0, 1, "cut-soft");
    pour(sink, 20, 0);
    drain(sink);
    assert_int_equal(sink->count[1], 30); /* what was under way, and nothing new */
    assert_int_equal(touched(sink, 0, 1, "cut-soft"), 20);
    sink_free(sink);
}

static void test_shares(void **state)
{
    (void)state;
    struct sink *sink = sink_new(7);
    impair(sink, 0, 1, "loss=30%");
    pour(sink, 10000, 0);
    assert_in_range(sink->count[1], 6800, 7200);
    assert_int_equal(touched(sink, 0, 1, "loss=1%"), 10000 - sink->count[1]);
    sink->count[1] = 0;
    impair(sink, 0, 1, "duplicate=30%");
    pour(sink, 10000, 0);
    assert_in_range(sink->count[1], 12800, 13200);
    assert_int_equal(touched(sink, 0, 1, "duplicate=1%"), sink->count[1] - 10000);
    sink->count[1] = 0;
    impair(sink, 0, 1, "loss=100%");
    pour(sink, 100, 0);
    assert_int_equal(sink->count[1], 0);
    sink_free(sink);
}

static void test_delay_is_exact(void **state)
{
    (void)state;
    struct sink *sink = sink_new(1);
    impair(sink, 0, 1, "delay=50ms");
    pour(sink, 1, 0);
    assert_true(switch_core_due(sink->core, 0) == 50 * MS);
    assert_true(switch_core_due(sink->core, 50 * MS - 1) == 50 * MS);
    assert_int_equal(sink->count[1], 0);
    assert_true(switch_core_due(sink->core, 50 * MS) == UINT64_MAX);
    assert_int_equal(sink->count[1], 1);
    assert_int_equal(touched(sink, 0, 1, "delay=1ms"), 1);
    sink_free(sink);
}

static uint32_t out_of_order(const struct sink *sink)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < sink->count[1]; i++)
        count += sink->order[i] < sink->order[i - 1];
    return count;
}

static void test_order(void **state)
{
    (void)state;
    struct sink *sink = sink_new(3);
    impair(sink, 0, 1, "delay=50ms");
    pour(sink, 500, MS);
    drain(sink);
    assert_int_equal(sink->count[1], 500);
    assert_int_equal(out_of_order(sink), 0);
    sink->count[1] = 0;
    impair(sink, 0, 1, "delay=20ms,reorder=25%");
    pour(sink, 500, MS);
    drain(sink);
    assert_int_equal(sink->count[1], 500);
    assert_in_range(out_of_order(sink), 60, 200);
    assert_in_range(touched(sink, 0, 1, "delay=1ms,reorder=1%"), 90, 160);
    sink->count[1] = 0;
    impair(sink, 0, 1, "delay=10ms,jitter=10ms");
    uint64_t begin_ns = sink->now_ns;
    pour(sink, 500, MS);
    drain(sink);
    assert_true(out_of_order(sink) > 100);
    assert_true(sink->now_ns - begin_ns <= 520 * MS);
    sink_free(sink);
}

static void test_corruption_is_one_bit_that_checksums_notice(void **state)
{
    (void)state;
    struct sink *sink = sink_new(1);
    static const struct {
        uint32_t protocol;
        size_t payload;
    } kinds[] = {{6, 0}, {6, 1}, {6, 100}, {17, 0}, {17, 33}};
    impair(sink, 0, 1, "corrupt=100%");
    for (size_t i = 0; i < 500; i++) {
        uint8_t frame[256];
        uint32_t protocol = kinds[i % 5].protocol;
        size_t length = make_frame(frame, 1, protocol, kinds[i % 5].payload), flipped = 0;
        switch_core_frame(sink->core, 0, 0, frame, length);
        assert_int_equal(sink->last_length, length);
        for (size_t at = 0; at < length; at++)
            flipped += (size_t)__builtin_popcount(frame[at] ^ sink->last[at]);
        assert_int_equal(flipped, 1);
        assert_memory_equal(frame, sink->last, 34); /* the network header is whole */
        assert_int_equal(transport_sum(frame, protocol, length - 34), 0xffff);
        assert_int_not_equal(transport_sum(sink->last, protocol, length - 34), 0xffff);
    }
    assert_int_equal(touched(sink, 0, 1, "corrupt=1%"), 500);
    sink_free(sink);
}

static void test_rate(void **state)
{
    (void)state;
    struct sink *sink = sink_new(1);
    impair(sink, 0, 1, "rate=816kbit"); /* 102 bytes take a millisecond */
    pour(sink, 10, 0);
    assert_true(switch_core_due(sink->core, 0) == MS);
    drain(sink);
    assert_int_equal(sink->count[1], 10);
    assert_true(sink->now_ns == 10 * MS);
    assert_int_equal(out_of_order(sink), 0);
    pour(sink, 900, 0); /* what would wait longer than the queue allows is dropped */
    drain(sink);
    assert_in_range(sink->count[1], 10 + 500, 10 + 502);
    assert_int_equal(switch_core_totals(sink->core).overflow, 910 - sink->count[1]);
    assert_int_equal(touched(sink, 0, 1, "rate=1kbit"), 910);
    sink_free(sink);
}

static void test_what_is_held_back_is_bounded(void **state)
{
    (void)state;
    struct sink *sink = sink_new(1);
    impair(sink, 0, 1, "delay=1h");
    pour(sink, SWITCH_LINK_FRAMES_MAX + 500, 0);
    struct switch_totals totals = switch_core_totals(sink->core);
    assert_int_equal(totals.held, SWITCH_LINK_FRAMES_MAX);
    assert_int_equal(totals.overflow, 500);
    impair(sink, 0, 1, "cut");
    impair(sink, 0, 1, "delay=1h"); /* what was cut off does not count against the link */
    pour(sink, 10, 0);
    assert_int_equal(switch_core_totals(sink->core).overflow, 500);
    sink_free(sink);
}

/* ---- determinism ---- */

static uint64_t fate(uint64_t seed, const char *impairment)
{
    struct sink *sink = sink_new(seed);
    impair(sink, 0, 1, impairment);
    pour(sink, 300, MS);
    drain(sink);
    uint64_t result = sink->fate;
    sink_free(sink);
    return result;
}

static void test_same_seed_same_fate(void **state)
{
    (void)state;
    const char *all = "loss=10%,duplicate=10%,reorder=10%,corrupt=10%,delay=9ms,jitter=5ms";
    assert_true(fate(1, all) == fate(1, all));
    assert_true(fate(1, all) != fate(2, all));
}

/* Which frames are lost depends neither on other impairments nor on other links. */
static void test_faults_do_not_reshuffle_each_other(void **state)
{
    (void)state;
    static const char *const others[] = {"", ",duplicate=100%", ",delay=5ms,jitter=4ms,reorder=50%",
                                         ",rate=1gbit"};
    uint8_t arrived[4][300] = {{0}};
    for (int i = 0; i < 4; i++) {
        struct sink *sink = sink_new(5);
        struct text text = {0};
        text_add(&text, "loss=30%%%s", others[i]);
        impair(sink, 0, 1, text_string(&text));
        if (i % 2)
            impair(sink, 2, 3, "loss=50%");
        pour(sink, 300, MS);
        drain(sink);
        for (uint32_t at = 0; at < sink->count[1]; at++)
            arrived[i][sink->order[at]] = 1;
        assert_memory_equal(arrived[i], arrived[0], sizeof arrived[0]);
        text_release(&text);
        sink_free(sink);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frame_targets),
        cmocka_unit_test(test_tcp_payload_is_exact),
        cmocka_unit_test(test_any_bytes_are_survived),
        cmocka_unit_test(test_clean_links_deliver_at_once),
        cmocka_unit_test(test_strays_and_broadcasts),
        cmocka_unit_test(test_cut_is_one_way),
        cmocka_unit_test(test_cut_data_lets_acknowledgements_pass),
        cmocka_unit_test(test_a_cut_is_hard),
        cmocka_unit_test(test_a_soft_cut_drains),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_delay_is_exact),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_corruption_is_one_bit_that_checksums_notice),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_what_is_held_back_is_bounded),
        cmocka_unit_test(test_same_seed_same_fate),
        cmocka_unit_test(test_faults_do_not_reshuffle_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
