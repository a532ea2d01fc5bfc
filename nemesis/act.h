/* What is done to one process. Links are in link.h. */
#ifndef COUP_NEMESIS_ACT_H
#define COUP_NEMESIS_ACT_H

#include <stdbool.h>
#include <stdint.h>

enum process_action {
    ACTION_NONE,
    ACTION_KILL,  /* SIGKILL; undone by a restart */
    ACTION_PAUSE, /* SIGSTOP; undone by resuming */
    ACTION_CLOCK, /* bend its clocks */
};

/* The clocks of one machine against true time. The wall clock may be stepped either way, on top of
 * a rate at which both run. */
struct clock_bend {
    int64_t step_ns;
    uint64_t rate_ppm; /* CLOCK_TRUE_PPM: as true time */
};

#define CLOCK_TRUE_PPM UINT64_C(1000000)

/* "wall +5.000 s, rate 1.000000" */
#define CLOCK_BEND_TEXT_MAX 64
const char *clock_bend_format(const struct clock_bend *bend, char buffer[CLOCK_BEND_TEXT_MAX]);

struct act {
    enum process_action action;
    bool undo;
    /* ACTION_CLOCK. A fault's own contribution; what a world is asked for is the sum of all active
     * ones, so undoing is asking for what is left. */
    struct clock_bend clock;
};

/* Whether the process is gone, or stands still, while the act lasts. */
static inline bool act_ends(enum process_action action)
{
    return action == ACTION_KILL;
}

static inline bool act_stops(enum process_action action)
{
    return action == ACTION_PAUSE;
}

#endif
