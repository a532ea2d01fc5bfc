/* Where a run keeps what it leaves: history.coup, verdict.json, logs/ and state/. */
#ifndef COUP_CONTROLLER_RUN_FOLDER_H
#define COUP_CONTROLLER_RUN_FOLDER_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

#define RUN_FOLDERS "coup-runs"

/* With `folder`: make exactly that one; it must not exist or be empty. Without: a new one below
 * RUN_FOLDERS/`name`/ named after the time and the seed, whoever else makes one in the same second.
 * The path is appended to `out`. */
int run_folder_create(const char *folder, const char *name, uint64_t seed, struct text *out,
                      struct error *error);

/* It and all in it, which must be coup's own; nothing there is fine. Links are not followed. */
int run_folder_remove(const char *folder, struct error *error);

/* RUN_FOLDERS/latest points to that folder from now on; one that the user named is left alone. */
void run_folder_point(const char *folder);

#endif
