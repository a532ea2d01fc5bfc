#define _POSIX_C_SOURCE 200809L /* clock_gettime, isatty */
/* `coup shrink`: of a run that violates a check, the smallest that still does, as a scenario. */
#include "controller/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "controller/interrupts.h"
#include "controller/output.h"
#include "controller/recorded.h"
#include "controller/run_options.h"
#include "controller/service_use.h"
#include "controller/shrink.h"
#include "histories/file.h"
#include "nemesis/scenario_write.h"
#include "report/verdict.h"

#define STEP_NS (10 * NS_PER_MS)
#define DURATION_MIN_NS (100 * NS_PER_MS) /* as --time and scenarios take it */
#define NODES_MIN 2u

struct shrinking {
    const struct command_line *line;
    struct recorded recorded;
    const struct check *wanted; /* what decided then, and must be violated again */
    const struct network_backend *network;
    bool simulated;
    uint64_t trials; /* real runs that a candidate gets to show it */
    uint64_t deadline_ns;
    uint32_t runs;
    bool interrupted;
    struct shrink core;
    const struct shape *best; /* for the progress line */
    char *history;            /* of the latest real run that violated; owned */
};

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static bool is_over(void *context)
{
    struct shrinking *shrinking = context;
    shrinking->interrupted = shrinking->interrupted || interrupts_pending();
    return shrinking->interrupted || monotonic_ns() >= shrinking->deadline_ns;
}

static void draw(const struct shrinking *shrinking)
{
    char length[UNIT_TEXT_MAX];
    if (!isatty(STDERR_FILENO))
        return;
    (void)fprintf(stderr, "\r\033[K%u runs: %u faults, %u nodes, %u clients, %s", shrinking->runs,
                  shrinking->best->schedule.count, shrinking->best->nodes, shrinking->best->clients,
                  human_duration(shrinking->best->duration_ns, length));
}

static bool is_violated(const struct check *wanted, const struct report_data *data)
{
    for (uint32_t i = 0; i < data->result_count; i++)
        if (data->results[i].check == wanted && data->results[i].owed)
            return data->results[i].finding.verdict == VERDICT_INVALID;
    return false;
}

/* ---- a candidate ---- */

/* Its algorithm may refuse so few nodes: then it is no candidate. */
static bool takes(const struct shrinking *shrinking, const struct elector_config *elector)
{
    const struct algorithm *algorithm = shrinking->recorded.algorithm;
    return elector->witnesses < elector->nodes &&
           (!algorithm->validate || algorithm->validate(elector, NULL) == 0);
}

static int try_simulated(const struct shrinking *shrinking, const struct shape *shape,
                         enum sim_record record, struct sim_result *out, struct error *error)
{
    struct sim_config config;
    int rc = recorded_as_simulated(&shrinking->recorded, &config, error);
    config.elector.nodes = shape->nodes;
    config.clients = shape->clients;
    config.duration_ns = shape->duration_ns;
    config.schedule = &shape->schedule;
    config.kind_count = schedule_kinds(&shape->schedule, config.kinds);
    config.record = record;
    return rc < 0 ? rc : sim_run(&config, out, error);
}

static int violates_simulated(struct shrinking *shrinking, const struct shape *shape,
                              struct error *error)
{
    struct sim_result result;
    int rc = try_simulated(shrinking, shape, SIM_CHECK, &result, error);
    if (rc < 0)
        return rc;
    bool violated = is_violated(shrinking->wanted, &result.report);
    sim_result_release(&result);
    return violated;
}

static int violates_once(struct shrinking *shrinking, const struct run_config *config,
                         struct error *error)
{
    struct run_result result;
    struct report_data data;
    int rc = run_execute(config, &result, error);
    if (rc == 0 && result.interrupted) {
        shrinking->interrupted = true;
        return 0;
    }
    if (rc == 0)
        rc = check_file(result.history, NULL, &data, error);
    if (rc < 0)
        return rc;
    bool violated = is_violated(shrinking->wanted, &data);
    report_data_release(&data);
    if (violated) {
        free(shrinking->history);
        shrinking->history = must_copy(result.history);
    }
    return violated;
}

static int violates_real(struct shrinking *shrinking, const struct shape *shape,
                         struct error *error)
{
    struct run_config config;
    struct service_use service;
    int rc = recorded_as_real(&shrinking->recorded, &config, &service, error);
    if (rc < 0)
        return rc;
    config.network = shrinking->network;
    config.elector.nodes = shape->nodes;
    config.clients = shape->clients;
    config.duration_ns = shape->duration_ns;
    config.schedule = &shape->schedule;
    config.fault_count = schedule_kinds(&shape->schedule, config.faults);
    config.quiet = true;
    for (uint64_t i = 0; rc == 0 && i < shrinking->trials && !is_over(shrinking); i++)
        rc = violates_once(shrinking, &config, error);
    return rc;
}

static int violates(void *context, const struct shape *shape, struct error *error)
{
    struct shrinking *shrinking = context;
    struct elector_config elector = shrinking->recorded.elector;
    elector.nodes = shape->nodes;
    if (!takes(shrinking, &elector))
        return 0;
    shrinking->runs++;
    draw(shrinking);
    return shrinking->simulated ? violates_simulated(shrinking, shape, error)
                                : violates_real(shrinking, shape, error);
}

/* ---- what comes out ---- */

static int write_text(const char *path, const struct text *text, struct error *error)
{
    FILE *file = fopen(path, "wxe");
    bool whole = file && fwrite(text_string(text), 1, text->length, file) == text->length;
    int code = errno;
    if (file && fclose(file) != 0 && whole) {
        whole = false;
        code = errno;
    }
    if (whole)
        return 0;
    return file ? error_set(error, -code, "write %s: %s", path, strerror(code))
                : error_usage(error, "create %s: %s", path, strerror(code));
}

/* The last run's history tells all a scenario needs. */
static int write_scenario(const struct shrinking *shrinking, struct history_reader *reader,
                          struct error *error)
{
    struct resolved resolved;
    struct text yaml = {0}, expect = {0};
    const char *path = command_text(shrinking->line, "output");
    int rc = resolved_read(history_header(reader), &resolved, error);
    if (rc < 0)
        return rc;
    text_add(&expect, "invalid:%s", shrinking->wanted->name);
    resolved.expect = must_copy(text_string(&expect));
    scenario_write(history_header(reader), &resolved, &yaml);
    rc = path ? write_text(path, &yaml, error) : output_text(&yaml, error);
    resolved_release(&resolved);
    text_release(&yaml);
    text_release(&expect);
    return rc < 0 ? rc : 0;
}

static int conclude_simulated(const struct shrinking *shrinking, const struct shape *shape,
                              struct error *error)
{
    struct sim_result result;
    struct history_reader *reader;
    int rc = try_simulated(shrinking, shape, SIM_KEEP, &result, error);
    if (rc < 0)
        return rc;
    rc = history_open_bytes(sim_result_bytes(&result), &reader, error);
    if (rc == 0) {
        rc = write_scenario(shrinking, reader, error);
        history_reader_close(reader);
    }
    sim_result_release(&result);
    return rc;
}

static int conclude_real(const struct shrinking *shrinking, struct error *error)
{
    struct history_reader *reader;
    int rc = history_open(shrinking->history, &reader, error);
    if (rc < 0)
        return rc;
    rc = write_scenario(shrinking, reader, error);
    history_reader_close(reader);
    return rc;
}

static void summarise(struct shrinking *shrinking, const struct shape *before,
                      const struct shape *after)
{
    char then[UNIT_TEXT_MAX], now[UNIT_TEXT_MAX];
    if (isatty(STDERR_FILENO))
        (void)fprintf(stderr, "\r\033[K");
    (void)fprintf(stderr,
                  "%s after %u runs%s: faults %u -> %u, nodes %u -> %u, clients %u -> %u, time %s "
                  "-> %s\n",
                  shrinking->wanted->name, shrinking->runs,
                  shrinking->interrupted ? " (interrupted)"
                  : is_over(shrinking)   ? " (budget used up)"
                                         : "",
                  before->schedule.count, after->schedule.count, before->nodes, after->nodes,
                  before->clients, after->clients, human_duration(before->duration_ns, then),
                  human_duration(after->duration_ns, now));
    if (shrinking->history)
        (void)fprintf(stderr, "history %s\n", shrinking->history);
}

static int shrink_all(struct shrinking *shrinking, struct error *error)
{
    const struct history_header *header = shrinking->recorded.header;
    const struct shape before = {.schedule = shrinking->recorded.schedule,
                                 .duration_ns = header->duration_ns,
                                 .nodes = header->nodes,
                                 .clients = header->clients};
    struct shape shape = before;
    shape.schedule = (struct schedule){0};
    for (uint32_t i = 0; i < before.schedule.count; i++)
        schedule_add(&shape.schedule, &before.schedule.faults[i]);
    shrinking->best = &shape;
    shrinking->deadline_ns = monotonic_ns() + command_number(shrinking->line, "budget");
    interrupts_hold();
    int rc = violates(shrinking, &shape, error);
    if (rc == 0 && shrinking->interrupted)
        rc = error_set(error, -EINTR, "interrupted before anything was found");
    else if (rc == 0)
        rc = error_usage(error,
                         "%s is not violated when it is run again (coup replay --times tells "
                         "how often it is)",
                         shrinking->wanted->name);
    else if (rc == 1)
        rc = shrink_run(&shrinking->core, &shape, error);
    if (rc == 0)
        rc = shrinking->simulated ? conclude_simulated(shrinking, &shape, error)
                                  : conclude_real(shrinking, error);
    if (rc == 0)
        summarise(shrinking, &before, &shape);
    schedule_release(&shape.schedule);
    return rc;
}

/* The check that decided: the first that is owed and violated. */
static int find_wanted(struct shrinking *shrinking, struct history_reader *reader,
                       struct error *error)
{
    struct report_data data;
    int rc = check_history(reader, NULL, &data, error);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < data.result_count && !shrinking->wanted; i++)
        if (data.results[i].owed && data.results[i].finding.verdict == VERDICT_INVALID)
            shrinking->wanted = data.results[i].check;
    report_data_release(&data);
    if (shrinking->wanted)
        return 0;
    if (history_damage(reader))
        return error_set(error, -EBADMSG, "it violates no check up to the damage: %s",
                         history_damage(reader));
    return error_usage(error, "it violates no check: nothing to shrink");
}

static int choose_check(struct shrinking *shrinking, struct history_reader *reader,
                        struct error *error)
{
    const char *name = command_text(shrinking->line, "check");
    if (!name)
        return find_wanted(shrinking, reader, error);
    shrinking->wanted = check_find(slice_of(name));
    return shrinking->wanted
               ? 0
               : error_usage(error, "--check: '%.60s' is unknown (see coup list checks)", name);
}

/* Looked for first: nobody should wait for a result that has no place to go. */
static int check_output(const char *path, struct error *error)
{
    FILE *file = path ? fopen(path, "wxe") : NULL;
    if (path && !file)
        return error_usage(error, "create %s: %s", path, strerror(errno));
    if (file) {
        (void)fclose(file); /* nothing was written */
        (void)unlink(path);
    }
    return 0;
}

enum world { WORLD_RECORDED, WORLD_REAL, WORLD_SIM };

static int shrink_opened(struct shrinking *shrinking, struct history_reader *reader,
                         struct error *error)
{
    const struct command_line *line = shrinking->line;
    enum world world = (enum world)command_number(line, "world");
    int rc = recorded_open(history_header(reader), &shrinking->recorded, error);
    if (rc == 0)
        rc = choose_check(shrinking, reader, error);
    shrinking->simulated =
        world == WORLD_RECORDED ? shrinking->recorded.simulated : world == WORLD_SIM;
    if (rc == 0 && history_damage(reader))
        (void)fprintf(stderr, "%s: %s\n", line->arguments[0], history_damage(reader));
    if (rc == 0 && !shrinking->simulated)
        rc = run_options_network(command_text(line, "network"), &shrinking->network, error);
    return rc < 0 ? rc : shrink_all(shrinking, error);
}

static int shrink_command(const struct command_line *line, struct error *error)
{
    struct shrinking shrinking = {.line = line, .trials = command_number(line, "trials")};
    struct history_reader *reader;
    shrinking.core = (struct shrink){.context = &shrinking,
                                     .violates = violates,
                                     .over = is_over,
                                     .nodes_min = NODES_MIN,
                                     .step_ns = STEP_NS,
                                     .duration_min_ns = DURATION_MIN_NS};
    int rc = check_output(command_text(line, "output"), error);
    if (rc == 0)
        rc = history_open(line->arguments[0], &reader, error);
    if (rc < 0)
        return rc;
    rc = shrink_opened(&shrinking, reader, error);
    if (rc < 0)
        error_prefix(error, "%s", line->arguments[0]);
    recorded_release(&shrinking.recorded);
    history_reader_close(reader);
    free(shrinking.history);
    return rc < 0 ? rc : EXIT_VALID;
}

static const char *const world_words[] = {"recorded", "real", "sim", NULL};

static const struct command_option shrink_options[] = {
    {"output", 'o', ARGUMENT_TEXT, "SCENARIO.yaml", NULL, 0, 0, NULL,
     "where the scenario goes, a new file; standard output when not given"},
    {"check", 0, ARGUMENT_TEXT, "CHECK", NULL, 0, 0, NULL,
     "the violation to keep; the first one when not given"},
    {"world", 0, ARGUMENT_WORD, "WORLD", "recorded", 0, 0, world_words,
     "real processes or the simulator; as the history was made when not given"},
    {"trials", 0, ARGUMENT_COUNT, "N", "3", 1, 1000, NULL,
     "real runs each candidate gets to show the violation"},
    {"budget", 0, ARGUMENT_DURATION, "D", "5m", NS_PER_S, 24 * 3600 * NS_PER_S, NULL,
     "how long to look; then the smallest so far is written"},
    {"network", 0, ARGUMENT_TEXT, "NAME", "auto", 0, 0, NULL,
     "what carries and breaks a real network: auto or a backend's name"},
    {.name = NULL},
};

static const char *const shrink_examples[] = {
    "coup shrink coup-runs/latest/history.coup --world sim -o small.yaml",
    "coup sim --scenario small.yaml",
    NULL,
};

const struct command command_shrink = {
    .name = "shrink",
    .summary = "find the smallest scenario that still violates what a saved history violates",
    .arguments = "HISTORY",
    .arguments_min = 1,
    .arguments_max = 1,
    .details =
        "Leaves away faults, nodes, clients and time for as long as the same check is violated, "
        "and writes what is left as a scenario for coup run and coup sim --scenario. In the "
        "simulator every candidate is decided by one run of the recorded seed; real candidates "
        "get some trials, and one that violates once in them counts.",
    .options = shrink_options,
    .examples = shrink_examples,
    .run = shrink_command,
};
