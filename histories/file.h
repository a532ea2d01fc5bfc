/* The history file, `*.coup`: header, blocks of events, verdict. Layout in docs/history-format.md.
 * A file cut off or damaged anywhere is readable up to the damage. */
#ifndef COUP_HISTORIES_FILE_H
#define COUP_HISTORIES_FILE_H

#include "histories/event.h"
#include "histories/header.h"

struct history_writer;

/* Create `path` (must not exist) and write the header. -errno with `error` filled on failure.
 * `path` may be NULL: then the file is kept in memory (history_writer_bytes()). */
int history_create(const char *path, const struct history_header *header,
                   struct history_writer **out, struct error *error);

/* Append one event; sets its index. Buffered: durable against our own death after a flush. After a
 * failed write (disk full) every later call returns the same error and what was written before is
 * a readable history. */
int history_append(struct history_writer *writer, struct event *event, struct error *error);

/* Write what is buffered as a block. The caller does so at least every 100 ms and at exit. */
int history_flush(struct history_writer *writer, struct error *error);

/* Append the verdict (the JSON object of `--json`), once, after the last event. */
int history_verdict(struct history_writer *writer, struct slice json, struct error *error);

/* Flush and write the closing record; nothing can be appended afterwards. history_close() does so
 * by itself: only who wants the whole bytes of a history in memory asks for it. */
int history_finish(struct history_writer *writer, struct error *error);

/* Leave the closing record out: for the copy of a history that was cut off, and for a run that
 * could not be finished. */
void history_mark_torn(struct history_writer *writer);

uint64_t history_events(const struct history_writer *writer);
struct slice history_writer_bytes(const struct history_writer *writer); /* in-memory only */
int history_close(struct history_writer *writer, struct error *error);  /* flushes, frees */

struct history_reader;

/* Open and read the header. A foreign, empty, newer or header-damaged file is an error of kind
 * usage (exit 64) that says which. JSON lines are recognised by their first byte and read as well.
 */
int history_open(const char *path, struct history_reader **out, struct error *error);
int history_open_bytes(struct slice bytes, struct history_reader **out, struct error *error);

const struct history_header *history_header(const struct history_reader *reader);

/* 1: the next event, texts borrowed until the next call; 0: the end, whole or torn. */
int history_next(struct history_reader *reader, struct event *out);

/* After the end: NULL if the file was whole, else one sentence: what is damaged, at which byte, how
 * many events before it are good. A file without its closing record is torn. */
const char *history_damage(const struct history_reader *reader);

/* The verdict recorded in the file, empty if none. Known after the end. */
struct slice history_recorded_verdict(const struct history_reader *reader);
void history_reader_close(struct history_reader *reader);

#endif
