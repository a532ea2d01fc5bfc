/* A history as JSON lines, for people, grep and other tools: the header's object, an object an
 * event, and an object that ends it:
 *
 *   {"format":1,"version":...}
 *   {"index":0,"time":...,"node_time":...,"process":"n1","type":"info","f":"lead","value":{...}}
 *   {"end":{"events":1,"verdict":{...}}}
 *
 * Reading is history_open()'s, which tells the two forms apart by their first byte. Lines that went
 * through a file come back byte for byte; a file that went through lines holds the same, in blocks
 * that may be cut elsewhere. The last line is to JSON lines what the closing record is to the file:
 * without it the history is taken for cut off, and a copy of it says so again. */
#ifndef COUP_HISTORIES_JSONL_H
#define COUP_HISTORIES_JSONL_H

#include <stdio.h>

#include "histories/file.h"

/* Write all that `reader` has left. A damaged history is written up to the damage and without the
 * last line. */
int history_to_jsonl(struct history_reader *reader, FILE *out, struct error *error);

/* Append all that `reader` has left, the verdict too; marks the copy of a damaged history. */
int history_copy(struct history_reader *reader, struct history_writer *writer, struct error *error);

#endif
