/* The reader's inside, shared by its two forms: blocks (reader.c) and JSON lines (jsonl.c).
 * Internal to histories. */
#ifndef COUP_HISTORIES_READER_H
#define COUP_HISTORIES_READER_H

#include <jansson.h>
#include <zstd.h>

#include "histories/file.h"
#include "histories/input.h"

struct history_reader {
    struct input input;
    struct history_header header;
    uint64_t next_index;
    bool over; /* nothing more is delivered */
    bool damaged;
    char damage[400];
    struct text verdict;

    /* Blocks: what of the current one is not yet delivered. */
    ZSTD_DCtx *unpacker;
    uint8_t *raw;
    size_t raw_capacity;
    const uint8_t *at, *end;
    uint32_t events_left;
    uint64_t block_offset;

    /* JSON lines */
    bool lines;
    uint64_t line_number;
    json_t *line; /* what the delivered event's texts borrow from */
};

/* Deliver nothing more, and say why; how many events are good is added. */
void reader_damage(struct history_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* JSON lines: the header line, then an event at a time as history_next() does. */
int jsonl_open(struct history_reader *reader, struct error *error);
int jsonl_next(struct history_reader *reader, struct event *out);

#endif
