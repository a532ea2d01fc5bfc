/* The history file, read: block by block in constant memory, believing nothing that has no fitting
 * checksum. Whatever stands before a damage is delivered. */
#include "histories/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "histories/block.h"
#include "histories/crc32c.h"
#include "histories/json.h"

/* What people hand over by mistake, to be named in the refusal. */
static const struct {
    const char *magic;
    size_t length;
    const char *name;
} foreigners[] = {
    {"\x7f"
     "ELF",
     4, "a program"},
    {"\x1f\x8b", 2, "a gzip file"},
    {"\x28\xb5\x2f\xfd", 4, "a zstd file"},
    {"\xfd"
     "7zXZ",
     5, "an xz file"},
    {"PK\x03\x04", 4, "a zip file"},
    {"JEPSEN", 6, "a Jepsen store"},
    {"<", 1, "HTML or XML"},
    {"[", 1, "a JSON or EDN list"},
};

void reader_damage(struct history_reader *reader, const char *format, ...)
{
    char what[300];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (reader->next_index == 0)
        (void)snprintf(reader->damage, sizeof reader->damage, "%s; no event stands before it",
                       what);
    else
        (void)snprintf(reader->damage, sizeof reader->damage,
                       "%s; the %" PRIu64 " event%s before it can be used", what,
                       reader->next_index, reader->next_index == 1 ? "" : "s");
    reader->damaged = reader->over = true;
}

static void damage_short(struct history_reader *reader, uint64_t offset, size_t have)
{
    if (reader->input.error)
        reader_damage(reader, "cannot be read from byte %" PRIu64 " on: %s", offset + have,
                      strerror(reader->input.error));
    else if (have == 0)
        reader_damage(reader, "cut off at byte %" PRIu64 ": its closing record is missing", offset);
    else
        reader_damage(reader, "cut off at byte %" PRIu64 ", inside the block at byte %" PRIu64,
                      offset + have, offset);
}

/* Payload of a block whose head is good, unpacked into reader->raw; false when it is no such. */
static bool unpack(struct history_reader *reader, const struct block_head *head,
                   const uint8_t *stored)
{
    if (crc32c(0, stored, head->stored_bytes) != head->stored_crc)
        return false;
    if (reader->raw_capacity < head->raw_bytes) {
        reader->raw_capacity = head->raw_bytes;
        reader->raw = must_grow(reader->raw, reader->raw_capacity, 1);
    }
    if (head->codec == BLOCK_ZSTD)
        return ZSTD_decompressDCtx(reader->unpacker, reader->raw, head->raw_bytes, stored,
                                   head->stored_bytes) == head->raw_bytes;
    if (head->raw_bytes > 0)
        memcpy(reader->raw, stored, head->raw_bytes);
    return true;
}

/* The next block, unpacked; false when there is none and the damage is told. */
static bool read_block(struct history_reader *reader, struct block_head *head)
{
    struct input *input = &reader->input;
    uint64_t offset = reader->block_offset = input->offset;
    size_t have = input_need(input, BLOCK_HEAD_BYTES);
    if (have < BLOCK_HEAD_BYTES) {
        damage_short(reader, offset, have);
        return false;
    }
    if (!block_head_decode(input->at, head)) {
        reader_damage(reader, "block head damaged at byte %" PRIu64, offset);
        return false;
    }
    size_t whole = BLOCK_HEAD_BYTES + head->stored_bytes;
    have = input_need(input, whole);
    if (have < whole) {
        damage_short(reader, offset, have);
        return false;
    }
    if (!unpack(reader, head, input->at + BLOCK_HEAD_BYTES)) {
        reader_damage(reader, "block damaged at byte %" PRIu64, offset);
        return false;
    }
    input_skip(input, whole);
    return true;
}

/* The closing record must be the last thing, and count what was delivered. */
static void read_end(struct history_reader *reader, const struct block_head *head)
{
    reader->over = true;
    if (head->first != reader->next_index)
        reader_damage(reader, "closing record at byte %" PRIu64 " counts %" PRIu64 " events",
                      reader->block_offset, head->first);
    else if (input_need(&reader->input, 1) > 0)
        reader_damage(reader, "something follows the closing record at byte %" PRIu64,
                      reader->block_offset);
}

/* Make a block's content current. Blocks out of order mean a file put together by hand. */
static void enter_block(struct history_reader *reader, const struct block_head *head)
{
    bool verdict_read = reader->verdict.length > 0;
    if (head->kind == BLOCK_END) {
        read_end(reader, head);
    } else if (head->first != reader->next_index || verdict_read) {
        reader_damage(reader, "block out of order at byte %" PRIu64, reader->block_offset);
    } else if (head->kind == BLOCK_VERDICT && head->raw_bytes > 0) {
        text_add_bytes(&reader->verdict, reader->raw, head->raw_bytes);
    } else if (head->kind == BLOCK_EVENTS && head->raw_bytes > 0) {
        reader->at = reader->raw;
        reader->end = reader->raw + head->raw_bytes;
        reader->events_left = head->events;
    } else {
        reader_damage(reader, "block of unknown kind at byte %" PRIu64, reader->block_offset);
    }
}

int history_next(struct history_reader *reader, struct event *out)
{
    struct block_head head;
    struct error error;
    size_t used;
    if (reader->lines)
        return jsonl_next(reader, out);
    while (!reader->over && reader->at == reader->end && reader->events_left == 0)
        if (read_block(reader, &head))
            enter_block(reader, &head);
    if (reader->over)
        return 0;
    if (reader->at == reader->end || reader->events_left == 0) {
        reader_damage(reader, "block at byte %" PRIu64 " does not hold the events it counts",
                      reader->block_offset);
        return 0;
    }
    if (event_decode(reader->at, (size_t)(reader->end - reader->at), out, &used, &error) < 0) {
        reader_damage(reader, "%s in the block at byte %" PRIu64, error.text, reader->block_offset);
        return 0;
    }
    reader->at += used;
    reader->events_left--;
    out->index = reader->next_index++;
    return 1;
}

static int refuse_foreign(const struct input *input, struct error *error)
{
    for (size_t i = 0; i < sizeof foreigners / sizeof foreigners[0]; i++)
        if (input->length >= foreigners[i].length &&
            memcmp(input->at, foreigners[i].magic, foreigners[i].length) == 0)
            return error_usage(error, "this is %s, not a coup history", foreigners[i].name);
    return error_usage(error, "this is not a coup history (neither its format nor JSON lines)");
}

static int read_file_head(struct history_reader *reader, struct error *error)
{
    struct input *input = &reader->input;
    uint32_t format = 0;
    size_t have = input_need(input, FILE_HEAD_BYTES);
    if (have < FILE_HEAD_BYTES)
        return file_magic_match(input->at, have) == (have < 8 ? have : 8)
                   ? error_usage(error, "cut off within its first %u bytes", FILE_HEAD_BYTES)
                   : refuse_foreign(input, error);
    switch (file_head_decode(input->at, &format)) {
    case FILE_HEAD_FOREIGN: return refuse_foreign(input, error);
    case FILE_HEAD_DAMAGED: return error_usage(error, "damaged within its first bytes");
    case FILE_HEAD_NEWER:
        return error_usage(error,
                           "history format %" PRIu32
                           " is newer than this coup reads (%d): use a newer coup",
                           format, HISTORY_FORMAT);
    case FILE_HEAD_GOOD: break;
    }
    input_skip(input, FILE_HEAD_BYTES);
    return 0;
}

static int read_header(struct history_reader *reader, struct error *error)
{
    struct block_head head;
    if (!read_block(reader, &head))
        return error_usage(error, "no header can be read: %.*s", (int)strcspn(reader->damage, ";"),
                           reader->damage);
    if (head.kind != BLOCK_HEADER || head.first != 0)
        return error_usage(error, "the first block is no header");
    int rc = header_from_json((const char *)reader->raw, head.raw_bytes, &reader->header, error);
    if (rc < 0)
        error_prefix(error, "header");
    return rc;
}

static int open_blocks(struct history_reader *reader, struct error *error)
{
    reader->unpacker = ZSTD_createDCtx();
    if (!reader->unpacker)
        return error_set(error, -ENOMEM, "out of memory");
    int rc = read_file_head(reader, error);
    return rc < 0 ? rc : read_header(reader, error);
}

static int open_input(struct history_reader *reader, struct history_reader **out,
                      struct error *error)
{
    struct input *input = &reader->input;
    int rc;
    if (input_need(input, 1) == 0)
        rc = input->error ? error_usage(error, "%s", strerror(input->error))
                          : error_usage(error, "the file is empty");
    else
        rc = input->at[0] == '{' ? jsonl_open(reader, error) : open_blocks(reader, error);
    if (rc < 0)
        history_reader_close(reader);
    else
        *out = reader;
    return rc;
}

int history_open(const char *path, struct history_reader **out, struct error *error)
{
    struct history_reader *reader = must_alloc(1, sizeof *reader);
    int rc = input_open_file(&reader->input, path);
    if (rc < 0) {
        free(reader);
        return error_usage(error, "%s: %s", path, strerror(-rc));
    }
    rc = open_input(reader, out, error);
    if (rc < 0)
        error_prefix(error, "%s", path);
    return rc;
}

int history_open_bytes(struct slice bytes, struct history_reader **out, struct error *error)
{
    struct history_reader *reader = must_alloc(1, sizeof *reader);
    input_open_bytes(&reader->input, bytes);
    return open_input(reader, out, error);
}

const struct history_header *history_header(const struct history_reader *reader)
{
    return &reader->header;
}

const char *history_damage(const struct history_reader *reader)
{
    return reader->damaged ? reader->damage : NULL;
}

struct slice history_recorded_verdict(const struct history_reader *reader)
{
    return (struct slice){text_string(&reader->verdict), reader->verdict.length};
}

void history_reader_close(struct history_reader *reader)
{
    if (!reader)
        return;
    input_release(&reader->input);
    header_release(&reader->header);
    text_release(&reader->verdict);
    ZSTD_freeDCtx(reader->unpacker);
    json_decref(reader->line);
    free(reader->raw);
    free(reader);
}
