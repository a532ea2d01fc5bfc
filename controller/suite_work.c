#define _GNU_SOURCE
#include "controller/suite_work.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <jansson.h>

#include "base/units.h"
#include "checker/measure.h"
#include "controller/run_folder.h"
#include "controller/sim_keep.h"
#include "histories/file.h"

/* Histories of one cell that are kept because of how they came out. */
#define KEPT_MAX 20u

static uint64_t wall_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void suite_cell_folder(const struct suite_cell *cell, uint32_t place, struct text *out)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._=,";
    text_add(out, "histories/%03" PRIu32 "-", place + 1);
    for (size_t i = 0; cell->name[i] && i < 60; i++)
        text_add(out, "%c", strchr(plain, cell->name[i]) ? cell->name[i] : '-');
}

/* `mkdir -p` of the cell's folder; `out` is where a run's history or folder goes. */
static int place_for(const struct suite_worker *worker, const struct suite_unit *unit,
                     const char *name, struct text *ret_shown, struct text *ret_path,
                     struct error *error)
{
    struct text folder = {0};
    uint32_t place = worker->cells[unit->job];
    suite_cell_folder(worker->jobs[unit->job].cell, place, &folder);
    text_add(ret_shown, "%s/%s", text_string(&folder), name);
    text_add(ret_path, "%s/%s", worker->folder, text_string(ret_shown));
    text_release(&folder);
    for (char *slash = ret_path->at + strlen(worker->folder); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int rc = mkdir(ret_path->at, 0777);
        int code = errno;
        if (rc < 0 && code != EEXIST)
            return error_set(error, -code, "create %s: %s", ret_path->at, strerror(code));
        *slash = '/';
    }
    return 0;
}

static bool is_met(const struct expectation *expect, const struct sweep_outcome *outcome)
{
    if (outcome->verdict != expect->verdict)
        return false;
    for (uint32_t i = 0; expect->check && checks[i]; i++)
        if (checks[i] == expect->check)
            return outcome->invalid >> i & 1;
    return true;
}

/* Every so manieth run of the cell. */
static bool is_chosen(const struct suite_worker *worker, const struct suite_unit *unit,
                      uint64_t seed)
{
    const struct suite_cell *cell = worker->jobs[unit->job].cell;
    uint64_t number = (seed - cell->first) * cell->repeats + unit->repeat;
    return worker->suite->keep_every && number % worker->suite->keep_every == 0;
}

/* A run that does not show an expected violation is seldom of interest, but then one is wanted: the
 * first, if it is such a one. */
static bool wants(const struct suite_worker *worker, const struct suite_unit *unit, uint64_t seed,
                  enum verdict verdict, bool met, bool vacuous)
{
    const struct suite_job *job = &worker->jobs[unit->job];
    if (met)
        return is_chosen(worker, unit, seed);
    if (vacuous)
        return false;
    if (job->expect.verdict == VERDICT_INVALID && verdict != VERDICT_UNKNOWN)
        return seed == job->cell->first && unit->repeat == 0;
    return atomic_fetch_add(&worker->shared->cells[unit->job].kept, 1) < KEPT_MAX;
}

static void count(struct suite_record *record, enum verdict verdict, bool met)
{
    record->runs++;
    record->valid += verdict == VERDICT_VALID;
    record->invalid += verdict == VERDICT_INVALID;
    record->unknown += verdict == VERDICT_UNKNOWN;
    record->met += met;
}

static void add_failover(struct suite_record *record, uint32_t us)
{
    if (record->failover_count < SUITE_FAILOVERS_MAX)
        record->failovers_us[record->failover_count++] = us;
}

/* ---- simulated ---- */

static int keep_simulated(const struct suite_worker *worker, const struct suite_unit *unit,
                          const struct sweep_outcome *outcome, struct suite_shown *shown,
                          struct error *error)
{
    const struct suite_job *job = &worker->jobs[unit->job];
    struct text name = {0}, below = {0}, path = {0}, command = {0};
    text_add(&name, "seed-%" PRIu64 ".coup", outcome->seed);
    suite_job_command(job, outcome->seed, "coup", &command);
    int rc = place_for(worker, unit, text_string(&name), &below, &path, error);
    if (rc == 0)
        rc = sim_keep(&job->sim.order.request, outcome, text_string(&command), text_string(&path),
                      error);
    if (rc == 0)
        (void)snprintf(shown->history, sizeof shown->history, "%s", text_string(&below));
    text_release(&name);
    text_release(&below);
    text_release(&path);
    text_release(&command);
    return rc;
}

static int take_outcome(const struct suite_worker *worker, const struct suite_unit *unit,
                        const struct sweep_outcome *outcome, struct suite_record *out,
                        struct error *error)
{
    bool met = is_met(&worker->jobs[unit->job].expect, outcome), vacuous = sweep_vacuous(outcome);
    count(out, outcome->verdict, met);
    out->vacuous += vacuous;
    out->simulated_ns += outcome->simulated_ns;
    for (uint32_t i = 0; i < outcome->failover_count; i++)
        add_failover(out, outcome->failovers_us[i]);
    if (outcome->diverged)
        return error_set(error, -EPROTO, "seed %" PRIu64 " gives another run when repeated",
                         outcome->seed);
    if (out->shown_count == SUITE_SHOWN_MAX ||
        !wants(worker, unit, outcome->seed, outcome->verdict, met, vacuous))
        return 0;
    struct suite_shown *shown = &out->shown[out->shown_count++];
    *shown = (struct suite_shown){.seed = outcome->seed, .verdict = outcome->verdict, .met = met};
    if (outcome->decided_by >= 0)
        (void)snprintf(shown->check, sizeof shown->check, "%s", checks[outcome->decided_by]->name);
    (void)snprintf(shown->reason, sizeof shown->reason, "%s", outcome->reason);
    return keep_simulated(worker, unit, outcome, shown, error);
}

static bool out_of_budget(const struct suite_worker *worker, const struct suite_unit *unit)
{
    uint64_t budget_ns = worker->jobs[unit->job].cell->budget_ns;
    return budget_ns && atomic_load(&worker->shared->cells[unit->job].spent_ns) >= budget_ns;
}

/* Whether the next run may begin; else the record says why not. */
static bool may_begin(const struct suite_worker *worker, const struct suite_unit *unit,
                      struct suite_record *out)
{
    out->stopped = atomic_load(&worker->shared->stop);
    out->out_of_budget = !out->stopped && out_of_budget(worker, unit);
    return !out->stopped && !out->out_of_budget;
}

static void work_simulated(const struct suite_worker *worker, const struct suite_unit *unit,
                           struct suite_record *out)
{
    const struct swarm_request *request = &worker->jobs[unit->job].sim.order.request;
    for (uint64_t seed = unit->first; seed <= unit->last && may_begin(worker, unit, out); seed++) {
        struct sweep_outcome outcome;
        struct error error;
        uint64_t began_ns = wall_ns();
        int rc = sweep_one(request, seed, &outcome, &error);
        if (rc == 0)
            rc = take_outcome(worker, unit, &outcome, out, &error);
        uint64_t took_ns = wall_ns() - began_ns;
        out->took_ns += took_ns;
        (void)atomic_fetch_add(&worker->shared->cells[unit->job].spent_ns, took_ns);
        if (rc == 0)
            continue;
        (void)snprintf(out->failure, sizeof out->failure, "%s", error.text);
        return;
    }
}

/* ---- real ---- */

/* What the run left says which check decided, and how long failovers took. */
static void read_run(const char *folder, struct suite_shown *shown, struct suite_record *out)
{
    struct text path = {0};
    struct history_reader *reader;
    struct event event;
    size_t i;
    json_t *check;
    text_add(&path, "%s/verdict.json", folder);
    json_t *root = json_load_file(text_string(&path), 0, NULL);
    json_array_foreach(json_object_get(root, "checks"), i, check)
    {
        const char *verdict = json_string_value(json_object_get(check, "verdict"));
        if (shown->check[0] || !verdict || strcmp(verdict, verdict_name(shown->verdict)) != 0 ||
            shown->verdict == VERDICT_VALID)
            continue;
        (void)snprintf(shown->check, sizeof shown->check, "%s",
                       json_string_value(json_object_get(check, "name")));
        (void)snprintf(shown->reason, sizeof shown->reason, "%s",
                       json_string_value(json_object_get(check, "reason")));
    }
    json_decref(root);
    text_clear(&path);
    text_add(&path, "%s/history.coup", folder);
    if (history_open(text_string(&path), &reader, NULL) == 0) {
        struct measure measure;
        struct measurer *measurer = measurer_new(history_header(reader));
        while (history_next(reader, &event) == 1)
            measurer_step(measurer, &event);
        measurer_end(measurer, &measure);
        for (uint32_t k = 0; k < measure.failover_count; k++)
            if (measure.failovers[k].elected_ns != UINT64_MAX)
                add_failover(out, (uint32_t)((measure.failovers[k].elected_ns -
                                              measure.failovers[k].lost_ns) /
                                             NS_PER_US));
        free(measure.failovers);
        history_reader_close(reader);
    }
    text_release(&path);
}

/* One run into `folder`. */
static int run_once(const struct suite_worker *worker, const struct suite_unit *unit,
                    const char *folder, struct run_result *result, struct error *error)
{
    const struct suite_job *job = &worker->jobs[unit->job];
    struct run_config config = job->config;
    struct text command = {0};
    int rc = run_folder_remove(folder, error); /* of an attempt that was killed */
    if (rc < 0)
        return rc;
    suite_job_command(job, unit->first, "coup", &command);
    config.seed = unit->first;
    config.command = text_string(&command);
    config.folder = folder;
    config.print = false;
    config.quiet = true;
    rc = run_execute(&config, result, error);
    text_release(&command);
    return rc;
}

static int run_real(const struct suite_worker *worker, const struct suite_unit *unit,
                    const char *below, const char *folder, struct suite_record *out,
                    struct error *error)
{
    struct run_result result = {0};
    struct suite_shown shown = {.seed = unit->first};
    int rc = run_once(worker, unit, folder, &result, error);
    for (uint64_t i = 0;
         rc < 0 && error->kind == ERROR_HARNESS && rc != -EINTR && i < worker->suite->retries; i++)
        rc = run_once(worker, unit, folder, &result, error);
    out->stopped = rc == -EINTR || (rc == 0 && result.interrupted);
    if (rc < 0 || out->stopped)
        return out->stopped ? 0 : rc;
    shown.verdict = result.verdict;
    shown.met = result.exit_code == EXIT_VALID;
    (void)snprintf(shown.history, sizeof shown.history, "%s/history.coup", below);
    read_run(folder, &shown, out);
    count(out, shown.verdict, shown.met);
    if (!wants(worker, unit, unit->first, shown.verdict, shown.met, false))
        return run_folder_remove(folder, error);
    out->shown[out->shown_count++] = shown;
    return 0;
}

static void work_real(const struct suite_worker *worker, const struct suite_unit *unit,
                      struct suite_record *out)
{
    struct text name = {0}, below = {0}, folder = {0};
    struct error error;
    uint64_t began_ns = wall_ns();
    if (!may_begin(worker, unit, out))
        return;
    text_add(&name, "seed-%" PRIu64, unit->first);
    if (worker->jobs[unit->job].cell->repeats > 1)
        text_add(&name, "-%" PRIu64, unit->repeat + 1);
    int rc = place_for(worker, unit, text_string(&name), &below, &folder, &error);
    if (rc == 0)
        rc = run_real(worker, unit, text_string(&below), text_string(&folder), out, &error);
    if (rc < 0)
        (void)snprintf(out->failure, sizeof out->failure, "%s", error.text);
    out->took_ns = wall_ns() - began_ns;
    (void)atomic_fetch_add(&worker->shared->cells[unit->job].spent_ns, out->took_ns);
    text_release(&name);
    text_release(&below);
    text_release(&folder);
}

void suite_work(const struct suite_worker *worker, const struct suite_unit *unit,
                struct suite_record *out)
{
    *out = (struct suite_record){.cell = worker->cells[unit->job],
                                 .first = unit->first,
                                 .last = unit->last,
                                 .repeat = unit->repeat};
    if (worker->jobs[unit->job].cell->real)
        work_real(worker, unit, out);
    else
        work_simulated(worker, unit, out);
}
