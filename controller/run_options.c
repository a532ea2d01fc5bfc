#define _GNU_SOURCE /* getrandom */
#include "controller/run_options.h"

#include <assert.h>
#include <string.h>
#include <sys/random.h>

#include "controller/fuse_mount.h"
#include "nemesis/network/backend.h"
#include "simulator/suited.h"

int run_options_algorithm(const char *algorithm, const char *knobs, struct run_config *config,
                          struct error *error)
{
    struct elector_config *elector = &config->elector;
    knobs_defaults(&elector->knobs);
    int rc = algorithm_parse(algorithm, &config->algorithm, elector, error);
    if (rc == 0 && knobs)
        rc = knobs_parse(knobs, &elector->knobs, error);
    if (rc < 0)
        return rc;
    bool asks = algorithm_has_service(config->algorithm->traits(&elector->options));
    config->service = asks ? &service_use_embedded : NULL;
    if (elector->witnesses >= elector->nodes)
        return error_usage(error,
                           "--witness (%u) must be less than --nodes (%u), or nobody can lead",
                           elector->witnesses, elector->nodes);
    return config->algorithm->validate ? config->algorithm->validate(elector, error) : 0;
}

int run_options_network(const char *name, const struct network_backend **out, struct error *error)
{
    struct text accepted = {0};
    text_add(&accepted, "auto");
    for (uint32_t i = 0; network_backends[i]; i++)
        text_add(&accepted, ", %s", network_backends[i]->name);
    const struct network_backend *named = network_find(name);
    bool any = slice_equals(slice_of(name), "auto");
    int rc = 0;
    if (!named && !any)
        rc = error_usage(error, "--network: '%.60s' is unknown (accepted: %s)", name,
                         text_string(&accepted));
    text_release(&accepted);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; network_backends[i]; i++) {
        if (named && network_backends[i] != named)
            continue;
        rc = network_backends[i]->probe(error);
        *out = network_backends[i];
        if (rc == 0)
            return 0;
        error_prefix(error, "network %s", network_backends[i]->name);
    }
    return rc;
}

uint64_t run_options_draw_seed(void)
{
    uint32_t seed = 0;
    ssize_t got = getrandom(&seed, sizeof seed, 0);
    assert(got == sizeof seed); /* never short for so few bytes */
    (void)got;
    return seed;
}

/* "all" is all that can be done to real processes on this machine; a disk fault named is tried, and
 * skipped with the reason where there are no disks to trouble. */
static int named_faults(const struct command_line *line, struct run_config *config,
                        struct error *error)
{
    struct error missing;
    const char *fix;
    const char *text = command_text(line, "faults");
    int rc = suited_parse(config->algorithm, &config->elector.options, text, config->faults,
                          &config->fault_count, error);
    if (rc < 0)
        return rc;
    if (strcmp(text, "all") == 0 && fuse_probe(&missing, &fix) < 0)
        config->fault_count = faults_without(config->faults, config->fault_count, FACILITY_DISK);
    return 0;
}

/* The faults: drawn of kinds, or as a scenario has them. */
static int parse_faults(const struct scenario_use *use, struct run_config *config,
                        struct error *error)
{
    const struct command_line *line = &use->line;
    config->fault_every_ns = use->given ? 0 : command_number(line, "every");
    if (!use->given)
        return named_faults(line, config, error);
    config->schedule = &use->scenario.schedule;
    config->scenario = command_text(line, "scenario");
    config->fault_count = use->kind_count;
    memcpy(config->faults, use->kinds, sizeof use->kinds);
    return 0;
}

/* By its own name alone: what a real server would not do. */
static int refuse_of_servers(const struct run_config *config, struct error *error)
{
    if (!config->service || !config->service->kind->program)
        return 0;
    for (uint32_t i = 0; i < config->fault_count; i++)
        if (strcmp(config->faults[i]->name, "service-clock") == 0)
            return error_usage(error, "service-clock: %s keeps the clock of its machine",
                               config->service->kind->name);
    return 0;
}

int run_options_config(const struct scenario_use *use, struct service_use *service,
                       struct run_config *config, struct error *error)
{
    const struct command_line *line = &use->line;
    *config = (struct run_config){
        .seed =
            command_given(line, "seed") ? command_number(line, "seed") : run_options_draw_seed(),
        .elector.nodes = (uint32_t)command_number(line, "nodes"),
        .elector.witnesses = (uint32_t)command_number(line, "witness"),
        .duration_ns = command_number(line, "time"),
        .fenced = command_number(line, "resource") == 0,
        .clients = (uint32_t)command_number(line, "clients"),
        .rate = command_number(line, "rate"),
        .trace = command_given(line, "trace"),
        .stop_on_violation =
            command_given(line, "stop-on-violation") || command_given(line, "hold"),
        .hold = command_given(line, "hold"),
        .folder = command_text(line, "output"),
        .print = true,
        .json = command_given(line, "json"),
        .quiet = command_given(line, "quiet"),
    };
    int rc = run_options_algorithm(command_text(line, "algorithm"), command_text(line, "set"),
                                   config, error);
    if (rc == 0)
        rc = parse_faults(use, config, error);
    if (rc == 0 && command_given(line, "expect") &&
        (rc = expectation_parse(command_text(line, "expect"), &config->expect, error)) < 0)
        error_prefix(error, "--expect");
    if (rc == 0)
        rc = service_use(command_text(line, "service"), service, config, error);
    if (rc == 0 && !use->given && config->service && config->service->kind->program)
        config->fault_count =
            faults_without(config->faults, config->fault_count, FACILITY_MESSAGES);
    if (rc == 0)
        rc = refuse_of_servers(config, error);
    if (rc == 0)
        rc = run_options_network(command_text(line, "network"), &config->network, error);
    return rc;
}
