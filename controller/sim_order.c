#define _POSIX_C_SOURCE 200809L /* sysconf */
#include "controller/sim_order.h"

#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "controller/farm.h"
#include "controller/version.h"
#include "simulator/suited.h"

int sim_order_range(const char *text, const char *what, uint64_t *ret_first, uint64_t *ret_last,
                    struct error *error)
{
    const char *dots = strstr(text, "..");
    struct text head = {0};
    uint64_t first = *ret_first, last = 0;
    text_add_bytes(&head, text, dots ? (size_t)(dots - text) : 0);
    int rc = dots ? parse_count(text_string(&head), &first, error) : 0;
    if (rc == 0)
        rc = parse_count(dots ? dots + 2 : text, &last, error);
    text_release(&head);
    if (rc < 0) {
        error_prefix(error, "--%s '%.60s'", what, text);
        return rc;
    }
    if (!dots && last < first)
        return error_usage(error, "--%s '%.60s': must be at least 1", what, text);
    if (first > last)
        return error_usage(error, "--%s '%.60s': the first must not be above the last", what, text);
    *ret_first = first;
    *ret_last = last;
    return 0;
}

static int parse_nodes(const struct command_line *line, struct swarm_request *request,
                       struct error *error)
{
    const char *text = command_text(line, "nodes");
    uint64_t first = 0, last;
    int rc = sim_order_range(text, "nodes", &first, &last, error);
    if (rc < 0)
        return rc;
    if (!strstr(text, ".."))
        first = last;
    if (first < 1 || last > SIMULATED_NODES_MAX)
        return error_usage(error, "--nodes '%.60s' must be between 1 and %u", text,
                           SIMULATED_NODES_MAX);
    request->nodes_min = (uint32_t)first;
    request->nodes_max = (uint32_t)last;
    request->base.elector.nodes = (uint32_t)first;
    request->base.elector.witnesses = (uint32_t)command_number(line, "witness");
    return 0;
}

static int parse_settings(const struct command_line *line, struct swarm_request *request,
                          struct error *error)
{
    const char *knobs = command_given(line, "set") ? command_text(line, "set") : "";
    const char *physics = command_given(line, "physics") ? command_text(line, "physics") : "";
    knobs_defaults(&request->base.elector.knobs);
    physics_defaults(&request->base.physics);
    int rc = knobs_parse(knobs, &request->base.elector.knobs, error);
    if (rc == 0)
        rc = options_given(knob_table, "knob", knobs, &request->knobs_given, error);
    if (rc == 0)
        rc = physics_parse(physics, &request->base.physics, error);
    if (rc == 0)
        rc = options_given(physics_table, "physics", physics, &request->physics_given, error);
    return rc;
}

static int parse_algorithm(const struct command_line *line, struct swarm_request *request,
                           struct error *error)
{
    struct elector_config *elector = &request->base.elector;
    int rc =
        algorithm_parse(command_text(line, "algorithm"), &request->base.algorithm, elector, error);
    if (rc < 0 || !request->base.algorithm->validate)
        return rc;
    return request->base.algorithm->validate(elector, error);
}

static int named_faults(const struct command_line *line, struct sim_config *base,
                        struct error *error)
{
    return suited_parse(base->algorithm, &base->elector.options, command_text(line, "faults"),
                        base->kinds, &base->kind_count, error);
}

/* The faults: drawn of kinds, or as a scenario has them. Then nothing else is drawn either. */
static int parse_faults(const struct scenario_use *use, struct swarm_request *request,
                        struct error *error)
{
    struct sim_config *base = &request->base;
    request->off = use->given || command_number(&use->line, "swarm") == 1;
    base->fault_every_ns = use->given ? 0 : command_number(&use->line, "every");
    if (!use->given)
        return named_faults(&use->line, base, error);
    base->schedule = &use->scenario.schedule;
    base->scenario = command_text(&use->line, "scenario");
    base->kind_count = use->kind_count;
    memcpy(base->kinds, use->kinds, sizeof use->kinds);
    return 0;
}

static int parse_request(const struct scenario_use *use, struct swarm_request *request,
                         struct error *error)
{
    const struct command_line *line = &use->line;
    *request = (struct swarm_request){
        .base = {.clients = (uint32_t)command_number(line, "clients"),
                 .client_pause_ns = NS_PER_S / command_number(line, "rate"),
                 .fenced = command_number(line, "resource") == 0,
                 .duration_ns = command_number(line, "time"),
                 .record = SIM_CHECK,
                 .trace = command_given(line, "trace"),
                 .checks = command_text(line, "checks"),
                 .expect = command_text(line, "expect"),
                 .version = version_text()},
    };
    int rc = parse_nodes(line, request, error);
    if (rc == 0)
        rc = parse_settings(line, request, error);
    if (rc == 0)
        rc = parse_algorithm(line, request, error);
    if (rc == 0)
        rc = parse_faults(use, request, error);
    return rc;
}

uint32_t sim_order_jobs(const struct command_line *line)
{
    if (command_given(line, "jobs"))
        return (uint32_t)command_number(line, "jobs");
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > (long)FARM_WORKERS_MAX ? FARM_WORKERS_MAX : (uint32_t)cores;
}

static int parse_order(const struct scenario_use *use, struct sweep_order *order,
                       struct error *error)
{
    const struct command_line *line = &use->line;
    *order = (struct sweep_order){.first = 1,
                                  .jobs = sim_order_jobs(line),
                                  .keep_all = command_number(line, "keep") == 1,
                                  .keep_going = command_given(line, "keep-going"),
                                  .folder = command_text(line, "output"),
                                  .json = command_given(line, "json"),
                                  .quiet = command_given(line, "quiet")};
    int rc = parse_request(use, &order->request, error);
    if (rc == 0)
        rc = sim_order_range(command_text(line, "seeds"), "seeds", &order->first, &order->last,
                             error);
    if (rc == 0 && order->last >= UINT64_MAX - FARM_WORKERS_MAX)
        rc = error_usage(error, "--seeds: at most %llu",
                         (unsigned long long)(UINT64_MAX - FARM_WORKERS_MAX - 1));
    if (rc == 0 && command_given(line, "expect") &&
        (rc = expectation_parse(command_text(line, "expect"), &order->expect, error)) < 0)
        error_prefix(error, "--expect");
    return rc;
}

/* What decides how many, how fast and where to, but not a run. */
static const char *const aside[] = {"seeds", "jobs",  "keep",   "keep-going", "output",
                                    "json",  "quiet", "expect", NULL};

int sim_order_open(const struct command_line *line, struct sim_order *out, struct error *error)
{
    *out = (struct sim_order){0};
    int rc = scenario_use(line, &out->use, error);
    if (rc == 0)
        rc = parse_order(&out->use, &out->order, error);
    if (rc < 0) {
        sim_order_release(out);
        return rc;
    }
    command_again(line, aside, &out->again);
    out->order.again = text_string(&out->again);
    return 0;
}

void sim_order_release(struct sim_order *order)
{
    text_release(&order->again);
    scenario_use_release(&order->use);
}
