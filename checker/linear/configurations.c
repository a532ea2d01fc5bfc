#include "checker/linear/configurations.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"

static uint32_t words_for(uint32_t exact, uint32_t counts)
{
    return exact + (counts + COUNTS_A_WORD - 1) / COUNTS_A_WORD;
}

void configurations_init(struct configurations *set, uint32_t exact, uint32_t counts)
{
    *set = (struct configurations){
        .exact = exact, .words = words_for(exact, counts), .bucket_count = 64, .round = 1};
    set->buckets = must_alloc(set->bucket_count, sizeof *set->buckets);
    set->stamps = must_alloc(set->bucket_count, sizeof *set->stamps);
}

void configurations_release(struct configurations *set)
{
    free(set->rows);
    free(set->older);
    free(set->buckets);
    free(set->stamps);
    *set = (struct configurations){0};
}

void configurations_clear(struct configurations *set)
{
    set->count = 0;
    if (++set->round == 0) {
        memset(set->stamps, 0, set->bucket_count * sizeof *set->stamps);
        set->round = 1;
    }
}

size_t configurations_bytes(const struct configurations *set)
{
    return (size_t)set->capacity * (set->words * sizeof *set->rows + sizeof *set->older) +
           (size_t)set->bucket_count * 2 * sizeof *set->buckets;
}

static uint32_t bucket_of(const struct configurations *set, const uint64_t *row)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < set->exact; i++)
        hash = mix64(hash ^ row[i]);
    return (uint32_t)hash & (set->bucket_count - 1);
}

static void put_in_bucket(struct configurations *set, uint32_t at)
{
    uint32_t bucket = bucket_of(set, configuration(set, at));
    set->older[at] = set->stamps[bucket] == set->round ? set->buckets[bucket] : UINT32_MAX;
    set->stamps[bucket] = set->round;
    set->buckets[bucket] = at;
}

static void more_buckets(struct configurations *set)
{
    set->bucket_count *= 4;
    free(set->buckets);
    free(set->stamps);
    set->buckets = must_alloc(set->bucket_count, sizeof *set->buckets);
    set->stamps = must_alloc(set->bucket_count, sizeof *set->stamps);
    set->round = 1;
    for (uint32_t i = 0; i < set->count; i++)
        put_in_bucket(set, i);
}

/* Whether `a` used no more of any kind than `b`. */
static bool no_more(const struct configurations *set, const uint64_t *a, const uint64_t *b)
{
    for (uint32_t i = set->exact; i < set->words; i++)
        for (uint32_t shift = 0; a[i] != b[i] && shift < 64; shift += 16)
            if ((a[i] >> shift & COUNT_MAX) > (b[i] >> shift & COUNT_MAX))
                return false;
    return true;
}

static void append(struct configurations *set, const uint64_t *row)
{
    if (set->count == set->capacity) {
        set->capacity = set->capacity ? set->capacity * 2 : 32;
        set->rows = must_grow(set->rows, (size_t)set->capacity * set->words, sizeof *set->rows);
        set->older = must_grow(set->older, set->capacity, sizeof *set->older);
    }
    memcpy(configuration(set, set->count), row, set->words * sizeof *row);
    if (set->count >= set->bucket_count)
        more_buckets(set);
    put_in_bucket(set, set->count++);
}

void configurations_add(struct configurations *set, const uint64_t *row, bool replace)
{
    uint32_t bucket = bucket_of(set, row);
    uint32_t at = set->stamps[bucket] == set->round ? set->buckets[bucket] : UINT32_MAX;
    for (; at != UINT32_MAX; at = set->older[at]) {
        uint64_t *there = configuration(set, at);
        if (memcmp(there, row, set->exact * sizeof *row) != 0)
            continue;
        if (no_more(set, there, row))
            return;
        if (replace && no_more(set, row, there)) {
            memcpy(there, row, set->words * sizeof *row);
            return;
        }
    }
    append(set, row);
}

void configurations_widen(struct configurations *set, uint32_t counts)
{
    uint32_t words = words_for(set->exact, counts), old = set->words;
    if (words <= old)
        return;
    uint64_t *rows = must_alloc((size_t)set->capacity * words + 1, sizeof *rows);
    for (uint32_t i = 0; i < set->count; i++)
        memcpy(rows + (size_t)i * words, configuration(set, i), old * sizeof *rows);
    free(set->rows);
    set->rows = rows;
    set->words = words;
}
