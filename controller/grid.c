#include "controller/grid.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define GAP 2u
#define OWN_LINE_INDENT 4u
#define LAST_COLUMN_MIN 20u

static uint32_t columns_count(const struct grid_column *columns)
{
    uint32_t count = 0;
    while (columns[count].name)
        count++;
    assert(count <= GRID_COLUMNS_MAX);
    return count;
}

void grid_row(struct grid *grid, uint32_t depth)
{
    assert(depth == 0 || (grid->inner && grid->count > 0));
    if (grid->count == grid->capacity) {
        grid->capacity = grid->capacity ? grid->capacity * 2 : 32;
        grid->rows = must_grow(grid->rows, grid->capacity, sizeof *grid->rows);
    }
    grid->rows[grid->count++] = (struct grid_row){.depth = depth};
}

void grid_cell(struct grid *grid, const char *format, ...)
{
    struct grid_row *row = &grid->rows[grid->count - 1];
    struct text text = {0};
    uint32_t column = 0;
    va_list arguments;
    while (row->cells[column])
        column++;
    assert(column < columns_count(row->depth ? grid->inner_columns : grid->columns));
    va_start(arguments, format);
    text_add_va(&text, format, arguments);
    va_end(arguments);
    row->cells[column] = text.at ? text.at : must_copy("");
}

static const char *cell(const struct grid_row *row, uint32_t column)
{
    return row->cells[column] ? row->cells[column] : "";
}

static size_t shown_width(const struct grid_row *row, uint32_t column)
{
    return strlen(cell(row, column)) + (column == 0 ? GAP * row->depth : 0);
}

/* Widest cell of every shown column; the last one is never padded. */
static uint32_t measure(const struct grid *grid, size_t *widths)
{
    uint32_t shown = 0;
    while (grid->columns[shown].name && !grid->columns[shown].hidden)
        shown++;
    for (uint32_t column = 0; column < shown; column++) {
        widths[column] = strlen(grid->columns[column].name);
        for (uint32_t i = 0; i < grid->count; i++) {
            size_t width = shown_width(&grid->rows[i], column);
            widths[column] = width > widths[column] ? width : widths[column];
        }
    }
    return shown;
}

/* Where the other columns leave too little room it has a line of its own. */
static void add_last(struct text *out, const char *words, size_t at, unsigned columns)
{
    if (columns > 2 * OWN_LINE_INDENT && columns <= at + LAST_COLUMN_MIN) {
        at = OWN_LINE_INDENT;
        text_add(out, "\n%*s", (int)at, "");
    }
    size_t room = columns > at ? columns - at : (size_t)-1;
    while (strlen(words) > room) {
        size_t cut = room;
        while (cut > 0 && words[cut] != ' ')
            cut--;
        if (cut == 0)
            break; /* one word, longer than the line */
        text_add_bytes(out, words, cut);
        text_add(out, "\n%*s", (int)at, "");
        words += cut + 1;
    }
    text_add(out, "%s\n", words);
}

static void add_heads(const struct grid *grid, const size_t *widths, uint32_t shown, bool bold,
                      struct text *out)
{
    text_add(out, "%s", bold ? "\033[1m" : "");
    for (uint32_t column = 0; column < shown; column++) {
        const char *name = grid->columns[column].name;
        for (const char *c = name; *c; c++)
            text_add(out, "%c", *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c == '_' ? ' ' : *c);
        if (column + 1 < shown)
            text_add(out, "%*s", (int)(widths[column] + GAP - strlen(name)), "");
    }
    text_add(out, "%s\n", bold ? "\033[0m" : "");
}

void grid_text(const struct grid *grid, unsigned columns, bool bold_heads, struct text *out)
{
    size_t widths[GRID_COLUMNS_MAX];
    uint32_t shown = measure(grid, widths);
    add_heads(grid, widths, shown, bold_heads, out);
    for (uint32_t i = 0; i < grid->count; i++) {
        const struct grid_row *row = &grid->rows[i];
        size_t at = 0;
        text_add(out, "%*s", (int)(GAP * row->depth), "");
        for (uint32_t column = 0; column + 1 < shown; column++) {
            size_t pad = widths[column] + GAP - shown_width(row, column);
            text_add(out, "%s%*s", cell(row, column), (int)pad, "");
            at += widths[column] + GAP;
        }
        add_last(out, cell(row, shown - 1), at, columns);
    }
}

static void add_object(const struct grid_row *row, const struct grid_column *columns,
                       struct text *out)
{
    for (uint32_t column = 0; columns[column].name; column++) {
        text_add(out, "%s\"%s\":", column ? "," : "", columns[column].name);
        text_add_json(out, slice_of(cell(row, column)));
    }
}

void grid_json(const struct grid *grid, struct text *out)
{
    text_add(out, "[");
    for (uint32_t i = 0; i < grid->count;) {
        text_add(out, "%s{", i ? "," : "");
        add_object(&grid->rows[i++], grid->columns, out);
        if (grid->inner)
            text_add(out, ",\"%s\":[", grid->inner);
        for (bool first = true; i < grid->count && grid->rows[i].depth > 0; i++) {
            text_add(out, "%s{", first ? "" : ",");
            add_object(&grid->rows[i], grid->inner_columns, out);
            text_add(out, "}");
            first = false;
        }
        text_add(out, "%s}", grid->inner ? "]" : "");
    }
    text_add(out, "]");
}

void grid_release(struct grid *grid)
{
    for (uint32_t i = 0; i < grid->count; i++)
        for (uint32_t column = 0; column < GRID_COLUMNS_MAX; column++)
            free(grid->rows[i].cells[column]);
    free(grid->rows);
    grid->rows = NULL;
    grid->count = grid->capacity = 0;
}
