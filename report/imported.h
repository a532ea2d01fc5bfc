/* The verdict on a history of another tool, in the form that coup's own have. */
#ifndef COUP_REPORT_IMPORTED_H
#define COUP_REPORT_IMPORTED_H

#include "checker/check.h"
#include "checker/import/import.h"
#include "checker/linear/explain.h"

/* Borrows what it was made of. */
struct imported {
    const struct import *import;
    struct slice text; /* of the file */
    const char *path;  /* as the user would write it */
    const char *title; /* text only: which of several this is; or NULL */
    bool colour;       /* text only */
    struct finding finding;
};

/* Judge it; reorders the import's operations. */
void imported_judge(struct imported *imported, struct import *import,
                    const struct search_limits *limits);

/* As report_text() and report_json(): the latter's keys are those of a run's verdict, as far as
 * they mean something; witnesses are entries of the file, counted from 0, with their lines. */
void imported_text(const struct imported *imported, struct text *out);
void imported_json(const struct imported *imported, struct text *out);

#endif
