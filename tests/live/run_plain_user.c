/* No root: the same runs in a user namespace, files that are the user's own, and one line that
 * names the fix where /dev/net/tun is closed. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/program.h"
#include "tests/test.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_tun_closed(void **state)
{
    struct program_bench *bench = *state;
    struct stat tun;
    assert_int_equal(stat("/dev/net/tun", &tun), 0);
    if ((tun.st_mode & 0006) == 0006)
        return; /* open to everybody here */
    bench->user = 12345;
    assert_int_equal(program_run(bench, WORDS("run", "-t", "1s")), EXIT_HARNESS);
    program_expect_line(bench, "chmod 0666 /dev/net/tun");
    bench->user = 0;
}

static void test_all_faults(void **state)
{
    struct program_bench *bench = *state;
    struct stat made;
    char path[256];
    program_as_plain_user(bench);
    int code = program_run(bench, WORDS("run", "-n", "3", "-t", "5s", "--every", "300ms",
                                        "--faults", "all", "--seed", "2", "-o", "mine"));
    if (code != EXIT_VALID) {
        struct text text = {0};
        (void)program_read(bench, "err", &text);
        (void)program_read(bench, "out", &text);
        fail_msg("%d: %s", code, text_string(&text));
    }
    assert_int_equal(program_left(bench), 0);
    (void)snprintf(path, sizeof path, "%s/mine/history.coup", bench->folder);
    assert_int_equal(stat(path, &made), 0);
    assert_int_equal(made.st_uid, bench->user);
}

int main(void)
{
    struct program_bench bench;
    if (geteuid() != 0 || !program_open(&bench))
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_tun_closed, &bench),
        cmocka_unit_test_prestate(test_all_faults, &bench),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&bench);
    return failed;
}
