#include "tests/lab.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nodes/clock.h"
#include "tests/namespaces.h"
#include "tests/test.h"

void lab_on_answer(void *context, uint64_t ticket, const char *failure, uint64_t begin_ns,
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

void lab_on_note(void *context, const char *text)
{
    struct lab *lab = context;
    size_t used = strlen(lab->notes);
    (void)snprintf(lab->notes + used, sizeof lab->notes - used, "%s\n", text);
}

void lab_on_failed(void *context, const struct error *error)
{
    lab_on_note(context, error->text);
}

static void on_tick(uv_timer_t *timer)
{
    (void)timer; /* wakes the loop so that conditions are looked at */
}

/* Run the loop until `done` holds; fails the test after ten seconds. */
void lab_run_until(struct lab *lab, bool (*done)(struct lab *lab, const void *wanted),
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

bool lab_is_answered(struct lab *lab, const void *wanted)
{
    return lab->answered == *(const uint64_t *)wanted;
}

bool lab_has_note(struct lab *lab, const void *wanted)
{
    return strstr(lab->notes, wanted) != NULL;
}

uint64_t lab_ask(struct lab *lab, uint32_t from, uint32_t to, const char *text, bool counters)
{
    struct link_change change = {from, to, {0}};
    struct error error;
    uint64_t ticket = ++lab->last_ticket;
    assert_int_equal(impairment_parse(text, &change.impairment, &error), 0);
    (counters ? lab->backend->counters : lab->backend->apply)(lab->network, ticket, &change, 1);
    lab_run_until(lab, lab_is_answered, &ticket);
    return lab->touched;
}

void lab_impair(struct lab *lab, uint32_t from, uint32_t to, const char *text)
{
    (void)lab_ask(lab, from, to, text, false);
    assert_string_equal(lab->failure, "");
    assert_true(lab->begin_ns <= lab->end_ns);
}

uint64_t lab_touched(struct lab *lab, uint32_t from, uint32_t to, const char *causes)
{
    uint64_t count = lab_ask(lab, from, to, causes, true);
    assert_string_equal(lab->failure, "");
    return count;
}

/* ---- probes ---- */

struct packet {
    uint32_t number;
    uint64_t sent_ns;
};

static struct sockaddr_in address_of(uint32_t endpoint, uint16_t port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons(port),
                                .sin_addr.s_addr = htonl(LAB_BASE + endpoint + 1)};
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
    uint32_t delays, highest;
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
        probe->tally.overtaken += packet.number < probe->highest;
        if (packet.number > probe->highest)
            probe->highest = packet.number;
        probe->tally.arrived += !probe->seen[packet.number];
        probe->tally.twice += probe->seen[packet.number];
        probe->seen[packet.number] = 1;
        probe->delay_ns[probe->delays++] = clock_true_ns() - packet.sent_ns;
    }
    return true;
}

static struct tally tally_of(struct probe *probe)
{
    qsort(probe->delay_ns, probe->delays, sizeof probe->delay_ns[0], compare);
    probe->tally.least_ns = probe->delays ? probe->delay_ns[0] : 0;
    probe->tally.median_ns = probe->delays ? probe->delay_ns[probe->delays / 2] : 0;
    return probe->tally;
}

struct tally lab_probe(struct lab *lab, uint32_t from, uint32_t to, uint32_t count, int quiet_ms)
{
    struct probe *probe = must_alloc(1, sizeof *probe);
    struct sockaddr_in target = address_of(to, LAB_PORT);
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
            (void)take(lab->udp[to], 1, probe); /* and let the network keep up */
    }
    while (take(lab->udp[to], quiet_ms, probe))
        ;
    struct tally tally = tally_of(probe);
    free(probe);
    return tally;
}

struct tally lab_collect(struct lab *lab, uint32_t to, int quiet_ms)
{
    struct probe *probe = must_alloc(1, sizeof *probe);
    while (take(lab->udp[to], quiet_ms, probe))
        ;
    struct tally tally = tally_of(probe);
    free(probe);
    return tally;
}

void lab_assert_all_pass(struct lab *lab)
{
    for (uint32_t from = 0; from < LAB_ENDPOINTS; from++)
        for (uint32_t to = 0; to < LAB_ENDPOINTS; to++)
            if (from != to)
                assert_int_equal(lab_probe(lab, from, to, 20, 200).arrived, 20);
}

/* ---- the lab ---- */

void lab_open_network(struct lab *lab, const char *folder)
{
    const struct network_config config = {
        .endpoints = lab->endpoints,
        .endpoint_count = LAB_ENDPOINTS,
        .prefix_bits = 24,
        .seed = 7,
        .program_folder = folder,
        .log_path = "/dev/stderr",
        .origin_ns = lab->origin_ns,
    };
    const struct network_listener listener = {lab, lab_on_answer, lab_on_note, lab_on_failed};
    struct error error;
    if (lab->backend->open(&config, &lab->loop, &listener, &lab->network, &error) < 0)
        fail_msg("%s", error.text);
}

#define UP_TRIES 100

/* A link carries nothing until the kernel has seen both its ends, which is a moment after they were
 * made; TCP sends again, datagrams are gone. */
static void wait_until_up(struct lab *lab)
{
    for (uint32_t from = 0; from < LAB_ENDPOINTS; from++)
        for (uint32_t to = 0; to < LAB_ENDPOINTS; to++) {
            int tries = 0;
            while (from != to && lab_probe(lab, from, to, 1, 50).arrived == 0)
                assert_true(++tries < UP_TRIES);
        }
}

struct lab *lab_open(const char *backend)
{
    struct lab *lab = must_alloc(1, sizeof *lab);
    assert_int_equal(uv_loop_init(&lab->loop), 0);
    lab->backend = network_find(backend);
    lab->origin_ns = clock_true_ns();
    for (uint32_t i = 0; i < LAB_ENDPOINTS; i++) {
        lab->endpoints[i] = (struct endpoint){PROCESS_NUMBER(PROCESS_NODE, i + 1), namespace_new(),
                                              LAB_BASE + i + 1};
        assert_true(lab->endpoints[i].netns >= 0);
    }
    lab_open_network(lab, PROGRAMS_FOLDER);
    for (uint32_t i = 0; i < LAB_ENDPOINTS; i++) {
        lab->udp[i] =
            namespace_socket(lab->endpoints[i].netns, SOCK_DGRAM, lab->endpoints[i].ipv4, LAB_PORT);
        assert_true(lab->udp[i] >= 0);
    }
    wait_until_up(lab);
    return lab;
}

bool lab_is_idle(struct lab *lab, const void *unused)
{
    (void)unused;
    uint32_t active = lab->loop.active_handles;
    return active == 1; /* lab_run_until()'s own timer */
}

void lab_close(struct lab *lab)
{
    lab->backend->close(lab->network);
    lab_run_until(lab, lab_is_idle, NULL);
    assert_int_equal(uv_loop_close(&lab->loop), 0); /* no handle was left open */
    for (uint32_t i = 0; i < LAB_ENDPOINTS; i++) {
        (void)close(lab->udp[i]);
        (void)close(lab->endpoints[i].netns);
    }
    free(lab);
}

/* ---- TCP ---- */

void lab_connect(struct lab *lab, int *ret_client, int *ret_server)
{
    uint16_t port = (uint16_t)(LAB_PORT + ++lab->connections);
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

bool lab_hears(int sock, int wait_ms)
{
    char bytes[64];
    struct pollfd fd = {.fd = sock, .events = POLLIN};
    return poll(&fd, 1, wait_ms) > 0 && recv(sock, bytes, sizeof bytes, 0) > 0;
}

void lab_check_cut_data(struct lab *lab)
{
    int client, server;
    lab_connect(lab, &client, &server);
    uint64_t before = lab_touched(lab, 0, 1, "cut-data");
    lab_impair(lab, 0, 1, "cut-data");
    assert_int_equal(send(client, "lost", 4, 0), 4);
    for (int i = 0; i < 20; i++) { /* what is sent the other way is acknowledged all the time */
        assert_int_equal(send(server, "heard", 5, 0), 5);
        assert_true(lab_hears(client, 500));
    }
    assert_false(lab_hears(server, 20));
    assert_true(lab_touched(lab, 0, 1, "cut-data") > before);
    lab_impair(lab, 0, 1, "");
    assert_true(lab_hears(server, 3000)); /* resent: nothing was lost for good */
    (void)close(client);
    (void)close(server);
}

void lab_check_dead_connections(struct lab *lab)
{
    int client, server;
    lab_connect(lab, &client, &server);
    lab_impair(lab, 0, 1, "cut");
    lab_impair(lab, 1, 0, "cut");
    assert_int_equal(send(client, "lost", 4, 0), 4);
    struct pollfd fd = {.fd = client, .events = POLLIN};
    assert_true(poll(&fd, 1, 8000) == 1 && (fd.revents & (POLLERR | POLLHUP)));
    lab_impair(lab, 0, 1, "");
    lab_impair(lab, 1, 0, "");
    (void)close(client);
    (void)close(server);
    lab_connect(lab, &client, &server);
    assert_int_equal(send(client, "again", 5, 0), 5);
    assert_true(lab_hears(server, 1000));
    (void)close(client);
    (void)close(server);
}
