#include "base/pack.h"

#include <msgpack/pack.h>

static int append(void *context, const char *bytes, size_t length)
{
    text_add_bytes(context, bytes, length);
    return 0;
}

static msgpack_packer packer_on(struct text *out)
{
    msgpack_packer packer;
    msgpack_packer_init(&packer, out, append);
    return packer;
}

void pack_uint(struct text *out, uint64_t value)
{
    msgpack_packer packer = packer_on(out);
    (void)msgpack_pack_uint64(&packer, value);
}

void pack_text(struct text *out, struct slice text)
{
    msgpack_packer packer = packer_on(out);
    (void)msgpack_pack_str(&packer, text.length);
    (void)msgpack_pack_str_body(&packer, text.at, text.length);
}

void pack_nil(struct text *out)
{
    msgpack_packer packer = packer_on(out);
    (void)msgpack_pack_nil(&packer);
}

void pack_array(struct text *out, uint32_t count)
{
    msgpack_packer packer = packer_on(out);
    (void)msgpack_pack_array(&packer, count);
}

void pack_map(struct text *out, uint32_t pairs)
{
    msgpack_packer packer = packer_on(out);
    (void)msgpack_pack_map(&packer, pairs);
}

static size_t left(const struct pack_reader *reader)
{
    return (size_t)(reader->end - reader->at);
}

static uint64_t fail(struct pack_reader *reader)
{
    reader->bad = true;
    reader->at = reader->end;
    return 0;
}

/* Big-endian number of `bytes` bytes after the type byte; consumes both. */
static uint64_t number(struct pack_reader *reader, size_t bytes)
{
    if (left(reader) < 1 + bytes)
        return fail(reader);
    uint64_t value = 0;
    for (size_t i = 1; i <= bytes; i++)
        value = value << 8 | reader->at[i];
    reader->at += 1 + bytes;
    return value;
}

enum pack_type pack_peek(const struct pack_reader *reader)
{
    if (left(reader) == 0)
        return PACK_END;
    uint8_t type = reader->at[0];
    if (type < 0x80 || (type >= 0xcc && type <= 0xcf))
        return PACK_UINT;
    if (type < 0x90 || type == 0xde || type == 0xdf)
        return PACK_MAP;
    if (type < 0xa0 || type == 0xdc || type == 0xdd)
        return PACK_ARRAY;
    if (type < 0xc0 || (type >= 0xd9 && type <= 0xdb) || (type >= 0xc4 && type <= 0xc6))
        return PACK_TEXT;
    return type == 0xc0 ? PACK_NIL : PACK_OTHER;
}

uint64_t pack_read_uint(struct pack_reader *reader)
{
    uint8_t type = left(reader) ? reader->at[0] : 0xff;
    if (type < 0x80) {
        reader->at++;
        return type;
    }
    if (type < 0xcc || type > 0xcf)
        return fail(reader);
    return number(reader, (size_t)1 << (type - 0xcc));
}

struct slice pack_read_text(struct pack_reader *reader)
{
    uint64_t length = 0;
    if (pack_peek(reader) != PACK_TEXT) {
        (void)fail(reader);
    } else if (reader->at[0] < 0xc0) {
        length = reader->at[0] & 0x1f;
        reader->at++;
    } else {
        length =
            number(reader, (size_t)1 << (reader->at[0] - (reader->at[0] < 0xd0 ? 0xc4 : 0xd9)));
    }
    if (length > left(reader))
        length = fail(reader);
    struct slice text = {(const char *)reader->at, (size_t)length};
    reader->at += length;
    return text;
}

bool pack_read_nil(struct pack_reader *reader)
{
    if (pack_peek(reader) != PACK_NIL)
        return false;
    reader->at++;
    return true;
}

/* Count of an array or map; each item takes at least one byte, which bounds a lying count. */
static uint32_t container(struct pack_reader *reader, enum pack_type type, uint8_t first_long,
                          uint64_t bytes_per_item)
{
    uint64_t count;
    if (pack_peek(reader) != type)
        return (uint32_t)fail(reader);
    if (reader->at[0] < 0xc0) {
        count = reader->at[0] & 0x0f;
        reader->at++;
    } else {
        count = number(reader, reader->at[0] == first_long ? 2 : 4);
    }
    if (count * bytes_per_item > left(reader))
        return (uint32_t)fail(reader);
    return (uint32_t)count;
}

uint32_t pack_read_array(struct pack_reader *reader)
{
    return container(reader, PACK_ARRAY, 0xdc, 1);
}

uint32_t pack_read_map(struct pack_reader *reader)
{
    return container(reader, PACK_MAP, 0xde, 2);
}

/* Payload bytes of the types we have no use for: signed, float, bool, ext. */
static void skip_other(struct pack_reader *reader)
{
    uint8_t type = reader->at[0];
    if (type >= 0xe0 || type == 0xc2 || type == 0xc3)
        (void)number(reader, 0);
    else if (type >= 0xd0 && type <= 0xd3)
        (void)number(reader, (size_t)1 << (type - 0xd0));
    else if (type == 0xca || type == 0xcb)
        (void)number(reader, type == 0xca ? 4 : 8);
    else if (type >= 0xd4 && type <= 0xd8) {
        size_t bytes = 1 + ((size_t)1 << (type - 0xd4));
        if (left(reader) < 1 + bytes)
            (void)fail(reader);
        else
            reader->at += 1 + bytes;
    } else if (type >= 0xc7 && type <= 0xc9) {
        uint64_t bytes = number(reader, (size_t)1 << (type - 0xc7));
        if (bytes + 1 > left(reader))
            (void)fail(reader);
        else
            reader->at += bytes + 1;
    } else {
        (void)fail(reader);
    }
}

/* Values still owed, instead of recursion: no depth can overrun the stack. */
void pack_skip(struct pack_reader *reader)
{
    for (uint64_t owed = 1; owed > 0 && !reader->bad; owed--) {
        switch (pack_peek(reader)) {
        case PACK_UINT: (void)pack_read_uint(reader); break;
        case PACK_TEXT: (void)pack_read_text(reader); break;
        case PACK_NIL: (void)pack_read_nil(reader); break;
        case PACK_ARRAY: owed += pack_read_array(reader); break;
        case PACK_MAP: owed += 2 * (uint64_t)pack_read_map(reader); break;
        case PACK_OTHER: skip_other(reader); break;
        case PACK_END: (void)fail(reader); break;
        }
    }
}
