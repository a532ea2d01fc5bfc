#include "controller/suite_job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "nemesis/shipped.h"

extern const struct command command_sim, command_run;

static const struct command *command_of(const struct suite_cell *cell)
{
    return cell->real ? &command_run : &command_sim;
}

static const char *path_of(const struct suite_cell *cell)
{
    return cell->real ? "coup run" : "coup sim";
}

/* ---- word by word, for the sake of the line ---- */

static int vet_algorithm(const char *text, struct error *error)
{
    const struct algorithm *algorithm;
    struct elector_config elector = {.nodes = 5};
    knobs_defaults(&elector.knobs);
    return algorithm_parse(text, &algorithm, &elector, error);
}

static int vet_faults(const char *text, struct error *error)
{
    const struct fault *kinds[FAULTS_MAX];
    uint32_t count;
    return faults_parse(text, kinds, &count, error);
}

static int vet_knobs(const char *text, struct error *error)
{
    struct knobs knobs;
    knobs_defaults(&knobs);
    return knobs_parse(text, &knobs, error);
}

static int vet_physics(const char *text, struct error *error)
{
    struct physics physics;
    physics_defaults(&physics);
    return physics_parse(text, &physics, error);
}

static int vet_scenario(const char *text, struct error *error)
{
    struct scenario scenario = {0};
    int rc = scenario_find(text, &scenario, error);
    scenario_release(&scenario);
    return rc;
}

static const struct {
    const char *key;
    int (*vet)(const char *text, struct error *error);
} vets[] = {
    {"algorithm", vet_algorithm}, {"faults", vet_faults},     {"set", vet_knobs},
    {"physics", vet_physics},     {"scenario", vet_scenario},
};

static int vet_word(const struct suite *suite, const struct suite_cell *cell,
                    const struct suite_word *word, struct error *error)
{
    struct command_line line;
    bool help;
    struct text option = {0};
    text_add(&option, "--%s=%s", word->option, word->text);
    char *argv[] = {must_copy("coup"), option.at, NULL};
    int rc = command_parse(command_of(cell), path_of(cell), 2, argv, &line, &help, error);
    if (rc == 0)
        command_line_release(&line);
    for (size_t i = 0; rc == 0 && i < sizeof vets / sizeof vets[0]; i++)
        if (strcmp(vets[i].key, word->key) == 0)
            rc = vets[i].vet(word->text, error);
    free(argv[0]);
    text_release(&option);
    if (rc < 0)
        error_prefix(error, "%s:%zu: %s", suite->file, word->line, word->key);
    return rc;
}

/* ---- the whole ---- */

static void add_argument(struct suite_job *job, const char *text)
{
    job->argv[job->argc++] = must_copy(text);
}

static void add_arguments(struct suite_job *job)
{
    const struct suite_cell *cell = job->cell;
    struct text word = {0};
    job->argv = must_alloc(cell->word_count + 5, sizeof *job->argv);
    add_argument(job, "coup");
    for (uint32_t i = 0; i < cell->word_count; i++) {
        text_clear(&word);
        text_add(&word, "--%s=%s", cell->words[i].option, cell->words[i].text);
        add_argument(job, text_string(&word));
    }
    text_clear(&word);
    if (cell->real)
        text_add(&word, "--seed=%" PRIu64, cell->first);
    else
        text_add(&word, "--seeds=%" PRIu64 "..%" PRIu64, cell->first, cell->last);
    add_argument(job, text_string(&word));
    if (cell->expect.given) {
        text_clear(&word);
        text_add(&word, "--expect=");
        expectation_format(&cell->expect, &word);
        add_argument(job, text_string(&word));
    }
    text_release(&word);
}

/* Of the clusters that may be drawn the smallest and the largest. */
static int vet_sizes(const struct swarm_request *request, struct error *error)
{
    struct sim_config config = request->base;
    config.elector.nodes = request->nodes_min;
    int rc = sim_vet(&config, error);
    config.elector.nodes = request->nodes_max;
    return rc < 0 ? rc : sim_vet(&config, error);
}

static int open_simulated(struct suite_job *job, struct error *error)
{
    int rc = sim_order_open(&job->line, &job->sim, error);
    return rc < 0 ? rc : vet_sizes(&job->sim.order.request, error);
}

static int open_line(struct suite_job *job, struct error *error)
{
    bool help;
    int rc = command_parse(command_of(job->cell), path_of(job->cell), job->argc, job->argv,
                           &job->line, &help, error);
    if (rc < 0 || !job->cell->real)
        return rc < 0 ? rc : open_simulated(job, error);
    rc = scenario_use(&job->line, &job->use, error);
    return rc < 0 ? rc : run_options_config(&job->use, &job->service, &job->config, error);
}

int suite_job_open(const struct suite *suite, const struct suite_cell *cell, struct suite_job *out,
                   struct error *error)
{
    int rc = 0;
    *out = (struct suite_job){.cell = cell};
    for (uint32_t i = 0; rc == 0 && i < cell->word_count; i++)
        rc = vet_word(suite, cell, &cell->words[i], error);
    if (rc < 0)
        return rc;
    add_arguments(out);
    rc = open_line(out, error);
    if (rc < 0) {
        error_prefix(error, "%s:%zu: cell '%.100s'", suite->file, cell->line, cell->name);
        suite_job_release(out);
        return rc;
    }
    out->expect = cell->real ? out->config.expect : out->sim.order.expect;
    if (!out->expect.given)
        out->expect = (struct expectation){.given = true, .verdict = VERDICT_VALID};
    out->config.expect = out->expect;
    return 0;
}

void suite_job_release(struct suite_job *job)
{
    sim_order_release(&job->sim);
    scenario_use_release(&job->use);
    if (job->line.command)
        command_line_release(&job->line);
    for (int i = 0; i < job->argc; i++)
        free(job->argv[i]);
    free(job->argv);
    *job = (struct suite_job){0};
}

static const char *const aside[] = {"seed", "seeds", NULL};

void suite_job_command(const struct suite_job *job, uint64_t seed, const char *program,
                       struct text *out)
{
    struct text command = {0};
    command_again(&job->line, aside, &command);
    text_add(out, "%s%s", program, text_string(&command) + strlen("coup"));
    if (job->cell->real)
        text_add(out, " --seed %" PRIu64, seed);
    else
        text_add(out, " --seeds %" PRIu64 "..%" PRIu64, seed, seed);
    text_release(&command);
}

void suite_job_format(const struct suite_job *job, struct text *out)
{
    const struct suite_cell *cell = job->cell;
    command_again(&job->line, aside, out);
    text_add(out, " %" PRIu64 "..%" PRIu64 " x%" PRIu32 " ", cell->first, cell->last,
             cell->repeats);
    expectation_format(&job->expect, out);
    text_add(out, " %" PRIu64 " %" PRIu64 "\n", cell->at_least, cell->budget_ns);
}
