#define _POSIX_C_SOURCE 200809L
#include "controller/sim_keep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/verdict.h"

int write_file(const char *path, struct slice bytes, struct error *error)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return error_usage(error, "create %s: %s", path, strerror(errno));
    bool whole = fwrite(bytes.at, 1, bytes.length, file) == bytes.length;
    int code = errno;
    if (fclose(file) != 0 && whole) {
        whole = false;
        code = errno;
    }
    return whole ? 0 : error_set(error, -code, "write %s: %s", path, strerror(code));
}

/* Add the verdict and write the file. */
static int store(struct sim_result *result, const char *path, struct error *error)
{
    struct report report = {.data = &result->report, .header = &result->header};
    struct text json = {0};
    report_json(&report, &json);
    int rc = history_verdict(result->writer, (struct slice){json.at, json.length}, error);
    text_release(&json);
    return rc < 0 ? rc : write_file(path, sim_result_bytes(result), error);
}

int sim_keep(const struct swarm_request *request, const struct sweep_outcome *outcome,
             const char *command, const char *path, struct error *error)
{
    struct sim_config config;
    struct sim_result result;
    swarm_draw(request, outcome->seed, &config);
    config.command = command;
    config.record = SIM_KEEP;
    int rc = sim_run(&config, &result, error);
    if (rc < 0)
        return rc;
    if (result.hash != outcome->hash)
        rc = error_set(error, -EPROTO, "seed %" PRIu64 " gives another run when repeated",
                       outcome->seed);
    if (rc == 0)
        rc = store(&result, path, error);
    sim_result_release(&result);
    return rc;
}
