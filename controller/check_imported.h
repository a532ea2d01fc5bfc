/* `coup check --model`: histories of other tools. */
#ifndef COUP_CONTROLLER_CHECK_IMPORTED_H
#define COUP_CONTROLLER_CHECK_IMPORTED_H

#include "controller/command.h"

/* Rows of the option table: --model, --initial, --nil, --fail. */
extern const char *const check_nil_words[], *const check_fail_words[];

/* What cannot be asked for together. */
int check_imported_vet(const struct command_line *line, struct error *error);

/* Judge one file, append what is to be printed. Returns the exit code, or -errno. */
int check_imported(const struct command_line *line, const char *path, struct text *out,
                   struct error *error);

/* Whether the file looks like a history of another tool, for which a model would have to be named.
 */
bool check_looks_foreign(const char *path);

/* "register, mutex, ...", for help and errors. */
void check_models(struct text *out);

#endif
