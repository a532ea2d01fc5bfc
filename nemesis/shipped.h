/* The files of scenarios/ and suites/, which are part of the program: whoever has it has them. */
#ifndef COUP_NEMESIS_SHIPPED_H
#define COUP_NEMESIS_SHIPPED_H

#include "nemesis/scenario.h"

struct shipped_text {
    const char *name; /* of its file, without ".yaml" */
    const char *text;
};

/* In the order of their names; generated from the folders, ended by a row without a name. */
extern const struct shipped_text shipped_scenarios[], shipped_suites[];

int shipped_parse(const struct shipped_text *shipped, struct scenario *out, struct error *error);

/* What a user names: a file when there is a '/' or an ending ".yaml" or ".yml" in it, else a
 * shipped scenario. */
int scenario_find(const char *name, struct scenario *out, struct error *error);

#endif
