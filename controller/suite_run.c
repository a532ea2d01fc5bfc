#define _GNU_SOURCE
#include "controller/suite_run.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/units.h"
#include "controller/farm.h"
#include "controller/interrupts.h"
#include "controller/suite_live.h"
#include "controller/suite_work.h"
#include "controller/version.h"
#include "histories/crc32c.h"

static uint64_t wall_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- choosing ---- */

static int choose(const struct suite_order *order, struct suite_state *state, struct error *error)
{
    struct suite_shard shard;
    if (suite_shard_parse(order->shard, &shard, error) < 0) {
        error_prefix(error, "--shard");
        return -EINVAL;
    }
    state->cells = must_alloc(state->suite.count, sizeof *state->cells);
    uint32_t named = 0;
    for (uint32_t i = 0; i < state->suite.count; i++) {
        bool wanted = strstr(state->suite.cells[i].name, order->only);
        named += wanted;
        if (wanted && suite_in_shard(shard, i))
            state->cells[state->count++] = i;
    }
    if (named == 0)
        return error_usage(error, "--only '%.100s' matches none of the %" PRIu32 " cells of %s",
                           order->only, state->suite.count, order->file);
    if (state->count == 0)
        return error_usage(error, "shard %s has no cell of %s: there are %" PRIu32 " to share",
                           order->shard, order->file, named);
    return 0;
}

/* All cells are read, chosen or not: a mistake shows on every machine, and all shards agree on
 * what the suite is. */
static int open_jobs(struct suite_state *state, struct error *error)
{
    struct text all = {0};
    uint32_t chosen = 0;
    int rc = 0;
    state->jobs = must_alloc(state->count, sizeof *state->jobs);
    text_add(&all, "%s\n", version_text());
    for (uint32_t i = 0; rc == 0 && i < state->suite.count; i++) {
        bool wanted = chosen < state->count && state->cells[chosen] == i;
        struct suite_job *job = must_alloc(1, sizeof *job);
        struct suite_job *into = wanted ? &state->jobs[chosen++] : job;
        rc = suite_job_open(&state->suite, &state->suite.cells[i], into, error);
        if (rc == 0)
            suite_job_format(into, &all);
        suite_job_release(job);
        free(job);
    }
    (void)snprintf(state->head.digest, sizeof state->head.digest, "%08" PRIx32,
                   crc32c(0, text_string(&all), all.length));
    text_release(&all);
    return rc;
}

static uint64_t units_of(const struct suite_cell *cell)
{
    uint64_t seeds = cell->last - cell->first + 1;
    return cell->real ? seeds * cell->repeats : (seeds + SUITE_BLOCK - 1) / SUITE_BLOCK;
}

static void begin_tallies(struct suite_state *state)
{
    uint64_t units = 0;
    state->tallies = must_alloc(state->count, sizeof *state->tallies);
    for (uint32_t i = 0; i < state->count; i++) {
        const struct suite_cell *cell = state->jobs[i].cell;
        state->tallies[i] = (struct suite_tally){
            .job = &state->jobs[i], .cell = state->cells[i], .asked = suite_cell_runs(cell)};
        units += units_of(cell);
    }
    state->done = must_alloc((size_t)(units / 64 + 1), sizeof *state->done);
}

int suite_state_open(const struct suite_order *order, struct suite_state *out, struct error *error)
{
    *out = (struct suite_state){0};
    int rc = suite_parse(order->file, slice_of(order->yaml), &out->suite, error);
    if (rc == 0)
        rc = choose(order, out, error);
    if (rc == 0)
        rc = open_jobs(out, error);
    if (rc < 0) {
        suite_state_release(out);
        return rc;
    }
    (void)snprintf(out->head.name, sizeof out->head.name, "%s", out->suite.name);
    (void)snprintf(out->head.shard, sizeof out->head.shard, "%s", order->shard);
    (void)snprintf(out->head.only, sizeof out->head.only, "%s", order->only);
    begin_tallies(out);
    return 0;
}

void suite_state_release(struct suite_state *state)
{
    for (uint32_t i = 0; i < state->count; i++) {
        if (state->jobs)
            suite_job_release(&state->jobs[i]);
        if (state->tallies)
            suite_tally_release(&state->tallies[i]);
    }
    free(state->jobs);
    free(state->tallies);
    free(state->cells);
    free(state->done);
    suite_release(&state->suite);
    *state = (struct suite_state){0};
}

/* ---- units: the order in which the work is numbered ---- */

static struct suite_unit unit_at(const struct suite_state *state, uint64_t number)
{
    uint32_t job = 0;
    while (number >= units_of(state->jobs[job].cell))
        number -= units_of(state->jobs[job++].cell);
    const struct suite_cell *cell = state->jobs[job].cell;
    if (cell->real) {
        uint64_t seed = cell->first + number / cell->repeats;
        return (struct suite_unit){job, seed, seed, number % cell->repeats};
    }
    uint64_t first = cell->first + number * SUITE_BLOCK, last = first + SUITE_BLOCK - 1;
    return (struct suite_unit){job, first, last < cell->last ? last : cell->last, 0};
}

static uint64_t unit_count(const struct suite_state *state)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < state->count; i++)
        count += units_of(state->jobs[i].cell);
    return count;
}

/* The chosen cell that a record is of, or NULL. */
static struct suite_tally *tally_of(const struct suite_state *state, uint32_t cell)
{
    for (uint32_t i = 0; i < state->count; i++)
        if (state->cells[i] == cell)
            return &state->tallies[i];
    return NULL;
}

/* The record's number among all units; false: it fits none. */
static bool number_of(const struct suite_state *state, const struct suite_record *record,
                      uint64_t *out)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < state->count; i++) {
        const struct suite_cell *cell = state->jobs[i].cell;
        if (state->cells[i] != record->cell) {
            number += units_of(cell);
            continue;
        }
        if (record->first < cell->first || record->first > cell->last ||
            record->repeat >= cell->repeats)
            return false;
        uint64_t within = record->first - cell->first;
        *out =
            number + (cell->real ? within * cell->repeats + record->repeat : within / SUITE_BLOCK);
        struct suite_unit unit = unit_at(state, *out);
        return unit.first == record->first && unit.last == record->last;
    }
    return false;
}

/* ---- what is known already ---- */

struct loading {
    struct suite_state *state;
    const char *folder; /* where a shard's histories are; NULL: in the suite's own folder */
    int fd;             /* of the journal of all shards; -1: none */
    int rc;
    struct error *error;
};

/* From the folder of the shard to a name that is good anywhere. */
static void rename_histories(const struct loading *loading, struct suite_record *record)
{
    struct text path = {0};
    for (uint32_t i = 0; i < record->shown_count; i++) {
        char *history = record->shown[i].history;
        if (!history[0] || history[0] == '/')
            continue;
        text_clear(&path);
        text_add(&path, "%s/%s", loading->folder, history);
        (void)snprintf(history, sizeof record->shown[i].history, "%s", text_string(&path));
    }
    text_release(&path);
}

static void load(void *context, const struct suite_record *given)
{
    struct loading *loading = context;
    struct suite_state *state = loading->state;
    uint64_t number;
    if (loading->rc < 0 || !number_of(state, given, &number) ||
        state->done[number / 64] >> number % 64 & 1)
        return; /* of a cell that is not chosen here */
    struct suite_record *record = must_alloc(1, sizeof *record);
    *record = *given;
    if (loading->folder)
        rename_histories(loading, record);
    state->done[number / 64] |= UINT64_C(1) << number % 64;
    suite_tally_add(tally_of(state, record->cell), record);
    if (loading->folder)
        state->took_ns += record->took_ns;
    else if (record->at_ns > state->past_ns)
        state->past_ns = record->at_ns;
    if (loading->fd >= 0)
        loading->rc = suite_journal_append(loading->fd, record, loading->error);
    free(record);
}

static int read_journal(struct loading *loading, const char *folder, enum suite_kinship kinship,
                        int *ret_fd)
{
    const struct suite_journal_head *own = &loading->state->head;
    struct suite_journal_head head = {0};
    int rc = suite_journal_read(folder, &head, load, loading, ret_fd, loading->error);
    if (rc < 0 || kinship == SUITE_EARLIER)
        return rc;
    if (strcmp(head.digest, own->digest) != 0)
        return error_usage(loading->error,
                           "%s: its journal is of another suite, other cells or another coup",
                           folder);
    if (kinship == SUITE_SAME && strcmp(head.shard, own->shard) != 0)
        return error_usage(loading->error, "%s: its journal is of shard %s", folder, head.shard);
    return loading->rc;
}

int suite_state_load(struct suite_state *state, const char *folder, enum suite_kinship kinship,
                     int *ret_fd, struct error *error)
{
    struct loading loading = {.state = state, .fd = -1, .error = error};
    return read_journal(&loading, folder, kinship, ret_fd);
}

int suite_state_merge(struct suite_state *state, const char *folder, int fd, struct error *error)
{
    char *origin = realpath(folder, NULL);
    if (!origin)
        return error_usage(error, "%s: %s", folder, strerror(errno));
    struct loading loading = {.state = state, .folder = origin, .fd = fd, .error = error};
    int rc = read_journal(&loading, folder, SUITE_SHARD, NULL);
    free(origin);
    return rc;
}

void suite_state_settle(struct suite_state *state)
{
    for (uint32_t i = 0; i < state->count; i++)
        suite_tally_settle(&state->tallies[i]);
}

/* ---- the work ---- */

struct suite_going {
    struct suite_state *state;
    const struct suite_order *order;
    struct suite_worker worker;
    uint64_t *pending; /* units, by number */
    int fd;
    uint64_t began_ns, budget_ns;
    struct suite_live live;
    int rc;
    struct error error;
};

static int work(void *context, uint64_t number, struct text *result, struct error *error)
{
    const struct suite_going *going = context;
    struct suite_unit unit = unit_at(going->state, going->pending[number]);
    struct suite_record *record = must_alloc(1, sizeof *record);
    (void)error; /* coup's own failures are in the record */
    suite_work(&going->worker, &unit, record);
    suite_record_format(record, result);
    free(record);
    return 0;
}

static uint64_t elapsed_ns(const struct suite_going *going)
{
    return going->state->past_ns + wall_ns() - going->began_ns;
}

/* Begin nothing more; what is under way is waited for. */
static void stop(struct suite_going *going)
{
    atomic_store(&going->worker.shared->stop, true);
}

static void look_around(struct suite_going *going)
{
    struct suite_state *state = going->state;
    if (interrupts_pending())
        state->interrupted = true;
    if (going->budget_ns && elapsed_ns(going) >= going->budget_ns)
        state->out_of_time = true;
    if (state->interrupted || state->out_of_time || state->failed_fast)
        stop(going);
}

static void tick(void *context)
{
    struct suite_going *going = context;
    look_around(going);
    suite_live_draw(&going->live, elapsed_ns(going), going->budget_ns);
}

static bool take(void *context, uint64_t number, struct slice bytes)
{
    struct suite_going *going = context;
    struct suite_record *record = must_alloc(1, sizeof *record);
    int rc = suite_record_parse(bytes, record);
    assert(rc == 0); /* written by our own worker */
    struct suite_tally *tally = tally_of(going->state, record->cell);
    (void)number;
    record->at_ns = elapsed_ns(going);
    bool skipped = record->stopped;
    if (!skipped) {
        rc = suite_journal_append(going->fd, record, &going->error);
        suite_tally_add(tally, record);
    }
    if (rc < 0)
        going->rc = rc;
    if (going->order->fail_fast && suite_tally_outcome(tally) >= SUITE_BROKEN &&
        (tally->done == tally->asked || suite_tally_lost(tally)))
        going->state->failed_fast = true;
    look_around(going);
    suite_live_step(&going->live, tally);
    free(record);
    return rc == 0;
}

static uint64_t list_pending(struct suite_going *going)
{
    const struct suite_state *state = going->state;
    uint64_t all = unit_count(state), count = 0;
    going->pending = must_alloc((size_t)all, sizeof *going->pending);
    for (uint64_t i = 0; i < all; i++)
        if (!(state->done[i / 64] >> i % 64 & 1))
            going->pending[count++] = i;
    return count;
}

static int share(struct suite_going *going, size_t *ret_bytes, struct error *error)
{
    const struct suite_state *state = going->state;
    size_t bytes = sizeof(struct suite_shared) + state->count * sizeof(struct suite_shared_cell);
    struct suite_shared *shared =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return error_set(error, -errno, "map memory: %s", strerror(errno));
    for (uint32_t i = 0; i < state->count; i++) {
        const struct suite_tally *tally = &state->tallies[i];
        atomic_store(&shared->cells[i].spent_ns, tally->took_ns);
        for (uint32_t k = 0; k < tally->shown_count; k++)
            if (!tally->shown[k].met)
                (void)atomic_fetch_add(&shared->cells[i].kept, 1);
    }
    going->worker.shared = shared;
    *ret_bytes = bytes;
    return 0;
}

static int run_pending(struct suite_going *going, uint64_t count, struct error *error)
{
    struct farm farm = {.first = 0,
                        .last = count - 1,
                        .workers = going->order->jobs,
                        .context = going,
                        .work = work,
                        .take = take,
                        .tick = tick};
    if (farm.workers > count)
        farm.workers = (uint32_t)count;
    if (farm.workers < 1)
        farm.workers = 1;
    int rc = farm_run(&farm, error);
    if (rc == 0 && (rc = going->rc) < 0)
        *error = going->error;
    return rc;
}

int suite_state_run(struct suite_state *state, const struct suite_order *order, const char *folder,
                    int fd, struct error *error)
{
    struct suite_going *going = must_alloc(1, sizeof *going);
    size_t shared_bytes = 0;
    *going = (struct suite_going){.state = state,
                                  .order = order,
                                  .fd = fd,
                                  .began_ns = wall_ns(),
                                  .budget_ns =
                                      order->budget_ns ? order->budget_ns : state->suite.budget_ns};
    going->worker = (struct suite_worker){
        .suite = &state->suite, .jobs = state->jobs, .cells = state->cells, .folder = folder};
    int rc = share(going, &shared_bytes, error);
    uint64_t count = list_pending(going);
    interrupts_hold();
    suite_live_open(&going->live, state->tallies, state->count, order->quiet);
    if (rc == 0 && count)
        rc = run_pending(going, count, error);
    suite_live_close(&going->live);
    state->took_ns = elapsed_ns(going);
    suite_state_settle(state);
    if (going->worker.shared)
        (void)munmap(going->worker.shared, shared_bytes);
    free(going->pending);
    free(going);
    return rc;
}
