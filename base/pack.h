/* msgpack without a tree: append to a buffer, read by a cursor. The reader never allocates and
 * never reads past its end, whatever the bytes; the first mistake makes every later read fail, so
 * callers check once, at the end. (msgpack-c builds an object tree per message, which costs more
 * than all election checks together; tests hold this reader against it.) */
#ifndef COUP_BASE_PACK_H
#define COUP_BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

void pack_uint(struct text *out, uint64_t value);
void pack_text(struct text *out, struct slice text);
void pack_nil(struct text *out);
void pack_array(struct text *out, uint32_t count);
void pack_map(struct text *out, uint32_t pairs);

struct pack_reader {
    const uint8_t *at, *end;
    bool bad;
};

enum pack_type { PACK_UINT, PACK_TEXT, PACK_NIL, PACK_ARRAY, PACK_MAP, PACK_OTHER, PACK_END };

enum pack_type pack_peek(const struct pack_reader *reader);
uint64_t pack_read_uint(struct pack_reader *reader);
struct slice pack_read_text(struct pack_reader *reader); /* borrowed; str or bin */
bool pack_read_nil(struct pack_reader *reader);          /* true and consumed if next is nil */
uint32_t pack_read_array(struct pack_reader *reader);    /* element count, bounded by bytes left */
uint32_t pack_read_map(struct pack_reader *reader);      /* pair count, bounded by bytes left */
void pack_skip(struct pack_reader *reader);              /* one value of any type, depth bounded */

#endif
