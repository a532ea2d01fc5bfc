/* The switch backend on real namespaces: three of them, UDP and TCP between, every impairment as it
 * is seen by a socket, and the end of coup-switch. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nodes/clock.h"
#include "tests/lab.h"
#include "tests/namespaces.h"
#include "tests/test.h"

#define SKIPPED 77

static int open_lab(void **state)
{
    *state = lab_open("switch");
    return 0;
}

static int close_lab(void **state)
{
    lab_close(*state);
    return 0;
}

/* The only child of ours of that name. */
static pid_t switch_pid(void)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    pid_t found = 0;
    assert_non_null(proc);
    while ((entry = readdir(proc))) {
        char path[300], line[256] = "", name[64], status;
        int pid, parent;
        (void)snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = fopen(path, "re");
        if (!file)
            continue;
        if (fgets(line, sizeof line, file) &&
            sscanf(line, "%d (%63[^)]) %c %d", &pid, name, &status, &parent) == 4 &&
            parent == getpid() && status != 'Z' && strcmp(name, "coup-switch") == 0)
            found = pid;
        (void)fclose(file);
    }
    (void)closedir(proc);
    return found;
}

/* ---- tests ---- */

static void test_clean(void **state)
{
    struct lab *lab = *state;
    lab_assert_all_pass(lab);
    struct tally tally = lab_probe(lab, 0, 1, 1000, 200);
    assert_int_equal(tally.arrived, 1000);
    assert_int_equal(tally.twice, 0);
    print_message("one way, clean: least %" PRIu64 " us, median %" PRIu64 " us\n",
                  tally.least_ns / 1000, tally.median_ns / 1000);
}

static void test_cut_one_way(void **state)
{
    struct lab *lab = *state;
    uint64_t before = lab_touched(lab, 0, 1, "cut");
    lab_impair(lab, 0, 1, "cut");
    assert_int_equal(lab_probe(lab, 0, 1, 50, 100).arrived, 0);
    assert_int_equal(lab_probe(lab, 1, 0, 50, 200).arrived, 50);
    assert_int_equal(lab_probe(lab, 0, 2, 50, 200).arrived, 50);
    assert_int_equal(lab_touched(lab, 0, 1, "cut") - before, 50);
    lab_impair(lab, 0, 1, "");
    lab_assert_all_pass(lab);
}

static void test_shares(void **state)
{
    struct lab *lab = *state;
    lab_impair(lab, 0, 1, "loss=30%");
    struct tally tally = lab_probe(lab, 0, 1, 2000, 200);
    assert_in_range(tally.arrived, 1300, 1500);
    assert_int_equal(lab_touched(lab, 0, 1, "loss=1%"), 2000 - tally.arrived);
    lab_impair(lab, 0, 1, "duplicate=30%");
    tally = lab_probe(lab, 0, 1, 2000, 200);
    assert_int_equal(tally.arrived, 2000);
    assert_in_range(tally.twice, 500, 700);
    lab_impair(lab, 0, 1, "corrupt=100%"); /* the receiver's checksum refuses every one */
    assert_int_equal(lab_probe(lab, 0, 1, 100, 100).arrived, 0);
    lab_impair(lab, 0, 1, "");
    lab_assert_all_pass(lab);
}

static void test_times(void **state)
{
    struct lab *lab = *state;
    lab_impair(lab, 0, 1, "delay=50ms");
    struct tally tally = lab_probe(lab, 0, 1, 200, 500);
    assert_int_equal(tally.arrived, 200);
    assert_in_range(tally.least_ns, 50 * NS_PER_MS, 60 * NS_PER_MS);
    print_message("delay 50 ms: least %" PRIu64 " us, median %" PRIu64 " us\n",
                  tally.least_ns / 1000, tally.median_ns / 1000);
    assert_true(lab_probe(lab, 1, 0, 20, 200).least_ns < 10 * NS_PER_MS); /* one way only */
    lab_impair(lab, 0, 1, "delay=20ms,jitter=20ms");
    tally = lab_probe(lab, 0, 1, 500, 500);
    assert_int_equal(tally.arrived, 500);
    assert_true(tally.overtaken > 50);
    lab_impair(lab, 0, 1, "rate=100kbit"); /* 58 bytes of frame take 4.64 ms */
    tally = lab_probe(lab, 0, 1, 20, 500);
    assert_int_equal(tally.arrived, 20);
    assert_in_range(tally.median_ns, 30 * NS_PER_MS, 120 * NS_PER_MS);
    lab_impair(lab, 0, 1, "");
    lab_assert_all_pass(lab);
}

static void test_cut_data_keeps_the_other_direction(void **state)
{
    lab_check_cut_data(*state);
}

/* The profile of the namespaces: a connection whose peer cannot be reached is given up in seconds.
 */
static void test_dead_connections_are_noticed(void **state)
{
    lab_check_dead_connections(*state);
}

static int read_setting(void *context)
{
    char text[32] = "";
    FILE *file = fopen(context, "re");
    if (!file)
        return -errno;
    char *got = fgets(text, sizeof text, file);
    (void)fclose(file);
    return got ? (int)strtol(text, NULL, 10) : -EIO;
}

static void test_namespaces_are_tuned(void **state)
{
    struct lab *lab = *state;
    static const struct {
        const char *path;
        int value;
    } settings[] = {{"/proc/sys/net/ipv4/tcp_syn_retries", 1},
                    {"/proc/sys/net/ipv4/tcp_retries2", 2},
                    {"/proc/sys/net/ipv4/tcp_keepalive_time", 1},
                    {"/proc/sys/net/ipv4/tcp_keepalive_intvl", 1},
                    {"/proc/sys/net/ipv4/tcp_keepalive_probes", 3}};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "%s", settings[i].path);
        assert_int_equal(namespace_call(lab->endpoints[0].netns, read_setting, path),
                         settings[i].value);
    }
}

static void test_tcp_can_be_left_alone(void **state)
{
    struct lab *lab = *state;
    int fresh = namespace_new(), left = namespace_new();
    struct endpoint endpoint = {PROCESS_NUMBER(PROCESS_NODE, 1), left, LAB_BASE + 1};
    const struct network_config config = {.endpoints = &endpoint,
                                          .endpoint_count = 1,
                                          .prefix_bits = 24,
                                          .tcp_as_kernel = true,
                                          .program_folder = PROGRAMS_FOLDER};
    const struct network_listener listener = {lab, lab_on_answer, lab_on_note, lab_on_failed};
    struct network *network;
    struct error error;
    uv_loop_t loop;
    char path[] = "/proc/sys/net/ipv4/tcp_retries2";
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(lab->backend->open(&config, &loop, &listener, &network, &error), 0);
    assert_int_equal(namespace_call(left, read_setting, path),
                     namespace_call(fresh, read_setting, path));
    lab->backend->close(network);
    (void)uv_run(&loop, UV_RUN_DEFAULT); /* until its switch has ended */
    assert_int_equal(uv_loop_close(&loop), 0);
    (void)close(fresh);
    (void)close(left);
}

/* ---- the end of coup-switch ---- */

static void test_a_killed_switch_is_replaced(void **state)
{
    struct lab *lab = *state;
    int client, server;
    pid_t killed = switch_pid();
    lab_connect(lab, &client, &server);
    lab_impair(lab, 0, 2, "cut");
    assert_true(killed > 0);
    lab->notes[0] = '\0';
    uint64_t begin_ns = clock_true_ns();
    assert_int_equal(kill(killed, SIGKILL), 0);
    lab_run_until(lab, lab_has_note, "coup-switch passes frames");
    print_message("replaced after %" PRIu64 " us\n", (clock_true_ns() - begin_ns) / 1000);
    assert_non_null(strstr(lab->notes, "coup-switch ended (signal 9)"));
    assert_true(switch_pid() != killed);
    assert_int_equal(lab_probe(lab, 0, 2, 20, 100).arrived, 0); /* the matrix was taken over */
    assert_int_equal(lab_probe(lab, 2, 0, 20, 200).arrived, 20);
    assert_int_equal(send(client, "still", 5, 0), 5); /* same interfaces: connections live on */
    assert_true(lab_hears(server, 2000));
    assert_int_equal(lab_touched(lab, 0, 2, "cut"), 20);
    lab_impair(lab, 0, 2, "");
    lab_assert_all_pass(lab);
    (void)close(client);
    (void)close(server);
}

/* What was asked while it lay dying is answered by its successor. */
static void test_requests_survive_the_switch(void **state)
{
    struct lab *lab = *state;
    assert_int_equal(kill(switch_pid(), SIGSTOP), 0);
    const struct link_change change = {1, 2, {.cut = true}};
    uint64_t ticket = ++lab->last_ticket;
    lab->backend->apply(lab->network, ticket, &change, 1);
    assert_int_equal(kill(switch_pid(), SIGKILL), 0);
    lab_run_until(lab, lab_is_answered, &ticket);
    assert_string_equal(lab->failure, "");
    assert_int_equal(lab_probe(lab, 1, 2, 20, 100).arrived, 0);
    lab_impair(lab, 1, 2, "");
    lab_assert_all_pass(lab);
}

/* One that hangs carries nothing and says nothing: it is replaced, and the time is noted as ours.
 */
static void test_a_hung_switch_is_replaced(void **state)
{
    struct lab *lab = *state;
    pid_t hung = switch_pid();
    lab->notes[0] = '\0';
    assert_int_equal(kill(hung, SIGSTOP), 0);
    lab_run_until(lab, lab_has_note, "coup-switch ended");
    assert_non_null(strstr(lab->notes, "stall 5"));
    assert_true(switch_pid() != hung);
    lab_assert_all_pass(lab);
}

static void test_a_switch_that_keeps_dying_is_given_up(void **state)
{
    struct lab *lab = *state;
    for (int i = 0; i < 10 && !strstr(lab->notes, "down for good"); i++) {
        pid_t pid = switch_pid();
        lab->notes[0] = '\0';
        assert_true(pid > 0);
        assert_int_equal(kill(pid, SIGKILL), 0);
        lab_run_until(lab, lab_has_note, "coup-switch ended");
    }
    assert_non_null(strstr(lab->notes, "the network is down for good: coup-switch ended 5 times"));
    (void)lab_ask(lab, 0, 1, "cut", false);
    assert_string_equal(lab->failure, "coup-switch does not run any more");
}

static int interfaces(void *context)
{
    (void)context;
    char line[256];
    int count = 0;
    FILE *file = fopen("/proc/self/net/dev", "re");
    while (file && fgets(line, sizeof line, file))
        count += strstr(line, "eth0:") != NULL;
    if (file)
        (void)fclose(file);
    return count;
}

/* The interfaces stay, for their namespaces to take along; whoever opens again finds them. */
static void test_close_ends_the_switch(void **state)
{
    struct lab *lab = *state;
    assert_int_equal(namespace_call(lab->endpoints[0].netns, interfaces, NULL), 1);
    lab->backend->close(lab->network);
    lab->network = NULL;
    lab_run_until(lab, lab_is_idle, NULL);
    assert_int_equal(switch_pid(), 0);
    struct error error = {0};
    const struct network_config config = {.endpoints = lab->endpoints,
                                          .endpoint_count = LAB_ENDPOINTS,
                                          .prefix_bits = 24,
                                          .program_folder = "/nowhere"};
    const struct network_listener listener = {lab, lab_on_answer, lab_on_note, lab_on_failed};
    assert_true(lab->backend->open(&config, &lab->loop, &listener, &lab->network, &error) < 0);
    assert_non_null(strstr(error.text, "/nowhere/coup-switch"));
    assert_null(lab->network);
    lab_run_until(lab, lab_is_idle, NULL);
    lab_open_network(lab, PROGRAMS_FOLDER); /* and it can be opened again */
    lab_assert_all_pass(lab);
    assert_int_equal(namespace_call(lab->endpoints[0].netns, interfaces, NULL), 1);
}

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN); /* as in coup: the switch may be gone when it is spoken to */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_cut_one_way),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_cut_data_keeps_the_other_direction),
        cmocka_unit_test(test_dead_connections_are_noticed),
        cmocka_unit_test(test_namespaces_are_tuned),
        cmocka_unit_test(test_tcp_can_be_left_alone),
        cmocka_unit_test(test_a_killed_switch_is_replaced),
        cmocka_unit_test(test_requests_survive_the_switch),
        cmocka_unit_test(test_a_hung_switch_is_replaced),
        cmocka_unit_test(test_a_switch_that_keeps_dying_is_given_up),
        cmocka_unit_test(test_close_ends_the_switch),
    };
    struct error error;
    if (!namespaces_allowed()) {
        (void)printf("skipped: this machine allows no user namespaces\n");
        return SKIPPED;
    }
    if (network_find("switch")->probe(&error) < 0) {
        (void)printf("skipped: %s\n", error.text);
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, open_lab, close_lab);
}
