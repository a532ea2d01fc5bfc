/* `coup bench lease`: what the length of a lease costs and what it buys, in the simulator. A short
 * one is over soon when its holder dies, and also when its holder only sleeps. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "controller/algorithm_list.h"
#include "controller/bench.h"
#include "controller/grid.h"
#include "controller/output.h"
#include "report/failover.h"
#include "report/verdict.h"
#include "simulator/sim.h"

#define LEASES_MAX 32u
#define MARGIN_SHARE 5u   /* margins and the longest distance of heartbeats: a lease through this */
#define LEASES_APART 3u   /* trials: so that one does not meet the end of the last, */
#define TIMEOUTS_APART 6u /* nor its election */

struct request {
    const struct command_line *line;
    uint64_t leases[LEASES_MAX];
    uint32_t lease_count;
    struct grid grid;
    int worst; /* exit code */
};

/* A cell of the sweep. */
struct trial {
    struct sim_config config;
    struct schedule schedule;
    uint64_t lease_ns, margin_ns;
};

/* ---- what is run ---- */

static int configure(const struct request *request, const char *algorithm, uint64_t lease_ns,
                     struct trial *out, struct error *error)
{
    struct sim_config *config = &out->config;
    struct text name = {0};
    *out = (struct trial){
        .config = {.elector.nodes = (uint32_t)command_number(request->line, "nodes"),
                   .seed = command_number(request->line, "seed"),
                   .fenced = true,
                   .record = SIM_CHECK},
        .lease_ns = lease_ns,
        .margin_ns = lease_ns / MARGIN_SHARE,
    };
    knobs_defaults(&config->elector.knobs);
    physics_defaults(&config->physics);
    if (config->elector.knobs.heartbeat > lease_ns / MARGIN_SHARE)
        config->elector.knobs.heartbeat = lease_ns / MARGIN_SHARE;
    text_add(&name, "%s%slease=%" PRIu64 "ns,margin=%" PRIu64 "ns", algorithm,
             strchr(algorithm, ':') ? "," : ":", out->lease_ns, out->margin_ns);
    int rc = algorithm_parse(text_string(&name), &config->algorithm, &config->elector, error);
    text_release(&name);
    return rc;
}

/* An exponential distribution: most pauses are short, a few are many times as long. */
static uint64_t draw_pause(struct random *random, uint64_t mean_ns)
{
    double share = ((double)random_below(random, PPM_ONE) + 0.5) / PPM_ONE;
    return 1 + (uint64_t)(-log(share) * (double)mean_ns);
}

/* The leader is hit again and again, by kills or by pauses of that mean. */
static void plan(struct trial *trial, const char *kind, uint64_t mean_ns, uint64_t trials)
{
    const struct knobs *knobs = &trial->config.elector.knobs;
    const struct fault *fault = fault_find(slice_of(kind));
    uint64_t apart_ns =
        LEASES_APART * trial->lease_ns + TIMEOUTS_APART * knobs->election_timeout_max;
    uint64_t at_ns = apart_ns;
    struct random random;
    random_init(&random, trial->config.seed, kind, 0);
    for (uint64_t i = 0; i < trials; i++) {
        struct scheduled_fault hit = {
            .at_ns = at_ns + random_below(&random, trial->lease_ns),
            .duration_ns = mean_ns ? draw_pause(&random, mean_ns) : apart_ns / 2,
            .fault = fault,
            .target = {.role = TARGET_LEADER},
            .seed = i,
        };
        if (fault->parameters)
            options_defaults(fault->parameters, &hit.parameters);
        schedule_add(&trial->schedule, &hit);
        at_ns += apart_ns + (mean_ns ? hit.duration_ns : 0);
    }
    trial->config.schedule = &trial->schedule;
    trial->config.kinds[0] = fault;
    trial->config.kind_count = 1;
    trial->config.fault_every_ns = apart_ns;
    trial->config.duration_ns = at_ns + apart_ns;
}

static int hit(const struct request *request, const char *algorithm, uint64_t lease_ns,
               const char *kind, struct trial *trial, struct sim_result *result,
               struct error *error)
{
    bool kills = strcmp(kind, "kill") == 0;
    int rc = configure(request, algorithm, lease_ns, trial, error);
    if (rc < 0)
        return rc;
    plan(trial, kind, kills ? 0 : command_number(request->line, "pause"),
         command_number(request->line, "trials"));
    rc = sim_run(&trial->config, result, error);
    schedule_release(&trial->schedule);
    return rc;
}

/* ---- what is shown ---- */

static const struct grid_column columns[] = {
    {"algorithm", false},      {"lease", false},      {"margin", false},
    {"failovers", false},      {"median", false},     {"99% within", false},
    {"false expiries", false}, {"messages/s", false}, {NULL, false},
};

/* Figures of a run that broke its promises are worth nothing. */
static void note_outcome(struct request *request, const struct report_data *data)
{
    int code = (int)verdict_exit_code(data->verdict);
    if (request->worst != EXIT_INVALID && code != EXIT_VALID)
        request->worst = code;
}

static void add_failover(const struct measure *measure, struct grid *grid)
{
    char median[UNIT_TEXT_MAX], most[UNIT_TEXT_MAX];
    uint64_t *samples;
    uint32_t count = failover_samples(measure, PHASE_ACCEPTED, &samples);
    grid_cell(grid, "%u", count);
    grid_cell(grid, "%s",
              count ? human_duration(quantile(samples, count, PPM_ONE / 2), median) : "-");
    grid_cell(grid, "%s", count ? human_duration(quantile(samples, count, 990000), most) : "-");
    free(samples);
}

static int bench_lease_of(struct request *request, const char *algorithm, uint64_t lease_ns,
                          struct error *error)
{
    char lease[UNIT_TEXT_MAX], margin[UNIT_TEXT_MAX];
    struct sim_result killed, paused;
    struct trial trial;
    int rc = hit(request, algorithm, lease_ns, "kill", &trial, &killed, error);
    if (rc < 0)
        return rc;
    rc = hit(request, algorithm, lease_ns, "pause", &trial, &paused, error);
    if (rc == 0) {
        struct grid *grid = &request->grid;
        uint64_t changes = paused.report.measure.terms;
        grid_row(grid, 0);
        grid_cell(grid, "%s", algorithm);
        grid_cell(grid, "%s", human_duration(trial.lease_ns, lease));
        grid_cell(grid, "%s", human_duration(trial.margin_ns, margin));
        add_failover(&killed.report.measure, grid);
        grid_cell(grid, "%" PRIu64 " of %" PRIu64, changes ? changes - 1 : 0,
                  command_number(request->line, "trials"));
        grid_cell(grid, "%.0f",
                  (double)paused.messages * (double)NS_PER_S / (double)paused.simulated_ns);
        note_outcome(request, &killed.report);
        note_outcome(request, &paused.report);
        sim_result_release(&paused);
    }
    sim_result_release(&killed);
    return rc;
}

static int parse_leases(struct request *request, struct error *error)
{
    const char *list = command_text(request->line, "lease");
    struct text word = {0};
    int rc = 0;
    for (bool more = true; more && rc == 0;) {
        size_t length = strcspn(list, ",");
        if (request->lease_count == LEASES_MAX)
            rc = error_usage(error, "more than %u lengths", LEASES_MAX);
        text_clear(&word);
        text_add_bytes(&word, list, length);
        if (rc == 0)
            rc =
                parse_duration(text_string(&word), &request->leases[request->lease_count++], error);
        more = list[length] == ',';
        list += length + more;
    }
    text_release(&word);
    if (rc < 0)
        error_prefix(error, "--lease");
    return rc;
}

/* Has it a lease, and can all its lengths be? Nothing is run before that is known. */
static int check_algorithm(const struct request *request, const char *algorithm,
                           struct error *error)
{
    struct elector_config elector = {.nodes = (uint32_t)command_number(request->line, "nodes")};
    const struct algorithm *found;
    struct trial trial;
    knobs_defaults(&elector.knobs);
    int rc = algorithm_parse(algorithm, &found, &elector, error);
    if (rc == 0 && !(found->traits(&elector.options) >> TRAIT_LEASE & 1))
        rc = error_usage(error, "%s has no lease", found->name);
    for (uint32_t i = 0; rc == 0 && i < request->lease_count; i++) {
        rc = configure(request, algorithm, request->leases[i], &trial, error);
        if (rc == 0 && found->validate)
            rc = found->validate(&trial.config.elector, error);
    }
    return rc;
}

static int measure(struct request *request, struct text *name, struct error *error)
{
    const char *list = command_text(request->line, "algorithm");
    int rc = 0;
    while (rc == 0 && algorithm_list_next(&list, name))
        rc = check_algorithm(request, text_string(name), error);
    list = command_text(request->line, "algorithm");
    while (rc == 0 && algorithm_list_next(&list, name))
        for (uint32_t i = 0; rc == 0 && i < request->lease_count; i++)
            rc = bench_lease_of(request, text_string(name), request->leases[i], error);
    return rc;
}

static int run(const struct command_line *line, struct error *error)
{
    struct request request = {.line = line, .grid = {.columns = columns}};
    struct text name = {0}, out = {0};
    int rc = parse_leases(&request, error);
    if (rc == 0)
        rc = measure(&request, &name, error);
    if (rc == 0) {
        grid_text(&request.grid, 0, false, &out);
        rc = output_text(&out, error);
    }
    grid_release(&request.grid);
    text_release(&name);
    text_release(&out);
    return rc < 0 ? rc : request.worst;
}

static const struct command_option options[] = {
    {"algorithm", 'a', ARGUMENT_TEXT, "NAME[:OPTION=VALUE,...],...", "lease,quorum-lease", 0, 0,
     NULL, "election algorithms with leases"},
    {"lease", 'l', ARGUMENT_TEXT, "D,...", "100ms,200ms,500ms,1s,2s,5s", 0, 0, NULL,
     "lengths of the lease; its margin is a fifth"},
    {"pause", 'p', ARGUMENT_DURATION, "D", "200ms", NS_PER_MS, 60 * NS_PER_S, NULL,
     "mean length of the pauses, drawn from an exponential distribution"},
    {"nodes", 'n', ARGUMENT_COUNT, "N", "5", 2, NODES_MAX, NULL, "number of election nodes"},
    {"trials", 't', ARGUMENT_COUNT, "N", "200", 1, 100000, NULL,
     "kills, and then pauses, of the leader for each length"},
    {"seed", 's', ARGUMENT_COUNT, "S", "1", 0, UINT64_MAX, NULL, "of all random choices"},
    {.name = NULL},
};

static const char *const examples[] = {
    "coup bench lease -a lease,queue,db-lease --lease 200ms,1s --trials 50",
    NULL,
};

const struct command bench_lease = {
    .name = "lease",
    .summary = "the length of a lease: failover after a kill against expiries by mere pauses",
    .arguments = "",
    .details = "Simulated. Two runs for each length: one kills the leader, and the time until "
               "writes of the next are accepted is told; the other pauses it, and the leaders "
               "that were replaced although they lived are counted.",
    .options = options,
    .examples = examples,
    .run = run,
};
