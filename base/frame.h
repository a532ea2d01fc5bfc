/* Frames on a byte stream: a 4-byte little-endian length, then that many bytes.
 * Used on the pipes between the controller and its children. Pure: bytes in, frames out. */
#ifndef COUP_BASE_FRAME_H
#define COUP_BASE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define FRAME_BYTES_MAX (1u << 20)
#define FRAME_HEAD_BYTES 4u

/* Collects a stream; zeroed is empty. Owns its buffer. */
struct frame_reader {
    uint8_t *buffer;
    size_t start, end, capacity;
};

/* Room for at least `want` more bytes: read() into it, then frame_reader_filled(). */
uint8_t *frame_reader_room(struct frame_reader *reader, size_t want, size_t *ret_room);
void frame_reader_filled(struct frame_reader *reader, size_t bytes);

/* 1: a frame, borrowed until the next call on the reader; 0: not yet complete;
 * -EBADMSG: the length is zero or above FRAME_BYTES_MAX, the stream is lost. */
int frame_reader_next(struct frame_reader *reader, const uint8_t **ret_bytes, size_t *ret_length,
                      struct error *error);
void frame_reader_release(struct frame_reader *reader);

void frame_head(uint8_t head[FRAME_HEAD_BYTES], uint32_t length);

#endif
