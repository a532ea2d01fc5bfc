#include "checker/import/entries.h"

#include <string.h>

static const char *const prefix_words[] = {"INFO", "jepsen.util", "-"};
#define PREFIX_WORDS (sizeof prefix_words / sizeof prefix_words[0])

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static size_t skip_blank(struct slice line, size_t at)
{
    while (at < line.length && is_blank(line.at[at]))
        at++;
    return at;
}

/* What stands behind "INFO  jepsen.util - "; false: the line does not begin so. */
static bool behind_prefix(struct slice line, struct slice *ret)
{
    size_t at = 0;
    for (size_t i = 0; i < PREFIX_WORDS; i++) {
        size_t length = strlen(prefix_words[i]);
        if (line.length - at <= length || memcmp(line.at + at, prefix_words[i], length) != 0 ||
            !is_blank(line.at[at + length]))
            return false;
        at = skip_blank(line, at + length);
    }
    *ret = (struct slice){line.at + at, line.length - at};
    return true;
}

static bool next_line(struct slice text, size_t *at, struct slice *ret)
{
    if (*at >= text.length)
        return false;
    const char *from = text.at + *at, *end = memchr(from, '\n', text.length - *at);
    *ret = (struct slice){from, end ? (size_t)(end - from) : text.length - *at};
    *at += ret->length + 1;
    return true;
}

static bool is_log(struct slice text)
{
    struct slice line, rest;
    for (size_t at = 0; next_line(text, &at, &line);)
        if (behind_prefix(line, &rest))
            return true;
    return false;
}

/* PROCESS :TYPE ... */
static bool is_table(struct slice text)
{
    struct slice line;
    size_t start = 0;
    if (!next_line(text, &start, &line))
        return false;
    size_t at = line.length && line.at[0] == '-' ? 1 : 0, digits = at;
    while (at < line.length && line.at[at] >= '0' && line.at[at] <= '9')
        at++;
    if (at == digits && line.length > 8 && memcmp(line.at, ":nemesis", 8) == 0)
        at = 8;
    size_t word = skip_blank(line, at);
    return at > digits && word > at && word < line.length && line.at[word] == ':';
}

bool import_detect(struct slice text, enum import_format *ret_format)
{
    size_t at = text.length >= 3 && memcmp(text.at, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < text.length && (is_blank(text.at[at]) || text.at[at] == '\n'))
        at++;
    if (at == text.length)
        return false;
    *ret_format = is_table(text) ? IMPORT_TABLE : is_log(text) ? IMPORT_LOG : IMPORT_EDN;
    return *ret_format != IMPORT_EDN || strchr("[({;", text.at[at]) ||
           (text.at[at] == '#' && at + 1 < text.length && text.at[at + 1] == '_');
}

const char *import_format_name(enum import_format format)
{
    static const char *const names[] = {"EDN", "Jepsen's history.txt", "a Jepsen log"};
    return names[format];
}

void import_entries_open(struct import_entries *entries, enum import_format format,
                         struct slice text)
{
    *entries = (struct import_entries){.format = format, .text = text, .line = 1};
    edn_open(&entries->edn, text);
    if (format == IMPORT_EDN)
        (void)edn_enter(&entries->edn);
}

void import_entries_release(struct import_entries *entries)
{
    edn_release(&entries->edn);
}

static struct slice keyword_of(const struct edn_value *value)
{
    if (!value || value->kind != EDN_KEYWORD)
        return (struct slice){"", 0};
    return (struct slice){value->text.at + 1, value->text.length - 1};
}

/* Clients have numbers; who has a name, as the nemesis, is none. */
static int set_process(const struct edn_value *process, struct import_entry *out,
                       struct error *error)
{
    out->client = process && process->kind == EDN_INTEGER;
    if (!process)
        return error_usage(error, "line %u: an operation without :process", out->place.line);
    if (out->client && !edn_integer(process, &out->process))
        return error_usage(error, "line %u: the number of the process is too large",
                           out->place.line);
    if (!out->client && process->kind != EDN_KEYWORD)
        return error_usage(error, "line %u: :process is neither a number nor a keyword",
                           out->place.line);
    return 0;
}

static int next_map(struct import_entries *entries, struct import_entry *out, struct error *error)
{
    struct edn *edn = &entries->edn;
    uint32_t at;
    int rc = edn_next(edn, &at, error);
    if (rc <= 0)
        return rc;
    const struct edn_value *map = edn_at(edn, at);
    out->place = (struct import_place){.line = map->line};
    if (map->kind != EDN_MAP)
        return error_usage(error, "line %u: an operation is a map, {:process ...}", map->line);
    out->edn = edn;
    out->place.offset = edn->began;
    out->place.length =
        edn->at - edn->began < UINT32_MAX ? (uint32_t)(edn->at - edn->began) : UINT32_MAX;
    out->type = keyword_of(edn_get(edn, map, "type"));
    out->f = keyword_of(edn_get(edn, map, "f"));
    out->key = edn_get(edn, map, "key");
    out->value = edn_get(edn, map, "value");
    rc = set_process(edn_get(edn, map, "process"), out, error);
    return rc < 0 ? rc : 1;
}

/* PROCESS :TYPE :F VALUE and perhaps more, between blanks. */
static int read_words(struct import_entries *entries, struct slice words, struct import_entry *out,
                      struct error *error)
{
    struct edn *edn = &entries->edn;
    uint32_t at;
    struct slice *const keywords[] = {&out->type, &out->f};
    edn_reuse(edn, words, out->place.line);
    int rc = edn_next(edn, &at, error);
    if (rc > 0)
        rc = set_process(edn_at(edn, at), out, error);
    else if (rc == 0)
        rc = error_usage(error, "line %u: is empty", out->place.line);
    for (uint32_t i = 0; rc == 0 && out->client && i < 2; i++) {
        rc = edn_next(edn, &at, error);
        if (rc > 0)
            *keywords[i] = keyword_of(edn_at(edn, at));
        rc = rc < 0 ? rc : 0;
    }
    if (rc < 0 || !out->client)
        return rc;
    rc = edn_next(edn, &at, error);
    out->value = rc > 0 ? edn_at(edn, at) : NULL;
    out->edn = edn;
    return rc < 0 ? rc : 0;
}

/* A log holds much else; what begins like an operation must be one. */
static int next_words(struct import_entries *entries, struct import_entry *out, struct error *error)
{
    struct slice line, words;
    size_t from = entries->at;
    if (!next_line(entries->text, &entries->at, &line))
        return 0;
    *out = (struct import_entry){
        .place = {from, line.length < UINT32_MAX ? (uint32_t)line.length : UINT32_MAX,
                  entries->line++}};
    words = line;
    if (entries->format == IMPORT_LOG &&
        (!behind_prefix(line, &words) || words.length == 0 ||
         !(words.at[0] == '-' || (words.at[0] >= '0' && words.at[0] <= '9'))))
        return 1;
    if (skip_blank(words, 0) == words.length)
        return 1;
    int rc = read_words(entries, words, out, error);
    return rc < 0 ? rc : 1;
}

int import_entries_next(struct import_entries *entries, struct import_entry *out,
                        struct error *error)
{
    *out = (struct import_entry){0};
    return entries->format == IMPORT_EDN ? next_map(entries, out, error)
                                         : next_words(entries, out, error);
}
