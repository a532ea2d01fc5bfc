/* A farm: the same work for a range of numbers, done by several processes, its results taken in the
 * order of the numbers whatever process was faster. So what comes out depends on the work alone.
 * Workers are plain forks (no NNG, no libuv may be in use); they die with their parent. */
#ifndef COUP_CONTROLLER_FARM_H
#define COUP_CONTROLLER_FARM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

#define FARM_WORKERS_MAX 256u

struct farm {
    uint64_t first, last; /* both included */
    uint32_t workers;     /* 1: in this process, without fork */
    void *context;
    /* In a worker: append the result of `number`, at most FARM_RESULT_MAX bytes. -errno ends the
     * farm with that error. */
    int (*work)(void *context, uint64_t number, struct text *result, struct error *error);
    /* In the caller's process: the next result, in order. False ends the farm. */
    bool (*take)(void *context, uint64_t number, struct slice result);
    void (*tick)(void *context); /* at least every 200 ms; may be NULL */
};

#define FARM_RESULT_MAX 65536u

/* 0, also when take() ended it; -errno: a worker's error, or it died (the error names the number it
 * was at and the signal). All workers are gone afterwards. */
int farm_run(const struct farm *farm, struct error *error);

#endif
