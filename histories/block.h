/* The bytes of a history file, shared by writer and reader (docs/history-format.md):
 *
 *   file head   magic (8), format (4), CRC-32C of both (4)
 *   blocks      head (32) and payload: one HEADER, any number of EVENTS, at most one VERDICT, and
 *               END, which a file that was cut off does not have
 *
 * Numbers are little-endian. A block's head has a checksum of its own, so that a length is believed
 * only when it is what the writer wrote. */
#ifndef COUP_HISTORIES_BLOCK_H
#define COUP_HISTORIES_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

#define FILE_HEAD_BYTES 16u
#define BLOCK_HEAD_BYTES 32u

/* No payload is larger, packed or not: what a reader allocates at most for a block. */
#define BLOCK_BYTES_MAX (16u << 20)

/* The letters that tell blocks apart in a hex dump. */
enum block_kind {
    BLOCK_HEADER = 'H',  /* JSON object of histories/header.h */
    BLOCK_EVENTS = 'E',  /* events back to back, as event_encode() makes them */
    BLOCK_VERDICT = 'V', /* JSON object */
    BLOCK_END = 'Z',     /* no payload; nothing follows */
};

enum block_codec { BLOCK_PLAIN, BLOCK_ZSTD };

struct block_head {
    uint8_t kind;
    uint8_t codec;
    uint32_t stored_bytes; /* of the payload in the file; never more than raw_bytes */
    uint32_t raw_bytes;    /* of the payload once unpacked */
    uint32_t events;       /* events in the block */
    uint64_t first;        /* index of the block's first event, or of the next one */
    uint32_t stored_crc;   /* CRC-32C of the stored payload */
};

enum file_head_result {
    FILE_HEAD_GOOD,
    FILE_HEAD_FOREIGN, /* not our magic */
    FILE_HEAD_DAMAGED,
    FILE_HEAD_NEWER,
};

void file_head_encode(uint8_t bytes[FILE_HEAD_BYTES]);

/* The format is set for good and newer files. */
enum file_head_result file_head_decode(const uint8_t bytes[FILE_HEAD_BYTES], uint32_t *ret_format);

/* How many of the first `length` bytes of `bytes` are the magic's, from its beginning. */
size_t file_magic_match(const uint8_t *bytes, size_t length);

void block_head_encode(const struct block_head *head, uint8_t bytes[BLOCK_HEAD_BYTES]);

/* False when the checksum does not fit or a field is out of its range. */
bool block_head_decode(const uint8_t bytes[BLOCK_HEAD_BYTES], struct block_head *out);

#endif
