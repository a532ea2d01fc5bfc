#include "histories/block.h"

#include <string.h>

#include "histories/crc32c.h"
#include "histories/header.h"

/* A byte above 127 and a line break in the magic: transfers that mangle text are found at once. */
static const uint8_t magic[8] = {0x89, 'c', 'o', 'u', 'p', '\r', '\n', 0x1a};

static void put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

void file_head_encode(uint8_t bytes[FILE_HEAD_BYTES])
{
    memcpy(bytes, magic, sizeof magic);
    put(bytes + 8, HISTORY_FORMAT, 4);
    put(bytes + 12, crc32c(0, bytes, 12), 4);
}

size_t file_magic_match(const uint8_t *bytes, size_t length)
{
    size_t match = 0;
    while (match < length && match < sizeof magic && bytes[match] == magic[match])
        match++;
    return match;
}

enum file_head_result file_head_decode(const uint8_t bytes[FILE_HEAD_BYTES], uint32_t *ret_format)
{
    if (file_magic_match(bytes, FILE_HEAD_BYTES) < sizeof magic)
        return FILE_HEAD_FOREIGN;
    uint32_t format = (uint32_t)get(bytes + 8, 4);
    if (get(bytes + 12, 4) != crc32c(0, bytes, 12) || format == 0)
        return FILE_HEAD_DAMAGED;
    *ret_format = format;
    return format > HISTORY_FORMAT ? FILE_HEAD_NEWER : FILE_HEAD_GOOD;
}

void block_head_encode(const struct block_head *head, uint8_t bytes[BLOCK_HEAD_BYTES])
{
    bytes[0] = head->kind;
    bytes[1] = head->codec;
    put(bytes + 2, 0, 2);
    put(bytes + 4, head->stored_bytes, 4);
    put(bytes + 8, head->raw_bytes, 4);
    put(bytes + 12, head->events, 4);
    put(bytes + 16, head->first, 8);
    put(bytes + 24, head->stored_crc, 4);
    put(bytes + 28, crc32c(0, bytes, 28), 4);
}

bool block_head_decode(const uint8_t bytes[BLOCK_HEAD_BYTES], struct block_head *out)
{
    if (get(bytes + 28, 4) != crc32c(0, bytes, 28))
        return false;
    struct block_head head = {
        .kind = bytes[0],
        .codec = bytes[1],
        .stored_bytes = (uint32_t)get(bytes + 4, 4),
        .raw_bytes = (uint32_t)get(bytes + 8, 4),
        .events = (uint32_t)get(bytes + 12, 4),
        .first = get(bytes + 16, 8),
        .stored_crc = (uint32_t)get(bytes + 24, 4),
    };
    if (head.raw_bytes > BLOCK_BYTES_MAX || head.stored_bytes > head.raw_bytes ||
        head.codec > BLOCK_ZSTD ||
        (head.codec == BLOCK_PLAIN && head.stored_bytes != head.raw_bytes))
        return false;
    *out = head;
    return true;
}
