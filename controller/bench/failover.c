/* `coup bench failover`: take the leader away again and again, on real processes, and measure from
 * the run's history how long each phase takes until the next one's writes are accepted. One run per
 * algorithm and kind of fault; a trial is one scheduled loss of the leader. */
#include "controller/bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/units.h"
#include "controller/algorithm_list.h"
#include "controller/output.h"
#include "controller/run_options.h"
#include "nemesis/network/backend.h"
#include "report/failover.h"
#include "report/verdict.h"

#define RESAMPLES 1000u
#define TIMEOUTS_APART 4u /* trials, of the longest election timeouts */

struct request {
    const struct command_line *line;
    const struct fault *kinds[FAULTS_MAX];
    uint32_t kind_count;
    const struct network_backend *network;
    uint64_t seed;
    uint32_t trials;
    struct text out;
    int worst; /* exit code */
};

/* ---- the schedule ---- */

/* Losses of the leader at moments that have nothing to do with its heartbeats. */
static void plan_trials(const struct request *request, const struct fault *fault,
                        struct run_config *config, struct schedule *out)
{
    const struct knobs *knobs = &config->elector.knobs;
    uint64_t apart_ns = command_number(request->line, "every");
    struct random random;
    if (apart_ns == 0)
        apart_ns = TIMEOUTS_APART * knobs->election_timeout_max;
    random_init(&random, request->seed, "trials", 0);
    for (uint32_t i = 0; i < request->trials; i++) {
        struct scheduled_fault trial = {
            .at_ns = (i + 1) * apart_ns + random_below(&random, knobs->heartbeat),
            .duration_ns = apart_ns / 2,
            .fault = fault,
            .target = {.role = TARGET_LEADER},
            .seed = i,
        };
        if (fault->parameters)
            options_defaults(fault->parameters, &trial.parameters);
        schedule_add(out, &trial);
    }
    config->duration_ns = (request->trials + 2) * apart_ns;
    config->faults[0] = fault;
    config->fault_count = 1;
    config->fault_every_ns = apart_ns;
}

/* ---- the result ---- */

struct interval {
    uint64_t low_ns, high_ns;
};

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Of the median, 95 %: percentile bootstrap (Efron 1979). */
static struct interval bootstrap(const uint64_t *samples, uint32_t count)
{
    uint64_t *medians = must_alloc(RESAMPLES, sizeof *medians);
    uint64_t *drawn = must_alloc(count, sizeof *drawn);
    struct random random;
    random_init(&random, count, "bootstrap", 0);
    for (uint32_t i = 0; i < RESAMPLES; i++) {
        for (uint32_t k = 0; k < count; k++)
            drawn[k] = samples[random_below(&random, count)];
        qsort(drawn, count, sizeof *drawn, by_value);
        medians[i] = quantile(drawn, count, PPM_ONE / 2);
    }
    qsort(medians, RESAMPLES, sizeof *medians, by_value);
    struct interval out = {quantile(medians, RESAMPLES, 25000),
                           quantile(medians, RESAMPLES, 975000)};
    free(drawn);
    free(medians);
    return out;
}

static void add_phase(const struct measure *measure, enum failover_phase phase, struct text *out)
{
    char p50[UNIT_TEXT_MAX], low[UNIT_TEXT_MAX], high[UNIT_TEXT_MAX], p90[UNIT_TEXT_MAX],
        p99[UNIT_TEXT_MAX], most[UNIT_TEXT_MAX];
    uint64_t *samples;
    uint32_t count = failover_samples(measure, phase, &samples);
    text_add(out, "  %-22s %5u", failover_phase_title(phase), count);
    if (count > 0) {
        struct interval interval = bootstrap(samples, count);
        text_add(out, " %8s  %8s..%-8s %8s %8s %8s",
                 human_duration(quantile(samples, count, PPM_ONE / 2), p50),
                 human_duration(interval.low_ns, low), human_duration(interval.high_ns, high),
                 human_duration(quantile(samples, count, 900000), p90),
                 human_duration(quantile(samples, count, 990000), p99),
                 human_duration(samples[count - 1], most));
    }
    text_add(out, "\n");
    free(samples);
}

/* What an election that listens for silence takes at least, in the middle: the shortest of the
 * followers' timeouts, evenly drawn (half of the time it is within 1 - 2^(-1/k) of their span for
 * k of them), counted from a heartbeat that is half a period old on average. */
static void add_floor(const struct run_config *config, struct text *out)
{
    const struct knobs *knobs = &config->elector.knobs;
    uint64_t followers = config->elector.nodes - config->elector.witnesses - 1;
    uint64_t spread_ns = knobs->election_timeout_max - knobs->election_timeout_min;
    double share = 1 - exp2(-1 / (double)(followers ? followers : 1));
    uint64_t first_ns = knobs->election_timeout_min + (uint64_t)(share * (double)spread_ns);
    uint64_t half_ns = knobs->heartbeat / 2;
    char floor[UNIT_TEXT_MAX];
    if (config->algorithm->traits(&config->elector.options) >> TRAIT_LEASE & 1) {
        text_add(out, "  floor: what is left of the lease when its holder is lost\n");
        return;
    }
    text_add(out,
             "  floor of the median: about %s (shortest of %" PRIu64
             " timeouts less half a heartbeat); "
             "messages and fsync come on top\n",
             human_duration(first_ns > half_ns ? first_ns - half_ns : 0, floor), followers);
}

static void add_report(const struct run_config *config, const struct report_data *data,
                       const char *history, struct text *out)
{
    text_add(out, "%s, %u nodes, %u losses of the leader by %s, network %s, verdict %s\n",
             config->algorithm->name, config->elector.nodes, data->measure.failover_count,
             config->faults[0]->name, config->network->name, verdict_name(data->verdict));
    text_add(out, "  %-22s %5s %8s  %18s %8s %8s %8s\n", "from the loss to", "times", "median",
             "95 % of the median", "p90", "p99", "highest");
    for (int phase = 0; phase < FAILOVER_PHASES; phase++)
        add_phase(&data->measure, (enum failover_phase)phase, out);
    add_floor(config, out);
    if (data->measure.failover_count == 0)
        text_add(out, "  no leader was lost: nothing was measured\n");
    text_add(out, "  history: %s\n", history);
}

/* ---- one run ---- */

/* Times of a run that broke its promises, or that lost no leader, are worth nothing. */
static void note_outcome(struct request *request, const struct report_data *data)
{
    int code = (int)verdict_exit_code(data->verdict);
    if (code == EXIT_VALID && data->measure.failover_count == 0)
        code = EXIT_UNKNOWN;
    if (request->worst != EXIT_INVALID && code != EXIT_VALID)
        request->worst = code;
}

static int bench_one(struct request *request, const char *algorithm, const struct fault *fault,
                     struct error *error)
{
    const struct command_line *line = request->line;
    struct schedule schedule = {0};
    struct run_result result = {0};
    struct report_data data;
    struct run_config config = {
        .elector.nodes = (uint32_t)command_number(line, "nodes"),
        .seed = request->seed,
        .schedule = &schedule,
        .network = request->network,
        .fenced = true,
        .command = "coup bench failover",
        .quiet = true,
    };
    int rc = run_options_algorithm(algorithm, command_text(line, "set"), &config, error);
    if (rc < 0)
        return rc;
    plan_trials(request, fault, &config, &schedule);
    rc = run_execute(&config, &result, error);
    schedule_release(&schedule);
    if (rc == 0)
        rc = check_file(result.history, NULL, &data, error);
    if (rc < 0)
        return rc;
    text_clear(&request->out);
    add_report(&config, &data, result.history, &request->out);
    note_outcome(request, &data);
    report_data_release(&data);
    return output_text(&request->out, error);
}

/* Words of users for the faults that take a leader away and nothing else. */
static const struct loss {
    const char *word, *fault;
} losses[] = {{"kill", "kill"},
              {"pause", "pause"},
              {"partition", "isolate-leader"},
              {"isolate-leader", "isolate-leader"}};
#define LOSSES (sizeof losses / sizeof losses[0])

static int add_loss(struct request *request, struct slice word, struct error *error)
{
    for (size_t i = 0; i < LOSSES; i++) {
        if (!slice_equals(word, losses[i].word))
            continue;
        const struct fault *fault = fault_find(slice_of(losses[i].fault));
        for (uint32_t k = 0; k < request->kind_count; k++)
            if (request->kinds[k] == fault)
                return 0;
        request->kinds[request->kind_count++] = fault;
        return 0;
    }
    return error_usage(error,
                       "--faults: '%.*s' does not take a leader away (accepted: kill, pause, "
                       "partition, isolate-leader)",
                       (int)(word.length < 60 ? word.length : 60), word.at);
}

static int parse_losses(const char *list, struct request *request, struct error *error)
{
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        int rc = add_loss(request, (struct slice){at, length}, error);
        at += length;
        if (rc < 0 || *at == '\0')
            return rc;
    }
}

/* All are looked at before the first is run: a slip in the last must not cost the others' time. */
static int check_algorithm(struct request *request, const char *algorithm, struct error *error)
{
    struct run_config config = {.elector.nodes = (uint32_t)command_number(request->line, "nodes")};
    return run_options_algorithm(algorithm, command_text(request->line, "set"), &config, error);
}

static int bench_algorithm(struct request *request, const char *algorithm, struct error *error)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < request->kind_count; i++)
        rc = bench_one(request, algorithm, request->kinds[i], error);
    return rc;
}

static int each_algorithm(struct request *request,
                          int (*act)(struct request *request, const char *algorithm,
                                     struct error *error),
                          struct error *error)
{
    struct text name = {0};
    int rc = 0;
    const char *list = command_text(request->line, "algorithm");
    while (rc == 0 && algorithm_list_next(&list, &name))
        rc = act(request, text_string(&name), error);
    text_release(&name);
    return rc;
}

static int run(const struct command_line *line, struct error *error)
{
    struct request request = {
        .line = line,
        .seed =
            command_given(line, "seed") ? command_number(line, "seed") : run_options_draw_seed(),
        .trials = (uint32_t)command_number(line, "trials"),
    };
    int rc = parse_losses(command_text(line, "faults"), &request, error);
    if (rc == 0)
        rc = run_options_network(command_text(line, "network"), &request.network, error);
    if (rc == 0)
        rc = each_algorithm(&request, check_algorithm, error);
    if (rc == 0)
        rc = each_algorithm(&request, bench_algorithm, error);
    text_release(&request.out);
    return rc < 0 ? rc : request.worst;
}

static const struct command_option options[] = {
    {"algorithm", 'a', ARGUMENT_TEXT, "NAME[:OPTION=VALUE,...],...", "raft", 0, 0, NULL,
     "election algorithms, one after the other"},
    {"nodes", 'n', ARGUMENT_COUNT, "N", "5", 2, NODES_MAX, NULL, "number of election nodes"},
    {"faults", 'f', ARGUMENT_LIST, "KINDS", "kill", 0, 0, NULL,
     "what takes the leader away: kill, pause, partition; one run each"},
    {"trials", 't', ARGUMENT_COUNT, "N", "50", 1, 10000, NULL, "losses of the leader in each run"},
    {"every", 0, ARGUMENT_DURATION, "D", "0", 0, 3600 * NS_PER_S, NULL,
     "distance between losses; 0 means four of the longest election timeouts"},
    {"seed", 's', ARGUMENT_COUNT, "S", NULL, 0, UINT64_MAX, NULL, "of all random choices"},
    {"network", 0, ARGUMENT_TEXT, "NAME", "auto", 0, 0, NULL,
     "what carries the network: auto or a backend's name"},
    {"set", 0, ARGUMENT_LIST, "KNOB=VALUE", NULL, 0, 0, NULL,
     "change a knob (see coup list knobs); may be repeated"},
    {.name = NULL},
};

static const char *const examples[] = {
    "coup bench failover -a raft,paxos,zab --faults kill,pause --trials 20",
    NULL,
};

const struct command bench_failover = {
    .name = "failover",
    .summary = "take the leader of real clusters away and measure each phase until writes go on",
    .arguments = "",
    .options = options,
    .examples = examples,
    .run = run,
};
