/* Bytes as a history file: nothing crashes, hangs or allocates without bounds, and every event that
 * is delivered is one that can be written again. An odd first byte makes the rest blocks behind a
 * good header whose checksums are put right, so that what stands behind them is reached too. */
#include <assert.h>
#include <string.h>

#include "histories/block.h"
#include "histories/crc32c.h"
#include "histories/show.h"
#include "tests/history_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Made once: making it takes longer than a run. */
static void add_beginning(struct text *file)
{
    static struct text made;
    if (made.length == 0) {
        struct history_header header = sample_header();
        struct history_writer *writer;
        int rc = history_create(NULL, &header, &writer, NULL);
        assert(rc == 0);
        struct slice bytes = history_writer_bytes(writer);
        text_add_bytes(&made, bytes.at, bytes.length);
        (void)history_close(writer, NULL);
    }
    text_add_bytes(file, made.at, made.length);
}

static void put_crc(uint8_t *at, uint32_t crc)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(crc >> (8 * i));
}

/* Put the checksums of all blocks right, as far as their lengths lead. */
static void repair(uint8_t *at, size_t length)
{
    while (length >= BLOCK_HEAD_BYTES) {
        uint32_t stored = at[4] | (uint32_t)at[5] << 8 | (uint32_t)at[6] << 16;
        size_t payload = length - BLOCK_HEAD_BYTES;
        payload = stored < payload ? stored : payload;
        put_crc(at + 24, crc32c(0, at + BLOCK_HEAD_BYTES, payload));
        put_crc(at + 28, crc32c(0, at, 28));
        at += BLOCK_HEAD_BYTES + payload;
        length -= BLOCK_HEAD_BYTES + payload;
    }
}

static void use(const struct event *event, struct text *scratch)
{
    struct event again = {.index = event->index};
    size_t used;
    text_clear(scratch);
    event_encode(event, scratch);
    int rc = event_decode((const uint8_t *)scratch->at, scratch->length, &again, &used, NULL);
    assert(rc == 0 && used == scratch->length && same_event(event, &again));
    event_to_json(event, scratch);
    event_to_text(event, true, scratch);
    (void)event_check(event, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text file = {0}, scratch = {0};
    struct history_reader *reader;
    struct event event;
    struct error error;
    bool repaired = size > 0 && data[0] & 1 && data[0] != 0x89;
    if (repaired)
        add_beginning(&file);
    size_t beginning = file.length;
    text_add_bytes(&file, data + (repaired ? 1 : 0), size - (repaired ? 1 : 0));
    if (repaired)
        repair((uint8_t *)file.at + beginning, file.length - beginning);
    if (history_open_bytes((struct slice){file.at, file.length}, &reader, &error) == 0) {
        while (history_next(reader, &event))
            use(&event, &scratch);
        assert(!history_next(reader, &event));
        (void)history_recorded_verdict(reader);
        history_reader_close(reader);
    } else {
        assert(!repaired && error.text[0]);
    }
    text_release(&file);
    text_release(&scratch);
    return 0;
}
