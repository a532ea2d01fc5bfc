/* The programs coup starts, and the folder they lie in: beside coup itself. */
#ifndef COUP_CONTROLLER_PROGRAMS_H
#define COUP_CONTROLLER_PROGRAMS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"

/* Names, NULL-terminated. */
extern const char *const program_names[];

/* One that runs with certain services only. */
bool program_is_service(const char *name);

/* The folder coup was started from, as an absolute path without trailing slash. */
int programs_folder(struct text *out, struct error *error);

/* 0 if `name` in `folder` can be executed; else -errno, naming the file and how to build it. */
int program_check(const char *folder, const char *name, struct error *error);

#endif
