/* SIGKILL of the controller, outside or inside, at random moments: within a second nothing of the
 * run is left, and the history so far is checked like any other. Arguments: how many kills, and
 * instead of the second so many ms, for a machine inside a slow one. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/random.h"
#include "tests/program.h"
#include "tests/test.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define KILLED_WITHIN_MS 2500u

struct killing {
    struct program_bench bench;
    int kills;
    unsigned gone_within_ms;
};

static bool has_bytes(const struct program_bench *bench, const char *name)
{
    char path[256];
    struct stat file;
    (void)snprintf(path, sizeof path, "%s/%s", bench->folder, name);
    return stat(path, &file) == 0 && file.st_size > 0;
}

static void kill_one(const struct killing *killing, int number, struct random *random)
{
    const struct program_bench *bench = &killing->bench;
    char folder[32], history[64];
    (void)snprintf(folder, sizeof folder, "run-%d", number);
    (void)snprintf(history, sizeof history, "%s/history.coup", folder);
    pid_t pid = program_start(bench, "",
                              WORDS("run", "-t", "30s", "--every", "200ms", "-o", folder, "-q",
                                    "--faults", "kill,pause,partition"));
    bool outside = random_chance(random, 500000);
    uint64_t ms = random_below(random, KILLED_WITHIN_MS);
    pid_t inside = outside ? 0 : program_inside(bench, folder, pid);
    (void)usleep((useconds_t)(ms * 1000));
    (void)kill(outside || inside == 0 ? pid : inside, SIGKILL);
    int code = program_wait(pid, 4000 + killing->gone_within_ms);
    if (!program_nothing_left(bench, killing->gone_within_ms))
        fail_msg("%u things are left of run %d, whose %s was killed after %u ms",
                 program_left(bench), number, outside ? "outside" : "inside", (unsigned)ms);
    if (!outside && inside)
        assert_int_equal(code, EXIT_HARNESS);
    /* Killed before the first block: nothing to check. */
    if (!has_bytes(bench, history))
        return;
    code = program_run(bench, WORDS("check", history));
    if (code != EXIT_UNKNOWN) {
        struct text out = {0};
        (void)program_read(bench, "out", &out);
        fail_msg("run %d, killed after %u ms, is judged %d: %s", number, (unsigned)ms, code,
                 text_string(&out));
    }
}

static void test_killed_at_any_moment(void **state)
{
    const struct killing *killing = *state;
    struct random random;
    random_init(&random, 11, "kills", 0);
    for (int i = 0; i < killing->kills; i++)
        kill_one(killing, i, &random);
}

int main(int argc, char **argv)
{
    struct killing killing = {.kills = 50, .gone_within_ms = 1000};
    if (argc > 1)
        killing.kills = (int)strtol(argv[1], NULL, 10);
    if (argc > 2)
        killing.gone_within_ms = (unsigned)strtoul(argv[2], NULL, 10);
    if (!program_open(&killing.bench))
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_killed_at_any_moment, &killing),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&killing.bench);
    return failed;
}
