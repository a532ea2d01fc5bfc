/* The switch backend on real namespaces: three of them, UDP and TCP between, every impairment as it
 * is seen by a socket, and the end of coup-switch. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <uv.h>

#include "nemesis/network/backend.h"
#include "nodes/clock.h"
#include "tests/namespaces.h"
#include "tests/test.h"

#define N 3
#define BASE 0x0a4d0700u /* 10.77.7.0 */
#define PORT 7000
#define SKIPPED 77

struct lab {
    uv_loop_t loop;
    const struct network_backend *backend;
    struct network *network;
    struct endpoint endpoints[N];
    int udp[N];
    uint64_t last_ticket;
    uint16_t connections;
    /* the latest answer */
    uint64_t answered;
    char failure[256], proof[256];
    uint64_t begin_ns, end_ns, touched, origin_ns;
    char notes[4096];
};

static void on_answer(void *context, uint64_t ticket, const char *failure, uint64_t begin_ns,
                      uint64_t end_ns, uint64_t touched, const char *proof)
{
    struct lab *lab = context;
    lab->answered = ticket;
    lab->begin_ns = begin_ns;
    lab->end_ns = end_ns;
    lab->touched = touched;
    (void)snprintf(lab->failure, sizeof lab->failure, "%s", failure ? failure : "");
    (void)snprintf(lab->proof, sizeof lab->proof, "%s", proof);
}

static void on_note(void *context, const char *text)
{
    struct lab *lab = context;
    size_t used = strlen(lab->notes);
    (void)snprintf(lab->notes + used, sizeof lab->notes - used, "%s\n", text);
}

static void on_failed(void *context, const struct error *error)
{
    on_note(context, error->text);
}

static void on_tick(uv_timer_t *timer)
{
    (void)timer; /* wakes the loop so that conditions are looked at */
}

/* Run the loop until `done` holds; fails the test after ten seconds. */
static void run_until(struct lab *lab, bool (*done)(struct lab *lab, const void *wanted),
                      const void *wanted)
{
    uv_timer_t timer;
    uint64_t deadline_ns = clock_true_ns() + 10 * NS_PER_S;
    (void)uv_timer_init(&lab->loop, &timer);
    (void)uv_timer_start(&timer, on_tick, 10, 10);
    bool held;
    while (!(held = done(lab, wanted)) && clock_true_ns() < deadline_ns)
        (void)uv_run(&lab->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&timer, NULL);
    (void)uv_run(&lab->loop, UV_RUN_NOWAIT);
    if (!held)
        fail_msg("waited in vain; notes: %s", lab->notes);
}

static bool is_answered(struct lab *lab, const void *wanted)
{
    return lab->answered == *(const uint64_t *)wanted;
}

static bool has_note(struct lab *lab, const void *wanted)
{
    return strstr(lab->notes, wanted) != NULL;
}

static uint64_t ask(struct lab *lab, uint32_t from, uint32_t to, const char *text, bool counters)
{
    struct link_change change = {from, to, {0}};
    struct error error;
    uint64_t ticket = ++lab->last_ticket;
    assert_int_equal(impairment_parse(text, &change.impairment, &error), 0);
    (counters ? lab->backend->counters : lab->backend->apply)(lab->network, ticket, &change, 1);
    run_until(lab, is_answered, &ticket);
    return lab->touched;
}

static void impair(struct lab *lab, uint32_t from, uint32_t to, const char *text)
{
    (void)ask(lab, from, to, text, false);
    assert_string_equal(lab->failure, "");
    assert_true(lab->begin_ns <= lab->end_ns);
}

static uint64_t touched(struct lab *lab, uint32_t from, uint32_t to, const char *causes)
{
    uint64_t count = ask(lab, from, to, causes, true);
    assert_string_equal(lab->failure, "");
    return count;
}

/* ---- probes ---- */

struct packet {
    uint32_t number;
    uint64_t sent_ns;
};

struct tally {
    uint32_t arrived, twice, late_order;
    uint64_t least_ns, median_ns;
};

static struct sockaddr_in address_of(uint32_t endpoint, uint16_t port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons(port),
                                .sin_addr.s_addr = htonl(BASE + endpoint + 1)};
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

#define PACKETS_MAX 4000

struct probe {
    uint8_t seen[PACKETS_MAX];
    uint64_t delay_ns[2 * PACKETS_MAX];
    uint32_t delays, last;
    struct tally tally;
};

/* Take what has arrived; wait at most `wait_ms` for the first. */
static bool take(int sock, int wait_ms, struct probe *probe)
{
    struct pollfd fd = {.fd = sock, .events = POLLIN};
    struct packet packet;
    if (poll(&fd, 1, wait_ms) <= 0)
        return false;
    while (recv(sock, &packet, sizeof packet, MSG_DONTWAIT) == (ssize_t)sizeof packet) {
        probe->tally.late_order += packet.number < probe->last;
        probe->last = packet.number;
        probe->tally.arrived += !probe->seen[packet.number];
        probe->tally.twice += probe->seen[packet.number];
        probe->seen[packet.number] = 1;
        probe->delay_ns[probe->delays++] = clock_true_ns() - packet.sent_ns;
    }
    return true;
}

/* Send packets and tell what came of them, `quiet_ms` after the last arrival. */
static struct tally probe_udp(struct lab *lab, uint32_t from, uint32_t to, uint32_t count,
                              int quiet_ms)
{
    struct probe *probe = must_alloc(1, sizeof *probe);
    struct sockaddr_in target = address_of(to, PORT);
    assert_true(count <= PACKETS_MAX);
    while (take(lab->udp[to], 0, probe))
        ;
    *probe = (struct probe){0};
    for (uint32_t i = 0; i < count; i++) {
        struct packet packet = {.number = i, .sent_ns = clock_true_ns()};
        assert_int_equal(sendto(lab->udp[from], &packet, sizeof packet, 0,
                                (struct sockaddr *)&target, sizeof target),
                         sizeof packet);
        if (i % 16 == 15)
            (void)take(lab->udp[to], 1, probe); /* and let the switch keep up */
    }
    while (take(lab->udp[to], quiet_ms, probe))
        ;
    qsort(probe->delay_ns, probe->delays, sizeof probe->delay_ns[0], compare);
    probe->tally.least_ns = probe->delays ? probe->delay_ns[0] : 0;
    probe->tally.median_ns = probe->delays ? probe->delay_ns[probe->delays / 2] : 0;
    struct tally tally = probe->tally;
    free(probe);
    return tally;
}

static void assert_all_pass(struct lab *lab)
{
    for (uint32_t from = 0; from < N; from++)
        for (uint32_t to = 0; to < N; to++)
            if (from != to)
                assert_int_equal(probe_udp(lab, from, to, 20, 200).arrived, 20);
}

/* ---- the lab ---- */

static void lab_open_network(struct lab *lab, const char *folder)
{
    const struct network_config config = {
        .endpoints = lab->endpoints,
        .endpoint_count = N,
        .prefix_bits = 24,
        .seed = 7,
        .program_folder = folder,
        .log_path = "/dev/stderr",
        .origin_ns = lab->origin_ns,
    };
    const struct network_listener listener = {lab, on_answer, on_note, on_failed};
    struct error error;
    if (lab->backend->open(&config, &lab->loop, &listener, &lab->network, &error) < 0)
        fail_msg("%s", error.text);
}

static int lab_open(void **state)
{
    struct lab *lab = must_alloc(1, sizeof *lab);
    *state = lab;
    assert_int_equal(uv_loop_init(&lab->loop), 0);
    lab->backend = network_find("switch");
    lab->origin_ns = clock_true_ns();
    for (uint32_t i = 0; i < N; i++) {
        lab->endpoints[i] =
            (struct endpoint){PROCESS_NUMBER(PROCESS_NODE, i + 1), namespace_new(), BASE + i + 1};
        assert_true(lab->endpoints[i].netns >= 0);
    }
    lab_open_network(lab, PROGRAMS_FOLDER);
    for (uint32_t i = 0; i < N; i++) {
        lab->udp[i] =
            namespace_socket(lab->endpoints[i].netns, SOCK_DGRAM, lab->endpoints[i].ipv4, PORT);
        assert_true(lab->udp[i] >= 0);
    }
    return 0;
}

static bool is_loop_empty(struct lab *lab, const void *unused)
{
    (void)unused;
    uint32_t active = lab->loop.active_handles;
    return active == 1; /* run_until()'s own timer */
}

static int lab_close(void **state)
{
    struct lab *lab = *state;
    lab->backend->close(lab->network);
    run_until(lab, is_loop_empty, NULL);
    assert_int_equal(uv_loop_close(&lab->loop), 0); /* no handle was left open */
    for (uint32_t i = 0; i < N; i++) {
        (void)close(lab->udp[i]);
        (void)close(lab->endpoints[i].netns);
    }
    free(lab);
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
    assert_all_pass(lab);
    struct tally tally = probe_udp(lab, 0, 1, 1000, 200);
    assert_int_equal(tally.arrived, 1000);
    assert_int_equal(tally.twice, 0);
    print_message("one way, clean: least %" PRIu64 " us, median %" PRIu64 " us\n",
                  tally.least_ns / 1000, tally.median_ns / 1000);
}

static void test_cut_one_way(void **state)
{
    struct lab *lab = *state;
    uint64_t before = touched(lab, 0, 1, "cut");
    impair(lab, 0, 1, "cut");
    assert_int_equal(probe_udp(lab, 0, 1, 50, 100).arrived, 0);
    assert_int_equal(probe_udp(lab, 1, 0, 50, 200).arrived, 50);
    assert_int_equal(probe_udp(lab, 0, 2, 50, 200).arrived, 50);
    assert_int_equal(touched(lab, 0, 1, "cut") - before, 50);
    impair(lab, 0, 1, "");
    assert_all_pass(lab);
}

static void test_shares(void **state)
{
    struct lab *lab = *state;
    impair(lab, 0, 1, "loss=30%");
    struct tally tally = probe_udp(lab, 0, 1, 2000, 200);
    assert_in_range(tally.arrived, 1300, 1500);
    assert_int_equal(touched(lab, 0, 1, "loss=1%"), 2000 - tally.arrived);
    impair(lab, 0, 1, "duplicate=30%");
    tally = probe_udp(lab, 0, 1, 2000, 200);
    assert_int_equal(tally.arrived, 2000);
    assert_in_range(tally.twice, 500, 700);
    impair(lab, 0, 1, "corrupt=100%"); /* the receiver's checksum refuses every one */
    assert_int_equal(probe_udp(lab, 0, 1, 100, 100).arrived, 0);
    impair(lab, 0, 1, "");
    assert_all_pass(lab);
}

static void test_times(void **state)
{
    struct lab *lab = *state;
    impair(lab, 0, 1, "delay=50ms");
    struct tally tally = probe_udp(lab, 0, 1, 200, 500);
    assert_int_equal(tally.arrived, 200);
    assert_in_range(tally.least_ns, 50 * NS_PER_MS, 60 * NS_PER_MS);
    print_message("delay 50 ms: least %" PRIu64 " us, median %" PRIu64 " us\n",
                  tally.least_ns / 1000, tally.median_ns / 1000);
    assert_true(probe_udp(lab, 1, 0, 20, 200).least_ns < 10 * NS_PER_MS); /* one way only */
    impair(lab, 0, 1, "delay=20ms,jitter=20ms");
    tally = probe_udp(lab, 0, 1, 500, 500);
    assert_int_equal(tally.arrived, 500);
    assert_true(tally.late_order > 50);
    impair(lab, 0, 1, "rate=100kbit"); /* 58 bytes of frame take 4.64 ms */
    tally = probe_udp(lab, 0, 1, 20, 500);
    assert_int_equal(tally.arrived, 20);
    assert_in_range(tally.median_ns, 30 * NS_PER_MS, 120 * NS_PER_MS);
    impair(lab, 0, 1, "");
    assert_all_pass(lab);
}

/* ---- TCP ---- */

static void connect_pair(struct lab *lab, int *ret_client, int *ret_server)
{
    uint16_t port = (uint16_t)(PORT + ++lab->connections);
    struct sockaddr_in target = address_of(1, port);
    int listener =
        namespace_socket(lab->endpoints[1].netns, SOCK_STREAM, lab->endpoints[1].ipv4, port);
    assert_int_equal(listen(listener, 1), 0);
    *ret_client = namespace_socket(lab->endpoints[0].netns, SOCK_STREAM, lab->endpoints[0].ipv4, 0);
    assert_int_equal(connect(*ret_client, (struct sockaddr *)&target, sizeof target), 0);
    *ret_server = accept(listener, NULL, NULL);
    assert_true(*ret_server >= 0);
    (void)close(listener);
}

static bool hears(int sock, int wait_ms)
{
    char bytes[64];
    struct pollfd fd = {.fd = sock, .events = POLLIN};
    return poll(&fd, 1, wait_ms) > 0 && recv(sock, bytes, sizeof bytes, 0) > 0;
}

static void test_cut_data_keeps_the_other_direction(void **state)
{
    struct lab *lab = *state;
    int client, server;
    connect_pair(lab, &client, &server);
    impair(lab, 0, 1, "cut-data");
    assert_int_equal(send(client, "lost", 4, 0), 4);
    for (int i = 0; i < 20; i++) { /* what is sent the other way is acknowledged all the time */
        assert_int_equal(send(server, "heard", 5, 0), 5);
        assert_true(hears(client, 500));
    }
    assert_false(hears(server, 20));
    assert_true(touched(lab, 0, 1, "cut-data") > 0);
    impair(lab, 0, 1, "");
    assert_true(hears(server, 3000)); /* resent: nothing was lost for good */
    (void)close(client);
    (void)close(server);
}

/* The profile of the namespaces: a connection whose peer cannot be reached is given up in seconds.
 */
static void test_dead_connections_are_noticed(void **state)
{
    struct lab *lab = *state;
    int client, server;
    connect_pair(lab, &client, &server);
    impair(lab, 0, 1, "cut");
    impair(lab, 1, 0, "cut");
    assert_int_equal(send(client, "lost", 4, 0), 4);
    struct pollfd fd = {.fd = client, .events = POLLIN};
    assert_true(poll(&fd, 1, 8000) == 1 && (fd.revents & (POLLERR | POLLHUP)));
    impair(lab, 0, 1, "");
    impair(lab, 1, 0, "");
    (void)close(client);
    (void)close(server);
    connect_pair(lab, &client, &server);
    assert_int_equal(send(client, "again", 5, 0), 5);
    assert_true(hears(server, 1000));
    (void)close(client);
    (void)close(server);
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

/* ---- the end of coup-switch ---- */

static void test_a_killed_switch_is_replaced(void **state)
{
    struct lab *lab = *state;
    int client, server;
    pid_t killed = switch_pid();
    connect_pair(lab, &client, &server);
    impair(lab, 0, 2, "cut");
    assert_true(killed > 0);
    lab->notes[0] = '\0';
    uint64_t begin_ns = clock_true_ns();
    assert_int_equal(kill(killed, SIGKILL), 0);
    run_until(lab, has_note, "coup-switch passes frames");
    print_message("replaced after %" PRIu64 " us\n", (clock_true_ns() - begin_ns) / 1000);
    assert_non_null(strstr(lab->notes, "coup-switch ended (signal 9)"));
    assert_true(switch_pid() != killed);
    assert_int_equal(probe_udp(lab, 0, 2, 20, 100).arrived, 0); /* the matrix was taken over */
    assert_int_equal(probe_udp(lab, 2, 0, 20, 200).arrived, 20);
    assert_int_equal(send(client, "still", 5, 0), 5); /* same interfaces: connections live on */
    assert_true(hears(server, 2000));
    assert_int_equal(touched(lab, 0, 2, "cut"), 20);
    impair(lab, 0, 2, "");
    assert_all_pass(lab);
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
    run_until(lab, is_answered, &ticket);
    assert_string_equal(lab->failure, "");
    assert_int_equal(probe_udp(lab, 1, 2, 20, 100).arrived, 0);
    impair(lab, 1, 2, "");
    assert_all_pass(lab);
}

static void test_a_switch_that_keeps_dying_is_given_up(void **state)
{
    struct lab *lab = *state;
    for (int i = 0; i < 10 && !strstr(lab->notes, "down for good"); i++) {
        pid_t pid = switch_pid();
        lab->notes[0] = '\0';
        assert_true(pid > 0);
        assert_int_equal(kill(pid, SIGKILL), 0);
        run_until(lab, has_note, "coup-switch ended");
    }
    assert_non_null(strstr(lab->notes, "the network is down for good: coup-switch ended 5 times"));
    (void)ask(lab, 0, 1, "cut", false);
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
    run_until(lab, is_loop_empty, NULL);
    assert_int_equal(switch_pid(), 0);
    struct error error = {0};
    const struct network_config config = {.endpoints = lab->endpoints,
                                          .endpoint_count = N,
                                          .prefix_bits = 24,
                                          .program_folder = "/nowhere"};
    const struct network_listener listener = {lab, on_answer, on_note, on_failed};
    assert_true(lab->backend->open(&config, &lab->loop, &listener, &lab->network, &error) < 0);
    assert_non_null(strstr(error.text, "/nowhere/coup-switch"));
    assert_null(lab->network);
    run_until(lab, is_loop_empty, NULL);
    lab_open_network(lab, PROGRAMS_FOLDER); /* and it can be opened again */
    assert_all_pass(lab);
    assert_int_equal(namespace_call(lab->endpoints[0].netns, interfaces, NULL), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_cut_one_way),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_cut_data_keeps_the_other_direction),
        cmocka_unit_test(test_dead_connections_are_noticed),
        cmocka_unit_test(test_namespaces_are_tuned),
        cmocka_unit_test(test_a_killed_switch_is_replaced),
        cmocka_unit_test(test_requests_survive_the_switch),
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
    return cmocka_run_group_tests(tests, lab_open, lab_close);
}
