/* The events a verdict names, as lines. A verdict holds only their numbers; the lines are taken
 * from the history in a second pass, so that judging needs no memory for them. */
#ifndef COUP_REPORT_WITNESS_H
#define COUP_REPORT_WITNESS_H

#include "checker/checker.h"

struct witness_line {
    uint64_t index;
    char *line; /* event_to_text(), NULL: the history does not hold it */
};

/* Ascending by index, no repeats. Zeroed is empty. */
struct witness_lines {
    struct witness_line *lines;
    uint32_t count;
};

/* Which events are wanted: all witnesses of all owed checks. */
void witness_lines_want(const struct report_data *data, struct witness_lines *out);
/* Keep the line of `event` if it is wanted; events come in the order of their index. */
void witness_lines_see(struct witness_lines *lines, const struct event *event);
/* The whole of a file. -errno with `error` filled when it cannot be read (any more). */
int witness_lines_read(struct witness_lines *lines, const char *path, struct error *error);
const char *witness_lines_find(const struct witness_lines *lines, uint64_t index); /* or NULL */
void witness_lines_release(struct witness_lines *lines);

#endif
