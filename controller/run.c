#define _GNU_SOURCE
#include "controller/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "controller/freezer.h"
#include "controller/run_folder.h"
#include "controller/run_internal.h"
#include "controller/sandbox.h"

/* What anybody needs to do the same again, before anything can go wrong. */
static void announce(const struct run_config *config, const char *folder)
{
    if (!config->quiet)
        (void)fprintf(stderr, "seed %" PRIu64 ", %s\n", config->seed, folder); /* only a courtesy */
}

/* The process inside ended without leaving an outcome: the history up to then is readable. */
static int died(const struct sandbox_exit *ended, struct error *error)
{
    if (ended->signal && ended->interrupted)
        return error_set(error, -EINTR, "abandoned at the second signal");
    if (ended->signal)
        return error_set(error, -ECHILD, "the run's controller was killed by signal %d%s",
                         ended->signal, ended->signal == 9 ? " (out of memory?)" : "");
    return error_set(error, -ECHILD, "the run's controller ended with status %d", ended->status);
}

static int execute_in(const struct run_order *order, bool *ret_interrupted, struct error *error)
{
    struct sandbox_exit ended = {0};
    struct run_order inside = *order;
    int rc = sandbox_run(run_inside, &inside, &ended, error);
    *ret_interrupted = ended.interrupted;
    if (rc < 0)
        return rc;
    if (order->outcome->failed) {
        *error = order->outcome->error;
        return -EIO;
    }
    if (!order->outcome->judged || ended.signal || ended.status)
        return died(&ended, error);
    return 0;
}

static void add_history(const char *history, struct error *error)
{
    size_t used = strlen(error->text);
    (void)snprintf(error->text + used, sizeof error->text - used, "; history so far: %s", history);
}

/* Our pipes and namespaces, what libraries keep, and some for each process of the run. */
#define FILES_BASE 64u
#define FILES_PER_PROCESS 16u

/* As many open files as the run may need: libraries abort where they get none. */
static int want_files(const struct run_config *config, struct error *error)
{
    struct rlimit limit;
    rlim_t need = FILES_BASE + FILES_PER_PROCESS * (config->elector.nodes + config->clients + 2);
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return error_set(error, -errno, "read the limit on open files: %s", strerror(errno));
    if (limit.rlim_cur >= need)
        return 0;
    if (limit.rlim_max < need)
        return error_set(error, -EMFILE,
                         "%lu open files are allowed, the run needs %lu (ulimit -n)",
                         (unsigned long)limit.rlim_max, (unsigned long)need);
    limit.rlim_cur = need;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        return error_set(error, -errno, "raise the limit on open files: %s", strerror(errno));
    return 0;
}

/* Out here, for what it takes is partly out of reach inside. */
static void probe_kinds(const struct run_config *config, struct fault_probes *probes)
{
    for (uint32_t i = 0; i < config->fault_count; i++) {
        struct error error;
        const char *fix;
        (void)fault_probe(probes, config->faults[i], &error, &fix); /* remembers what came of it */
    }
}

int run_execute(const struct run_config *config, struct run_result *out, struct error *error)
{
    struct text folder = {0}, history = {0};
    struct fault_probes probes = {0};
    if (want_files(config, error) < 0)
        return -EMFILE;
    probe_kinds(config, &probes); /* before there is anything of the run */
    struct run_outcome *outcome =
        mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED)
        return error_set(error, -errno, "map memory: %s", strerror(errno));
    int rc =
        run_folder_create(config->folder, config->algorithm->name, config->seed, &folder, error);
    if (rc < 0)
        goto out;
    if (!config->folder)
        run_folder_point(text_string(&folder));
    announce(config, text_string(&folder));
    text_add(&history, "%s/history.coup", text_string(&folder));
    struct run_order order = {
        .config = config,
        .folder = text_string(&folder),
        .history = text_string(&history),
        .outcome = outcome,
        .probes = &probes,
    };
    bool interrupted = false;
    freezer_sweep();
    rc = execute_in(&order, &interrupted, error);
    freezer_sweep(); /* it may have been killed inside */
    if (rc < 0) {
        add_history(order.history, error);
        goto out;
    }
    *out = (struct run_result){
        .exit_code = outcome->exit_code, .verdict = outcome->verdict, .interrupted = interrupted};
    (void)snprintf(out->history, sizeof out->history, "%s", order.history);
out:
    text_release(&folder);
    text_release(&history);
    (void)munmap(outcome, sizeof *outcome);
    return rc;
}
