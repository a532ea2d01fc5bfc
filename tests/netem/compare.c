/* The same impairments on both backends: what a socket sees of them must agree, within what chance
 * and a busy machine explain. */
#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"
#include "tests/lab.h"
#include "tests/namespaces.h"
#include "tests/test.h"

#define SKIPPED 77
#define FRAMES 2000
#define SHARE_TOLERANCE 80 /* frames of FRAMES: four standard deviations of a half */
#define DELAY_TOLERANCE_NS (10 * NS_PER_MS)

static const struct {
    const char *impairment;
    uint32_t arrived, twice; /* of FRAMES */
    uint64_t delay_ns;       /* the least */
} rows[] = {
    {"", FRAMES, 0, 0},
    {"loss=10%", 1800, 0, 0},
    {"loss=50%", 1000, 0, 0},
    {"duplicate=25%", FRAMES, 500, 0},
    {"delay=40ms", FRAMES, 0, 40 * NS_PER_MS},
    {"delay=30ms,loss=20%,duplicate=10%", 1600, 160, 30 * NS_PER_MS},
    {"cut", 0, 0, 0},
};

#define ROWS (sizeof rows / sizeof rows[0])

static void measure(const char *backend, struct tally out[ROWS])
{
    struct lab *lab = lab_open(backend);
    for (size_t i = 0; i < ROWS; i++) {
        lab_impair(lab, 0, 1, rows[i].impairment);
        out[i] = lab_probe(lab, 0, 1, FRAMES, 300);
        print_message("%-7s %-36s %5u arrived %5u twice, least %6" PRIu64 " us\n", backend,
                      rows[i].impairment, out[i].arrived, out[i].twice, out[i].least_ns / 1000);
    }
    lab_close(lab);
}

static void assert_near(uint64_t value, uint64_t expected, uint64_t tolerance)
{
    assert_in_range(value, expected > tolerance ? expected - tolerance : 0, expected + tolerance);
}

static void test_the_backends_agree(void **unused)
{
    struct tally netem[ROWS], other[ROWS];
    (void)unused;
    measure("netem", netem);
    measure("switch", other);
    for (size_t i = 0; i < ROWS; i++) {
        const struct tally *both[] = {&netem[i], &other[i]};
        for (int b = 0; b < 2; b++) {
            assert_near(both[b]->arrived, rows[i].arrived, SHARE_TOLERANCE);
            assert_near(both[b]->twice, rows[i].twice, SHARE_TOLERANCE);
            if (rows[i].arrived) /* never early, and the first of many hardly late */
                assert_in_range(both[b]->least_ns, rows[i].delay_ns,
                                rows[i].delay_ns + DELAY_TOLERANCE_NS);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_backends_agree)};
    struct error error;
    if (!namespaces_allowed()) {
        (void)printf("skipped: this machine allows no user namespaces\n");
        return SKIPPED;
    }
    if (network_find("netem")->probe(&error) < 0 || network_find("switch")->probe(&error) < 0) {
        (void)printf("skipped: %s\n", error.text);
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
