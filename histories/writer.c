/* The history file, written: events gather in memory and leave as one block by one write(), so that
 * a kill at any moment tears at most the last block. */
#define _GNU_SOURCE /* O_TMPFILE, linkat */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <zstd.h>

#include "histories/block.h"
#include "histories/crc32c.h"
#include "histories/file.h"
#include "histories/json.h"

/* Small enough that little is lost with a block, large enough to compress well. */
#define BLOCK_FLUSH_BYTES ((size_t)64 << 10)

/* Measured on typical events: level 3 takes 1.4 times as long and saves 1 %. */
#define ZSTD_LEVEL 1

/* Where a process finds its open files by name. */
#define OWN_DESCRIPTORS "/proc/self/fd"

enum stage { STAGE_EVENTS, STAGE_VERDICT, STAGE_ENDED };

struct history_writer {
    int descriptor;        /* -1: in memory */
    char *path;            /* NULL: in memory */
    struct text memory;    /* the file, in memory */
    uint64_t file_bytes;   /* whole blocks in the file */
    enum stage stage;      /* what may no longer come before */
    bool torn;             /* end without the closing record */
    uint64_t events;       /* appended */
    uint64_t first;        /* index of the first event in `raw` */
    struct text raw;       /* encoded events not yet in a block */
    uint8_t *block;        /* head and payload on their way out */
    size_t block_capacity; /* of `block` */
    ZSTD_CCtx *packer;
    int failure; /* negative errno of the write that failed; nothing is written after it */
    struct error failure_error;
};

static int writer_failure(const struct history_writer *writer, struct error *error)
{
    if (error)
        *error = writer->failure_error;
    return writer->failure;
}

/* Drop what a failed write left of its block, so that the file ends between two blocks. */
static int fail_write(struct history_writer *writer, int code, struct error *error)
{
    writer->failure = -code;
    error_set(&writer->failure_error, -code, "write %s: %s", writer->path, strerror(code));
    if (ftruncate(writer->descriptor, (off_t)writer->file_bytes) < 0)
        error_prefix(&writer->failure_error, "the last block is torn");
    return writer_failure(writer, error);
}

static int write_bytes(struct history_writer *writer, const uint8_t *bytes, size_t length,
                       struct error *error)
{
    if (writer->descriptor < 0) {
        text_add_bytes(&writer->memory, bytes, length);
        return 0;
    }
    for (size_t done = 0; done < length;) {
        ssize_t wrote = write(writer->descriptor, bytes + done, length - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return fail_write(writer, wrote < 0 ? errno : ENOSPC, error);
        done += (size_t)wrote;
    }
    writer->file_bytes += length;
    return 0;
}

/* Packed size of the payload behind the head in writer->block; the payload itself when packing
 * does not make it smaller. */
static size_t pack_payload(struct history_writer *writer, struct slice payload, uint8_t *ret_codec)
{
    size_t wanted = BLOCK_HEAD_BYTES + payload.length;
    if (writer->block_capacity < wanted) {
        writer->block = must_grow(writer->block, wanted, 1);
        writer->block_capacity = wanted;
    }
    uint8_t *out = writer->block + BLOCK_HEAD_BYTES;
    size_t packed = ZSTD_compressCCtx(writer->packer, out, payload.length, payload.at,
                                      payload.length, ZSTD_LEVEL);
    *ret_codec = BLOCK_ZSTD;
    if (!ZSTD_isError(packed) && packed < payload.length)
        return packed;
    *ret_codec = BLOCK_PLAIN;
    if (payload.length > 0)
        memcpy(out, payload.at, payload.length);
    return payload.length;
}

/* Make a block in writer->block; its length, or -E2BIG. */
static int64_t make_block(struct history_writer *writer, enum block_kind kind, struct slice payload,
                          struct error *error)
{
    if (payload.length > BLOCK_BYTES_MAX)
        return error_set(error, -E2BIG, "%zu bytes do not fit a history's block (%u do)",
                         payload.length, BLOCK_BYTES_MAX);
    struct block_head head = {
        .kind = (uint8_t)kind,
        .raw_bytes = (uint32_t)payload.length,
        .events = kind == BLOCK_EVENTS ? (uint32_t)(writer->events - writer->first) : 0,
        .first = writer->first,
    };
    head.stored_bytes = (uint32_t)pack_payload(writer, payload, &head.codec);
    head.stored_crc = crc32c(0, writer->block + BLOCK_HEAD_BYTES, head.stored_bytes);
    block_head_encode(&head, writer->block);
    return (int64_t)BLOCK_HEAD_BYTES + head.stored_bytes;
}

static int write_block(struct history_writer *writer, enum block_kind kind, struct slice payload,
                       struct error *error)
{
    if (writer->failure)
        return writer_failure(writer, error);
    int64_t length = make_block(writer, kind, payload, error);
    return length < 0 ? (int)length : write_bytes(writer, writer->block, (size_t)length, error);
}

/* File head and header by one write(). */
static int write_beginning(struct history_writer *writer, const struct history_header *header,
                           struct error *error)
{
    uint8_t head[FILE_HEAD_BYTES];
    struct text json = {0}, beginning = {0};
    file_head_encode(head);
    text_add_bytes(&beginning, head, sizeof head);
    header_to_json(header, &json);
    int64_t length = make_block(writer, BLOCK_HEADER, (struct slice){json.at, json.length}, error);
    int rc = (int)length;
    if (length >= 0) {
        text_add_bytes(&beginning, writer->block, (size_t)length);
        rc = write_bytes(writer, (const uint8_t *)beginning.at, beginning.length, error);
    }
    text_release(&json);
    text_release(&beginning);
    return rc;
}

static void writer_free(struct history_writer *writer)
{
    ZSTD_freeCCtx(writer->packer);
    text_release(&writer->memory);
    text_release(&writer->raw);
    free(writer->block);
    free(writer->path);
    free(writer);
}

/* A file without a name in the folder of `path`; -1 where the file system has no such files, or
 * /proc, without which they get no name, is missing. */
static int open_unnamed(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct text folder = {0};
    text_add(&folder, "%.*s.", slash ? (int)(slash - path + 1) : 0, path);
    int descriptor = -1;
    if (access(OWN_DESCRIPTORS, X_OK) == 0)
        descriptor = open(folder.at, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
    text_release(&folder);
    return descriptor;
}

/* Fails where `path` exists, as O_EXCL does. */
static int give_name(int descriptor, const char *path)
{
    char own[64];
    (void)snprintf(own, sizeof own, OWN_DESCRIPTORS "/%d", descriptor);
    return linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

static int refuse_path(const char *path, struct error *error)
{
    int code = errno;
    if (error_is_machine(code))
        return error_set(error, -code, "create %s: %s", path, strerror(code));
    (void)error_usage(error, "create %s: %s", path, strerror(code));
    return -code;
}

/* A history gets its name once its header is in it: whoever is killed while it begins leaves no
 * file that cannot be read, nor any other. Where that is not to be had, the name comes first. */
static int create_file(struct history_writer *writer, const struct history_header *header,
                       struct error *error)
{
    const char *path = writer->path;
    writer->descriptor = open_unnamed(path);
    bool named = writer->descriptor < 0;
    if (named)
        writer->descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (writer->descriptor < 0)
        return refuse_path(path, error);
    int rc = write_beginning(writer, header, error);
    if (rc == 0 && !named && give_name(writer->descriptor, path) < 0)
        rc = refuse_path(path, error);
    if (rc < 0) {
        if (named)
            (void)unlink(path); /* ours alone, and without a header of no use */
        (void)close(writer->descriptor);
    }
    return rc;
}

int history_create(const char *path, const struct history_header *header,
                   struct history_writer **out, struct error *error)
{
    struct history_writer *writer = must_alloc(1, sizeof *writer);
    int rc;
    writer->descriptor = -1;
    writer->path = path ? must_copy(path) : NULL;
    writer->packer = ZSTD_createCCtx();
    if (!writer->packer)
        rc = error_set(error, -ENOMEM, "out of memory");
    else
        rc = path ? create_file(writer, header, error) : write_beginning(writer, header, error);
    if (rc < 0)
        writer_free(writer);
    else
        *out = writer;
    return rc;
}

int history_flush(struct history_writer *writer, struct error *error)
{
    if (writer->failure)
        return writer_failure(writer, error);
    if (writer->raw.length == 0)
        return 0;
    int rc = write_block(writer, BLOCK_EVENTS, (struct slice){writer->raw.at, writer->raw.length},
                         error);
    if (rc < 0)
        return rc;
    text_clear(&writer->raw);
    writer->first = writer->events;
    return 0;
}

int history_append(struct history_writer *writer, struct event *event, struct error *error)
{
    assert(writer->stage == STAGE_EVENTS);
    if (writer->failure)
        return writer_failure(writer, error);
    size_t before = writer->raw.length;
    event_encode(event, &writer->raw);
    size_t bytes = writer->raw.length - before;
    if (bytes > BLOCK_BYTES_MAX - BLOCK_FLUSH_BYTES) {
        writer->raw.length = before;
        return error_set(error, -E2BIG, "an event of %zu bytes does not fit a history", bytes);
    }
    event->index = writer->events++;
    return writer->raw.length < BLOCK_FLUSH_BYTES ? 0 : history_flush(writer, error);
}

int history_verdict(struct history_writer *writer, struct slice json, struct error *error)
{
    assert(writer->stage == STAGE_EVENTS);
    struct text line = {0};
    int rc = json_one_line(json, &line, error);
    if (rc < 0)
        error_prefix(error, "verdict");
    if (rc == 0)
        rc = history_flush(writer, error);
    if (rc == 0)
        rc = write_block(writer, BLOCK_VERDICT, (struct slice){line.at, line.length}, error);
    if (rc == 0)
        writer->stage = STAGE_VERDICT;
    text_release(&line);
    return rc;
}

void history_mark_torn(struct history_writer *writer)
{
    writer->torn = true;
}

int history_finish(struct history_writer *writer, struct error *error)
{
    if (writer->stage == STAGE_ENDED)
        return 0;
    int rc = history_flush(writer, error);
    if (rc == 0 && !writer->torn)
        rc = write_block(writer, BLOCK_END, (struct slice){"", 0}, error);
    if (rc == 0)
        writer->stage = STAGE_ENDED;
    return rc;
}

uint64_t history_events(const struct history_writer *writer)
{
    return writer->events;
}

struct slice history_writer_bytes(const struct history_writer *writer)
{
    return (struct slice){writer->memory.at, writer->memory.length};
}

int history_close(struct history_writer *writer, struct error *error)
{
    int rc = history_finish(writer, error);
    if (writer->descriptor >= 0 && close(writer->descriptor) < 0 && rc == 0)
        rc = error_set(error, -errno, "close %s: %s", writer->path, strerror(errno));
    writer_free(writer);
    return rc;
}
