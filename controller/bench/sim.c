/* `coup bench sim`: how fast the simulator is, and how much of that its event queue takes. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <inttypes.h>
#include <sys/resource.h>
#include <time.h>

#include "base/units.h"
#include "controller/bench.h"
#include "controller/output.h"
#include "simulator/queue.h"
#include "simulator/sim.h"

/* Processor time: what another process takes of this core is not ours. */
static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static double per_second(uint64_t count, uint64_t ns)
{
    return (double)count * (double)NS_PER_S / (double)(ns ? ns : 1);
}

/* --- the queue alone: the hold model, one entry out and one in --- */

#define HOLDS UINT64_C(20000000)

static void bench_queue(uint32_t pending, struct text *out)
{
    struct queue queue = {0};
    struct random random;
    random_init(&random, 1, "bench", pending);
    for (uint32_t i = 0; i < pending; i++)
        queue_push(&queue, random_below(&random, NS_PER_MS), i, 0);
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < HOLDS; i++) {
        struct queued entry = queue_pop(&queue);
        queue_push(&queue, entry.time_ns + (random_next(&random) >> 44), entry.target, 0);
    }
    uint64_t took = now_ns() - start;
    queue_release(&queue);
    text_add(out, "queue alone, %-6" PRIu32 " pending %*s %6.2f million/s\n", pending, 16, "",
             per_second(HOLDS, took) / 1e6);
}

/* --- whole runs --- */

struct lap {
    const char *what;
    enum sim_record record;
    uint64_t heartbeat_ns, write_every_ns;
    uint32_t clients;
};

/* Ongaro's thesis measures elections at 150-300 ms with heartbeats of half the shortest timeout;
 * the other rows are coup's own defaults. One message in a hundred is lost. */
static const struct lap laps[] = {
    {"no history, heartbeat 75ms", SIM_BARE, 75 * NS_PER_MS, 100 * NS_PER_MS, 0},
    {"all checks, heartbeat 75ms", SIM_CHECK, 75 * NS_PER_MS, 100 * NS_PER_MS, 0},
    {"all checks + history, heartbeat 75ms", SIM_KEEP, 75 * NS_PER_MS, 100 * NS_PER_MS, 0},
    {"no history, heartbeat 30ms", SIM_BARE, 30 * NS_PER_MS, 20 * NS_PER_MS, 0},
    {"all checks, heartbeat 30ms", SIM_CHECK, 30 * NS_PER_MS, 20 * NS_PER_MS, 0},
    {"all checks + history, heartbeat 30ms", SIM_KEEP, 30 * NS_PER_MS, 20 * NS_PER_MS, 0},
    {"all checks, heartbeat 30ms, 2 clients", SIM_CHECK, 30 * NS_PER_MS, 20 * NS_PER_MS, 2},
};

static int bench_lap(const struct command_line *line, const struct lap *lap, struct text *out,
                     struct error *error)
{
    struct sim_config config = {.elector.nodes = 5,
                                .seed = 1,
                                .duration_ns = command_number(line, "time"),
                                .fenced = true,
                                .record = lap->record,
                                .clients = lap->clients,
                                .client_pause_ns = NS_PER_S / 10};
    struct sim_result result;
    knobs_defaults(&config.elector.knobs);
    physics_defaults(&config.physics);
    config.elector.knobs.heartbeat = lap->heartbeat_ns;
    config.elector.knobs.write_every = lap->write_every_ns;
    config.physics.base_loss = PPM_ONE / 100;
    int rc =
        algorithm_parse(command_text(line, "algorithm"), &config.algorithm, &config.elector, error);
    uint64_t start = now_ns();
    if (rc == 0)
        rc = sim_run(&config, &result, error);
    if (rc < 0)
        return rc;
    uint64_t took = now_ns() - start;
    text_add(out, "%-44s %6.2f million/s %8.0f simulated s/s %8" PRIu64 " history events/s\n",
             lap->what, per_second(result.happenings, took) / 1e6,
             per_second(result.simulated_ns, took) / 1e9,
             (uint64_t)per_second(result.report.events, took));
    sim_result_release(&result);
    return 0;
}

/* --- one election of many --- */

static int bench_large(const struct command_line *line, struct text *out, struct error *error)
{
    struct sim_config config = {
        .elector.nodes = (uint32_t)command_number(line, "nodes"), .seed = 1, .record = SIM_BARE};
    struct sim_result result;
    struct rusage usage;
    knobs_defaults(&config.elector.knobs);
    physics_defaults(&config.physics);
    config.physics.fsync_max = 0; /* each node forces many records in a moment */
    int rc =
        algorithm_parse(command_text(line, "large"), &config.algorithm, &config.elector, error);
    uint64_t start = now_ns();
    if (rc == 0)
        rc = sim_run(&config, &result, error);
    if (rc < 0)
        return rc;
    uint64_t took = now_ns() - start;
    (void)getrusage(RUSAGE_SELF, &usage);
    text_add(out,
             "%s, %" PRIu32 " nodes, one election%*s %6.2f million/s, %" PRIu64
             " messages, %.2f s, at most %ld MiB\n",
             config.algorithm->name, config.elector.nodes, 3, "",
             per_second(result.happenings, took) / 1e6, result.messages, (double)took / 1e9,
             usage.ru_maxrss / 1024);
    sim_result_release(&result);
    return 0;
}

static int measure(const struct command_line *line, struct text *out, struct error *error)
{
    static const uint32_t pendings[] = {16, 64, 1024};
    int rc = 0;
    for (size_t i = 0; i < sizeof pendings / sizeof pendings[0]; i++)
        bench_queue(pendings[i], out);
    for (size_t i = 0; rc == 0 && i < sizeof laps / sizeof laps[0]; i++)
        rc = bench_lap(line, &laps[i], out, error);
    if (rc == 0 && command_number(line, "nodes"))
        rc = bench_large(line, out, error);
    return rc;
}

static int run(const struct command_line *line, struct error *error)
{
    struct text out = {0};
    int rc = measure(line, &out, error);
    if (rc == 0)
        rc = output_text(&out, error);
    text_release(&out);
    return rc < 0 ? rc : EXIT_VALID;
}

static const struct command_option options[] = {
    {"algorithm", 'a', ARGUMENT_TEXT, "NAME", "raft", 0, 0, NULL, "algorithm of the five nodes"},
    {"time", 't', ARGUMENT_DURATION, "D", "20000s", NS_PER_S, UINT64_MAX / 4, NULL,
     "virtual time of each run"},
    {"large", 0, ARGUMENT_TEXT, "NAME", "bully", 0, 0, NULL, "algorithm of the large election"},
    {"nodes", 'n', ARGUMENT_COUNT, "N", "1000", 0, SIMULATED_NODES_MAX, NULL,
     "nodes of the large election; 0 leaves it out"},
    {.name = NULL},
};

const struct command bench_sim = {
    .name = "sim",
    .summary = "simulate: the event queue alone, whole runs with and without checks and history",
    .arguments = "",
    .details = "Five nodes, timeouts of 150 to 300 ms, on one core, in processor time. An event is "
               "one entry of the queue carried out: a message delivered or a timer.",
    .options = options,
    .run = run,
};
