#include "checker/linear/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct next {
    uint64_t state;
};

static int compare(struct slice a, struct slice b)
{
    size_t length = a.length < b.length ? a.length : b.length;
    int order = length ? memcmp(a.at, b.at, length) : 0;
    return order ? order : a.length < b.length ? -1 : a.length > b.length;
}

/* Merge sort: the order of numbers depends on their texts, which qsort() does not pass on. */
static void sort(const struct intern *pool, uint32_t *numbers, uint32_t count, uint32_t *spare)
{
    uint32_t half = count / 2, left = 0, right = half;
    if (count < 2)
        return;
    sort(pool, numbers, half, spare);
    sort(pool, numbers + half, count - half, spare);
    for (uint32_t i = 0; i < count; i++) {
        bool from_left =
            right == count || (left < half && compare(intern_get(pool, numbers[left]),
                                                      intern_get(pool, numbers[right])) <= 0);
        spare[i] = numbers[from_left ? left++ : right++];
    }
    memcpy(numbers, spare, count * sizeof *numbers);
}

void texts_open(struct texts *texts, struct intern *pool, const uint64_t *read, uint32_t count)
{
    uint32_t *spare = must_alloc((size_t)count + 1, sizeof *spare);
    *texts = (struct texts){.pool = pool, .read_count = count};
    texts->read = must_alloc((size_t)count + 1, sizeof *texts->read);
    for (uint32_t i = 0; i < count; i++)
        texts->read[i] = (uint32_t)read[i];
    sort(pool, texts->read, count, spare);
    free(spare);
    table_init(&texts->steps, sizeof(struct next));
}

void texts_release(struct texts *texts)
{
    free(texts->read);
    table_release(&texts->steps);
    *texts = (struct texts){0};
}

/* Whether some text that was read begins with this: if one does, the first that is not smaller. */
static bool leads_somewhere(const struct texts *texts, struct slice text)
{
    uint32_t low = 0, high = texts->read_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(intern_get(texts->pool, texts->read[middle]), text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == texts->read_count)
        return false;
    struct slice found = intern_get(texts->pool, texts->read[low]);
    return found.length >= text.length &&
           (text.length == 0 || memcmp(found.at, text.at, text.length) == 0);
}

uint64_t texts_put(struct texts *texts, uint64_t value)
{
    bool fresh;
    struct next *next = table_put(&texts->steps, TEXT_DEAD_END, value, &fresh);
    if (fresh)
        next->state = leads_somewhere(texts, intern_get(texts->pool, (uint32_t)value))
                          ? value
                          : TEXT_DEAD_END;
    return next->state;
}

uint64_t texts_append(struct texts *texts, uint64_t state, uint64_t value)
{
    bool fresh;
    if (state == TEXT_DEAD_END)
        return state;
    struct next *next = table_put(&texts->steps, state, value, &fresh);
    if (!fresh)
        return next->state;
    struct text joined = {0};
    struct slice before = intern_get(texts->pool, (uint32_t)state);
    struct slice more = intern_get(texts->pool, (uint32_t)value);
    text_add_bytes(&joined, before.at, before.length);
    text_add_bytes(&joined, more.at, more.length);
    struct slice after = {text_string(&joined), joined.length};
    next->state = leads_somewhere(texts, after) ? intern_put(texts->pool, after) : TEXT_DEAD_END;
    text_release(&joined);
    return next->state;
}
