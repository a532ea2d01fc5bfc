#define _GNU_SOURCE
#include "controller/run_internal.h"
#include "controller/service_use.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/units.h"
#include "controller/version.h"
#include "nemesis/network/backend.h"
#include "nodes/clock.h"

/* The text's memory becomes the caller's. */
static char *taken(struct text *text)
{
    return text->at ? text->at : must_copy("");
}

/* All options, also those at their defaults: a later version may have others. */
static char *all_options(const struct run_config *config)
{
    const struct algorithm *algorithm = config->algorithm;
    struct text out = {0};
    if (algorithm->options)
        options_format(algorithm->options, &config->elector.options, false, &out);
    if (config->elector.bug)
        text_add(&out, "%sbug=%s", out.length ? "," : "",
                 algorithm->bugs[config->elector.bug - 1].name);
    return taken(&out);
}

static char *service_of(const struct run_config *config)
{
    struct text out = {0};
    if (config->service)
        service_use_format(config->service, &out);
    return taken(&out);
}

static uint64_t service_lease_of(const struct run_config *config)
{
    const struct algorithm *algorithm = config->algorithm;
    int at = options_find(algorithm->options, slice_of("lease"));
    if (!config->service || at < 0)
        return 0;
    uint64_t asked_ns = config->elector.options.at[at];
    uint64_t kept_ns = service_lease_ns(config->service->kind, asked_ns);
    return kept_ns == asked_ns ? 0 : kept_ns;
}

static char *expected(const struct run_config *config)
{
    struct text out = {0};
    if (config->expect.given)
        expectation_format(&config->expect, &out);
    return taken(&out);
}

char *run_host(void)
{
    struct utsname kernel;
    struct text out = {0};
    long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
    uint64_t bytes = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
    if (uname(&kernel) == 0)
        text_add(&out, "%s %s %s, ", kernel.sysname, kernel.release, kernel.machine);
    text_add(&out, "%ld cores, %llu MiB", cores, (unsigned long long)(bytes >> 20));
    return taken(&out);
}

static void add_schedule(const struct schedule *schedule, struct history_header *out)
{
    out->schedule = must_alloc(schedule->count, sizeof *out->schedule);
    out->schedule_count = schedule->count;
    for (uint32_t i = 0; i < schedule->count; i++) {
        struct text line = {0};
        scheduled_fault_format(&schedule->faults[i], &line);
        out->schedule[i] = taken(&line);
    }
}

/* Processes are ours to kill and stop, and each backend that opens carries every impairment. */
/* Of the kinds that were asked for. */
static void add_capabilities(const struct run_config *config, struct fault_probes *probes,
                             struct history_header *out)
{
    out->capability_count = config->fault_count;
    out->capabilities = must_alloc(config->fault_count, sizeof *out->capabilities);
    for (uint32_t i = 0; i < config->fault_count; i++) {
        struct text line = {0};
        struct error error;
        const char *fix;
        bool able = fault_probe(probes, config->faults[i], &error, &fix) == 0;
        text_add(&line, "%s: %s", config->faults[i]->name, able ? "available" : error.text);
        out->capabilities[i] = taken(&line);
    }
}

void run_header(const struct run_config *config, const struct header_facts *facts,
                struct history_header *out)
{
    struct text kinds = {0};
    faults_format(config->faults, config->fault_count, &kinds);
    *out = (struct history_header){
        .format = HISTORY_FORMAT,
        .version = must_copy(version_text()),
        .command = must_copy(config->command),
        .world = must_copy("real"),
        .run = facts->run_number,
        .seed = config->seed,
        .started_unix_ns = clock_wall_ns(),
        .algorithm = must_copy(config->algorithm->name),
        .options = all_options(config),
        .traits = config->algorithm->traits(&config->elector.options),
        .nodes = config->elector.nodes,
        .witnesses = config->elector.witnesses,
        .clients = config->clients,
        .network = must_copy(config->network->name),
        .resource = must_copy(config->fenced ? "fenced" : "unfenced"),
        .service = service_of(config),
        .service_lease_ns = service_lease_of(config),
        .faults = taken(&kinds),
        .fault_every_ns = config->fault_every_ns,
        .duration_ns = config->duration_ns,
        .client_pause_ns = NS_PER_S / (config->rate ? config->rate : 1),
        .traced = config->trace,
        .physics = must_copy(""),
        .knobs = config->elector.knobs,
        .host = run_host(),
        .scenario = must_copy(config->scenario ? config->scenario : ""),
        .expect = expected(config),
    };
    add_schedule(facts->schedule, out);
    add_capabilities(config, facts->probes, out);
}
