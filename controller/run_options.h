/* What several commands ask of a user who wants runs: the words of an option to the fields of a
 * run_config. */
#ifndef COUP_CONTROLLER_RUN_OPTIONS_H
#define COUP_CONTROLLER_RUN_OPTIONS_H

#include "controller/run.h"
#include "controller/scenario_use.h"
#include "controller/service_use.h"

/* Algorithm with its options, and knobs (NULL: none changed), for the nodes and witnesses that
 * `config` has already. What cannot be together is a usage error. */
int run_options_algorithm(const char *algorithm, const char *knobs, struct run_config *config,
                          struct error *error);

/* "auto" is the first backend that works here. */
int run_options_network(const char *name, const struct network_backend **out, struct error *error);

/* All of a command line of `coup run`; borrows `use` and `service`, which is filled. */
int run_options_config(const struct scenario_use *use, struct service_use *service,
                       struct run_config *config, struct error *error);

/* Short enough to be typed again. */
uint64_t run_options_draw_seed(void);

#endif
