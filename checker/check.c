#include "checker/check.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define X(name) extern const struct check check_##name;
COUP_CHECKS(X)
#undef X

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[] = {"valid", "unknown", "invalid"};
    assert(verdict <= VERDICT_INVALID);
    return names[verdict];
}

/* Insertion sort without repeats: witnesses are a handful. */
static void set_witness(struct finding *finding, const uint64_t *witness, uint32_t count)
{
    assert(count <= WITNESS_MAX);
    finding->witness_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = finding->witness_count;
        while (at > 0 && finding->witness[at - 1] > witness[i])
            at--;
        if (at > 0 && finding->witness[at - 1] == witness[i])
            continue;
        memmove(&finding->witness[at + 1], &finding->witness[at],
                (finding->witness_count - at) * sizeof *witness);
        finding->witness[at] = witness[i];
        finding->witness_count++;
    }
}

void finding_invalid(struct finding *finding, const uint64_t *witness, uint32_t count,
                     const char *format, ...)
{
    va_list arguments;
    finding->violations++;
    if (finding->verdict == VERDICT_INVALID)
        return;
    finding->verdict = VERDICT_INVALID;
    set_witness(finding, witness, count);
    va_start(arguments, format);
    (void)vsnprintf(finding->reason, sizeof finding->reason, format, arguments);
    va_end(arguments);
}

void finding_unknown(struct finding *finding, const uint64_t *witness, uint32_t count,
                     const char *format, ...)
{
    va_list arguments;
    if (finding->verdict != VERDICT_VALID)
        return;
    finding->verdict = VERDICT_UNKNOWN;
    set_witness(finding, witness, count);
    va_start(arguments, format);
    (void)vsnprintf(finding->reason, sizeof finding->reason, format, arguments);
    va_end(arguments);
}

void finding_evidence(struct finding *finding, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(finding->evidence, sizeof finding->evidence, format, arguments);
    va_end(arguments);
}

void finding_add(struct finding *finding, const char *format, ...)
{
    va_list arguments;
    size_t length = strlen(finding->reason);
    va_start(arguments, format);
    (void)vsnprintf(finding->reason + length, sizeof finding->reason - length, format, arguments);
    va_end(arguments);
}

bool check_needs_resource(const struct history_header *header)
{
    return header->resource && header->resource[0];
}

const struct check *check_find(struct slice name)
{
    for (uint32_t i = 0; checks[i]; i++)
        if (slice_equals(name, checks[i]->name))
            return checks[i];
    return NULL;
}

const struct check *const checks[] = {
#define X(name) &check_##name,
    COUP_CHECKS(X)
#undef X
        NULL,
};
