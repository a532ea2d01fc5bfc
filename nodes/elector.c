/* Outputs of a step: memory that is kept from step to step, so a running node allocates nothing. */
#include "nodes/elector.h"

#include <assert.h>
#include <stdlib.h>

#define IDS_FIRST 64u

const char *const under_names[UNDERS] = {
    [UNDER_CRASH] = "crash",
    [UNDER_PARTITION] = "partition",
    [UNDER_PAUSE] = "pause",
    [UNDER_DRIFT] = "clock drift",
};

static uint32_t grown(uint32_t capacity, uint32_t first)
{
    return capacity ? capacity * 2 : first;
}

/* Free all blocks but the newest, which is also the largest. */
static void ids_forget(struct id_block *newest)
{
    struct id_block *block = newest->older;
    while (block) {
        struct id_block *older = block->older;
        free(block);
        block = older;
    }
    newest->older = NULL;
    newest->used = 0;
}

void output_reset(struct output *output)
{
    output->persist = false;
    output->send_before_persist = false;
    output->without_sync = false;
    output->step_reason = NULL;
    output->note_count = 0;
    output->message_count = 0;
    if (output->ids)
        ids_forget(output->ids);
}

void output_release(struct output *output)
{
    if (output->ids)
        ids_forget(output->ids);
    free(output->ids);
    free(output->notes);
    free(output->messages);
    *output = (struct output){0};
}

void output_note(struct output *output, struct note note)
{
    if (output->note_count == output->note_capacity) {
        output->note_capacity = grown(output->note_capacity, 4);
        output->notes = must_grow(output->notes, output->note_capacity, sizeof *output->notes);
    }
    output->notes[output->note_count++] = note;
}

void output_send(struct output *output, struct message message)
{
    if (output->message_count == output->message_capacity) {
        output->message_capacity = grown(output->message_capacity, 8);
        output->messages =
            must_grow(output->messages, output->message_capacity, sizeof *output->messages);
    }
    output->messages[output->message_count++] = message;
}

uint32_t *output_ids(struct output *output, uint32_t count)
{
    struct id_block *block = output->ids;
    if (!block || block->capacity - block->used < count) {
        uint32_t capacity = grown(block ? block->capacity : 0, IDS_FIRST);
        while (capacity < count)
            capacity *= 2;
        struct id_block *newest =
            must_alloc(1, sizeof *newest + (size_t)capacity * sizeof newest->at[0]);
        *newest = (struct id_block){.older = block, .capacity = capacity};
        output->ids = block = newest;
    }
    uint32_t *ids = block->at + block->used;
    block->used += count;
    return ids;
}

void output_persist(struct output *output, const struct durable *durable)
{
    output->persist = true;
    output->durable = *durable;
}
