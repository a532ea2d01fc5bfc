#include "base/intern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"

void intern_release(struct intern *intern)
{
    text_release(&intern->bytes);
    free(intern->ends);
    free(intern->slots);
    *intern = (struct intern){0};
}

struct slice intern_get(const struct intern *intern, uint32_t number)
{
    assert(number >= 1 && number <= intern->count);
    size_t from = intern->ends[number - 1];
    return (struct slice){text_string(&intern->bytes) + from, intern->ends[number] - from};
}

/* Eight bytes a round; the length tells a text from the same one with zeros behind it. */
static uint64_t hash_of(struct slice text)
{
    uint64_t hash = mix64(text.length);
    for (size_t at = 0; at < text.length; at += 8) {
        uint64_t word = 0;
        memcpy(&word, text.at + at, text.length - at < 8 ? text.length - at : 8);
        hash = mix64(hash ^ word);
    }
    return hash;
}

static uint32_t *slot_of(const struct intern *intern, struct slice text)
{
    uint32_t at = (uint32_t)hash_of(text) & (intern->slot_count - 1);
    for (;; at = (at + 1) & (intern->slot_count - 1)) {
        uint32_t number = intern->slots[at];
        if (number == 0)
            return &intern->slots[at];
        struct slice there = intern_get(intern, number);
        if (there.length == text.length &&
            (text.length == 0 || memcmp(there.at, text.at, text.length) == 0))
            return &intern->slots[at];
    }
}

static void grow(struct intern *intern)
{
    intern->slot_count = intern->slot_count ? intern->slot_count * 2 : 64;
    intern->capacity = intern->slot_count / 2 + 1;
    intern->ends = must_grow(intern->ends, intern->capacity, sizeof *intern->ends);
    intern->ends[0] = 0;
    free(intern->slots);
    intern->slots = must_alloc(intern->slot_count, sizeof *intern->slots);
    for (uint32_t i = 1; i <= intern->count; i++)
        *slot_of(intern, intern_get(intern, i)) = i;
}

uint32_t intern_put(struct intern *intern, struct slice text)
{
    if (intern->count + 1 >= intern->capacity)
        grow(intern);
    uint32_t *slot = slot_of(intern, text);
    if (*slot)
        return *slot;
    if (text.length)
        text_add_bytes(&intern->bytes, text.at, text.length);
    intern->ends[intern->count + 1] = intern->bytes.length;
    *slot = ++intern->count;
    return *slot;
}
