#include "checker/import/transactions.h"

#include <stdlib.h>

#include "base/error.h"

void transactions_init(struct transactions *transactions, struct import *import)
{
    *transactions = (struct transactions){.import = import};
}

void transactions_release(struct transactions *transactions)
{
    free(transactions->micros);
    free(transactions->first);
    intern_release(&transactions->cells);
}

static int wrong(const struct import_entry *entry, struct error *error, const char *what)
{
    return error_usage(error, "line %u: %s", entry->place.line, what);
}

static uint32_t put(const struct import_entry *entry, const struct edn_value *value,
                    struct intern *intern)
{
    struct text text = {0};
    edn_write(entry->edn, value, &text);
    uint32_t number = intern_put(intern, (struct slice){text_string(&text), text.length});
    text_release(&text);
    return number;
}

static int read_micro(struct transactions *transactions, const struct import_entry *entry,
                      const struct edn_value *value, bool answered, struct linear_micro *out,
                      struct error *error)
{
    const struct edn *edn = entry->edn;
    const struct edn_value *verb = edn_child(edn, value, 0), *cell = edn_child(edn, value, 1),
                           *what = edn_child(edn, value, 2);
    bool whole = value->kind == EDN_VECTOR && what && !edn_child(edn, value, 3);
    bool reads = whole && (edn_is_keyword(verb, "read") || edn_is_keyword(verb, "r"));
    bool writes = whole && (edn_is_keyword(verb, "write") || edn_is_keyword(verb, "w"));
    if (!reads && !writes)
        return wrong(entry, error, "a transaction is of [:read KEY VALUE] and [:write KEY VALUE]");
    *out =
        (struct linear_micro){.writes = writes, .cell = put(entry, cell, &transactions->cells) - 1};
    if (out->cell >= LINEAR_CELLS_MAX)
        return error_usage(error, "line %u: more than %u registers", entry->place.line,
                           LINEAR_CELLS_MAX);
    bool nil = what->kind == EDN_NIL;
    if (!nil)
        out->value = put(entry, what, &transactions->import->texts);
    out->any = reads && (!answered || (nil && transactions->import->options.nil == NIL_IS_UNKNOWN));
    return 0;
}

static void add_micro(struct transactions *transactions, const struct linear_micro *micro)
{
    if (transactions->micro_count == transactions->micro_capacity) {
        transactions->micro_capacity =
            transactions->micro_capacity ? transactions->micro_capacity * 2 : 256;
        transactions->micros = must_grow(transactions->micros, transactions->micro_capacity,
                                         sizeof *transactions->micros);
    }
    transactions->micros[transactions->micro_count++] = *micro;
}

/* Where transaction `count` begins, which is where the one before ends. */
static void mark(struct transactions *transactions)
{
    if (transactions->count + 1 >= transactions->capacity) {
        transactions->capacity = transactions->capacity ? transactions->capacity * 2 : 256;
        transactions->first =
            must_grow(transactions->first, transactions->capacity, sizeof *transactions->first);
    }
    transactions->first[transactions->count] = transactions->micro_count;
}

int transactions_add(struct transactions *transactions, const struct import_entry *entry,
                     bool answered, struct linear_op *op, struct error *error)
{
    const struct edn_value *value = entry->value;
    if (!value || (value->kind != EDN_VECTOR && value->kind != EDN_LIST))
        return wrong(entry, error, "the value of :txn is a list of reads and writes");
    mark(transactions);
    op->value = transactions->count++;
    op->expected = 0;
    for (uint32_t i = 0; edn_child(entry->edn, value, i); i++) {
        struct linear_micro micro;
        int rc = read_micro(transactions, entry, edn_child(entry->edn, value, i), answered, &micro,
                            error);
        if (rc < 0)
            return rc;
        add_micro(transactions, &micro);
        op->expected |= micro.writes;
    }
    return 0;
}

void transactions_end(struct transactions *transactions, struct linear_space *space)
{
    mark(transactions);
    space->micros = transactions->micros;
    space->micro_first = transactions->first;
    space->cells = transactions->cells.count;
    intern_release(&transactions->cells);
}
