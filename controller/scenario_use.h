/* `--scenario` of coup run and coup sim: what the file says stands in for the options that were not
 * given. */
#ifndef COUP_CONTROLLER_SCENARIO_USE_H
#define COUP_CONTROLLER_SCENARIO_USE_H

#include "controller/command.h"
#include "nemesis/scenario.h"

/* Owned; borrows the command line that it was made of. scenario_use_release() frees, zeroed is
 * none. */
struct scenario_use {
    bool given;
    struct command_line line; /* with the scenario's values where the user gave none */
    struct scenario scenario;
    struct text texts[SCENARIO_KEYS_MAX]; /* behind those values */
    const struct fault *kinds[FAULTS_MAX];
    uint32_t kind_count;
};

/* A given option overrides the scenario, --set and --physics knob by knob; options that choose
 * faults are refused, and a cluster or a time that the steps do not fit. Without --scenario `line`
 * is the command line as it is. What the scenario says is wrong with its file, line and key. */
int scenario_use(const struct command_line *line, struct scenario_use *out, struct error *error);
void scenario_use_release(struct scenario_use *use);

#endif
