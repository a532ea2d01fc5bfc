/* States of a key that is put, appended to and read. Texts that lead to nothing anybody read are
 * one state: whatever is appended, no read can fit, and only a put gets out of it. So orders of
 * appends that no read tells apart are one, too. */
#ifndef COUP_CHECKER_LINEAR_TEXTS_H
#define COUP_CHECKER_LINEAR_TEXTS_H

#include "base/intern.h"
#include "checker/table.h"

#define TEXT_DEAD_END UINT64_MAX

struct texts {
    struct intern *pool; /* borrowed: what numbers stand for; it grows */
    uint32_t *read;      /* numbers of all texts that were read, sorted by what they are */
    uint32_t read_count;
    struct table steps; /* (state, what was put or appended) -> state */
};

/* `read` are numbers of `pool`, in any order; they are copied. */
void texts_open(struct texts *texts, struct intern *pool, const uint64_t *read, uint32_t count);
void texts_release(struct texts *texts);

uint64_t texts_put(struct texts *texts, uint64_t value);
uint64_t texts_append(struct texts *texts, uint64_t state, uint64_t value);

#endif
