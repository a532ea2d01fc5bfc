/* The registry of faults: what every entry must have, and how users name them. */
#include <string.h>

#include "base/units.h"
#include "nemesis/fault.h"
#include "tests/test.h"

#define SEEDS 300

static void test_every_fault_is_complete(void **state)
{
    (void)state;
    static const char *const taken[] = {"at",   "after",  "fault", "on",   "for",
                                        "seed", "repeat", "every", "loop", "steps"};
    for (int i = 0; faults[i]; i++) {
        const struct fault *fault = faults[i];
        struct option_values parameters;
        assert_true(fault->name && fault->summary && fault->group && fault->start);
        assert_true(fault->target_count > 0 && fault->nodes_min >= 1);
        assert_null(strchr(fault->name, '_'));
        assert_ptr_equal(fault_find(slice_of(fault->name)), fault);
        options_defaults(fault->parameters, &parameters);
        for (size_t j = 0; j < sizeof taken / sizeof taken[0]; j++)
            assert_true(options_find(fault->parameters, slice_of(taken[j])) < 0);
    }
}

static void test_drawn_parameters_are_within_bounds(void **state)
{
    (void)state;
    static const uint64_t timeouts[] = {NS_PER_MS, 300 * NS_PER_MS, 120 * NS_PER_S};
    for (int i = 0; faults[i]; i++)
        for (uint64_t seed = 0; faults[i]->plan && seed < 3 * SEEDS; seed++) {
            const struct fault_scale scale = {
                5, timeouts[seed % 3], seed % 2 ? 0 : 50000, TARGET_LEADER, NULL, 1};
            struct option_values drawn, parsed;
            struct random random;
            struct error error;
            struct text text = {0};
            random_init(&random, seed, "plan", 0);
            options_defaults(faults[i]->parameters, &drawn);
            faults[i]->plan(&random, &scale, &drawn);
            options_defaults(faults[i]->parameters, &parsed);
            options_format(faults[i]->parameters, &drawn, false, &text);
            assert_int_equal(options_parse(faults[i]->parameters, "parameter", text_string(&text),
                                           &parsed, &error),
                             0);
            assert_memory_equal(&parsed, &drawn, sizeof drawn);
            text_release(&text);
        }
}

static void parses_to(const char *text, const char *names, const char *formatted)
{
    const struct fault *kinds[FAULTS_MAX];
    uint32_t count;
    struct error error;
    struct text got = {0};
    assert_int_equal(faults_parse(text, kinds, &count, &error), 0);
    for (uint32_t i = 0; i < count; i++)
        text_add(&got, "%s%s", i ? "," : "", kinds[i]->name);
    if (names)
        assert_string_equal(text_string(&got), names);
    text_clear(&got);
    faults_format(kinds, count, &got);
    assert_string_equal(text_string(&got), formatted);
    text_release(&got);
}

static void test_faults_by_name_and_group(void **state)
{
    (void)state;
    parses_to("none", "", "");
    parses_to("pause,kill,pause", "kill,kill-during-write,crash-loop,term-stop,pause",
              "kill,pause");
    parses_to("halves,term-stop", "term-stop,halves", "term-stop,halves");
    parses_to("partition",
              "isolate-leader,isolate-one,halves,minority-third,majorities-ring,bridge,"
              "single-link,one-way,one-way-data,flapping",
              "partition");
    parses_to("link,loss", "loss,delay,jitter,duplicate,reorder,corrupt,rate", "link");
    parses_to("clock", "clock-step,clock-rate,clock-strobe", "clock");
    parses_to("disk", "power-loss,slow-fsync,disk-full,io-error,disk-stall", "disk");
    parses_to("disk-wipe,pause", "pause,disk-wipe", "pause,disk-wipe");
    parses_to("disk,disk-wipe", NULL, "disk,disk-wipe");
    parses_to("all", NULL, "kill,pause,cpu,partition,link,clock,disk,message,operator");
    parses_to("override", "force-leader", "override");
    static const char *const refused[] = {"", "kil", "kill,", ",kill", "none,kill", "kill,none"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const struct fault *kinds[FAULTS_MAX];
        uint32_t count = 77;
        struct error error;
        assert_true(faults_parse(refused[i], kinds, &count, &error) < 0);
        assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
        assert_int_equal(count, 77);
    }
}

static void test_what_cannot_be_had_is_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *asked, *left;
    } rows[] = {{"operator,kill", "kill,resign"}, {"transfer", "transfer"}, {"kill", "kill"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct fault *kinds[FAULTS_MAX];
        uint32_t count;
        struct error error;
        struct text left = {0};
        assert_int_equal(faults_parse(rows[i].asked, kinds, &count, &error), 0);
        faults_format(kinds, faults_without(kinds, count, FACILITY_TRANSFER), &left);
        assert_string_equal(text_string(&left), rows[i].left);
        text_release(&left);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_fault_is_complete),
        cmocka_unit_test(test_drawn_parameters_are_within_bounds),
        cmocka_unit_test(test_faults_by_name_and_group),
        cmocka_unit_test(test_what_cannot_be_had_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
