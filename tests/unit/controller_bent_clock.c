/* The file by which libfaketime bends a clock: continuous when the rate changes, kept over a death,
 * set right at the end. Times are chosen, nothing runs. */
#include "controller/bent_clock.h"

#include "base/units.h"
#include "tests/test.h"

#define S ((int64_t)NS_PER_S)

static struct bent_clock started(bool monotonic, uint64_t now_ns)
{
    struct bent_clock clock;
    bent_clock_init(&clock, "/nowhere", monotonic);
    bent_clock_start(&clock, now_ns);
    return clock;
}

static void set(struct bent_clock *clock, int64_t step_ns, uint64_t rate_ppm, uint64_t now_ns)
{
    bent_clock_set(clock, &(struct clock_bend){step_ns, rate_ppm}, now_ns);
}

static void assert_says(const struct bent_clock *clock, const char *line)
{
    struct text text = {0};
    bent_clock_format(clock, &text);
    assert_string_equal(text_string(&text), line);
    text_release(&text);
}

static void test_steps_either_way(void **state)
{
    (void)state;
    struct bent_clock clock = started(false, 10 * NS_PER_S);
    assert_says(&clock, "+0.000000000 x1.000000\n");
    set(&clock, 5 * S, CLOCK_TRUE_PPM, 11 * NS_PER_S);
    assert_says(&clock, "+5.000000000 x1.000000\n");
    set(&clock, -3 * S / 2, CLOCK_TRUE_PPM, 12 * NS_PER_S);
    assert_says(&clock, "-1.500000000 x1.000000\n");
    set(&clock, 0, 2 * CLOCK_TRUE_PPM, 13 * NS_PER_S); /* this profile has no rate */
    assert_says(&clock, "+0.000000000 x1.000000\n");
    bent_clock_release(&clock);
}

/* Whatever rates follow one another, no change of rate is a jump, least of all back. */
static void test_rates_are_continuous(void **state)
{
    (void)state;
    static const uint64_t rates[] = {1100000, 900000, 2000000, 500000, 1000000, 1000001, 1500000};
    struct bent_clock clock = started(true, NS_PER_S);
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        uint64_t now_ns = (2 + 7 * i) * NS_PER_S;
        int64_t before_ns = bent_clock_ahead(&clock, now_ns);
        set(&clock, 123 * S, rates[i], now_ns); /* a monotonic clock takes no step */
        int64_t jump_ns = bent_clock_ahead(&clock, now_ns) - before_ns;
        assert_in_range(jump_ns, 0, 4 * NS_PER_MS);
        int64_t gain_ns = bent_clock_ahead(&clock, now_ns + NS_PER_S) - before_ns - jump_ns;
        assert_in_range(gain_ns + S, rates[i] * 1000 - 1, rates[i] * 1000 + 1);
    }
    bent_clock_release(&clock);
}

static void test_a_clock_outlives_its_process(void **state)
{
    (void)state;
    struct bent_clock clock = started(true, NS_PER_S);
    set(&clock, 0, 1500000, 3 * NS_PER_S);
    int64_t ahead_ns = bent_clock_ahead(&clock, 9 * NS_PER_S);
    assert_int_equal(ahead_ns, 3 * S);
    bent_clock_start(&clock, 9 * NS_PER_S);
    assert_says(&clock, "+3.000000000 x1.500000\n");
    assert_int_equal(bent_clock_ahead(&clock, 11 * NS_PER_S), 4 * S);
    bent_clock_release(&clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_either_way),
        cmocka_unit_test(test_rates_are_continuous),
        cmocka_unit_test(test_a_clock_outlives_its_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
