/* `coup sim`: the same run in virtual time, many times over. */
#define _POSIX_C_SOURCE 200809L /* sysconf */
#include "controller/command.h"

#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "controller/farm.h"
#include "controller/scenario_use.h"
#include "controller/sim_sweep.h"
#include "controller/version.h"
#include "simulator/suited.h"

/* "3..7" or "5"; with one number `*ret_first` stays. */
static int parse_range(const char *text, const char *what, uint64_t *ret_first, uint64_t *ret_last,
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
    int rc = parse_range(text, "nodes", &first, &last, error);
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

/* What the algorithm cannot do is not drawn for it, unless it alone was asked for. */
static int named_faults(const struct command_line *line, struct sim_config *base,
                        struct error *error)
{
    int rc = faults_parse(command_text(line, "faults"), base->kinds, &base->kind_count, error);
    if (rc == 0)
        base->kind_count = suited_faults(base->algorithm, base->kinds, base->kind_count);
    return rc;
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

static uint32_t jobs(const struct command_line *line)
{
    if (command_given(line, "jobs"))
        return (uint32_t)command_number(line, "jobs");
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > (long)FARM_WORKERS_MAX ? FARM_WORKERS_MAX : (uint32_t)cores;
}

/* What decides a run, as the user gave it; not what decides how many, how fast and where to. */
static void add_again(const struct command_line *line, struct text *out)
{
    static const char *const others[] = {"seeds", "jobs",  "keep",   "keep-going", "output",
                                         "json",  "quiet", "expect", NULL};
    text_add(out, "%s", line->path);
    for (uint32_t i = 0; line->command->options[i].name; i++) {
        const struct command_option *option = &line->command->options[i];
        bool other = false;
        for (uint32_t k = 0; others[k]; k++)
            other = other || strcmp(others[k], option->name) == 0;
        if (other || !line->values[i].given)
            continue;
        text_add(out, " --%s", option->name);
        if (option->type == ARGUMENT_NONE)
            continue;
        text_add(out, " ");
        text_add_shell(out, slice_of(line->values[i].text));
    }
}

static int parse_order(const struct scenario_use *use, struct sweep_order *order,
                       struct error *error)
{
    const struct command_line *line = &use->line;
    *order = (struct sweep_order){.first = 1,
                                  .jobs = jobs(line),
                                  .keep_all = command_number(line, "keep") == 1,
                                  .keep_going = command_given(line, "keep-going"),
                                  .folder = command_text(line, "output"),
                                  .json = command_given(line, "json"),
                                  .quiet = command_given(line, "quiet")};
    int rc = parse_request(use, &order->request, error);
    if (rc == 0)
        rc = parse_range(command_text(line, "seeds"), "seeds", &order->first, &order->last, error);
    if (rc == 0 && order->last >= UINT64_MAX - FARM_WORKERS_MAX)
        rc = error_usage(error, "--seeds: at most %llu",
                         (unsigned long long)(UINT64_MAX - FARM_WORKERS_MAX - 1));
    if (rc == 0 && command_given(line, "expect") &&
        (rc = expectation_parse(command_text(line, "expect"), &order->expect, error)) < 0)
        error_prefix(error, "--expect");
    return rc;
}

static int sim_run_command(const struct command_line *line, struct error *error)
{
    struct sweep_order order;
    struct scenario_use use;
    struct text again = {0};
    int rc = scenario_use(line, &use, error);
    if (rc < 0)
        return rc;
    rc = parse_order(&use, &order, error);
    if (rc == 0) {
        add_again(line, &again);
        order.again = text_string(&again);
        rc = sweep_execute(&order, error);
    }
    text_release(&again);
    scenario_use_release(&use);
    return rc;
}

static const char *const resource_words[] = {"fenced", "unfenced", NULL};
static const char *const keep_words[] = {"failing", "all", NULL};
static const char *const swarm_words[] = {"on", "off", NULL};

static const struct command_option sim_options[] = {
    {"scenario", 0, ARGUMENT_TEXT, "NAME|FILE", NULL, 0, 0, NULL,
     "a run described in a file, or a shipped one (see coup list scenarios); other options "
     "override "
     "what it says, except for its faults; without --seeds the seed it names, or 1..20"},
    {"algorithm", 'a', ARGUMENT_TEXT, "NAME[:OPTION=VALUE,...]", "raft", 0, 0, NULL,
     "election algorithm (see coup list algorithms); bug=NAME switches a planted bug on"},
    {"nodes", 'n', ARGUMENT_TEXT, "N|A..B", "5", 0, 0, NULL,
     "number of election nodes; of a range each seed draws one"},
    {"time", 't', ARGUMENT_DURATION, "D", "30s", 100 * NS_PER_MS, 24 * 3600 * NS_PER_S, NULL,
     "how long faults are injected, in virtual time; start, heal and final check come on top"},
    {"faults", 'f', ARGUMENT_LIST, "KINDS", "all", 0, 0, NULL,
     "kinds or groups of faults, comma-separated, all or none (see coup list faults)"},
    {"every", 0, ARGUMENT_DURATION, "D", "2s", 10 * NS_PER_MS, 3600 * NS_PER_S, NULL,
     "mean distance between the beginnings of faults"},
    {"seeds", 's', ARGUMENT_TEXT, "A..B|N", "1000", 0, 0, NULL,
     "the runs: seeds A to B, or 1 to N"},
    {"swarm", 0, ARGUMENT_WORD, "on|off", "on", 0, 0, swarm_words,
     "whether each seed draws its own subset of the faults, rates, timeouts and speeds; what is "
     "set with --set or --physics stays"},
    {"jobs", 'j', ARGUMENT_COUNT, "N", NULL, 1, FARM_WORKERS_MAX, NULL,
     "processes that work at once; as many as there are cores when not given"},
    {"keep", 0, ARGUMENT_WORD, "WHICH", "failing", 0, 0, keep_words,
     "histories to write: of failing runs, or of all"},
    {"keep-going", 'k', ARGUMENT_NONE, NULL, NULL, 0, 0, NULL,
     "count failures instead of stopping at the first"},
    {"resource", 0, ARGUMENT_WORD, "MODE", "fenced", 0, 0, resource_words,
     "whether the guarded resource refuses writes with an old token"},
    {"clients", 'c', ARGUMENT_COUNT, "N", "2", 0, CLIENTS_MAX, NULL,
     "number of clients that read and write through the leader"},
    {"rate", 0, ARGUMENT_COUNT, "R", "10", 1, 100000, NULL, "operations a second, of each client"},
    {"witness", 'w', ARGUMENT_COUNT, "N", "0", 0, NODES_MAX, NULL,
     "nodes, the last ones, that vote but never lead"},
    {"set", 0, ARGUMENT_LIST, "KNOB=VALUE", NULL, 0, 0, NULL,
     "change a knob (see coup list knobs); may be repeated"},
    {"physics", 0, ARGUMENT_LIST, "NAME=VALUE", NULL, 0, 0, NULL,
     "change the simulated machine: latency-min, latency-max, loss, in-order, fsync-min, "
     "fsync-max, power-loss, drift, start-spread; may be repeated"},
    {"checks", 0, ARGUMENT_LIST, "LIST", NULL, 0, 0, NULL,
     "judge by these checks only (see coup list checks)"},
    {"trace", 0, ARGUMENT_NONE, NULL, NULL, 0, 0, NULL, "record every election message"},
    {"expect", 'x', ARGUMENT_TEXT, "VERDICT", NULL, 0, 0, NULL,
     "valid, invalid or invalid:CHECK: the verdict that makes the exit code 0"},
    {"output", 'o', ARGUMENT_TEXT, "DIR", NULL, 0, 0, NULL,
     "folder for histories, new or empty; otherwise one is made below coup-runs/ when needed"},
    {"json", 0, ARGUMENT_NONE, NULL, NULL, 0, 0, NULL, "print the outcome as one JSON object"},
    {"quiet", 'q', ARGUMENT_NONE, NULL, NULL, 0, 0, NULL, "nothing on standard error but errors"},
    {.name = NULL},
};

static const char *const sim_examples[] = {
    "coup sim -a raft -n 3..7 --faults all --seeds 1..10000",
    "coup sim -a raft:bug=vote-twice --expect invalid:vote-once",
    "coup sim --resource unfenced --faults pause --keep-going",
    "coup sim --scenario bully-split-3-3 --keep-going",
    NULL,
};

const struct command command_sim = {
    .name = "sim",
    .summary = "break simulated clusters, thousands of times faster than real time, and judge them",
    .arguments = "",
    .details =
        "Runs the same election code, workload, faults and checks as coup run, in one process "
        "under virtual time: one seed and one program give one history, byte for byte. Each seed "
        "draws its own mix (swarm testing). Stops at the first failing seed, keeps its history, "
        "and prints the command that repeats it.\n\n"
        "Seeds whose drawn faults never landed are unknown and do not fail a sweep in which others "
        "are valid.",
    .options = sim_options,
    .examples = sim_examples,
    .run = sim_run_command,
};
