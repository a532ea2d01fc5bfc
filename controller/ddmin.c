#include "controller/ddmin.h"

#include <stdlib.h>
#include <string.h>

/* All but those from `from` to before `to`; `spare` has room for all. */
static uint32_t without(const uint32_t *items, uint32_t count, uint32_t from, uint32_t to,
                        uint32_t *spare)
{
    memcpy(spare, items, from * sizeof *items);
    memcpy(spare + from, items + to, (count - to) * sizeof *items);
    return count - (to - from);
}

int ddmin(uint32_t *items, uint32_t *count, ddmin_holds *holds, void *context, struct error *error)
{
    uint32_t *spare = must_alloc(*count, sizeof *spare);
    int rc = 0;
    for (uint32_t part = *count; rc >= 0 && part > 0 && *count > 0; part /= 2)
        for (uint32_t from = 0; rc >= 0 && from < *count;) {
            uint32_t to = *count - from > part ? from + part : *count;
            uint32_t left = without(items, *count, from, to, spare);
            rc = holds(context, spare, left, error);
            if (rc == 1) { /* what followed has moved up */
                memcpy(items, spare, left * sizeof *items);
                *count = left;
            } else {
                from = to;
            }
        }
    free(spare);
    return rc < 0 ? rc : 0;
}
