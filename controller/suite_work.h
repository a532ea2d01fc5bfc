/* The work of a suite, done in its workers: some seeds of a simulated cell, or one real run. */
#ifndef COUP_CONTROLLER_SUITE_WORK_H
#define COUP_CONTROLLER_SUITE_WORK_H

#include <stdatomic.h>

#include "controller/suite_job.h"
#include "controller/suite_record.h"

/* Simulated seeds that are done in one go. */
#define SUITE_BLOCK 25u

/* What the workers know of one another; lies in shared memory. */
struct suite_shared_cell {
    _Atomic uint64_t spent_ns, kept;
};
struct suite_shared {
    _Atomic bool stop;                /* begin nothing more */
    struct suite_shared_cell cells[]; /* by place in the list of jobs */
};

/* Runs first..last of `job`. */
struct suite_unit {
    uint32_t job;
    uint64_t first, last, repeat;
};

struct suite_worker {
    const struct suite *suite;
    const struct suite_job *jobs;
    const uint32_t *cells; /* of each job, its place in the suite */
    struct suite_shared *shared;
    const char *folder; /* of the suite */
};

/* Never fails: what does is in the record. */
void suite_work(const struct suite_worker *worker, const struct suite_unit *unit,
                struct suite_record *out);

/* Below the suite's folder: where the cell keeps histories. */
void suite_cell_folder(const struct suite_cell *cell, uint32_t place, struct text *out);

#endif
