/* What header, JSON lines and verdict share about JSON. Internal to histories.
 *
 * Numbers above 2^53 - 1 are written as strings of digits, because most readers of JSON hold
 * numbers as doubles and would round them (RFC 7493 section 2.2). Both forms are read. */
#ifndef COUP_HISTORIES_JSON_H
#define COUP_HISTORIES_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"
#include "base/text.h"
#include "histories/event.h"
#include "histories/header.h"

void json_add_number(struct text *out, uint64_t number);

/* False for anything but a whole number that fits, in either form. */
bool json_read_number(const json_t *value, uint64_t *ret);

/* A JSON object and nothing else; names what is wrong and at which character. The caller owns
 * `*ret` (json_decref). */
int json_read_object(const char *at, size_t length, json_t **ret, struct error *error);

struct slice json_slice(const json_t *string); /* borrowed */

int header_from_object(const json_t *root, struct history_header *out, struct error *error);

/* Texts borrow from `root`. The index may be left out. */
#define EVENT_INDEX_UNSTATED UINT64_MAX
int event_from_object(json_t *root, struct event *out, struct error *error);

/* The object on one line, keys in their order: the one form in which a verdict is kept. The second
 * is -EINVAL for what is no object. */
int json_one_line(struct slice object, struct text *out, struct error *error);
int json_line_of(const json_t *object, struct text *out);

#endif
