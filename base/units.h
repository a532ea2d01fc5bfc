/* Units as a user writes them and as the program holds them.
 * Time is uint64_t nanoseconds everywhere; probabilities are parts per million, so that options,
 * schedules and random draws never depend on floating point. */
#ifndef COUP_BASE_UNITS_H
#define COUP_BASE_UNITS_H

#include <stdint.h>

#include "base/error.h"

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)
#define PPM_ONE UINT64_C(1000000)

/* "150ms", "2s", "1.5s", "20us", "3m", "1h", "0"; a unit is required except for 0.
 * Negative, empty, unknown unit or overflow is a usage error that names the accepted units. */
int parse_duration(const char *text, uint64_t *ret_ns, struct error *error);

/* "20%", "0.5%" or "0.2" to parts per million, 0..100 %. */
int parse_probability(const char *text, uint64_t *ret_ppm, struct error *error);

/* "1mbit", "200kbit", "9600bit", to bits per second. */
int parse_bitrate(const char *text, uint64_t *ret_bits_per_s, struct error *error);

/* A whole number without sign, decimal or 0x; anything else is a usage error. */
int parse_count(const char *text, uint64_t *ret, struct error *error);

/* The shortest exact form that parse_* reads back: "150ms", "1500us", "20%", "0.5%", "200kbit". */
#define UNIT_TEXT_MAX 32
const char *format_duration(uint64_t ns, char buffer[UNIT_TEXT_MAX]);
const char *format_probability(uint64_t ppm, char buffer[UNIT_TEXT_MAX]);
const char *format_bitrate(uint64_t bits_per_s, char buffer[UNIT_TEXT_MAX]);

/* For people: rounded to three digits, "1.27s", "183ms", "4.2us". */
const char *human_duration(uint64_t ns, char buffer[UNIT_TEXT_MAX]);

/* "1 vote", "20 votes", "2 crashes", "0 entries": a count with its noun, for people. */
#define COUNT_TEXT_MAX 64
const char *count_of(uint64_t count, const char *noun, char buffer[COUNT_TEXT_MAX]);

#endif
