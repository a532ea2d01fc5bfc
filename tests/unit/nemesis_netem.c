/* Impairments as netem has them, and what its counters are taken to say. */
#include "nemesis/network/netem_settings.h"
#include "tests/test.h"

static struct impairment impairment(const char *text)
{
    struct impairment parsed;
    struct error error;
    assert_int_equal(impairment_parse(text, &parsed, &error), 0);
    return parsed;
}

static struct netem_settings settings(const char *text)
{
    const struct impairment parsed = impairment(text);
    return netem_settings_of(&parsed);
}

static void test_fields(void **unused)
{
    (void)unused;
    struct netem_settings clean = settings("");
    const struct netem_settings nothing = {.limit = NETEM_FRAMES_MAX};
    assert_true(netem_settings_equal(&clean, &nothing));
    assert_int_equal(settings("loss=100%").loss, UINT32_MAX);
    assert_int_equal(settings("loss=25%").loss, UINT32_MAX / 4);
    assert_int_equal(settings("duplicate=100%").duplicate, UINT32_MAX);
    assert_int_equal(settings("corrupt=50%").corrupt, UINT32_MAX / 2);
    assert_int_equal(settings("delay=50ms,jitter=7us").latency_ns, 50000000);
    assert_int_equal(settings("delay=50ms,jitter=7us").jitter_ns, 7000);
    assert_int_equal(settings("delay=1h").latency_ns, INT64_C(3600000000000));
    assert_int_equal(settings("jitter=1h").jitter_ns, INT32_MAX); /* the kernel has no more */
    assert_int_equal(settings("delay=1ms,reorder=50%").gap, 1);
    assert_int_equal(settings("delay=1ms").gap, 0);
    assert_int_equal(settings("rate=8mbit").rate_bytes_per_s, 1000000);
    assert_int_equal(settings("rate=1bit").rate_bytes_per_s, 1); /* 0 would be unlimited */
}

/* Beside a total loss a duplicate would get through, a delay would be pointless. */
static void test_a_cut_is_alone(void **unused)
{
    (void)unused;
    const struct netem_settings cut = settings("cut");
    const char *const others[] = {"cut-soft", "cut,duplicate=50%",
                                  "cut-soft,duplicate=50%,delay=1s",
                                  "cut,rate=9600bit,reorder=1%,corrupt=1%"};
    assert_int_equal(cut.loss, UINT32_MAX);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const struct netem_settings other = settings(others[i]);
        assert_true(netem_settings_equal(&cut, &other));
    }
    assert_int_equal(settings("loss=100%,duplicate=10%").loss, UINT32_MAX);
}

/* netem passes one of two copies of a frame that is lost and doubled at once. */
static void test_loss_beside_duplicates(void **unused)
{
    (void)unused;
    for (uint32_t loss = 1; loss <= 50; loss += 7)
        for (uint32_t duplicate = 0; duplicate <= 50; duplicate += 10) {
            const struct impairment both = {.loss_ppm = loss * 10000,
                                            .duplicate_ppm = duplicate * 10000};
            struct netem_settings set = netem_settings_of(&both);
            double lost = (double)set.loss / UINT32_MAX * (1 - (double)set.duplicate / UINT32_MAX);
            assert_true(lost > loss / 100.0 - 1e-4 && lost < loss / 100.0 + 1e-4);
        }
}

static void test_a_thin_link_holds_half_a_second(void **unused)
{
    (void)unused;
    assert_int_equal(settings("rate=240kbit").limit, 100); /* 15 kB of frames of 150 bytes */
    assert_int_equal(settings("rate=9600bit").limit, 4);
    assert_int_equal(settings("rate=1gbit").limit, NETEM_FRAMES_MAX);
    const struct netem_settings thin = settings("rate=1mbit"), lossy = settings("loss=1%");
    assert_true(netem_settings_hold(&thin));
    assert_false(netem_settings_hold(&lossy));
}

/* ---- counters ---- */

static struct netem_ledger ledger_of(const char *text)
{
    return (struct netem_ledger){.now = impairment(text)};
}

static void test_drops_by_cause(void **unused)
{
    (void)unused;
    static const struct {
        const char *impairment;
        enum link_cause cause;
    } rows[] = {{"cut", CAUSE_CUT},
                {"cut-soft,loss=1%", CAUSE_CUT},
                {"loss=1%", CAUSE_LOSS},
                {"loss=1%,rate=1kbit", CAUSE_LOSS},
                {"rate=1kbit", CAUSE_RATE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct netem_ledger ledger = ledger_of(rows[i].impairment);
        const struct netem_reading first = {.dropped = 7}, second = {.dropped = 10};
        netem_ledger_read(&ledger, &first, NULL);
        netem_ledger_read(&ledger, &second, NULL);
        for (int cause = 0; cause < CAUSES; cause++)
            assert_int_equal(ledger.touched[cause], cause == (int)rows[i].cause ? 10 : 0);
    }
    struct netem_ledger clean = ledger_of("delay=1ms"); /* an overflow is nobody's */
    const struct netem_reading overflow = {.dropped = 9};
    netem_ledger_read(&clean, &overflow, NULL);
    for (int cause = 0; cause < CAUSES; cause++)
        assert_int_equal(clean.touched[cause], 0);
}

static void test_what_is_held_counts_once(void **unused)
{
    (void)unused;
    struct netem_ledger ledger = ledger_of("delay=1ms,reorder=1%");
    const struct netem_reading held = {.sent = 5, .queued = 3, .reordered = 2};
    const struct netem_reading left = {.sent = 8, .queued = 0, .reordered = 2};
    netem_ledger_read(&ledger, &held, NULL);
    netem_ledger_read(&ledger, &left, NULL);
    assert_int_equal(ledger.touched[CAUSE_DELAY], 6);
    assert_int_equal(ledger.touched[CAUSE_REORDER], 2);
    ledger.now = impairment("");
    const struct netem_reading more = {.sent = 100, .queued = 0, .reordered = 2};
    netem_ledger_read(&ledger, &more, NULL);
    assert_int_equal(ledger.touched[CAUSE_DELAY], 6);
}

static void test_counters_wrap(void **unused)
{
    (void)unused;
    struct netem_ledger ledger = ledger_of("cut");
    ledger.last = (struct netem_reading){.dropped = UINT32_MAX, .sent = UINT32_MAX};
    const struct netem_reading wrapped = {.dropped = 4, .sent = 9};
    netem_ledger_read(&ledger, &wrapped, NULL);
    assert_int_equal(ledger.touched[CAUSE_CUT], 5);
}

static void test_a_replaced_qdisc_loses_its_queue(void **unused)
{
    (void)unused;
    struct netem_ledger ledger = ledger_of("delay=1s");
    const struct netem_reading held = {.sent = 5, .queued = 3, .dropped = 1};
    netem_ledger_read(&ledger, &held, NULL);
    netem_ledger_replaced(&ledger);
    assert_int_equal(ledger.touched[CAUSE_CUT], 3);
    ledger.now = impairment("cut");
    const struct netem_reading fresh = {.dropped = 2};
    netem_ledger_read(&ledger, &fresh, NULL);
    assert_int_equal(ledger.touched[CAUSE_CUT], 5);
}

static void test_the_gate_tells_copies_and_data(void **unused)
{
    (void)unused;
    struct netem_ledger doubled = ledger_of("duplicate=50%,loss=1%");
    struct netem_ledger cut_off = ledger_of("cut-data,loss=1%");
    const struct gate_reading gate = {.arrived = 100};
    const struct netem_reading more = {.sent = 110, .queued = 3, .dropped = 4};
    const struct netem_reading fewer = {.sent = 70, .queued = 3, .dropped = 4};
    netem_ledger_read(&doubled, &more, &gate);
    assert_int_equal(doubled.touched[CAUSE_DUPLICATE], 17);
    netem_ledger_read(&cut_off, &fewer, &gate);
    assert_int_equal(cut_off.touched[CAUSE_CUT_DATA], 23);
    const struct gate_reading later = {.arrived = 120}; /* on their way to the qdisc */
    netem_ledger_read(&doubled, &more, &later);
    assert_int_equal(doubled.touched[CAUSE_DUPLICATE], 17);
    struct impairment needs = impairment("cut-data"), cut = impairment("cut,duplicate=1%");
    assert_true(netem_needs_gate(&needs));
    assert_false(netem_needs_gate(&cut));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_a_cut_is_alone),
        cmocka_unit_test(test_loss_beside_duplicates),
        cmocka_unit_test(test_a_thin_link_holds_half_a_second),
        cmocka_unit_test(test_drops_by_cause),
        cmocka_unit_test(test_what_is_held_counts_once),
        cmocka_unit_test(test_counters_wrap),
        cmocka_unit_test(test_a_replaced_qdisc_loses_its_queue),
        cmocka_unit_test(test_the_gate_tells_copies_and_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
