/* `coup bench inject`: from the moment a partition is asked for until the network says that it
 * holds, and how long the network itself took from its first link to its last; by each backend, and
 * by tc as a script would run it. */
#define _GNU_SOURCE /* unshare */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

#include "base/units.h"
#include "controller/bench.h"
#include "controller/bench/inject_tc.h"
#include "controller/grid.h"
#include "controller/output.h"
#include "controller/programs.h"
#include "controller/sandbox.h"
#include "nemesis/network/backend.h"
#include "nemesis/shape.h"
#include "nodes/address.h"
#include "nodes/clock.h"

#define NETWORK 0x0a4d0000u /* 10.77.0.0: namespaces of our own, nobody else is there */
#define ROUNDS_MAX 100000

struct bench {
    uv_loop_t loop;
    const struct network_backend *backend;
    struct network *network;
    struct endpoint endpoints[NODES_MAX];
    uint32_t nodes;
    uint64_t answered; /* ticket */
    uint64_t answer_ns, took_ns;
    struct error failure; /* the latest, text empty: none */
};

static void on_answer(void *context, uint64_t ticket, const char *failure, uint64_t begin_ns,
                      uint64_t end_ns, uint64_t touched, const char *proof)
{
    struct bench *bench = context;
    (void)touched;
    (void)proof;
    bench->answer_ns = clock_true_ns();
    bench->took_ns = end_ns - begin_ns;
    bench->answered = ticket;
    if (failure)
        (void)error_set(&bench->failure, -EIO, "%s", failure);
}

/* ---- one measurement ---- */

/* A way to get links cut. */
struct way {
    const char *name, *backend;
    uint64_t rounds_max;
    int (*apply)(struct bench *bench, const struct injection *injection, struct error *error);
};

struct samples {
    uint64_t *answer_ns, *took_ns; /* one a round; owned */
};

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_network(struct bench *bench, const struct injection *injection, struct error *error)
{
    uint64_t ticket = bench->answered + 1;
    bench->backend->apply(bench->network, ticket, injection->links, injection->link_count);
    while (bench->answered != ticket)
        (void)uv_run(&bench->loop, UV_RUN_ONCE); /* an answer, or a failure, always comes */
    if (bench->failure.text[0] == '\0')
        return 0;
    *error = bench->failure;
    return -EIO;
}

static int by_tc(struct bench *bench, const struct injection *injection, bool batch,
                 struct error *error)
{
    uint64_t begin_ns = clock_true_ns();
    int rc = tc_apply(bench->endpoints, injection->links, injection->link_count, batch, error);
    bench->answer_ns = clock_true_ns();
    bench->took_ns = bench->answer_ns - begin_ns;
    return rc;
}

static int by_tc_batch(struct bench *bench, const struct injection *injection, struct error *error)
{
    return by_tc(bench, injection, true, error);
}

static int by_tc_each(struct bench *bench, const struct injection *injection, struct error *error)
{
    return by_tc(bench, injection, false, error);
}

static const struct way ways[] = {
    {"netem, packed netlink", "netem", ROUNDS_MAX, by_network},
    {"tc -batch, one a node", "netem", 10, by_tc_batch},
    {"tc, one a link", "netem", 1, by_tc_each},
    {"switch", "switch", ROUNDS_MAX, by_network},
};

#define WAYS (sizeof ways / sizeof ways[0])

static void clean(struct injection *injection)
{
    for (uint32_t i = 0; i < injection->link_count; i++)
        injection->links[i].impairment = (struct impairment){0};
}

static int measure(struct bench *bench, const struct way *way, uint64_t rounds,
                   struct samples *samples, struct error *error)
{
    struct random random;
    int rc = 0;
    random_init(&random, 1, "bench", 0);
    for (uint64_t round = 0; rc == 0 && round < rounds; round++) {
        struct injection halves = {0};
        node_set all = nodes_all(bench->nodes);
        node_set side = shape_side(&random, bench->nodes, all, bench->nodes / 2);
        shape_split(&halves, side, all & ~side, (struct impairment){.cut = true});
        uint64_t begin_ns = clock_true_ns();
        rc = way->apply(bench, &halves, error);
        samples->answer_ns[round] = bench->answer_ns - begin_ns;
        samples->took_ns[round] = bench->took_ns;
        clean(&halves);
        if (rc == 0 && round + 1 < rounds) /* the last goes with its network: tc takes minutes */
            rc = way->apply(bench, &halves, error);
        injection_release(&halves);
    }
    return rc;
}

/* ---- the network ---- */

/* We move on from one new namespace to the next; the descriptors keep those behind us. */
static int open_namespaces(struct bench *bench, struct error *error)
{
    for (uint32_t i = 0; i < bench->nodes; i++) {
        struct endpoint *endpoint = &bench->endpoints[i];
        endpoint->process = PROCESS_NUMBER(PROCESS_NODE, i + 1);
        endpoint->ipv4 = address_of(NETWORK, endpoint->process);
        if (unshare(CLONE_NEWNET) < 0)
            return error_set(error, -errno, "make a network namespace: %s", strerror(errno));
        endpoint->netns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        if (endpoint->netns < 0)
            return error_set(error, -errno, "open /proc/self/ns/net: %s", strerror(errno));
    }
    return 0;
}

static int open_network(struct bench *bench, const char *folder, struct error *error)
{
    const struct network_config config = {
        .endpoints = bench->endpoints,
        .endpoint_count = bench->nodes,
        .prefix_bits = ADDRESS_PREFIX_BITS,
        .program_folder = folder,
        .origin_ns = clock_true_ns(),
    };
    const struct network_listener listener = {.context = bench, .answer = on_answer};
    return bench->backend->open(&config, &bench->loop, &listener, &bench->network, error);
}

static void close_network(struct bench *bench)
{
    bench->backend->close(bench->network);
    (void)uv_run(&bench->loop, UV_RUN_DEFAULT); /* until its handles are closed */
    (void)uv_loop_close(&bench->loop);
    for (uint32_t i = 0; i < bench->nodes; i++)
        if (bench->endpoints[i].netns > 0)
            (void)close(bench->endpoints[i].netns);
}

static const struct grid_column columns[] = {
    {"nodes", false},  {"links", false},      {"by", false},      {"rounds", false},
    {"median", false}, {"99% within", false}, {"highest", false}, {"first to last link", false},
    {NULL, false},
};

static void report(struct bench *bench, const struct way *way, uint64_t rounds,
                   struct samples *samples, struct grid *grid)
{
    char median[UNIT_TEXT_MAX], most[UNIT_TEXT_MAX], highest[UNIT_TEXT_MAX], took[UNIT_TEXT_MAX];
    qsort(samples->answer_ns, rounds, sizeof(uint64_t), compare);
    qsort(samples->took_ns, rounds, sizeof(uint64_t), compare);
    grid_row(grid, 0);
    grid_cell(grid, "%u", bench->nodes);
    grid_cell(grid, "%u", 2 * (bench->nodes / 2) * (bench->nodes - bench->nodes / 2));
    grid_cell(grid, "%s", way->name);
    grid_cell(grid, "%" PRIu64, rounds);
    grid_cell(grid, "%s", human_duration(samples->answer_ns[rounds / 2], median));
    grid_cell(grid, "%s", human_duration(samples->answer_ns[rounds * 99 / 100], most));
    grid_cell(grid, "%s", human_duration(samples->answer_ns[rounds - 1], highest));
    grid_cell(grid, "%s", human_duration(samples->took_ns[rounds / 2], took));
}

static int bench_way(const struct way *way, uint32_t nodes, uint64_t rounds, const char *folder,
                     struct grid *grid, struct error *error)
{
    struct bench bench = {.backend = network_find(way->backend), .nodes = nodes};
    rounds = rounds < way->rounds_max ? rounds : way->rounds_max;
    int rc = uv_loop_init(&bench.loop);
    if (rc < 0)
        return error_set(error, rc, "event loop: %s", uv_strerror(rc));
    struct samples samples = {must_alloc(rounds, sizeof(uint64_t)),
                              must_alloc(rounds, sizeof(uint64_t))};
    rc = open_namespaces(&bench, error);
    if (rc == 0)
        rc = open_network(&bench, folder, error);
    if (rc == 0)
        rc = measure(&bench, way, rounds, &samples, error);
    if (rc == 0)
        report(&bench, way, rounds, &samples, grid);
    close_network(&bench);
    free(samples.answer_ns);
    free(samples.took_ns);
    return rc;
}

/* ---- the command ---- */

struct request {
    uint64_t rounds;
    struct text folder;
};

/* Each way for each size, but those that this machine cannot go; why not comes behind. */
static int bench_all(const struct request *request, struct text *out, struct error *error)
{
    static const uint32_t sizes[] = {5, 9, 25};
    struct grid grid = {.columns = columns};
    struct text missing = {0};
    int rc = 0;
    bool possible[WAYS];
    for (size_t way = 0; way < WAYS; way++) {
        struct error why;
        possible[way] = network_find(ways[way].backend)->probe(&why) == 0;
        if (!possible[way] && ways[way].apply == by_network) /* once for each network */
            text_add(&missing, "not measured: network %s: %s\n", ways[way].backend, why.text);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t way = 0; rc == 0 && way < WAYS; way++)
            if (possible[way])
                rc = bench_way(&ways[way], sizes[i], request->rounds, text_string(&request->folder),
                               &grid, error);
    grid_text(&grid, 0, false, out);
    text_add(out, "%s", text_string(&missing));
    grid_release(&grid);
    text_release(&missing);
    return rc;
}

/* In a sandbox, so that it needs no root and leaves nothing. */
static int inside(void *context, int outside_fd)
{
    struct text out = {0};
    struct error error;
    (void)outside_fd; /* the kernel ends us with the process outside */
    int rc = bench_all(context, &out, &error);
    if (rc == 0)
        rc = output_text(&out, &error);
    text_release(&out);
    if (rc >= 0)
        return EXIT_VALID;
    output_error(&error);
    return (int)error_exit_code(&error);
}

static int run(const struct command_line *line, struct error *error)
{
    struct request request = {.rounds = command_number(line, "rounds")};
    struct sandbox_exit exit = {0};
    int rc = programs_folder(&request.folder, error);
    if (rc == 0)
        rc = sandbox_run(inside, &request, &exit, error);
    text_release(&request.folder);
    if (rc == 0 && exit.signal)
        rc = error_set(error, -EINTR, "ended by signal %d", exit.signal);
    return rc < 0 ? rc : exit.status;
}

static const struct command_option options[] = {
    {"rounds", 'r', ARGUMENT_COUNT, "N", "500", 1, ROUNDS_MAX, NULL,
     "partitions to make and heal for each number of nodes"},
    {.name = NULL},
};

const struct command bench_inject = {
    .name = "inject",
    .summary =
        "cut a network of 5, 9 and 25 nodes in halves until it says so, by each way there is",
    .arguments = "",
    .options = options,
    .run = run,
};
