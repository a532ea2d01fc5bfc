/* The course of a simulated run: start, faults, heal, final, end, as in a real one. */
#include "simulator/sim.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "checker/cluster.h"
#include "simulator/world.h"

/* Time is looked at this often where a phase ends on a condition. */
#define LOOK_EVERY_NS (10 * NS_PER_MS)
/* A cluster that has no leader by then goes into its faults without one. */
#define START_TIMEOUTS 20u

/* What the cluster is given to work again after the heal, and two timeouts so that it can be seen
 * to have failed. */
static uint64_t recovery_ns(const struct sim_config *config, const struct history_header *header)
{
    return liveness_bound_ns(header) + liveness_slack_ns(header) +
           2 * config->elector.knobs.election_timeout_max;
}

/* --- the header --- */

static char *formatted_options(const struct sim_config *config)
{
    struct text text = {0};
    const struct algorithm *algorithm = config->algorithm;
    if (algorithm->options)
        options_format(algorithm->options, &config->elector.options, false, &text);
    if (config->elector.bug)
        text_add(&text, "%sbug=%s", text.length ? "," : "",
                 algorithm->bugs[config->elector.bug - 1].name);
    char *copy = must_copy(text_string(&text));
    text_release(&text);
    return copy;
}

static char *formatted_faults(const struct sim_config *config)
{
    struct text text = {0};
    faults_format(config->kinds, config->kind_count, &text);
    char *copy = must_copy(text_string(&text));
    text_release(&text);
    return copy;
}

static char *formatted_physics(const struct sim_config *config)
{
    struct text text = {0};
    physics_format(&config->physics, false, &text);
    char *copy = must_copy(text_string(&text));
    text_release(&text);
    return copy;
}

static void format_schedule(const struct schedule *schedule, struct history_header *header)
{
    header->schedule_count = schedule->count;
    header->schedule = must_alloc(schedule->count + 1, sizeof *header->schedule);
    for (uint32_t i = 0; i < schedule->count; i++) {
        struct text line = {0};
        scheduled_fault_format(&schedule->faults[i], &line);
        header->schedule[i] = must_copy(text_string(&line));
        text_release(&line);
    }
}

/* Nothing in it depends on the machine or the day: equal runs, equal bytes. */
static void fill_header(const struct sim_config *config, const struct schedule *schedule,
                        struct history_header *out)
{
    *out = (struct history_header){
        .format = HISTORY_FORMAT,
        .version = must_copy(config->version ? config->version : "unknown"),
        .command = must_copy(config->command ? config->command : ""),
        .world = must_copy("sim"),
        .run = mix64(config->seed),
        .seed = config->seed,
        .algorithm = must_copy(config->algorithm->name),
        .options = formatted_options(config),
        .traits = config->algorithm->traits(&config->elector.options),
        .nodes = config->elector.nodes,
        .witnesses = config->elector.witnesses,
        .clients = config->clients,
        .network = must_copy("sim"),
        .resource = must_copy(config->fenced ? "fenced" : "unfenced"),
        .faults = formatted_faults(config),
        .fault_every_ns = config->fault_every_ns,
        .duration_ns = config->duration_ns,
        .client_pause_ns = config->client_pause_ns,
        .traced = config->trace,
        .physics = formatted_physics(config),
        .knobs = config->elector.knobs,
        .host = must_copy(""),
        .scenario = must_copy(config->scenario ? config->scenario : ""),
        .expect = must_copy(config->expect ? config->expect : ""),
    };
    if (config->record == SIM_KEEP)
        format_schedule(schedule, out);
}

/* --- phases --- */

static void run_for(struct sim_world *world, uint64_t length_ns)
{
    sim_world_run(world, world->now_ns + length_ns);
}

static void run_until(struct sim_world *world, bool (*reached)(const struct sim_world *world),
                      uint64_t at_most_ns)
{
    uint64_t end_ns = world->now_ns + at_most_ns;
    while (world->now_ns < end_ns && !reached(world))
        run_for(world, LOOK_EVERY_NS);
}

static bool has_leader(const struct sim_world *world)
{
    return sim_world_leader(world) != 0;
}

static bool is_quiet(const struct sim_world *world)
{
    return !world->engine || engine_quiet(world->engine);
}

static void run_phases(struct sim_world *world, const struct history_header *header,
                       struct sim_first *first)
{
    const struct sim_config *config = world->config;
    const struct knobs *knobs = &config->elector.knobs;
    sim_world_phase(world, "start");
    run_until(world, has_leader, START_TIMEOUTS * knobs->election_timeout_max);
    first->leader_ns = has_leader(world) ? world->now_ns : UINT64_MAX;
    _Static_assert(sizeof first->messages == sizeof world->shipped, "the same kinds");
    memcpy(first->messages, world->shipped, sizeof first->messages);
    sim_world_clients_start(world);
    sim_world_phase(world, "faults");
    sim_world_faults_begin(world);
    run_for(world, config->duration_ns);
    sim_world_phase(world, "heal");
    sim_world_heal(world);
    run_until(world, is_quiet, ENGINE_ANSWER_NS);
    sim_world_phase(world, "final");
    run_for(world, recovery_ns(config, header));
    sim_world_clients_stop(world);
    run_until(world, sim_world_clients_idle, knobs->request_timeout + LOOK_EVERY_NS);
    sim_world_phase(world, "end");
}

/* --- the run --- */

int sim_vet(const struct sim_config *config, struct error *error)
{
    if (config->elector.nodes == 0 || config->elector.nodes > SIMULATED_NODES_MAX)
        return error_usage(error, "%u nodes: the simulator takes 1 to %u", config->elector.nodes,
                           SIMULATED_NODES_MAX);
    if (config->elector.witnesses >= config->elector.nodes)
        return error_usage(error, "%u witnesses of %u nodes: somebody must be able to lead",
                           config->elector.witnesses, config->elector.nodes);
    bool faulty = config->kind_count || (config->schedule && config->schedule->count);
    if (faulty && config->elector.nodes > NODES_MAX)
        return error_usage(error, "faults need at most %u nodes, not %u", NODES_MAX,
                           config->elector.nodes);
    if (config->clients > CLIENTS_MAX)
        return error_usage(error, "%u clients: at most %u", config->clients, CLIENTS_MAX);
    return config->algorithm->validate ? config->algorithm->validate(&config->elector, error) : 0;
}

/* What faults may do to clocks that already drift by themselves. 0: any, nothing is declared. */
static uint64_t drift_left(const struct sim_config *config)
{
    uint64_t declared = algorithm_clock_drift(config->algorithm, &config->elector.options);
    uint64_t taken = config->physics.drift;
    return declared > taken + 1 ? declared - taken : declared > 0;
}

static void draw_schedule(const struct sim_config *config, struct schedule *out)
{
    struct plan_request request = {
        .seed = config->seed,
        .nodes = config->elector.nodes,
        .kinds = config->kinds,
        .kind_count = config->kind_count,
        .every_ns = config->fault_every_ns,
        .length_ns = config->duration_ns,
        .election_timeout_ns = config->elector.knobs.election_timeout_max,
        .clock_drift_ppm = drift_left(config),
        .message_kinds = config->algorithm->kinds,
    };
    if (config->kind_count)
        plan_random(&request, out);
}

static void collect(struct sim_world *world, struct sim_result *out)
{
    if (world->workload)
        sim_recorder_close(&world->recorder, &out->report);
    out->writer = world->recorder.writer;
    out->hash = world->recorder.hash;
    out->happenings = world->happenings;
    out->simulated_ns = world->now_ns;
    out->messages = world->network.passed;
    out->dropped = world->network.dropped;
}

static int tell_storm(const struct sim_world *world, struct error *error)
{
    const struct sim_config *config = world->config;
    return error_set(
        error, -ELOOP,
        "seed %" PRIu64 ": %s storms: more than %" PRIu64
        " happenings within the second from %" PRIu64 ".%03" PRIu64 "s on, messages breed messages",
        config->seed, config->algorithm->name, world->happenings - world->second_happenings - 1,
        world->second_ns / NS_PER_S, world->second_ns % NS_PER_S / NS_PER_MS);
}

/* Owns nothing that outlives it but what it puts into `out`. */
static int run_scheduled(const struct sim_config *config, const struct schedule *schedule,
                         struct sim_result *out, struct error *error)
{
    struct sim_result result = {.faults = schedule->count};
    struct sim_world world;
    fill_header(config, schedule, &result.header);
    int rc = sim_world_open(&world, config, &result.header, schedule, error);
    if (rc < 0) {
        header_release(&result.header);
        goto out;
    }
    run_phases(&world, &result.header, &result.first);
    collect(&world, &result);
    if (world.storms) {
        rc = tell_storm(&world, error);
        sim_result_release(&result);
    } else {
        *out = result;
    }
out:
    sim_world_release(&world);
    return rc;
}

int sim_run(const struct sim_config *config, struct sim_result *out, struct error *error)
{
    struct schedule drawn = {0};
    int rc = sim_vet(config, error);
    if (rc < 0)
        return rc;
    if (!config->schedule)
        draw_schedule(config, &drawn);
    rc = run_scheduled(config, config->schedule ? config->schedule : &drawn, out, error);
    schedule_release(&drawn);
    return rc;
}

struct slice sim_result_bytes(struct sim_result *result)
{
    int rc = history_finish(result->writer, NULL);
    assert(rc == 0); /* memory cannot be full */
    (void)rc;
    return history_writer_bytes(result->writer);
}

void sim_result_release(struct sim_result *result)
{
    if (result->writer)
        (void)history_close(result->writer, NULL); /* into memory that goes away */
    report_data_release(&result->report);
    header_release(&result->header);
    *result = (struct sim_result){0};
}
