/* The faults there are, and how the command line names them. */
#include "nemesis/fault.h"

#include <errno.h>
#include <string.h>

#define X(name) extern const struct fault fault_##name;
COUP_FAULTS(X)
#undef X

const struct fault *const faults[] = {
#define X(name) &fault_##name,
    COUP_FAULTS(X)
#undef X
        NULL,
};

const struct fault *fault_find(struct slice name)
{
    for (int i = 0; faults[i]; i++)
        if (slice_equals(name, faults[i]->name))
            return faults[i];
    return NULL;
}

static bool holds(const struct fault *const *kinds, uint32_t count, const struct fault *fault)
{
    for (uint32_t i = 0; i < count; i++)
        if (kinds[i] == fault)
            return true;
    return false;
}

/* By its group's name those are meant that need not be named, or all where each must be. */
static bool group_means(const struct fault *fault)
{
    for (int i = 0; faults[i] && fault->by_name; i++)
        if (strcmp(faults[i]->group, fault->group) == 0 && !faults[i]->by_name)
            return false;
    return true;
}

bool faults_whole_group(const struct fault *const *kinds, uint32_t count, const char *group)
{
    for (int i = 0; faults[i]; i++)
        if (strcmp(faults[i]->group, group) == 0 && group_means(faults[i]) &&
            !holds(kinds, count, faults[i]))
            return false;
    return true;
}

static bool is_first_of_group(int at)
{
    for (int i = 0; i < at; i++)
        if (strcmp(faults[i]->group, faults[at]->group) == 0)
            return false;
    return true;
}

void faults_format(const struct fault *const *kinds, uint32_t count, struct text *out)
{
    size_t start = out->length;
    for (int i = 0; faults[i]; i++) {
        bool whole = group_means(faults[i]) && faults_whole_group(kinds, count, faults[i]->group);
        if (!holds(kinds, count, faults[i]) || (whole && !is_first_of_group(i)))
            continue;
        text_add(out, "%s%s", out->length > start ? "," : "",
                 whole ? faults[i]->group : faults[i]->name);
    }
}

static int unknown_fault(struct slice word, struct error *error)
{
    struct text allowed = {0};
    text_add(&allowed, "all, none");
    for (int i = 0; faults[i]; i++) {
        if (is_first_of_group(i) && strcmp(faults[i]->group, faults[i]->name) != 0)
            text_add(&allowed, ", %s", faults[i]->group);
        text_add(&allowed, ", %s", faults[i]->name);
    }
    int rc =
        error_usage(error, "unknown fault '%.*s' (accepted: %s)",
                    (int)(word.length < 60 ? word.length : 60), word.at, text_string(&allowed));
    text_release(&allowed);
    return rc;
}

/* Mark what one word means in `wanted`; false: it means nothing. */
static bool mark(struct slice word, bool wanted[FAULTS_MAX])
{
    bool found = slice_equals(word, "none");
    for (int i = 0; faults[i]; i++) {
        bool all = slice_equals(word, "all") && !faults[i]->by_name &&
                   faults[i]->needs != FACILITY_SERVICE;
        bool group = slice_equals(word, faults[i]->group) && group_means(faults[i]);
        bool meant = all || group || slice_equals(word, faults[i]->name);
        wanted[i] = wanted[i] || meant;
        found = found || meant;
    }
    return found;
}

_Static_assert(sizeof faults / sizeof faults[0] <= FAULTS_MAX + 1, "room for every fault");

int faults_parse(const char *text, const struct fault *out[FAULTS_MAX], uint32_t *ret_count,
                 struct error *error)
{
    bool wanted[FAULTS_MAX] = {false};
    uint32_t words = 0, count = 0;
    bool none = false;
    for (;; words++) {
        struct slice word = {text, strcspn(text, ",")};
        if (!mark(word, wanted))
            return unknown_fault(word, error);
        none = none || slice_equals(word, "none");
        text += word.length;
        if (*text++ != ',')
            break;
    }
    if (none && words > 0)
        return error_usage(error, "fault 'none' cannot be combined with others");
    for (int i = 0; faults[i]; i++)
        if (wanted[i])
            out[count++] = faults[i];
    *ret_count = count;
    return 0;
}

uint32_t faults_without(const struct fault *kinds[FAULTS_MAX], uint32_t count,
                        enum facility facility)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        kept += kinds[i]->needs != facility;
    if (kept == 0)
        return count;
    kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (kinds[i]->needs != facility)
            kinds[kept++] = kinds[i];
    return kept;
}
