/* What a command line of `coup sim` asks for: seeds, and the run each of them stands for. */
#ifndef COUP_CONTROLLER_SIM_ORDER_H
#define COUP_CONTROLLER_SIM_ORDER_H

#include "controller/scenario_use.h"
#include "controller/sim_sweep.h"

/* Owned; the order borrows the rest and the command line. sim_order_release() frees; it must not be
 * moved. */
struct sim_order {
    struct scenario_use use;
    struct text again;
    struct sweep_order order;
};

int sim_order_open(const struct command_line *line, struct sim_order *out, struct error *error);
void sim_order_release(struct sim_order *order);

/* "3..7", or "5"; with one number `*ret_first` stays. `what` is the option's long name. */
int sim_order_range(const char *text, const char *what, uint64_t *ret_first, uint64_t *ret_last,
                    struct error *error);

/* As many as there are cores, unless the option --jobs says otherwise. */
uint32_t sim_order_jobs(const struct command_line *line);

#endif
