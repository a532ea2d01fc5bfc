/* `coup sim`: the same run in virtual time, many times over. */
#include "controller/command.h"

#include "base/units.h"
#include "controller/farm.h"
#include "controller/sim_order.h"

static int sim_run_command(const struct command_line *line, struct error *error)
{
    struct sim_order order;
    int rc = sim_order_open(line, &order, error);
    if (rc < 0)
        return rc;
    rc = sweep_execute(&order.order, error);
    sim_order_release(&order);
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
