#include "checker/import/import.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checker/import/entries.h"
#include "checker/import/transactions.h"
#include "checker/table.h"

/* What a lock's state has room for. */
#define PROCESSES_MAX ((UINT32_C(1) << 20) - 2)
#define FENCES_MAX ((UINT32_C(1) << 20) - 2)

/* A process of the file, and the operation it has open. */
struct client {
    uint32_t number; /* 1 + its place among processes */
    bool waits;
    uint32_t line;
    struct linear_op op;
};

struct builder {
    struct import *import;
    const struct import_entry *entry;
    struct table clients; /* process -> struct client */
    struct transactions transactions;
    struct error *error;
};

/* What words an operation may be called by. */
static const struct f_word {
    const char *word;
    uint8_t f;          /* enum linear_f */
    const char *models; /* that have it under this name; NULL: all that know its f */
} f_words[] = {
    {"read", LINEAR_READ, NULL},       {"get", LINEAR_READ, "kv"},
    {"write", LINEAR_WRITE, NULL},     {"put", LINEAR_WRITE, "kv"},
    {"cas", LINEAR_CAS, NULL},         {"append", LINEAR_APPEND, NULL},
    {"acquire", LINEAR_ACQUIRE, NULL}, {"release", LINEAR_RELEASE, NULL},
    {"txn", LINEAR_TXN, NULL},
};
#define F_WORDS (sizeof f_words / sizeof f_words[0])

static int wrong(const struct builder *builder, const char *what)
{
    return error_usage(builder->error, "line %u: %s", builder->entry->place.line, what);
}

static bool fits(const struct linear_model *model, const struct f_word *word)
{
    return model->fs >> word->f & 1 && (!word->models || strcmp(word->models, model->name) == 0);
}

static int find_f(const struct builder *builder, uint8_t *ret_f)
{
    const struct linear_model *model = builder->import->options.model;
    struct text accepted = {0};
    for (size_t i = 0; i < F_WORDS; i++) {
        if (!fits(model, &f_words[i]))
            continue;
        if (slice_equals(builder->entry->f, f_words[i].word)) {
            *ret_f = f_words[i].f;
            text_release(&accepted);
            return 0;
        }
        text_add(&accepted, "%s:%s", accepted.length ? ", " : "", f_words[i].word);
    }
    int length = builder->entry->f.length < 40 ? (int)builder->entry->f.length : 40;
    int rc =
        error_usage(builder->error, "line %u: %s%.*s is no operation of model %s (accepted: %s)",
                    builder->entry->place.line, length ? ":f :" : "an operation without :f", length,
                    builder->entry->f.at, model->name, text_string(&accepted));
    text_release(&accepted);
    return rc;
}

/* Values */

static bool takes_texts(const struct builder *builder)
{
    return builder->import->options.model->fs >> LINEAR_APPEND & 1;
}

/* nil is 0, everything else the number of its text; of texts what the string stands for. */
static int number_of(const struct builder *builder, const struct edn_value *value, uint64_t *ret)
{
    struct text text = {0};
    int rc = 0;
    *ret = 0;
    if (!value || value->kind == EDN_NIL)
        return 0;
    if (!takes_texts(builder))
        edn_write(builder->entry->edn, value, &text);
    else if (value->kind != EDN_STRING || !edn_string(value, &text))
        rc = wrong(builder, "a value of model kv is a string");
    if (rc == 0)
        *ret = intern_put(&builder->import->texts, (struct slice){text_string(&text), text.length});
    text_release(&text);
    return rc;
}

static void set_key(const struct builder *builder, const struct edn_value *key,
                    struct linear_op *op)
{
    struct text text = {0};
    edn_write(builder->entry->edn, key, &text);
    op->key = intern_put(&builder->import->keys, (struct slice){text_string(&text), text.length});
    text_release(&text);
}

/* A value for one key among several is [KEY VALUE]. What a register holds is no vector but for
 * that; what a compare-and-set takes is one, [OLD NEW], so there it is [KEY [OLD NEW]]. */
static const struct edn_value *split_key(const struct builder *builder,
                                         const struct edn_value *value, struct linear_op *op)
{
    const struct edn *edn = builder->entry->edn;
    if (builder->entry->key)
        set_key(builder, builder->entry->key, op);
    if (builder->entry->key || !value || value->kind != EDN_VECTOR || op->f == LINEAR_TXN)
        return value;
    const struct edn_value *key = edn_child(edn, value, 0), *rest = edn_child(edn, value, 1);
    if (!rest || edn_child(edn, value, 2) || (op->f == LINEAR_CAS && rest->kind != EDN_VECTOR))
        return value;
    set_key(builder, key, op);
    return rest;
}

static int take_pair(const struct builder *builder, const struct edn_value *value,
                     struct linear_op *op)
{
    const struct edn *edn = builder->entry->edn;
    bool pair =
        value && value->kind == EDN_VECTOR && edn_child(edn, value, 1) && !edn_child(edn, value, 2);
    if (!pair)
        return wrong(builder, "the value of :cas is [OLD NEW]");
    int rc = number_of(builder, edn_child(edn, value, 0), &op->expected);
    return rc < 0 ? rc : number_of(builder, edn_child(edn, value, 1), &op->value);
}

/* What an acquire was answered: a whole number, {:fence N}, or nothing. */
static int take_fence(const struct builder *builder, const struct edn_value *value,
                      struct linear_op *op)
{
    int64_t fence = 0;
    if (value && value->kind == EDN_MAP)
        value = edn_get(builder->entry->edn, value, "fence");
    if (!builder->import->options.model->fenced || !value || value->kind != EDN_INTEGER)
        return 0;
    if (!edn_integer(value, &fence) || fence < 0)
        return wrong(builder, "a fence is a whole number from 0 to 2^63 - 1");
    op->value = (uint64_t)fence;
    return 0;
}

static int begin_op(struct builder *builder, struct linear_op *op)
{
    const struct edn_value *value = split_key(builder, builder->entry->value, op);
    switch (op->f) {
    case LINEAR_WRITE:
    case LINEAR_APPEND:
        if (takes_texts(builder) && (!value || value->kind == EDN_NIL))
            return wrong(builder, "a value of model kv is a string");
        return number_of(builder, value, &op->value);
    case LINEAR_CAS: return take_pair(builder, value, op);
    case LINEAR_TXN:
        return transactions_add(&builder->transactions, builder->entry, false, op, builder->error);
    default: return 0;
    }
}

/* What it was answered; `*ret_tells` is false when that says nothing. */
static int end_op(struct builder *builder, struct linear_op *op, bool *ret_tells)
{
    const struct edn_value *value = split_key(builder, builder->entry->value, op);
    switch (op->f) {
    case LINEAR_READ:
        *ret_tells =
            builder->import->options.nil == NIL_IS_VALUE || (value && value->kind != EDN_NIL);
        return number_of(builder, value, &op->value);
    case LINEAR_TXN:
        return transactions_add(&builder->transactions, builder->entry, true, op, builder->error);
    case LINEAR_ACQUIRE: return take_fence(builder, builder->entry->value, op);
    default: return 0;
    }
}

/* Entries */

static void keep(struct import *import, const struct linear_op *op)
{
    if (import->count == import->capacity) {
        import->capacity = import->capacity ? import->capacity / 2 * 3 : 256;
        import->ops = must_grow(import->ops, import->capacity, sizeof *import->ops);
    }
    import->ops[import->count++] = *op;
}

/* It may have happened, or may still; one that changes nothing does not matter. */
static void keep_unknown(struct import *import, const struct linear_op *op)
{
    import->unknown++;
    if (op->f != LINEAR_READ && !(op->f == LINEAR_TXN && op->expected == 0))
        keep(import, op);
}

static int client_of(struct builder *builder, struct client **ret)
{
    struct import *import = builder->import;
    struct client *client =
        table_put(&builder->clients, (uint64_t)builder->entry->process, 0, NULL);
    *ret = client;
    if (client->number)
        return 0;
    if (import->process_count == PROCESSES_MAX)
        return wrong(builder, "more processes than can be told apart");
    if (import->process_count == import->process_capacity) {
        import->process_capacity = import->process_capacity ? import->process_capacity * 2 : 64;
        import->processes =
            must_grow(import->processes, import->process_capacity, sizeof *import->processes);
    }
    import->processes[import->process_count++] = builder->entry->process;
    client->number = import->process_count;
    return 0;
}

static int on_invoke(struct builder *builder, struct client *client, uint32_t at)
{
    if (client->waits)
        return error_usage(builder->error,
                           "line %u: process %" PRIi64
                           " begins an operation before that of line %u has ended",
                           builder->entry->place.line, builder->entry->process, client->line);
    client->op = (struct linear_op){
        .call = at, .call_index = at, .done = LINEAR_OPEN, .process = client->number - 1};
    client->line = builder->entry->place.line;
    client->waits = true;
    int rc = find_f(builder, &client->op.f);
    return rc < 0 ? rc : begin_op(builder, &client->op);
}

static int on_ok(struct builder *builder, struct client *client)
{
    bool tells = true;
    int rc = end_op(builder, &client->op, &tells);
    if (rc == 0 && tells)
        keep(builder->import, &client->op);
    return rc;
}

static int on_end(struct builder *builder, struct client *client, uint32_t at)
{
    struct linear_op *op = &client->op;
    uint8_t f;
    if (!client->waits)
        return error_usage(builder->error,
                           "line %u: process %" PRIi64 " ends an operation that it has not begun",
                           builder->entry->place.line, builder->entry->process);
    int rc = find_f(builder, &f);
    if (rc < 0)
        return rc;
    if (f != op->f)
        return error_usage(builder->error, "line %u: another operation than that begun in line %u",
                           builder->entry->place.line, client->line);
    client->waits = false;
    if (slice_equals(builder->entry->type, "info")) {
        keep_unknown(builder->import, op);
        return 0;
    }
    op->done = op->done_index = at;
    builder->import->ended++;
    if (slice_equals(builder->entry->type, "ok"))
        return on_ok(builder, client);
    if (op->f == LINEAR_CAS && builder->import->options.fail == FAIL_IS_REFUSED) {
        op->f = LINEAR_REFUSED;
        keep(builder->import, op);
    }
    return 0;
}

static int on_entry(struct builder *builder, uint32_t at)
{
    const struct import_entry *entry = builder->entry;
    struct client *client;
    if (!entry->client)
        return 0;
    bool ends = slice_equals(entry->type, "ok") || slice_equals(entry->type, "fail") ||
                slice_equals(entry->type, "info");
    if (!ends && !slice_equals(entry->type, "invoke"))
        return wrong(builder, ":type is none of :invoke, :ok, :fail, :info");
    int rc = client_of(builder, &client);
    if (rc < 0)
        return rc;
    return ends ? on_end(builder, client, at) : on_invoke(builder, client, at);
}

static int add_place(struct builder *builder, const struct import_place *place)
{
    struct import *import = builder->import;
    if (import->entry_count == UINT32_MAX / 2)
        return wrong(builder, "too many entries");
    if (import->entry_count == import->entry_capacity) {
        import->entry_capacity = import->entry_capacity ? import->entry_capacity * 2 : 256;
        import->places = must_grow(import->places, import->entry_capacity, sizeof *import->places);
    }
    import->places[import->entry_count++] = *place;
    return 0;
}

static int read_entries(struct builder *builder, struct slice text)
{
    struct import_entries entries;
    struct import_entry entry;
    int rc;
    import_entries_open(&entries, builder->import->format, text);
    while ((rc = import_entries_next(&entries, &entry, builder->error)) > 0) {
        builder->entry = &entry;
        rc = add_place(builder, &entry.place);
        if (rc == 0)
            rc = on_entry(builder, builder->import->entry_count - 1);
        if (rc < 0)
            break;
    }
    import_entries_release(&entries);
    return rc;
}

static void keep_waiting(void *context, void *value)
{
    const struct client *client = value;
    if (client->waits)
        keep_unknown(context, &client->op);
}

/* After reading */

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Fences as places in their order, from 1; 0 stays 0. */
static int rank_fences(struct import *import, struct error *error)
{
    uint64_t *fences = must_alloc((size_t)import->count + 1, sizeof *fences);
    size_t count = 1;
    for (uint32_t i = 0; i < import->count; i++)
        fences[i + 1] = import->ops[i].value;
    qsort(fences, (size_t)import->count + 1, sizeof *fences, by_size);
    for (size_t i = 1; i <= import->count; i++)
        if (fences[i] != fences[count - 1])
            fences[count++] = fences[i];
    import->space.fences = fences;
    if (count > FENCES_MAX)
        return error_usage(error, "more fences than can be told apart");
    for (uint32_t i = 0; i < import->count; i++) {
        const uint64_t *place =
            bsearch(&import->ops[i].value, fences, count, sizeof *fences, by_size);
        assert(place);
        import->ops[i].value = (uint64_t)(place - fences);
    }
    return 0;
}

static void list_read_texts(struct import *import)
{
    uint64_t *read = must_alloc((size_t)import->count + 1, sizeof *read);
    uint32_t count = 0;
    for (uint32_t i = 0; i < import->count; i++)
        if (import->ops[i].f == LINEAR_READ && import->ops[i].value)
            read[count++] = import->ops[i].value;
    texts_open(&import->space.states, &import->texts, read, count);
    free(read);
}

/* One value of EDN, as the model's initial state. */
static int set_initial(struct builder *builder)
{
    struct import *import = builder->import;
    const struct linear_model *model = import->options.model;
    const char *initial = import->options.initial;
    if (!initial)
        initial = model->fs >> LINEAR_APPEND & 1 ? "\"\""
                  : model->fs >> LINEAR_TXN & 1  ? "0"
                                                 : "nil";
    struct edn edn;
    struct import_entry entry = {.place = {.line = 1}, .edn = &edn};
    uint32_t at, more;
    edn_open(&edn, slice_of(initial));
    int rc = edn_next(&edn, &at, builder->error);
    builder->entry = &entry;
    if (rc > 0)
        rc = number_of(builder, edn_at(&edn, at), &import->space.initial);
    else if (rc == 0)
        rc = error_usage(builder->error, "nothing");
    if (rc == 0 && takes_texts(builder) && import->space.initial == 0)
        rc = wrong(builder, "a value of model kv is a string");
    if (rc == 0 && edn_next(&edn, &more, builder->error) != 0)
        rc = error_usage(builder->error, "more than one value");
    edn_release(&edn);
    if (rc < 0)
        error_prefix(builder->error, "initial value");
    import->initial = must_copy(initial);
    return rc;
}

static void settle_options(struct import *import)
{
    struct import_options *options = &import->options;
    bool log = import->format == IMPORT_LOG;
    if (options->nil == NIL_BY_FORMAT)
        options->nil = log ? NIL_IS_VALUE : NIL_IS_UNKNOWN;
    if (options->fail == FAIL_BY_FORMAT)
        options->fail = log ? FAIL_IS_REFUSED : FAIL_IS_NOT_DONE;
}

int import_history(struct slice text, const struct import_options *options, struct import *out,
                   struct error *error)
{
    struct builder builder = {.import = out, .error = error};
    *out = (struct import){.options = *options};
    if (!import_detect(text, &out->format))
        return error_usage(error, "no history that can be read: neither EDN nor lines of Jepsen");
    settle_options(out);
    linear_space_init(&out->space);
    table_init(&builder.clients, sizeof(struct client));
    transactions_init(&builder.transactions, out);
    int rc = set_initial(&builder);
    if (rc == 0)
        rc = read_entries(&builder, text);
    if (rc == 0) {
        table_each(&builder.clients, keep_waiting, out);
        transactions_end(&builder.transactions, &out->space);
    } else {
        transactions_release(&builder.transactions);
    }
    if (rc == 0 && options->model->fenced)
        rc = rank_fences(out, error);
    if (rc == 0 && takes_texts(&builder))
        list_read_texts(out);
    table_release(&builder.clients);
    out->space.texts = &out->texts;
    out->space.processes = out->processes;
    out->space.quoted = takes_texts(&builder);
    out->options.initial = NULL; /* borrowed; `initial` is ours */
    if (rc < 0)
        import_release(out);
    return rc;
}

void import_release(struct import *import)
{
    free(import->ops);
    free(import->places);
    free(import->processes);
    free((void *)(uintptr_t)import->space.fences);
    free(import->space.micros);
    free(import->space.micro_first);
    free(import->initial);
    intern_release(&import->keys);
    intern_release(&import->texts);
    linear_space_release(&import->space);
    *import = (struct import){0};
}

void import_check(struct import *import, const struct search_limits *limits,
                  struct linear_result *out, uint32_t *ret_bad)
{
    linear_check(import->options.model, &import->space, import->ops, import->count, limits, out,
                 ret_bad);
}
