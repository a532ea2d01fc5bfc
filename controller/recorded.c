#include "controller/recorded.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "controller/service_use.h"
#include "nemesis/record.h"
#include "simulator/suited.h"

#define DEFAULT_PAUSE_NS (100 * NS_PER_MS) /* of clients, where a header does not tell */

static int read_algorithm(struct recorded *recorded, struct error *error)
{
    const struct history_header *header = recorded->header;
    struct text text = {0};
    recorded->elector.nodes = header->nodes;
    recorded->elector.witnesses = header->witnesses;
    recorded->elector.knobs = header->knobs;
    text_add(&text, "%s%s%s", header->algorithm, *header->options ? ":" : "", header->options);
    int rc = algorithm_parse(text_string(&text), &recorded->algorithm, &recorded->elector, error);
    if (rc == 0 && recorded->algorithm->validate)
        rc = recorded->algorithm->validate(&recorded->elector, error);
    text_release(&text);
    return rc;
}

static int check_sizes(const struct history_header *header, struct error *error)
{
    if (header->nodes == 0)
        return error_usage(error, "it has no nodes: it was not made by a run of coup");
    if (header->witnesses >= header->nodes)
        return error_usage(error, "all of its nodes are witnesses");
    if (header->schedule_count && header->nodes > NODES_MAX)
        return error_usage(error, "%u nodes: faults are for at most %u", header->nodes, NODES_MAX);
    if (header->duration_ns == 0)
        return error_usage(error, "its faults phase has no length");
    return 0;
}

int recorded_open(const struct history_header *header, struct recorded *out, struct error *error)
{
    *out = (struct recorded){.header = header,
                             .simulated = slice_equals(slice_of(header->world), "sim")};
    int rc = check_sizes(header, error);
    if (rc == 0)
        rc = read_algorithm(out, error);
    if (rc == 0 && *header->faults)
        rc = faults_parse(header->faults, out->faults, &out->fault_count, error);
    if (rc == 0)
        rc = schedule_read(header->schedule, header->schedule_count, header->nodes, &out->schedule,
                           error);
    if (rc == 0)
        rc = suited_schedule(out->algorithm, &out->schedule, error);
    if (rc < 0)
        recorded_release(out);
    return rc;
}

void recorded_event(struct recorded *recorded, const struct event *event)
{
    if (event->f == F_PHASE && slice_equals(event_text(event, FIELD_NAME), "faults"))
        recorded->faults_ns = event->time_ns;
    uint64_t id = event_number(event, FIELD_ID), begin_ns = event_number(event, FIELD_BEGIN);
    if (event->f != F_FAULT || id == 0 || id > recorded->schedule.count ||
        begin_ns < recorded->faults_ns)
        return;
    struct scheduled_fault *scheduled = &recorded->schedule.faults[id - 1];
    bool between = scheduled->fault->between;
    uint32_t nodes = recorded->header->nodes;
    struct target target, to = {.role = TARGET_ANY};
    if (target_parse(record_parameter(event, between ? "from" : "on"), nodes, &target, NULL) < 0 ||
        (between && target_parse(record_parameter(event, "to"), nodes, &to, NULL) < 0))
        return;
    scheduled->target = target;
    scheduled->to = to;
    scheduled->at_ns = begin_ns - recorded->faults_ns;
    scheduled->after = (struct trigger){0};
}

void recorded_settle(struct recorded *recorded)
{
    struct schedule sorted = {0};
    for (uint32_t i = 0; i < recorded->schedule.count; i++)
        schedule_add(&sorted, &recorded->schedule.faults[i]);
    schedule_release(&recorded->schedule);
    recorded->schedule = sorted;
}

void recorded_release(struct recorded *recorded)
{
    schedule_release(&recorded->schedule);
}

static uint64_t pause_of(const struct recorded *recorded)
{
    uint64_t pause_ns = recorded->header->client_pause_ns;
    return pause_ns ? pause_ns : DEFAULT_PAUSE_NS;
}

static bool is_fenced(const struct recorded *recorded)
{
    return !slice_equals(slice_of(recorded->header->resource), "unfenced");
}

/* Histories that tell of no service are simulated, or older than the choice. */
static int use_service(const struct recorded *recorded, struct service_use *service,
                       struct run_config *config, struct error *error)
{
    struct slice name = service_use_name(recorded->header->service);
    char text[64];
    (void)snprintf(text, sizeof text, "%.*s", (int)name.length, name.at);
    return service_use(*text ? text : NULL, service, config, error);
}

int recorded_as_real(const struct recorded *recorded, struct run_config *out,
                     struct service_use *service, struct error *error)
{
    uint64_t rate = NS_PER_S / pause_of(recorded);
    *out = (struct run_config){
        .algorithm = recorded->algorithm,
        .elector = recorded->elector,
        .seed = recorded->header->seed,
        .duration_ns = recorded->header->duration_ns,
        .fault_count = recorded->fault_count,
        .fault_every_ns = recorded->header->fault_every_ns,
        .schedule = &recorded->schedule,
        .fenced = is_fenced(recorded),
        .clients = recorded->header->clients,
        .rate = rate ? rate : 1,
        .trace = recorded->header->traced,
        .command = recorded->header->command,
    };
    memcpy(out->faults, recorded->faults, sizeof out->faults);
    return use_service(recorded, service, out, error);
}

int recorded_as_simulated(const struct recorded *recorded, struct sim_config *out,
                          struct error *error)
{
    *out = (struct sim_config){
        .algorithm = recorded->algorithm,
        .elector = recorded->elector,
        .seed = recorded->header->seed,
        .clients = recorded->header->clients,
        .client_pause_ns = pause_of(recorded),
        .fenced = is_fenced(recorded),
        .kind_count = recorded->fault_count,
        .fault_every_ns = recorded->header->fault_every_ns,
        .duration_ns = recorded->header->duration_ns,
        .schedule = &recorded->schedule,
        .record = SIM_KEEP,
        .trace = recorded->header->traced,
        .command = recorded->header->command,
        .version = recorded->header->version,
    };
    memcpy(out->kinds, recorded->faults, sizeof out->kinds);
    physics_defaults(&out->physics);
    return physics_parse(recorded->header->physics, &out->physics, error);
}
