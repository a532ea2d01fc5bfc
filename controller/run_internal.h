/* Shared by the files of one run: run.c (outside the sandbox), run_inside.c (its loop),
 * run_phases.c, run_freeze.c, run_header.c, run_live.c, run_verdict.c. */
#ifndef COUP_CONTROLLER_RUN_INTERNAL_H
#define COUP_CONTROLLER_RUN_INTERNAL_H

#include <uv.h>

#include "controller/fault_probe.h"
#include "controller/run.h"
#include "controller/world.h"

/* What the process outside hands in, and what comes back through shared memory. */
struct run_order {
    const struct run_config *config;
    const char *folder;
    const char *history; /* path */
    struct run_outcome *outcome;
    struct fault_probes *probes; /* of the kinds asked for: found out before, outside */
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
    struct fault_probes *probes;
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
    bool violated;
};
void live_init(struct live *live, bool quiet);
void live_draw(struct live *live, const struct live_facts *facts);
void live_clear(struct live *live);

enum phase_number { PHASE_START, PHASE_FAULTS, PHASE_HEAL, PHASE_FINAL, PHASE_END, PHASES };

/* What the process inside knows of its run. */
struct run {
    const struct run_order *order;
    const struct run_config *config;
    uv_loop_t loop;
    uv_timer_t tick, nemesis;
    uv_signal_t terminated;
    uv_poll_t outside;
    bool has_loop, watches_outside;
    struct schedule schedule;
    struct history_header header;
    struct recorder *recorder;
    struct world *world;
    struct engine *engine;
    uint64_t origin_ns;
    enum phase_number phase;
    uint64_t phase_ns;          /* when the present phase began */
    uint64_t faults_ns;         /* when the faults phase began */
    uint64_t recovered_ns;      /* final phase: since when all is well; 0: it is not */
    uint64_t stalled_before_ns; /* final phase: the view's stalls until then */
    uint64_t late_ns;           /* our loop, since the last sample of stalls */
    uint64_t ticked_ns, sampled_ns, flushed_ns, drawn_ns, orphans_ns;
    uint64_t freeze_ns; /* when every process was told to stop; 0: none was */
    bool held;          /* the user was told so */
    pid_t orphan;       /* seen unreaped at the last look */
    struct live live;
    bool interrupted;
    bool failed;
    struct error error;
};

/* True time since the run's start. */
uint64_t run_now(const struct run *run);

/* The run cannot go on; what was recorded is kept. The first reason counts. */
void run_fail(void *run, const struct error *error);

/* An event of the controller's own with one text, stamped with the present. */
void run_record(struct run *run, enum event_f f, enum event_field field, const char *text);

/* run_phases.c: what happens in each phase and when it is over. The first one begins before there
 * is a world. */
const char *phase_name(enum phase_number phase);
void phase_advance(struct run *run, uint64_t now_ns);

/* run_freeze.c: true from the first violation on, if the run is to stop there; nothing else happens
 * then. */
bool freeze_advance(struct run *run, uint64_t now_ns);

/* Let the nemesis do what is due, now and when it next is. */
void nemesis_advance(struct run *run);

#endif
