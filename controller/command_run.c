/* `coup run`: the main job, one cluster of real processes under faults, judged. */
#define _GNU_SOURCE
#include "controller/command.h"

#include <stdio.h>

#include "base/units.h"
#include "controller/run_options.h"

/* Not silently: the outcome may depend on it. */
static void note_physics(const struct scenario_use *use)
{
    if (use->given && *use->scenario.physics)
        (void)fprintf(stderr,
                      "coup run: physics of the scenario are for coup sim; not used here\n");
}

static int run_parsed(const struct command_line *line, struct run_config *config,
                      struct error *error)
{
    struct run_result result;
    struct text command = {0};
    for (int i = 0; i < line->argc; i++) {
        text_add(&command, "%s", i ? " " : "");
        text_add_shell(&command, slice_of(line->argv[i]));
    }
    config->command = text_string(&command);
    int rc = run_execute(config, &result, error);
    text_release(&command);
    return rc < 0 ? rc : (int)result.exit_code;
}

static int run_run(const struct command_line *line, struct error *error)
{
    struct run_config config;
    struct scenario_use use;
    struct service_use service;
    int rc = scenario_use(line, &use, error);
    if (rc < 0)
        return rc;
    rc = run_options_config(&use, &service, &config, error);
    if (rc == 0) {
        if (!config.quiet)
            note_physics(&use);
        rc = run_parsed(line, &config, error);
    }
    scenario_use_release(&use);
    return rc;
}

static const char *const resource_words[] = {"fenced", "unfenced", NULL};

static const struct command_option run_options[] = {
    {"scenario", 0, ARGUMENT_TEXT, "NAME|FILE", NULL, 0, 0, NULL,
     "a run described in a file, or a shipped one (see coup list scenarios); other options "
     "override "
     "what it says, except for its faults"},
    {"algorithm", 'a', ARGUMENT_TEXT, "NAME[:OPTION=VALUE,...]", "raft", 0, 0, NULL,
     "election algorithm (see coup list algorithms); bug=NAME switches a planted bug on"},
    {"nodes", 'n', ARGUMENT_COUNT, "N", "5", 1, NODES_MAX, NULL, "number of election nodes"},
    {"time", 't', ARGUMENT_DURATION, "D", "30s", 100 * NS_PER_MS, 24 * 3600 * NS_PER_S, NULL,
     "how long faults are injected; start, heal and final check come on top"},
    {"faults", 'f', ARGUMENT_LIST, "KINDS", "kill,pause,partition", 0, 0, NULL,
     "kinds or groups of faults, comma-separated, all or none (see coup list faults)"},
    {"every", 0, ARGUMENT_DURATION, "D", "5s", 10 * NS_PER_MS, 3600 * NS_PER_S, NULL,
     "mean distance between the beginnings of faults"},
    {"seed", 's', ARGUMENT_COUNT, "S", NULL, 0, UINT64_MAX, NULL,
     "number all random choices follow from; drawn and shown when not given"},
    {"network", 0, ARGUMENT_TEXT, "NAME", "auto", 0, 0, NULL,
     "what carries and breaks the network: auto or a backend's name"},
    {"service", 0, ARGUMENT_TEXT, "NAME", NULL, 0, 0, NULL,
     "coordination service that lease, queue and db-lease ask: embedded, or a real one that is "
     "installed here and started for the run (see coup doctor)"},
    {"resource", 0, ARGUMENT_WORD, "MODE", "fenced", 0, 0, resource_words,
     "whether the guarded resource refuses writes with an old token"},
    {"clients", 'c', ARGUMENT_COUNT, "N", "2", 0, CLIENTS_MAX, NULL,
     "number of clients that read and write through the leader"},
    {"rate", 0, ARGUMENT_COUNT, "R", "50", 1, 100000, NULL, "operations a second, of each client"},
    {"witness", 'w', ARGUMENT_COUNT, "N", "0", 0, NODES_MAX, NULL,
     "nodes, the last ones, that vote but never lead"},
    {"set", 0, ARGUMENT_LIST, "KNOB=VALUE", NULL, 0, 0, NULL,
     "change a knob (see coup list knobs); may be repeated"},
    {"trace", 0, ARGUMENT_NONE, NULL, NULL, 0, 0, NULL, "record every election message"},
    {"stop-on-violation", 0, ARGUMENT_NONE, NULL, NULL, 0, 0, NULL,
     "freeze every process as soon as a check is violated, and end there"},
    {"hold", 0, ARGUMENT_NONE, NULL, NULL, 0, 0, NULL,
     "the same, but leave them frozen until Enter is pressed"},
    {"expect", 'x', ARGUMENT_TEXT, "VERDICT", NULL, 0, 0, NULL,
     "valid, invalid or invalid:CHECK: the verdict that makes the exit code 0"},
    {"output", 'o', ARGUMENT_TEXT, "DIR", NULL, 0, 0, NULL,
     "the run's own folder, new or empty; otherwise one is made below coup-runs/"},
    {"json", 0, ARGUMENT_NONE, NULL, NULL, 0, 0, NULL, "print the verdict as one JSON object"},
    {"quiet", 'q', ARGUMENT_NONE, NULL, NULL, 0, 0, NULL, "nothing on standard error but errors"},
    {.name = NULL},
};

static const char *const run_examples[] = {
    "coup run -n 5 -t 30s --faults kill,pause,partition,link --every 3s --seed 7",
    "coup run --resource unfenced --faults pause --expect invalid:fencing-monotonic",
    "coup run -a raft:prevote=off,bug=vote-twice -f kill,delay --every 1s -x invalid:vote-once",
    "coup run --scenario paused-leader-unfenced",
    NULL,
};

const struct command command_run = {
    .name = "run",
    .summary = "break a cluster of real processes and judge it",
    .arguments = "",
    .details =
        "Starts the nodes, the guarded resource and the clients in a sandbox of their own, injects "
        "faults, heals, waits for the cluster to recover, and judges the history of it all. Needs "
        "no root. Whatever happens, no process, interface or mount is left behind.\n\n"
        "Ctrl-C, SIGTERM and SIGHUP end the faults early: the run heals, finishes, and what was "
        "recorded is judged, at best as unknown. Another one, half a second later or more, "
        "abandons it; "
        "the history so far can "
        "be checked.",
    .options = run_options,
    .examples = run_examples,
    .run = run_run,
};
