#include "base/units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t scale;
};

/* Largest first: formatting takes the first that divides the value. */
static const struct unit durations[] = {{"h", 3600 * NS_PER_S},
                                        {"m", 60 * NS_PER_S},
                                        {"s", NS_PER_S},
                                        {"ms", NS_PER_MS},
                                        {"us", NS_PER_US},
                                        {"ns", 1},
                                        {NULL, 0}};
static const struct unit bitrates[] = {
    {"gbit", 1000000000}, {"mbit", 1000000}, {"kbit", 1000}, {"bit", 1}, {NULL, 0}};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* digits[.digits] at *at, scaled; exact, false when malformed, too precise or too large. */
static bool scaled_number(const char **at, uint64_t scale, uint64_t *out)
{
    const char *p = *at;
    uint64_t whole = 0, fraction = 0, place = 1;
    if (!is_digit(*p))
        return false;
    for (; is_digit(*p); p++)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, (uint64_t)(*p - '0'), &whole))
            return false;
    if (*p == '.') {
        if (!is_digit(*++p))
            return false;
        for (; is_digit(*p); p++) {
            if (place > UINT64_C(1000000000000))
                return false;
            fraction = fraction * 10 + (uint64_t)(*p - '0');
            place *= 10;
        }
    }
    while (place > 1 && fraction % 10 == 0) {
        fraction /= 10;
        place /= 10;
    }
    uint64_t scaled;
    if (scale % place != 0 || __builtin_mul_overflow(whole, scale, &scaled) ||
        __builtin_add_overflow(scaled, fraction * (scale / place), &scaled))
        return false;
    *at = p;
    *out = scaled;
    return true;
}

static size_t number_length(const char *text)
{
    return strspn(text, "0123456789.");
}

static int parse_unit(const char *text, const struct unit *units, const char *what,
                      const char *accepted, uint64_t *out, struct error *error)
{
    const char *suffix = text + number_length(text);
    for (const struct unit *unit = units; unit->name; unit++) {
        const char *at = text;
        uint64_t value;
        if (strcmp(suffix, unit->name) != 0 || !scaled_number(&at, unit->scale, &value) ||
            at != suffix)
            continue;
        *out = value;
        return 0;
    }
    if (strcmp(text, "0") == 0) {
        *out = 0;
        return 0;
    }
    return error_usage(error, "'%.60s' is not a %s (accepted: a number and %s)", text, what,
                       accepted);
}

int parse_duration(const char *text, uint64_t *ret_ns, struct error *error)
{
    return parse_unit(text, durations, "duration", "ns, us, ms, s, m or h", ret_ns, error);
}

int parse_bitrate(const char *text, uint64_t *ret_bits_per_s, struct error *error)
{
    return parse_unit(text, bitrates, "bit rate", "bit, kbit, mbit or gbit", ret_bits_per_s, error);
}

int parse_probability(const char *text, uint64_t *ret_ppm, struct error *error)
{
    static const struct unit parts[] = {{"%", PPM_ONE / 100}, {"", PPM_ONE}, {NULL, 0}};
    uint64_t ppm;
    struct error ignored;
    if (parse_unit(text, parts, "probability", "", &ppm, &ignored) < 0 || ppm > PPM_ONE)
        return error_usage(
            error, "'%.60s' is not a probability (accepted: 0%% to 100%%, or 0 to 1)", text);
    *ret_ppm = ppm;
    return 0;
}

int parse_count(const char *text, uint64_t *ret, struct error *error)
{
    uint64_t value = 0;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *p = hex ? text + 2 : text;
    uint64_t base = hex ? 16 : 10;
    bool good = *p != '\0';
    for (; good && *p; p++) {
        const char *digits = "0123456789abcdef";
        const char *found = strchr(digits, *p >= 'A' && *p <= 'F' ? *p - 'A' + 'a' : *p);
        uint64_t digit = found ? (uint64_t)(found - digits) : 99;
        good = digit < base && !__builtin_mul_overflow(value, base, &value) &&
               !__builtin_add_overflow(value, digit, &value);
    }
    if (!good)
        return error_usage(error, "'%.60s' is not a whole number", text);
    *ret = value;
    return 0;
}

static const char *format_unit(uint64_t value, const struct unit *units, char *buffer)
{
    const struct unit *unit = units;
    while (value % unit->scale != 0)
        unit++;
    (void)snprintf(buffer, UNIT_TEXT_MAX, "%" PRIu64 "%s", value / unit->scale,
                   value ? unit->name : "");
    return buffer;
}

const char *format_duration(uint64_t ns, char buffer[UNIT_TEXT_MAX])
{
    return format_unit(ns, durations, buffer);
}

const char *format_bitrate(uint64_t bits_per_s, char buffer[UNIT_TEXT_MAX])
{
    return format_unit(bits_per_s, bitrates, buffer);
}

const char *format_probability(uint64_t ppm, char buffer[UNIT_TEXT_MAX])
{
    uint64_t percent_ppm = PPM_ONE / 100;
    int used = snprintf(buffer, UNIT_TEXT_MAX, "%" PRIu64 ".%04" PRIu64, ppm / percent_ppm,
                        ppm % percent_ppm);
    while (used > 0 && buffer[used - 1] == '0')
        used--;
    if (used > 0 && buffer[used - 1] == '.')
        used--;
    buffer[used] = '%';
    buffer[used + 1] = '\0';
    return buffer;
}

const char *human_duration(uint64_t ns, char buffer[UNIT_TEXT_MAX])
{
    static const struct unit steps[] = {
        {"s", NS_PER_S}, {"ms", NS_PER_MS}, {"us", NS_PER_US}, {"ns", 1}};
    const struct unit *unit = steps;
    while (unit->scale > 1 && ns < unit->scale - unit->scale / 2000) /* not "1000ms" */
        unit++;
    double value = (double)ns / (double)unit->scale;
    int digits = unit->scale == 1 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    (void)snprintf(buffer, UNIT_TEXT_MAX, "%.*f%s", digits, value, unit->name);
    return buffer;
}

/* As most English nouns do it; for those in use here that is all of them. */
const char *count_of(uint64_t count, const char *noun, char buffer[COUNT_TEXT_MAX])
{
    size_t length = strlen(noun);
    const char *ending = length ? noun + length - 1 : noun;
    bool hissing = length > 1 && (*ending == 's' || *ending == 'x' ||
                                  strcmp(ending - 1, "sh") == 0 || strcmp(ending - 1, "ch") == 0);
    bool worn = length > 1 && *ending == 'y' && !strchr("aeiou", ending[-1]);
    if (count == 1)
        (void)snprintf(buffer, COUNT_TEXT_MAX, "1 %s", noun);
    else if (worn)
        (void)snprintf(buffer, COUNT_TEXT_MAX, "%" PRIu64 " %.*sies", count, (int)length - 1, noun);
    else
        (void)snprintf(buffer, COUNT_TEXT_MAX, "%" PRIu64 " %s%s", count, noun,
                       hissing ? "es" : "s");
    return buffer;
}
