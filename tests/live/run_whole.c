/* `coup run` from end to end: real processes, their network, faults, verdict, exit codes. */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/program.h"
#include "tests/test.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct program_bench *bench_of(void **state)
{
    return *state;
}

static void expect_output(const struct program_bench *bench, const char *name, const char *about)
{
    struct text text = {0};
    assert_true(program_read(bench, name, &text));
    if (!strstr(text_string(&text), about))
        fail_msg("'%s' was expected in %s: %s", about, name, text_string(&text));
    text_release(&text);
}

static bool exists(const struct program_bench *bench, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", bench->folder, name);
    return access(path, F_OK) == 0;
}

static void test_three_nodes_without_faults(void **state)
{
    const struct program_bench *bench = bench_of(state);
    assert_int_equal(program_run(bench, WORDS("run", "-n", "3", "-t", "1s", "--faults", "none")),
                     EXIT_VALID);
    expect_output(bench, "out", "VALID");
    expect_output(bench, "err", "seed ");
    assert_true(exists(bench, "coup-runs/latest/history.coup"));
    assert_true(exists(bench, "coup-runs/latest/verdict.json"));
    assert_true(exists(bench, "coup-runs/latest/logs/n3.log"));
    assert_int_equal(program_run(bench, WORDS("check", "coup-runs/latest/history.coup")),
                     EXIT_VALID);
    assert_int_equal(program_left(bench), 0);
}

/* Each group of faults by itself, then all together; every kind lands, in one process's history. */
static void test_faults_land(void **state)
{
    const struct program_bench *bench = bench_of(state);
    static const char *const groups[] = {"kill", "pause", "partition", "link", "all"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        int code = program_run(bench, WORDS("run", "-t", "4s", "--every", "300ms", "--seed", "5",
                                            "--faults", groups[i], "--quiet"));
        if (code != EXIT_VALID)
            expect_output(bench, "out", "not this");
        expect_output(bench, "out", "landed");
        assert_int_equal(program_left(bench), 0);
    }
}

/* The verdict on stdout, in verdict.json, in the history and by `coup check` is one and the same.
 */
static void test_json(void **state)
{
    const struct program_bench *bench = bench_of(state);
    static const char *const outputs[] = {"out", "one/verdict.json", "out"};
    assert_int_equal(program_run(bench, WORDS("run", "-n", "3", "-t", "500ms", "--faults", "none",
                                              "-o", "one", "--json", "--quiet")),
                     EXIT_VALID);
    json_t *read[3];
    for (int i = 0; i < 3; i++) {
        struct text text = {0};
        if (i == 2)
            assert_int_equal(program_run(bench, WORDS("check", "--json", "one/history.coup")), 0);
        assert_true(program_read(bench, outputs[i], &text));
        read[i] = json_loads(text_string(&text), 0, NULL);
        assert_non_null(read[i]);
        assert_string_equal(json_string_value(json_object_get(read[i], "verdict")), "valid");
        text_release(&text);
    }
    struct text err = {0};
    assert_true(program_read(bench, "err", &err));
    assert_string_equal(text_string(&err), "");
    text_release(&err);
    assert_true(json_equal(read[0], read[1]));
    assert_true(json_equal(json_object_get(read[0], "checks"), json_object_get(read[2], "checks")));
    assert_true(json_equal(json_object_get(read[0], "stats"), json_object_get(read[2], "stats")));
    for (int i = 0; i < 3; i++)
        json_decref(read[i]);
}

static void test_expectations(void **state)
{
    const struct program_bench *bench = bench_of(state);
    assert_int_equal(program_run(bench, WORDS("run", "-n", "3", "-t", "500ms", "--faults", "none",
                                              "-q", "--expect", "invalid")),
                     EXIT_INVALID);
    assert_int_equal(program_run(bench, WORDS("run", "-n", "3", "-t", "500ms", "--faults", "none",
                                              "-q", "--expect", "valid")),
                     EXIT_VALID);
}

/* A stop of the leader that nobody fences: the resource takes what a stale leader writes. */
static void test_unfenced_is_caught(void **state)
{
    const struct program_bench *bench = bench_of(state);
    int code = EXIT_INVALID;
    for (int seed = 1; seed <= 5 && code != EXIT_VALID; seed++) {
        char text[16];
        (void)snprintf(text, sizeof text, "%d", seed);
        code = program_run(bench, WORDS("run", "-n", "3", "-t", "5s", "--every", "500ms",
                                        "--faults", "pause", "--resource", "unfenced", "-q",
                                        "--seed", text, "--expect", "invalid:fencing-monotonic"));
    }
    assert_int_equal(code, EXIT_VALID);
}

/* Ctrl-C: heals, finishes, judges. */
static void test_interrupt(void **state)
{
    const struct program_bench *bench = bench_of(state);
    pid_t pid = program_start(bench, "",
                              WORDS("run", "-n", "3", "-t", "60s", "--faults", "pause", "--every",
                                    "100ms", "-o", "interrupted"));
    unsigned long until = program_now_ms() + 20000;
    while (!exists(bench, "interrupted/state/resource") && program_now_ms() < until)
        (void)usleep(10000);
    (void)usleep(1500000);
    (void)kill(pid, SIGINT);
    int code = program_wait(pid, 15000);
    assert_true(code == EXIT_VALID || code == EXIT_UNKNOWN);
    expect_output(bench, "out", "History");
    assert_true(exists(bench, "interrupted/verdict.json"));
    assert_int_equal(program_left(bench), 0);
}

/* While everything is still coming up: ended at once, judged as a run in which nothing happened. */
static void test_early_interrupt(void **state)
{
    const struct program_bench *bench = bench_of(state);
    for (unsigned ms = 0; ms < 200; ms += 20) {
        char folder[32];
        (void)snprintf(folder, sizeof folder, "early-%u", ms);
        pid_t pid = program_start(bench, "",
                                  WORDS("run", "-n", "3", "-t", "60s", "-o", folder, "--faults",
                                        ms % 40 ? "kill" : "all"));
        (void)program_inside(bench, folder, pid);
        (void)usleep(ms * 1000);
        (void)kill(pid, SIGTERM);
        int code = program_wait(pid, 15000);
        assert_true(code == EXIT_VALID || code == EXIT_UNKNOWN);
        assert_int_equal(program_left(bench), 0);
    }
}

int main(void)
{
    struct program_bench bench;
    if (!program_open(&bench))
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_three_nodes_without_faults, &bench),
        cmocka_unit_test_prestate(test_faults_land, &bench),
        cmocka_unit_test_prestate(test_json, &bench),
        cmocka_unit_test_prestate(test_expectations, &bench),
        cmocka_unit_test_prestate(test_unfenced_is_caught, &bench),
        cmocka_unit_test_prestate(test_interrupt, &bench),
        cmocka_unit_test_prestate(test_early_interrupt, &bench),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&bench);
    return failed;
}
