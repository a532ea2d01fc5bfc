/* The table that a person at a terminal sees grow while a suite runs: a row for every cell that is
 * done, and below it one that tells what is going on. On standard error; nothing where that is no
 * terminal. */
#ifndef COUP_CONTROLLER_SUITE_LIVE_H
#define COUP_CONTROLLER_SUITE_LIVE_H

#include "controller/suite_tally.h"

struct suite_live {
    bool shown;
    const struct suite_tally *tallies;
    uint32_t count;
    uint32_t printed; /* cells in rows, from the first on */
    uint64_t drawn_ns;
};

void suite_live_open(struct suite_live *live, const struct suite_tally *tallies, uint32_t count,
                     bool quiet);
void suite_live_step(struct suite_live *live, const struct suite_tally *tally);
void suite_live_draw(struct suite_live *live, uint64_t elapsed_ns, uint64_t budget_ns);
void suite_live_close(struct suite_live *live);

#endif
