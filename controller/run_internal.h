/* Shared by the files of one run: run.c (outside the sandbox), run_inside.c (the phases),
 * run_header.c, run_live.c. */
#ifndef COUP_CONTROLLER_RUN_INTERNAL_H
#define COUP_CONTROLLER_RUN_INTERNAL_H

#include <uv.h>

#include "controller/run.h"
#include "controller/world.h"

/* What the process outside hands in, and what comes back through shared memory. */
struct run_order {
    const struct run_config *config;
    const char *folder;
    const char *history; /* path */
    struct run_outcome *outcome;
};

struct run_outcome {
    bool judged, failed;
    enum exit_code exit_code;
    enum verdict verdict;
    struct error error;
};

/* PID 1 of the sandbox: the whole run. Its return value is only a status; the rest is in
 * order->outcome. */
int run_inside(void *order, int outside_fd);

/* Everything a history says of its run before the first event. */
struct header_facts {
    uint64_t run_number;
    const struct schedule *schedule;
};
void run_header(const struct run_config *config, const struct header_facts *facts,
                struct history_header *out);

/* One line on a terminal, rewritten in place. */
struct live {
    bool shown; /* standard error is a terminal and nobody asked for quiet */
    bool drawn;
};
struct live_facts {
    const char *phase;
    uint64_t now_ns;
    uint64_t end_ns; /* of the faults phase; 0: not yet known */
    const struct view *view;
    const struct engine *engine;
    uint64_t events;
    bool violated;
};
void live_init(struct live *live, bool quiet);
void live_draw(struct live *live, const struct live_facts *facts);
void live_clear(struct live *live);

#endif
