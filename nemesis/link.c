/* The link matrix. Only links that some fault ever touched have an entry, found by a hash of the
 * pair; each entry chains the contributions on it, each fault chains its own. So adding, taking out
 * and reporting cost what changed, whatever the number of endpoints. */
#include "nemesis/link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

#define NONE UINT32_MAX

struct contribution {
    uint64_t fault;
    struct impairment impairment;
    uint32_t link;
    uint32_t next_on_link; /* also chains the free ones */
    uint32_t next_of_fault;
};

struct link {
    uint32_t from, to;
    uint32_t first;              /* contribution, by fault; NONE: clean */
    bool dirty;                  /* is in matrix->dirty */
    struct impairment effective; /* merger of the contributions */
    struct impairment reported;  /* as of the last link_matrix_changes() */
};

struct fault_head {
    uint64_t fault;
    uint32_t first;
};

struct link_matrix {
    uint32_t endpoints;
    struct link *links;
    uint32_t link_count, link_capacity;
    uint32_t *slots; /* hash table of link numbers, NONE: free; slot_count a power of two */
    uint32_t slot_count;
    struct contribution *contributions;
    uint32_t contribution_count, contribution_capacity, first_free;
    struct fault_head *heads; /* of the faults that contribute now: few */
    uint32_t head_count, head_capacity;
    uint32_t *dirty;
    uint32_t dirty_count, dirty_capacity;
    struct link_change *changes;
    uint32_t change_capacity;
};

/* Either happens, both being independent: a + b - ab. */
static uint32_t either_ppm(uint32_t a, uint32_t b)
{
    return (uint32_t)(a + b - (uint64_t)a * b / PPM_ONE);
}

static uint64_t delay_sum(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b;
    return sum < a || sum > IMPAIRMENT_DELAY_MAX_NS ? IMPAIRMENT_DELAY_MAX_NS : sum;
}

static uint64_t lower_rate(uint64_t a, uint64_t b)
{
    if (a == 0 || b == 0)
        return a + b;
    return a < b ? a : b;
}

struct impairment impairment_merge(struct impairment a, struct impairment b)
{
    return (struct impairment){
        .cut = a.cut || b.cut,
        .cut_soft = a.cut_soft || b.cut_soft,
        .cut_data = a.cut_data || b.cut_data,
        .loss_ppm = either_ppm(a.loss_ppm, b.loss_ppm),
        .duplicate_ppm = either_ppm(a.duplicate_ppm, b.duplicate_ppm),
        .reorder_ppm = either_ppm(a.reorder_ppm, b.reorder_ppm),
        .corrupt_ppm = either_ppm(a.corrupt_ppm, b.corrupt_ppm),
        .delay_ns = delay_sum(a.delay_ns, b.delay_ns),
        .jitter_ns = delay_sum(a.jitter_ns, b.jitter_ns),
        .rate_bits_per_s = lower_rate(a.rate_bits_per_s, b.rate_bits_per_s),
    };
}

bool impairment_equal(const struct impairment *a, const struct impairment *b)
{
    return a->cut == b->cut && a->cut_soft == b->cut_soft && a->cut_data == b->cut_data &&
           a->loss_ppm == b->loss_ppm && a->duplicate_ppm == b->duplicate_ppm &&
           a->reorder_ppm == b->reorder_ppm && a->corrupt_ppm == b->corrupt_ppm &&
           a->delay_ns == b->delay_ns && a->jitter_ns == b->jitter_ns &&
           a->rate_bits_per_s == b->rate_bits_per_s;
}

bool impairment_is_clean(const struct impairment *impairment)
{
    const struct impairment clean = {0};
    return impairment_equal(impairment, &clean);
}

bool impairment_cuts(const struct impairment *impairment)
{
    return impairment->cut || impairment->cut_soft;
}

struct link_matrix *link_matrix_new(uint32_t endpoints)
{
    struct link_matrix *matrix = must_alloc(1, sizeof *matrix);
    matrix->endpoints = endpoints;
    matrix->first_free = NONE;
    return matrix;
}

void link_matrix_free(struct link_matrix *matrix)
{
    if (!matrix)
        return;
    free(matrix->links);
    free(matrix->slots);
    free(matrix->contributions);
    free(matrix->heads);
    free(matrix->dirty);
    free(matrix->changes);
    free(matrix);
}

/* The slot that holds from->to, or the free one where it belongs. */
static uint32_t find_slot(const struct link_matrix *matrix, uint32_t from, uint32_t to)
{
    uint32_t mask = matrix->slot_count - 1;
    uint32_t slot = (uint32_t)mix64((uint64_t)from << 32 | to) & mask;
    while (matrix->slots[slot] != NONE) {
        const struct link *link = &matrix->links[matrix->slots[slot]];
        if (link->from == from && link->to == to)
            break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

static void rehash(struct link_matrix *matrix, uint32_t slot_count)
{
    matrix->slots = must_grow(matrix->slots, slot_count, sizeof *matrix->slots);
    matrix->slot_count = slot_count;
    memset(matrix->slots, 0xff, slot_count * sizeof *matrix->slots);
    for (uint32_t i = 0; i < matrix->link_count; i++)
        matrix->slots[find_slot(matrix, matrix->links[i].from, matrix->links[i].to)] = i;
}

/* `memory` with room for one more than `count` elements of `size` bytes. */
static void *roomy(void *memory, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return memory;
    *capacity = *capacity ? *capacity * 2 : 16;
    return must_grow(memory, *capacity, size);
}

static uint32_t link_number(struct link_matrix *matrix, uint32_t from, uint32_t to)
{
    if (matrix->link_count * 2 >= matrix->slot_count)
        rehash(matrix, matrix->slot_count ? matrix->slot_count * 2 : 64);
    uint32_t slot = find_slot(matrix, from, to);
    if (matrix->slots[slot] != NONE)
        return matrix->slots[slot];
    matrix->links =
        roomy(matrix->links, matrix->link_count, &matrix->link_capacity, sizeof *matrix->links);
    matrix->links[matrix->link_count] = (struct link){.from = from, .to = to, .first = NONE};
    matrix->slots[slot] = matrix->link_count;
    return matrix->link_count++;
}

static uint32_t new_contribution(struct link_matrix *matrix)
{
    uint32_t number = matrix->first_free;
    if (number != NONE) {
        matrix->first_free = matrix->contributions[number].next_on_link;
        return number;
    }
    matrix->contributions = roomy(matrix->contributions, matrix->contribution_count,
                                  &matrix->contribution_capacity, sizeof *matrix->contributions);
    return matrix->contribution_count++;
}

static uint32_t find_head(const struct link_matrix *matrix, uint64_t fault)
{
    uint32_t i = 0;
    while (i < matrix->head_count && matrix->heads[i].fault != fault)
        i++;
    return i;
}

/* Merge anew; contributions are chained by fault, so the result depends on the set alone and not on
 * the order in which faults came and went. */
static void refresh(struct link_matrix *matrix, uint32_t number)
{
    struct link *link = &matrix->links[number];
    link->effective = (struct impairment){0};
    for (uint32_t c = link->first; c != NONE; c = matrix->contributions[c].next_on_link)
        link->effective = impairment_merge(link->effective, matrix->contributions[c].impairment);
    if (link->dirty)
        return;
    link->dirty = true;
    matrix->dirty =
        roomy(matrix->dirty, matrix->dirty_count, &matrix->dirty_capacity, sizeof *matrix->dirty);
    matrix->dirty[matrix->dirty_count++] = number;
}

void link_matrix_add(struct link_matrix *matrix, uint64_t fault, uint32_t from, uint32_t to,
                     struct impairment impairment)
{
    assert(from < matrix->endpoints && to < matrix->endpoints && from != to);
    uint32_t number = link_number(matrix, from, to);
    uint32_t added = new_contribution(matrix);
    uint32_t head = find_head(matrix, fault);
    if (head == matrix->head_count) {
        matrix->heads =
            roomy(matrix->heads, matrix->head_count, &matrix->head_capacity, sizeof *matrix->heads);
        matrix->heads[matrix->head_count++] = (struct fault_head){fault, NONE};
    }
    uint32_t *at = &matrix->links[number].first;
    while (*at != NONE && matrix->contributions[*at].fault <= fault)
        at = &matrix->contributions[*at].next_on_link;
    matrix->contributions[added] =
        (struct contribution){fault, impairment, number, *at, matrix->heads[head].first};
    *at = added;
    matrix->heads[head].first = added;
    refresh(matrix, number);
}

static void unchain(struct link_matrix *matrix, uint32_t contribution)
{
    struct contribution *gone = &matrix->contributions[contribution];
    uint32_t *at = &matrix->links[gone->link].first;
    while (*at != contribution)
        at = &matrix->contributions[*at].next_on_link;
    *at = gone->next_on_link;
    gone->next_on_link = matrix->first_free;
    matrix->first_free = contribution;
}

void link_matrix_remove(struct link_matrix *matrix, uint64_t fault)
{
    uint32_t head = find_head(matrix, fault);
    if (head == matrix->head_count)
        return;
    uint32_t c = matrix->heads[head].first;
    while (c != NONE) {
        uint32_t next = matrix->contributions[c].next_of_fault;
        unchain(matrix, c);
        refresh(matrix, matrix->contributions[c].link);
        c = next;
    }
    matrix->heads[head] = matrix->heads[--matrix->head_count];
}

struct impairment link_matrix_get(const struct link_matrix *matrix, uint32_t from, uint32_t to)
{
    if (matrix->slot_count == 0)
        return (struct impairment){0};
    uint32_t number = matrix->slots[find_slot(matrix, from, to)];
    return number == NONE ? (struct impairment){0} : matrix->links[number].effective;
}

uint32_t link_matrix_changes(struct link_matrix *matrix, const struct link_change **ret_changes)
{
    uint32_t count = 0;
    if (matrix->change_capacity < matrix->dirty_count) {
        matrix->change_capacity = matrix->dirty_capacity;
        matrix->changes =
            must_grow(matrix->changes, matrix->change_capacity, sizeof *matrix->changes);
    }
    for (uint32_t i = 0; i < matrix->dirty_count; i++) {
        struct link *link = &matrix->links[matrix->dirty[i]];
        link->dirty = false;
        if (impairment_equal(&link->effective, &link->reported))
            continue;
        link->reported = link->effective;
        matrix->changes[count++] = (struct link_change){link->from, link->to, link->effective};
    }
    matrix->dirty_count = 0;
    *ret_changes = matrix->changes;
    return count;
}
