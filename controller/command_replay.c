/* `coup replay`: the run of a saved history once more, as often as asked, to see how often it comes
 * out the same. */
#include "controller/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "checker/checker.h"
#include "controller/beliefs.h"
#include "controller/interrupts.h"
#include "controller/output.h"
#include "controller/recorded.h"
#include "controller/run_options.h"
#include "controller/service_use.h"
#include "controller/version.h"
#include "histories/file.h"
#include "nemesis/network/backend.h"
#include "report/verdict.h"

/* A run boiled down to what is compared. */
struct outcome {
    enum verdict verdict;
    uint64_t invalid; /* checks, bit by place in the registry */
    struct beliefs beliefs;
};

struct replay {
    const struct command_line *line;
    struct recorded recorded;
    struct outcome before;
    bool simulated;
    bool interrupted;
    uint32_t reproduced, unknown, done;
    const char *damage; /* of the history; NULL: it is whole */
    struct text out;
};

static void outcome_release(struct outcome *outcome)
{
    beliefs_release(&outcome->beliefs);
}

static uint64_t invalid_checks(const struct report_data *data)
{
    uint64_t invalid = 0;
    for (uint32_t i = 0; i < data->result_count; i++)
        for (int place = 0; checks[place]; place++)
            if (checks[place] == data->results[i].check && data->results[i].owed &&
                data->results[i].finding.verdict == VERDICT_INVALID)
                invalid |= UINT64_C(1) << place;
    return invalid;
}

/* Judges and collects in one pass; `schedule` (may be NULL) learns how its faults came to pass. */
static int read_outcome(struct history_reader *reader, struct recorded *recorded,
                        struct outcome *out, struct error *error)
{
    struct checker *checker;
    struct report_data data;
    struct event event;
    int rc = checker_new(history_header(reader), NULL, &checker, error);
    if (rc < 0)
        return rc;
    *out = (struct outcome){.verdict = VERDICT_UNKNOWN};
    while (history_next(reader, &event) == 1) {
        checker_step(checker, &event);
        beliefs_step(&out->beliefs, &event);
        if (recorded)
            recorded_event(recorded, &event);
    }
    if (recorded)
        recorded_settle(recorded);
    checker_end(checker, &data);
    out->invalid = invalid_checks(&data);
    out->verdict = data.verdict;
    if (history_damage(reader) && out->verdict == VERDICT_VALID)
        out->verdict = VERDICT_UNKNOWN; /* it did not see the end */
    report_data_release(&data);
    return 0;
}

static bool is_same(const struct outcome *before, const struct outcome *now)
{
    if (before->verdict == VERDICT_INVALID)
        return (before->invalid & now->invalid) != 0;
    return before->verdict == now->verdict;
}

/* ---- one run ---- */

static void add_outcome(const struct outcome *outcome, struct text *out)
{
    const char *comma = " (";
    text_add(out, "%s", verdict_name(outcome->verdict));
    for (int place = 0; checks[place]; place++)
        if (outcome->invalid >> place & 1) {
            text_add(out, "%s%s", comma, checks[place]->name);
            comma = ", ";
        }
    if (outcome->invalid)
        text_add(out, ")");
}

static int judge_run(struct replay *replay, const struct outcome *now, const char *history,
                     struct error *error)
{
    const struct beliefs *before = &replay->before.beliefs;
    bool same = is_same(&replay->before, now);
    replay->done++;
    replay->reproduced += same;
    replay->unknown += !same && now->verdict == VERDICT_UNKNOWN;
    text_clear(&replay->out);
    text_add(&replay->out, "run %u  %-14s ", replay->done, same ? "reproduced" : "not reproduced");
    add_outcome(now, &replay->out);
    text_add(&replay->out, "\n");
    uint32_t place = beliefs_diverge(before, &now->beliefs);
    if (place < before->count || place < now->beliefs.count) {
        text_add(&replay->out, "  parts at belief %u of %u: then ", place + 1, before->count);
        belief_format(before, place, &replay->out);
        text_add(&replay->out, ", now ");
        belief_format(&now->beliefs, place, &replay->out);
        text_add(&replay->out, "\n");
    } else {
        text_add(&replay->out, "  every belief is the same\n");
    }
    if (history)
        text_add(&replay->out, "  history %s\n", history);
    return output_text(&replay->out, error);
}

static int run_real(struct replay *replay, struct error *error)
{
    struct run_config config;
    struct run_result result;
    struct history_reader *reader;
    struct outcome now;
    struct service_use service;
    config.quiet = true;
    int rc = recorded_as_real(&replay->recorded, &config, &service, error);
    if (rc == 0)
        rc = run_options_network(command_text(replay->line, "network"), &config.network, error);
    if (rc == 0)
        rc = run_execute(&config, &result, error);
    if (rc == 0 && result.interrupted) {
        replay->interrupted = true; /* and says nothing of the violation */
        return 0;
    }
    if (rc == 0)
        rc = history_open(result.history, &reader, error);
    if (rc < 0)
        return rc;
    rc = read_outcome(reader, NULL, &now, error);
    history_reader_close(reader);
    if (rc < 0)
        return rc;
    rc = judge_run(replay, &now, result.history, error);
    outcome_release(&now);
    return rc;
}

/* One seed is one run; a real run's schedule meets another cluster with every further seed. */
static int run_simulated(struct replay *replay, struct error *error)
{
    struct sim_config config;
    struct sim_result result;
    struct history_reader *reader;
    struct outcome now;
    int rc = recorded_as_simulated(&replay->recorded, &config, error);
    if (rc == 0) {
        config.seed += replay->recorded.simulated ? 0 : replay->done;
        rc = sim_run(&config, &result, error);
    }
    if (rc < 0)
        return rc;
    rc = history_open_bytes(sim_result_bytes(&result), &reader, error);
    if (rc == 0) {
        rc = read_outcome(reader, NULL, &now, error);
        history_reader_close(reader);
    }
    if (rc == 0) {
        rc = judge_run(replay, &now, NULL, error);
        outcome_release(&now);
    }
    sim_result_release(&result);
    return rc;
}

/* ---- all of them ---- */

static void add_difference(const char *what, const char *then, const char *now, struct text *out)
{
    if (*then && strcmp(then, now) != 0)
        text_add(out, "  %s then %s, now %s\n", what, then, now);
}

static int introduce(struct replay *replay, const char *path, struct error *error)
{
    const struct history_header *header = replay->recorded.header;
    struct text *out = &replay->out;
    char *host = run_host();
    text_clear(out);
    text_add(out, "%s: %s, %u nodes, %u faults, %s, ", path, header->algorithm, header->nodes,
             header->schedule_count, header->world);
    add_outcome(&replay->before, out);
    text_add(out, "\n");
    if (replay->damage)
        text_add(out, "  damaged: %s\n", replay->damage);
    add_difference("version", header->version, version_text(), out);
    if (!replay->simulated && !replay->recorded.simulated)
        add_difference("machine", header->host, host, out);
    if (replay->simulated != replay->recorded.simulated)
        add_difference("world", header->world, replay->simulated ? "sim" : "real", out);
    free(host);
    return output_text(out, error);
}

static int finish(struct replay *replay, struct error *error)
{
    text_clear(&replay->out);
    text_add(&replay->out, "%u/%u reproduced%s\n", replay->reproduced, replay->done,
             replay->interrupted ? " when it was interrupted" : "");
    int rc = output_text(&replay->out, error);
    if (rc < 0)
        return rc;
    if (replay->reproduced)
        return EXIT_VALID;
    bool undecided = replay->unknown == replay->done || replay->interrupted || replay->damage;
    return undecided ? EXIT_UNKNOWN : EXIT_INVALID;
}

static int replay_all(struct replay *replay, const char *path, struct error *error)
{
    uint64_t times = command_number(replay->line, "times");
    int rc = introduce(replay, path, error);
    interrupts_hold();
    for (uint64_t i = 0; rc >= 0 && i < times && !replay->interrupted; i++) {
        rc = replay->simulated ? run_simulated(replay, error) : run_real(replay, error);
        replay->interrupted = replay->interrupted || (i + 1 < times && interrupts_pending());
    }
    return rc < 0 ? rc : finish(replay, error);
}

enum targets { TARGETS_ROLES, TARGETS_RECORDED };
enum world { WORLD_RECORDED, WORLD_REAL, WORLD_SIM };

static int prepare(struct replay *replay, struct history_reader *reader, struct error *error)
{
    const struct command_line *line = replay->line;
    int rc = recorded_open(history_header(reader), &replay->recorded, error);
    if (rc < 0)
        return rc;
    enum world world = (enum world)command_number(line, "world");
    replay->simulated = world == WORLD_RECORDED ? replay->recorded.simulated : world == WORLD_SIM;
    if (!replay->simulated && replay->recorded.elector.nodes > NODES_MAX)
        return error_usage(error, "%u nodes: real runs have at most %u",
                           replay->recorded.elector.nodes, NODES_MAX);
    bool pin = command_number(line, "targets") == TARGETS_RECORDED;
    rc = read_outcome(reader, pin ? &replay->recorded : NULL, &replay->before, error);
    replay->damage = history_damage(reader);
    return rc;
}

static int replay_run(const struct command_line *line, struct error *error)
{
    struct replay replay = {.line = line};
    struct history_reader *reader;
    const char *path = line->arguments[0];
    int rc = history_open(path, &reader, error);
    if (rc < 0)
        return rc;
    rc = prepare(&replay, reader, error);
    if (rc < 0)
        error_prefix(error, "%s", path);
    else
        rc = replay_all(&replay, path, error);
    outcome_release(&replay.before);
    recorded_release(&replay.recorded);
    text_release(&replay.out);
    history_reader_close(reader);
    return rc;
}

static const char *const target_words[] = {"roles", "recorded", NULL};
static const char *const world_words[] = {"recorded", "real", "sim", NULL};

static const struct command_option replay_options[] = {
    {"times", 'n', ARGUMENT_COUNT, "N", "1", 1, 10000, NULL, "runs"},
    {"targets", 0, ARGUMENT_WORD, "WHICH", "roles", 0, 0, target_words,
     "whom a fault meant for a role hits: who has the role now, or the nodes it hit then, at the "
     "same time"},
    {"world", 0, ARGUMENT_WORD, "WORLD", "recorded", 0, 0, world_words,
     "real processes or the simulator; as the history was made when not given"},
    {"network", 0, ARGUMENT_TEXT, "NAME", "auto", 0, 0, NULL,
     "what carries and breaks a real network: auto or a backend's name"},
    {.name = NULL},
};

static const char *const replay_examples[] = {
    "coup replay --times 10 coup-runs/latest/history.coup",
    "coup replay --targets recorded history.coup",
    "coup replay --world sim --times 1000 history.coup",
    NULL,
};

const struct command command_replay = {
    .name = "replay",
    .summary = "run a saved history's schedule again and count how often it ends the same",
    .arguments = "HISTORY",
    .arguments_min = 1,
    .arguments_max = 1,
    .details =
        "Algorithm, knobs, seed and schedule come from the file alone. A run reproduces when it "
        "violates a check that was violated then, or has the same verdict when none was. Where "
        "the beliefs of the nodes first part is shown for every run; a simulated history run by "
        "the same coup is the same run, event for event. Exit code 0 when at least one run "
        "reproduces, 1 when none does, 2 when none does and that says nothing: all were unknown, "
        "the "
        "history is damaged, or it was interrupted.",
    .options = replay_options,
    .examples = replay_examples,
    .run = replay_run,
};
