/* Extensible data notation, as Jepsen and Knossos write their histories in it
 * (github.com/edn-format/edn): nil, booleans, numbers, strings, characters, keywords, symbols,
 * lists, vectors, maps, sets, tagged values, `#_` and comments. A value at a time, from memory. */
#ifndef COUP_HISTORIES_EDN_H
#define COUP_HISTORIES_EDN_H

#include "base/error.h"
#include "base/text.h"

enum edn_kind {
    EDN_NIL,
    EDN_BOOLEAN,
    EDN_INTEGER,
    EDN_FLOAT,
    EDN_STRING,
    EDN_CHARACTER,
    EDN_KEYWORD,
    EDN_SYMBOL,
    EDN_LIST,
    EDN_VECTOR,
    EDN_MAP, /* children are key, value, key, value ... */
    EDN_SET,
    EDN_TAGGED, /* children are the tag, a symbol, and the value */
};

/* Numbers of values; every value is valid until the next edn_next(). */
#define EDN_NONE UINT32_MAX

struct edn_value {
    enum edn_kind kind;
    uint32_t first, next; /* first child, next sibling; EDN_NONE: none */
    uint32_t line;        /* where it begins, from 1 */
    struct slice text;    /* of a scalar: what stands there, a string without its quotes, but with
                           * its escapes; borrowed from the input */
};

#define EDN_DEPTH_MAX 64u

/* Borrows the input. Zeroed and edn_open() first. */
struct edn {
    struct slice input;
    size_t at;
    uint32_t line;
    size_t began; /* where the value that edn_next() yielded begins; it ends at `at` */
    char closes;  /* of the collection that was entered; 0: none */
    struct edn_value *values;
    uint32_t count, capacity;
};

void edn_open(struct edn *edn, struct slice input);
void edn_release(struct edn *edn);
/* Go on with another input, whose first line has this number. Keeps the memory. */
void edn_reuse(struct edn *edn, struct slice input, uint32_t line);

/* If a list or vector comes next, go into it: edn_next() then yields what is in it. */
bool edn_enter(struct edn *edn);

/* The next value, 1; or 0 at the end of the input, or of what was entered, behind which nothing may
 * stand. Usage errors begin with "line N: ". */
int edn_next(struct edn *edn, uint32_t *ret_value, struct error *error);

static inline const struct edn_value *edn_at(const struct edn *edn, uint32_t value)
{
    return &edn->values[value];
}

/* The value under a keyword (without its colon) of a map; NULL: it has none. */
const struct edn_value *edn_get(const struct edn *edn, const struct edn_value *map,
                                const char *keyword);

/* The child of a collection, from 0; NULL: it has not so many. */
const struct edn_value *edn_child(const struct edn *edn, const struct edn_value *value,
                                  uint32_t index);

/* Whether it is that keyword (without its colon). */
bool edn_is_keyword(const struct edn_value *value, const char *keyword);

/* A whole number that fits. */
bool edn_integer(const struct edn_value *value, int64_t *ret);

/* The bytes that a string stands for. False: an escape that is none. */
bool edn_string(const struct edn_value *value, struct text *out);

/* The value on one line, in one form for all ways to write it: equal values, equal texts. */
void edn_write(const struct edn *edn, const struct edn_value *value, struct text *out);

#endif
