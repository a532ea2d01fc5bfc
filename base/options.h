/* Options declared as a table: from it come parsing, bounds, defaults, help and the canonical text.
 * The one grammar for algorithm options, knobs and fault parameters: "name=value,name=value". */
#ifndef COUP_BASE_OPTIONS_H
#define COUP_BASE_OPTIONS_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum option_type {
    OPTION_DURATION,    /* ns */
    OPTION_COUNT,       /* plain number */
    OPTION_PROBABILITY, /* parts per million */
    OPTION_BITRATE,     /* bits per second */
    OPTION_SWITCH,      /* on / off: 1 / 0 */
    OPTION_WORD,        /* index into words */
};

struct option {
    const char *name; /* kebab-case; NULL ends a table */
    enum option_type type;
    const char *initial;      /* default, as a user would write it */
    uint64_t min, max;        /* both allowed; ignored for switches and words */
    const char *const *words; /* NULL-terminated, OPTION_WORD only */
    const char *help;         /* one line, no full stop */
};

#define OPTIONS_MAX 48

/* Values in table order. Plain data: copy freely. */
struct option_values {
    uint64_t at[OPTIONS_MAX];
};

uint32_t options_count(const struct option *table);

/* Index in the table, or -1. */
int options_find(const struct option *table, struct slice name);

void options_defaults(const struct option *table, struct option_values *out);

/* Read "a=1,b=on" over the present values. `what` names the owner in errors ("raft option").
 * An unknown name lists the allowed ones; a bad value says what would be accepted; one that
 * comes twice is refused. On error
 * nothing is changed. An empty text is fine. */
int options_parse(const struct option *table, const char *what, const char *text,
                  struct option_values *values, struct error *error);

/* One value as the user would write it. */
void options_format_one(const struct option *option, uint64_t value, struct text *out);

/* Canonical text, table order; `only_changed` leaves the defaults out. */
void options_format(const struct option *table, const struct option_values *values,
                    bool only_changed, struct text *out);

#endif
