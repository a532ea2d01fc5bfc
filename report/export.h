/* Histories in forms that other tools read: one way, for each keeps only what its readers know.
 * One file in exports/ and one line in COUP_EXPORTS. Pure but for writing to a stream. */
#ifndef COUP_REPORT_EXPORT_H
#define COUP_REPORT_EXPORT_H

#include <stdio.h>

#include "histories/file.h"

/* Sees every event once and appends to `out`, which is written away in between. */
struct export_form {
    const char *name, *summary;
    void *(*begin)(const struct history_header *header, struct text *out);
    void (*event)(void *state, const struct event *event, struct text *out);
    void (*end)(void *state, struct text *out); /* frees the state */
};

/* clang-format off */
#define COUP_EXPORTS(X) \
    X(csv) \
    X(edn) \
    X(perfetto)
/* clang-format on */

extern const struct export_form *const export_forms[]; /* NULL-terminated */
const struct export_form *export_find(const char *name);

/* Write all that `reader` has left; of a damaged history what is before the damage. A failed write
 * is -errno with `error` filled. */
int export_history(const struct export_form *form, struct history_reader *reader, FILE *out,
                   struct error *error);

#endif
