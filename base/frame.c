#include "base/frame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void frame_head(uint8_t head[FRAME_HEAD_BYTES], uint32_t length)
{
    for (int i = 0; i < 4; i++)
        head[i] = (uint8_t)(length >> (8 * i));
}

uint8_t *frame_reader_room(struct frame_reader *reader, size_t want, size_t *ret_room)
{
    if (reader->start == reader->end)
        reader->start = reader->end = 0;
    if (reader->capacity - reader->end < want && reader->start > 0) {
        memmove(reader->buffer, reader->buffer + reader->start, reader->end - reader->start);
        reader->end -= reader->start;
        reader->start = 0;
    }
    if (reader->capacity - reader->end < want) {
        reader->capacity = (reader->end + want) * 2;
        reader->buffer = must_grow(reader->buffer, reader->capacity, 1);
    }
    *ret_room = reader->capacity - reader->end;
    return reader->buffer + reader->end;
}

void frame_reader_filled(struct frame_reader *reader, size_t bytes)
{
    reader->end += bytes;
}

int frame_reader_next(struct frame_reader *reader, const uint8_t **ret_bytes, size_t *ret_length,
                      struct error *error)
{
    const uint8_t *at = reader->buffer + reader->start;
    size_t left = reader->end - reader->start;
    if (left < FRAME_HEAD_BYTES)
        return 0;
    uint32_t length =
        (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    if (length == 0 || length > FRAME_BYTES_MAX)
        return error_set(error, -EBADMSG, "a frame of %" PRIu32 " bytes (1 to %u are allowed)",
                         length, FRAME_BYTES_MAX);
    if (left - FRAME_HEAD_BYTES < length)
        return 0;
    *ret_bytes = at + FRAME_HEAD_BYTES;
    *ret_length = length;
    reader->start += FRAME_HEAD_BYTES + length;
    return 1;
}

void frame_reader_release(struct frame_reader *reader)
{
    free(reader->buffer);
    *reader = (struct frame_reader){0};
}
