/* Histories of other tools, as operations to be ordered: EDN as Jepsen and Knossos write it, one
 * map an operation's begin or end, in a collection or one after the other; Jepsen's history.txt;
 * and logs with such lines behind "INFO  jepsen.util - ". Order of the file is order in time.
 *
 * What the formats do not say, options do: whether a read of nil found nil or is not known, and
 * whether a compare-and-set that failed met another value or did not take place. */
#ifndef COUP_CHECKER_IMPORT_H
#define COUP_CHECKER_IMPORT_H

#include "base/error.h"
#include "checker/linear/linear.h"

enum import_format { IMPORT_EDN, IMPORT_TABLE, IMPORT_LOG };

enum import_nil { NIL_BY_FORMAT, NIL_IS_VALUE, NIL_IS_UNKNOWN };
enum import_fail { FAIL_BY_FORMAT, FAIL_IS_NOT_DONE, FAIL_IS_REFUSED };

struct import_options {
    const struct linear_model *model;
    const char *initial; /* EDN; NULL: nil, "" of texts, 0 of several registers */
    enum import_nil nil;
    enum import_fail fail;
};

/* Where an entry stands in the file. */
struct import_place {
    size_t offset;
    uint32_t length, line;
};

/* Owns everything but the text, from which `places` count. */
struct import {
    struct import_options options; /* nothing in it is "by format" any more; initial: as given */
    enum import_format format;
    struct linear_space space;
    struct linear_op *ops; /* call_index and done_index: of entries */
    uint32_t count, capacity;
    struct import_place *places; /* entry_count */
    uint32_t entry_count, entry_capacity;
    int64_t *processes; /* process of an operation -> its name in the file */
    uint32_t process_count, process_capacity;
    struct intern keys; /* key of an operation, from 1; 0: it has none */
    struct intern texts;
    uint64_t ended, unknown; /* operations that ended, and that may or may not have happened */
    char *initial;           /* EDN */
};

/* Whether the text looks like one of the formats at all. */
bool import_detect(struct slice text, enum import_format *ret_format);
const char *import_format_name(enum import_format format);

/* Usage errors name the line. On failure nothing is to be released. */
int import_history(struct slice text, const struct import_options *options, struct import *out,
                   struct error *error);
void import_release(struct import *import);

/* Judge; `ret_bad` counts the keys that are wrong. */
void import_check(struct import *import, const struct search_limits *limits,
                  struct linear_result *out, uint32_t *ret_bad);

/* A sentence on what was found, and how operations are called in it. */
void import_explain(const struct import *import, const struct linear_result *result,
                    struct text *out);

/* The entry as it stands in the text, on one line, cut where it is very long. */
void import_quote(const struct import *import, struct slice text, uint64_t entry, struct text *out);

#endif
