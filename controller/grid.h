/* Rows of text cells, shown aligned for people or as JSON for programs: every listing of coup. */
#ifndef COUP_CONTROLLER_GRID_H
#define COUP_CONTROLLER_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define GRID_COLUMNS_MAX 8u

/* A column whose `hidden` is set appears in JSON only. A NULL name ends the list. */
struct grid_column {
    const char *name; /* JSON key; shown in capitals */
    bool hidden;
};

/* A row may have rows of its own (an algorithm's options): depth 1, shown indented below it, in
 * JSON an array `inner` of the row above. */
struct grid_row {
    uint32_t depth;
    char *cells[GRID_COLUMNS_MAX]; /* owned */
};

struct grid {
    const struct grid_column *columns; /* depth 0 */
    const char *inner;                 /* JSON key of depth 1 rows, NULL: none */
    const struct grid_column *inner_columns;
    struct grid_row *rows;
    uint32_t count, capacity;
};

/* Begin a row, then add its cells in column order. */
void grid_row(struct grid *grid, uint32_t depth);
void grid_cell(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Aligned, with headings. `columns` > 0 wraps the last cell at the terminal's width. */
void grid_text(const struct grid *grid, unsigned columns, bool bold_heads, struct text *out);

/* A JSON array of objects. */
void grid_json(const struct grid *grid, struct text *out);
void grid_release(struct grid *grid);

#endif
