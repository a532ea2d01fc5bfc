/* The algorithms there are, and the text by which a user names one. */
#include "nodes/elector.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define X(name) extern const struct algorithm algorithm_##name;
COUP_ALGORITHMS(X)
#undef X

const struct algorithm *const algorithms[] = {
#define X(name) &algorithm_##name,
    COUP_ALGORITHMS(X)
#undef X
        NULL,
};

#define BUGS_MAX 64u

const struct algorithm *algorithm_find(struct slice name)
{
    for (uint32_t i = 0; algorithms[i]; i++)
        if (slice_equals(name, algorithms[i]->name))
            return algorithms[i];
    return NULL;
}

uint32_t algorithm_kind_count(const struct algorithm *algorithm)
{
    uint32_t count = 0;
    while (algorithm->kinds[count])
        count++;
    assert(count <= UINT8_MAX);
    return count;
}

uint64_t algorithm_clock_drift(const struct algorithm *algorithm,
                               const struct option_values *options)
{
    int at = options_find(algorithm->options, slice_of("drift"));
    return at < 0 ? 0 : options->at[at];
}

const char *algorithm_no_transfer(const struct algorithm *algorithm)
{
    return algorithm->hands_on ? NULL : "this algorithm cannot hand leadership on";
}

static int unknown_algorithm(struct slice name, struct error *error)
{
    struct text known = {0};
    for (uint32_t i = 0; algorithms[i]; i++)
        text_add(&known, "%s%s", i ? ", " : "", algorithms[i]->name);
    int rc = error_usage(error, "unknown algorithm '%.*s' (accepted: %s)",
                         (int)(name.length < 60 ? name.length : 60), name.at, text_string(&known));
    text_release(&known);
    return rc;
}

/* The algorithm's options and, as one more, `bug` with the bugs' names as words: so that one parser
 * reads, bounds and explains both. Returns the index of `bug`. */
struct option_table {
    struct option options[OPTIONS_MAX + 1];
    const char *words[BUGS_MAX + 2];
};

static uint32_t table_with_bugs(const struct algorithm *algorithm, struct option_table *out)
{
    uint32_t count = options_count(algorithm->options);
    assert(count < OPTIONS_MAX);
    *out = (struct option_table){.words[0] = "none"};
    for (uint32_t i = 0; algorithm->bugs && algorithm->bugs[i].name; i++) {
        assert(i < BUGS_MAX);
        out->words[i + 1] = algorithm->bugs[i].name;
    }
    if (count)
        memcpy(out->options, algorithm->options, count * sizeof out->options[0]);
    out->options[count] = (struct option){
        "bug", OPTION_WORD, "none", 0, 0, out->words, "a deliberately broken variant"};
    return count;
}

int algorithm_parse(const char *text, const struct algorithm **ret_algorithm,
                    struct elector_config *config, struct error *error)
{
    struct slice name = {text, strcspn(text, ":")};
    const struct algorithm *algorithm = algorithm_find(name);
    if (!algorithm)
        return unknown_algorithm(name, error);
    struct option_table table;
    struct option_values values;
    char what[64];
    (void)snprintf(what, sizeof what, "%s option", algorithm->name);
    uint32_t bug = table_with_bugs(algorithm, &table);
    options_defaults(table.options, &values);
    const char *rest = text[name.length] == ':' ? text + name.length + 1 : "";
    if (text[name.length] == ':' && !*rest)
        return error_usage(error, "'%.60s': an option is missing after ':'", text);
    int rc = options_parse(table.options, what, rest, &values, error);
    if (rc < 0)
        return rc;
    config->bug = (uint32_t)values.at[bug];
    values.at[bug] = 0;
    config->options = values;
    *ret_algorithm = algorithm;
    return 0;
}
