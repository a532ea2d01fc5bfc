#include "histories/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define EXACT_IN_A_DOUBLE ((UINT64_C(1) << 53) - 1)

void json_add_number(struct text *out, uint64_t number)
{
    char digits[24];
    char *at = digits + sizeof digits;
    size_t length = 0;
    for (uint64_t left = number; length == 0 || left > 0; left /= 10, length++)
        *--at = (char)('0' + left % 10);
    bool quoted = number > EXACT_IN_A_DOUBLE;
    text_add_bytes(out, "\"", quoted ? 1 : 0);
    text_add_bytes(out, at, length);
    text_add_bytes(out, "\"", quoted ? 1 : 0);
}

static bool read_digits(struct slice digits, uint64_t *ret)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits.length; i++) {
        uint64_t digit = (uint64_t)(unsigned char)digits.at[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *ret = value;
    return digits.length > 0;
}

struct slice json_slice(const json_t *string)
{
    return (struct slice){json_string_value(string), json_string_length(string)};
}

bool json_read_number(const json_t *value, uint64_t *ret)
{
    if (json_is_string(value))
        return read_digits(json_slice(value), ret);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *ret = (uint64_t)json_integer_value(value);
    return true;
}

int json_read_object(const char *at, size_t length, json_t **ret, struct error *error)
{
    json_error_t wrong;
    json_t *root = json_loadb(at, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &wrong);
    if (!root) {
        int rc = error_usage(error, "not JSON at character %d: %.200s", wrong.position, wrong.text);
        for (char *c = error ? error->text : NULL; c && *c; c++)
            if ((unsigned char)*c < ' ')
                *c = ' ';
        return rc;
    }
    if (!json_is_object(root)) {
        json_decref(root);
        return error_usage(error, "not a JSON object");
    }
    *ret = root;
    return 0;
}

int json_line_of(const json_t *object, struct text *out)
{
    char *line = json_is_object(object) ? json_dumps(object, JSON_COMPACT) : NULL;
    if (!line)
        return -EINVAL;
    text_clear(out);
    text_add_bytes(out, line, slice_of(line).length);
    free(line);
    return 0;
}

int json_one_line(struct slice object, struct text *out, struct error *error)
{
    json_t *root;
    int rc = json_read_object(object.at, object.length, &root, error);
    if (rc < 0)
        return rc;
    rc = json_line_of(root, out);
    json_decref(root);
    return rc < 0 ? error_set(error, rc, "JSON that cannot be written again") : 0;
}
