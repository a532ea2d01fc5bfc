/* Many runs at once do not disturb each other: started in the same second with the same seed, each
 * has a folder of its own, none is judged invalid, none fails, nothing is left. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "tests/program.h"
#include "tests/test.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define RUNS 20
#define WITHIN_MS 100000u

static void test_at_once(void **state)
{
    const struct program_bench *bench = *state;
    pid_t pids[RUNS];
    int codes[RUNS], valid = 0;
    for (int i = 0; i < RUNS; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%d", i);
        pids[i] = program_start(bench, name,
                                WORDS("run", "-n", "3", "-t", "5s", "--seed", "9", "--faults",
                                      "kill,pause", "--every", "1s"));
    }
    for (int i = 0; i < RUNS; i++)
        codes[i] = program_wait(pids[i], WITHIN_MS);
    for (int i = 0; i < RUNS; i++) {
        char out_name[16], err_name[16];
        struct text out = {0}, err = {0};
        (void)snprintf(out_name, sizeof out_name, "out%d", i);
        (void)snprintf(err_name, sizeof err_name, "err%d", i);
        (void)program_read(bench, out_name, &out);
        (void)program_read(bench, err_name, &err);
        if (codes[i] != EXIT_VALID && codes[i] != EXIT_UNKNOWN)
            fail_msg("run %d ended with %d: %s%s", i, codes[i], text_string(&err),
                     text_string(&out));
        valid += codes[i] == EXIT_VALID;
        text_release(&out);
        text_release(&err);
    }
    (void)fprintf(stderr, "%d of %d valid\n", valid, RUNS);
    assert_true(valid >= RUNS / 2); /* starved, a fault may find nobody to hit: unknown */
    assert_true(program_nothing_left(bench, 1000));
}

int main(void)
{
    struct program_bench bench;
    if (!program_open(&bench))
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_at_once, &bench),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&bench);
    return failed;
}
