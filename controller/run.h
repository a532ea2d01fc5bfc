/* One run: start a cluster, break it, heal it, judge it. `coup run` is a thin command around this;
 * whatever else needs runs (replay, bench, suites) fills the same struct. */
#ifndef COUP_CONTROLLER_RUN_H
#define COUP_CONTROLLER_RUN_H

#include "controller/expectation.h"
#include "nemesis/plan.h"
#include "nodes/elector.h"

struct network_backend;
struct service_use;

/* Everything a run needs to know; borrows what it points to. */
struct run_config {
    const struct algorithm *algorithm;
    struct elector_config elector; /* nodes, witnesses, knobs, options, bug; the rest is per node */
    uint64_t seed;
    uint64_t duration_ns; /* of the faults phase */
    const struct fault *faults[FAULTS_MAX];
    uint32_t fault_count;
    uint64_t fault_every_ns;
    const struct schedule *schedule; /* NULL: drawn from the seed */
    const struct network_backend *network;
    const struct service_use *service; /* NULL: the algorithm asks none */
    bool fenced;
    uint32_t clients;
    uint64_t rate; /* operations a second, of each client */
    bool trace;
    bool stop_on_violation; /* freeze all processes as soon as a check is violated, and end */
    bool hold;              /* and before that wait for Enter on standard input */
    struct expectation expect;
    const char *scenario; /* its name or file, for the record; NULL: none */
    const char *folder;   /* the run's own; NULL: a new one below coup-runs/ */
    const char *command;  /* argv as for a shell, for the record */
    bool print;           /* verdict on stdout */
    bool json;            /* as one JSON object */
    bool quiet;           /* nothing on stderr but errors */
};

#define RUN_PATH_MAX 4096
struct run_result {
    enum exit_code exit_code;
    enum verdict verdict;
    bool interrupted;           /* a signal ended it early */
    char history[RUN_PATH_MAX]; /* path of the history file; "" when none was begun */
};

/* Kernel, cores and memory in one line, as histories name the machine. The caller frees it. */
char *run_host(void);

/* 0 and `*out` filled: there is a verdict. -errno: coup itself failed, or the user's input cannot
 * be; the error says so and names the history so far. Blocks until the run is over; signals are
 * handled as sandbox_run() says: the run heals, finishes and is judged. */
int run_execute(const struct run_config *config, struct run_result *out, struct error *error);

#endif
