/* The words of a data script. Each command line changes the world or expects something of it. */
#ifndef COUP_TESTS_SCRIPT_COMMANDS_H
#define COUP_TESTS_SCRIPT_COMMANDS_H

#include "tests/script/world.h"

/* Do one line. A line that cannot be understood, or an expectation that does not hold, is a
 * negative errno with `error` filled; the trace of the line is appended to world->trace. */
int command_run(struct world *world, const char *line, struct error *error);

#endif
