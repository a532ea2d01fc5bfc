/* `coup bench start`: what a run costs besides its faults: from the command to the first leader,
 * from the end of the run to nothing left of it, and the memory of its processes. */
#define _GNU_SOURCE
#include "controller/bench.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <uv.h>

#include "base/units.h"
#include "controller/output.h"
#include "controller/run_options.h"
#include "histories/file.h"
#include "nemesis/network/backend.h"
#include "nodes/clock.h"
#include "report/failover.h"

#define IDLE_NS (2 * NS_PER_S) /* the run whose memory is read */
#define LOOK_AFTER_NS (3 * IDLE_NS / 4)
#define BRIEF_NS (100 * NS_PER_MS)
#define ROUNDS_MAX 1000u

/* ---- one run, timed from outside ---- */

static int set_up(const struct command_line *line, struct run_config *config, struct error *error)
{
    *config = (struct run_config){
        .elector.nodes = (uint32_t)command_number(line, "nodes"),
        .seed = 1,
        .duration_ns = BRIEF_NS,
        .fenced = true,
        .command = "coup bench start",
        .quiet = true,
    };
    int rc = run_options_network(command_text(line, "network"), &config->network, error);
    return rc < 0 ? rc
                  : run_options_algorithm(command_text(line, "algorithm"), NULL, config, error);
}

struct span {
    uint64_t first_leader_ns, teardown_ns; /* UINT64_MAX: nobody led */
};

/* The run's own times count from its wall-clock start, which is in the header. */
static int read_span(const char *path, uint64_t begin_ns, uint64_t end_ns, struct span *out,
                     struct error *error)
{
    struct history_reader *reader;
    struct event event;
    int rc = history_open(path, &reader, error);
    if (rc < 0)
        return rc;
    uint64_t origin_ns = history_header(reader)->started_unix_ns;
    *out = (struct span){UINT64_MAX, UINT64_MAX};
    while (history_next(reader, &event)) {
        if (event.f == F_LEAD && out->first_leader_ns == UINT64_MAX)
            out->first_leader_ns = origin_ns + event.time_ns - begin_ns;
        if (event.f == F_PHASE && slice_equals(event_text(&event, FIELD_NAME), "end"))
            out->teardown_ns = end_ns - origin_ns - event.time_ns;
    }
    history_reader_close(reader);
    return 0;
}

static int time_one(const struct run_config *config, struct span *out, struct error *error)
{
    struct run_result result;
    uint64_t begin_ns = clock_wall_ns();
    int rc = run_execute(config, &result, error);
    uint64_t end_ns = clock_wall_ns();
    return rc < 0 ? rc : read_span(result.history, begin_ns, end_ns, out, error);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void add_times(const char *what, uint64_t *samples, uint32_t count, struct text *out)
{
    char median[UNIT_TEXT_MAX], p90[UNIT_TEXT_MAX], most[UNIT_TEXT_MAX];
    qsort(samples, count, sizeof *samples, by_value);
    text_add(out, "  %-38s median %8s   90%% within %8s   highest %8s\n", what,
             human_duration(quantile(samples, count, PPM_ONE / 2), median),
             human_duration(quantile(samples, count, 900000), p90),
             human_duration(samples[count - 1], most));
}

static int time_runs(const struct run_config *config, uint32_t rounds, struct text *out,
                     struct error *error)
{
    uint64_t *leader_ns = must_alloc(rounds, sizeof *leader_ns);
    uint64_t *teardown_ns = must_alloc(rounds, sizeof *teardown_ns);
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < rounds; i++) {
        struct span span = {0, 0};
        rc = time_one(config, &span, error);
        leader_ns[i] = span.first_leader_ns;
        teardown_ns[i] = span.teardown_ns;
    }
    if (rc == 0) {
        text_add(out, "%s, %u nodes, network %s, %u runs\n", config->algorithm->name,
                 config->elector.nodes, config->network->name, rounds);
        add_times("command to first leader", leader_ns, rounds, out);
        add_times("end of the run to judged and gone", teardown_ns, rounds, out);
    }
    free(leader_ns);
    free(teardown_ns);
    return rc;
}

/* ---- memory ---- */

#define PROGRAMS 6u
struct resident {
    const char *name; /* as in /proc/PID/comm */
    uint32_t processes;
    uint64_t rss_kb, pss_kb; /* shared pages counted in full; divided among those who share */
};

static uint64_t field_kb(FILE *file, const char *name)
{
    char line[256];
    uint64_t kb = 0;
    rewind(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0 && sscanf(line, "%*s %" SCNu64, &kb) == 1)
            break;
    return kb;
}

static bool read_small(uint64_t pid, const char *what, char *out, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu64 "/%s", pid, what);
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(out, 1, size - 1, file) : 0;
    if (file)
        (void)fclose(file);
    out[got] = '\0';
    return got > 0;
}

static uint64_t parent_of(uint64_t pid)
{
    char stat[600];
    uint64_t parent = 0;
    if (!read_small(pid, "stat", stat, sizeof stat))
        return 0;
    const char *after = strrchr(stat, ')'); /* the name may hold anything */
    if (!after || sscanf(after + 1, " %*c %" SCNu64, &parent) != 1)
        return 0;
    return parent;
}

static bool descends(uint64_t pid, pid_t ancestor)
{
    while (pid > 1 && pid != (uint64_t)ancestor)
        pid = parent_of(pid);
    return pid > 1;
}

static void add_resident(uint64_t pid, struct resident *programs)
{
    char comm[64], path[64];
    if (!read_small(pid, "comm", comm, sizeof comm))
        return;
    comm[strcspn(comm, "\n")] = '\0';
    (void)snprintf(path, sizeof path, "/proc/%" PRIu64 "/smaps_rollup", pid);
    FILE *file = fopen(path, "re");
    for (uint32_t i = 0; file && i < PROGRAMS; i++) {
        if (strcmp(comm, programs[i].name) != 0)
            continue;
        programs[i].processes++;
        programs[i].rss_kb += field_kb(file, "Rss:");
        programs[i].pss_kb += field_kb(file, "Pss:");
    }
    if (file)
        (void)fclose(file);
}

static int look(pid_t run, struct resident *programs, struct error *error)
{
    uv_fs_t request;
    uv_dirent_t entry;
    int rc = uv_fs_scandir(NULL, &request, "/proc", 0, NULL);
    if (rc < 0)
        return error_set(error, rc, "read /proc: %s", uv_strerror(rc));
    while (uv_fs_scandir_next(&request, &entry) != UV_EOF) {
        uint64_t pid;
        if (parse_count(entry.name, &pid, NULL) == 0 && descends(pid, run))
            add_resident(pid, programs);
    }
    uv_fs_req_cleanup(&request);
    return 0;
}

static void add_memory(const struct resident *programs, struct text *out)
{
    text_add(out, "memory while nothing happens (RSS; PSS shares what is shared)\n");
    for (uint32_t i = 0; i < PROGRAMS; i++)
        if (programs[i].processes)
            text_add(out, "  %-16s %2u processes  RSS %6.1f MB  PSS %6.1f MB\n", programs[i].name,
                     programs[i].processes, (double)programs[i].rss_kb / 1000,
                     (double)programs[i].pss_kb / 1000);
    text_add(out, "  coup and nodes together  RSS %6.1f MB  PSS %6.1f MB\n",
             (double)(programs[0].rss_kb + programs[1].rss_kb) / 1000,
             (double)(programs[0].pss_kb + programs[1].pss_kb) / 1000);
}

/* The run is a child so that somebody can look at it from outside. */
static int weigh(struct run_config config, struct text *out, struct error *error)
{
    struct resident programs[PROGRAMS] = {
        {.name = "coup"},        {.name = "coup-node"},        {.name = "coup-resource"},
        {.name = "coup-switch"}, {.name = "coup-coordinator"}, {.name = "coup-client"}};
    int status = 0;
    config.duration_ns = IDLE_NS;
    pid_t child = fork();
    if (child < 0)
        return error_set(error, -errno, "fork: %s", strerror(errno));
    if (child == 0) {
        struct run_result result;
        _exit(run_execute(&config, &result, NULL) < 0 ? EXIT_HARNESS : EXIT_VALID);
    }
    uv_sleep(LOOK_AFTER_NS / NS_PER_MS);
    int rc = look(child, programs, error);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (rc == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_VALID))
        rc = error_set(error, -EIO, "the run to be weighed failed");
    if (rc == 0)
        add_memory(programs, out);
    return rc;
}

static int run(const struct command_line *line, struct error *error)
{
    struct run_config config;
    struct text out = {0};
    int rc = set_up(line, &config, error);
    if (rc == 0)
        rc = time_runs(&config, (uint32_t)command_number(line, "rounds"), &out, error);
    if (rc == 0)
        rc = weigh(config, &out, error);
    if (rc == 0)
        rc = output_text(&out, error);
    text_release(&out);
    return rc < 0 ? rc : EXIT_VALID;
}

static const struct command_option options[] = {
    {"algorithm", 'a', ARGUMENT_TEXT, "NAME[:OPTION=VALUE,...]", "raft", 0, 0, NULL,
     "election algorithm"},
    {"nodes", 'n', ARGUMENT_COUNT, "N", "5", 1, NODES_MAX, NULL, "number of election nodes"},
    {"rounds", 'r', ARGUMENT_COUNT, "N", "20", 1, ROUNDS_MAX, NULL, "runs to time"},
    {"network", 0, ARGUMENT_TEXT, "NAME", "auto", 0, 0, NULL,
     "what carries the network: auto or a backend's name"},
    {.name = NULL},
};

const struct command bench_start = {
    .name = "start",
    .summary = "start and end runs without faults, and weigh one",
    .arguments = "",
    .options = options,
    .run = run,
};
