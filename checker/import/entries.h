/* Entries of a foreign history, one after the other: the begin or the end of an operation. */
#ifndef COUP_CHECKER_IMPORT_ENTRIES_H
#define COUP_CHECKER_IMPORT_ENTRIES_H

#include "checker/import/import.h"
#include "histories/edn.h"

/* Everything is borrowed until the next entry. */
struct import_entry {
    struct import_place place;
    bool client; /* false: the nemesis', or a line of the log that is no operation */
    int64_t process;
    struct slice type, f;                /* keywords without colon */
    const struct edn_value *key, *value; /* NULL: it has none */
    const struct edn *edn;               /* they are of */
};

struct import_entries {
    enum import_format format;
    struct slice text;
    size_t at;     /* of the next line; lines only */
    uint32_t line; /* of it, from 1 */
    struct edn edn;
};

void import_entries_open(struct import_entries *entries, enum import_format format,
                         struct slice text);
void import_entries_release(struct import_entries *entries);

/* 1, or 0 at the end. */
int import_entries_next(struct import_entries *entries, struct import_entry *out,
                        struct error *error);

#endif
