/* A cell of a suite as coup sim or coup run understands it: ready to be run, seed by seed. */
#ifndef COUP_CONTROLLER_SUITE_JOB_H
#define COUP_CONTROLLER_SUITE_JOB_H

#include "controller/run_options.h"
#include "controller/sim_order.h"
#include "controller/suite_plan.h"

/* Owned; borrows the cell. Must not be moved. suite_job_release() frees; zeroed is empty. */
struct suite_job {
    const struct suite_cell *cell;
    char **argv; /* "coup sim --option text ..." */
    int argc;
    struct command_line line;
    struct sim_order sim;    /* of a simulated cell */
    struct scenario_use use; /* of a real one, as are the next two */
    struct service_use service;
    struct run_config config;
    struct expectation expect; /* given */
};

/* Usage errors name file, line, and key or cell. */
int suite_job_open(const struct suite *suite, const struct suite_cell *cell, struct suite_job *out,
                   struct error *error);
void suite_job_release(struct suite_job *job);

/* The command that repeats one run of the cell, with the program as coup is called here, or "coup".
 */
void suite_job_command(const struct suite_job *job, uint64_t seed, const char *program,
                       struct text *out);

/* Everything that decides a cell, as text: the same in every shard and after a resumption. */
void suite_job_format(const struct suite_job *job, struct text *out);

#endif
