#include "base/options.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"

uint32_t options_count(const struct option *table)
{
    uint32_t count = 0;
    while (table && table[count].name)
        count++;
    assert(count <= OPTIONS_MAX);
    return count;
}

int options_find(const struct option *table, struct slice name)
{
    for (int i = 0; table && table[i].name; i++)
        if (slice_equals(name, table[i].name))
            return i;
    return -1;
}

static int parse_word(const char *const *words, const char *text, uint64_t *out,
                      struct error *error)
{
    struct text accepted = {0};
    for (uint64_t i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *out = i;
            text_release(&accepted);
            return 0;
        }
        text_add(&accepted, "%s%s", i ? ", " : "", words[i]);
    }
    int rc = error_usage(error, "'%.60s' is not one of %s", text, text_string(&accepted));
    text_release(&accepted);
    return rc;
}

static int parse_one(const struct option *option, const char *text, uint64_t *out,
                     struct error *error)
{
    static const char *const switch_words[] = {"off", "on", NULL};
    switch (option->type) {
    case OPTION_DURATION: return parse_duration(text, out, error);
    case OPTION_COUNT: return parse_count(text, out, error);
    case OPTION_PROBABILITY: return parse_probability(text, out, error);
    case OPTION_BITRATE: return parse_bitrate(text, out, error);
    case OPTION_SWITCH: return parse_word(switch_words, text, out, error);
    case OPTION_WORD: return parse_word(option->words, text, out, error);
    }
    return error_set(error, -1, "option type %d", (int)option->type);
}

static bool has_bounds(const struct option *option)
{
    return option->type != OPTION_SWITCH && option->type != OPTION_WORD;
}

static int check_bounds(const struct option *option, uint64_t value, struct error *error)
{
    if (!has_bounds(option) || (value >= option->min && value <= option->max))
        return 0;
    struct text low = {0}, high = {0};
    options_format_one(option, option->min, &low);
    options_format_one(option, option->max, &high);
    int rc = error_usage(error, "must be between %s and %s", text_string(&low), text_string(&high));
    text_release(&low);
    text_release(&high);
    return rc;
}

void options_defaults(const struct option *table, struct option_values *out)
{
    struct error error;
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < options_count(table); i++) {
        int rc = parse_one(&table[i], table[i].initial, &out->at[i], &error);
        assert(rc == 0 && check_bounds(&table[i], out->at[i], &error) == 0);
        (void)rc;
    }
}

static int unknown_option(const struct option *table, const char *what, struct slice name,
                          struct error *error)
{
    struct text allowed = {0};
    for (uint32_t i = 0; i < options_count(table); i++)
        text_add(&allowed, "%s%s", i ? ", " : "", table[i].name);
    int rc = error_usage(error, "unknown %s '%.*s' (accepted: %s)", what,
                         (int)(name.length < 60 ? name.length : 60), name.at,
                         allowed.length ? text_string(&allowed) : "none");
    text_release(&allowed);
    return rc;
}

static int parse_pair(const struct option *table, const char *what, struct slice pair,
                      struct option_values *values, uint64_t *given, struct error *error)
{
    const char *equals = memchr(pair.at, '=', pair.length);
    struct slice name = {pair.at, equals ? (size_t)(equals - pair.at) : pair.length};
    int index = options_find(table, name);
    if (index < 0)
        return unknown_option(table, what, name, error);
    if (!equals)
        return error_usage(error, "%s '%s' needs a value: %s=VALUE", what, table[index].name,
                           table[index].name);
    if (*given >> index & 1)
        return error_usage(error, "%s '%s' is given twice", what, table[index].name);
    *given |= UINT64_C(1) << index;
    struct text value = {0};
    text_add_bytes(&value, equals + 1, pair.length - name.length - 1);
    int rc = parse_one(&table[index], text_string(&value), &values->at[index], error);
    if (rc == 0)
        rc = check_bounds(&table[index], values->at[index], error);
    if (rc < 0)
        error_prefix(error, "%s '%s'", what, table[index].name);
    text_release(&value);
    return rc;
}

int options_parse(const struct option *table, const char *what, const char *text,
                  struct option_values *values, struct error *error)
{
    struct option_values parsed = *values;
    uint64_t given = 0;
    while (*text) {
        size_t length = strcspn(text, ",");
        int rc = parse_pair(table, what, (struct slice){text, length}, &parsed, &given, error);
        if (rc < 0)
            return rc;
        text += length;
        if (*text == ',' && *++text == '\0')
            return error_usage(error, "%s list ends with a comma", what);
    }
    *values = parsed;
    return 0;
}

void options_format_one(const struct option *option, uint64_t value, struct text *out)
{
    char buffer[UNIT_TEXT_MAX];
    switch (option->type) {
    case OPTION_DURATION: text_add(out, "%s", format_duration(value, buffer)); break;
    case OPTION_COUNT: text_add(out, "%" PRIu64, value); break;
    case OPTION_PROBABILITY: text_add(out, "%s", format_probability(value, buffer)); break;
    case OPTION_BITRATE: text_add(out, "%s", format_bitrate(value, buffer)); break;
    case OPTION_SWITCH: text_add(out, "%s", value ? "on" : "off"); break;
    case OPTION_WORD: text_add(out, "%s", option->words[value]); break;
    }
}

void options_format(const struct option *table, const struct option_values *values,
                    bool only_changed, struct text *out)
{
    struct option_values initial;
    bool first = true;
    options_defaults(table, &initial);
    for (uint32_t i = 0; i < options_count(table); i++) {
        if (only_changed && values->at[i] == initial.at[i])
            continue;
        text_add(out, "%s%s=", first ? "" : ",", table[i].name);
        options_format_one(&table[i], values->at[i], out);
        first = false;
    }
}
