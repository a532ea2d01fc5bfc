#include "nodes/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "nodes/address.h"

enum kind { COUNT, HEX, ADDRESS, TEXT, MODE, SWITCH };
enum {
    N = 1 << PROGRAM_NODE,
    R = 1 << PROGRAM_RESOURCE,
    C = 1 << PROGRAM_CLIENT,
    S = 1 << PROGRAM_COORDINATOR,
    K = 1 << PROGRAM_KEEPER,
};

struct argument {
    const char *name;
    enum kind kind;
    int programs;
    const char *initial; /* NULL: must be given */
    uint64_t min, max;   /* COUNT */
    const char *help;
    size_t offset; /* in struct arguments */
};

static const struct argument table[] = {
#define X(field, name, kind, programs, initial, min, max, help) \
    {name, kind, programs, initial, min, max, help, offsetof(struct arguments, field)},
    COUP_ARGUMENTS(X)
#undef X
};
#define ARGUMENTS (sizeof table / sizeof table[0])

static const char *const words[][2] = {
    [MODE] = {"unfenced", "fenced"},
    [SWITCH] = {"off", "on"},
};

static int parse_word(enum kind kind, const char *text, uint64_t *out, struct error *error)
{
    for (uint64_t i = 0; i < 2; i++) {
        if (strcmp(words[kind][i], text) == 0) {
            *out = i;
            return 0;
        }
    }
    return error_usage(error, "'%.60s' is not %s or %s", text, words[kind][0], words[kind][1]);
}

static int parse_hex(const char *text, uint64_t *out, struct error *error)
{
    size_t digits = strspn(text, "0123456789abcdefABCDEF");
    if (digits == 0 || digits > 16 || text[digits] != '\0')
        return error_usage(error, "'%.60s' is not a hexadecimal number of 1 to 16 digits", text);
    *out = strtoull(text, NULL, 16);
    return 0;
}

static int parse_bounded(const struct argument *argument, const char *text, uint64_t *out,
                         struct error *error)
{
    uint64_t value = 0;
    int rc = parse_count(text, &value, error);
    if (rc < 0)
        return rc;
    if (value < argument->min || value > argument->max)
        return error_usage(error, "must be between %llu and %llu",
                           (unsigned long long)argument->min, (unsigned long long)argument->max);
    *out = value;
    return 0;
}

static int parse_address(const char *text, uint64_t *out, struct error *error)
{
    uint32_t base = 0;
    int rc = address_parse(text, &base, error);
    *out = base;
    return rc;
}

static int set(const struct argument *argument, const char *text, struct arguments *out,
               struct error *error)
{
    char *at = (char *)out + argument->offset;
    uint64_t value = 0;
    int rc = 0;
    switch (argument->kind) {
    case COUNT: rc = parse_bounded(argument, text, &value, error); break;
    case HEX: rc = parse_hex(text, &value, error); break;
    case ADDRESS: rc = parse_address(text, &value, error); break;
    case MODE:
    case SWITCH: rc = parse_word(argument->kind, text, &value, error); break;
    case TEXT: memcpy(at, &text, sizeof text); return 0;
    }
    if (rc < 0)
        error_prefix(error, "%s", argument->name);
    else
        memcpy(at, &value, sizeof value);
    return rc;
}

static int find(enum program program, struct slice name)
{
    for (size_t i = 0; i < ARGUMENTS; i++)
        if (table[i].programs & 1 << program && slice_equals(name, table[i].name))
            return (int)i;
    return -1;
}

static int unknown(enum program program, const char *word, struct error *error)
{
    struct text known = {0};
    for (size_t i = 0; i < ARGUMENTS; i++)
        if (table[i].programs & 1 << program)
            text_add(&known, "%s%s", known.length ? ", " : "", table[i].name);
    int rc = error_usage(error, "'%.60s' is no argument (accepted, each as name=value: %s)", word,
                         text_string(&known));
    text_release(&known);
    return rc;
}

static int take(enum program program, const char *word, bool given[ARGUMENTS],
                struct arguments *out, struct error *error)
{
    const char *equals = strchr(word, '=');
    struct slice name = {word, equals ? (size_t)(equals - word) : strlen(word)};
    int index = find(program, name);
    if (index < 0 || !equals)
        return unknown(program, word, error);
    if (given[index])
        return error_usage(error, "%s is given twice", table[index].name);
    given[index] = true;
    return set(&table[index], equals + 1, out, error);
}

static int set_initial(enum program program, const bool given[ARGUMENTS], struct arguments *out,
                       struct error *error)
{
    for (size_t i = 0; i < ARGUMENTS; i++) {
        if (given[i] || !(table[i].programs & 1 << program))
            continue;
        if (!table[i].initial)
            return error_usage(error, "%s is missing (%s)", table[i].name, table[i].help);
        int rc = set(&table[i], table[i].initial, out, error);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int arguments_parse(enum program program, int argc, char *const *argv, struct arguments *out,
                    struct error *error)
{
    struct arguments parsed = {0};
    bool given[ARGUMENTS] = {false};
    int rc = 0;
    for (int i = 0; rc == 0 && i < argc; i++)
        rc = take(program, argv[i], given, &parsed, error);
    if (rc == 0)
        rc = set_initial(program, given, &parsed, error);
    if (rc == 0 && program == PROGRAM_NODE && parsed.id > parsed.nodes)
        rc = error_usage(error, "id is larger than nodes");
    if (rc == 0 && program == PROGRAM_NODE && parsed.witnesses >= parsed.nodes)
        rc = error_usage(error, "witnesses must be fewer than nodes, or nobody can lead");
    if (rc == 0)
        *out = parsed;
    return rc;
}

void arguments_help(enum program program, struct text *out)
{
    for (size_t i = 0; i < ARGUMENTS; i++) {
        if (!(table[i].programs & 1 << program))
            continue;
        text_add(out, "  %-12s %s", table[i].name, table[i].help);
        if (table[i].initial && table[i].initial[0])
            text_add(out, " (%s)", table[i].initial);
        text_add(out, "%s\n", table[i].initial ? "" : "; required");
    }
}
