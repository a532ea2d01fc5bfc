#include "histories/edn.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void edn_open(struct edn *edn, struct slice input)
{
    *edn = (struct edn){.input = input, .line = 1};
}

void edn_release(struct edn *edn)
{
    free(edn->values);
    *edn = (struct edn){0};
}

void edn_reuse(struct edn *edn, struct slice input, uint32_t line)
{
    edn->input = input;
    edn->at = 0;
    edn->line = line;
    edn->closes = 0;
}

static int peek(const struct edn *edn)
{
    return edn->at < edn->input.length ? (unsigned char)edn->input.at[edn->at] : -1;
}

static int peek_second(const struct edn *edn)
{
    return edn->at + 1 < edn->input.length ? (unsigned char)edn->input.at[edn->at + 1] : -1;
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == ',';
}

/* A byte order mark: at the beginning of a file, and inside where files were put together. */
static bool is_mark(const struct edn *edn)
{
    return edn->input.length - edn->at >= 3 &&
           memcmp(edn->input.at + edn->at, "\xef\xbb\xbf", 3) == 0;
}

static bool ends_token(int c)
{
    return c < 0 || is_blank(c) || c == ';' || c == '"' || c == '(' || c == ')' || c == '[' ||
           c == ']' || c == '{' || c == '}';
}

static int wrong(const struct edn *edn, struct error *error, const char *what)
{
    return error_usage(error, "line %u: %s", edn->line, what);
}

static uint32_t add_value(struct edn *edn, enum edn_kind kind, struct slice text)
{
    if (edn->count == edn->capacity) {
        edn->capacity = edn->capacity ? edn->capacity * 2 : 64;
        edn->values = must_grow(edn->values, edn->capacity, sizeof *edn->values);
    }
    edn->values[edn->count] = (struct edn_value){kind, EDN_NONE, EDN_NONE, edn->line, text};
    return edn->count++;
}

static int read_value(struct edn *edn, uint32_t depth, uint32_t *ret_value, struct error *error);

/* Blanks, comments and discarded values. */
static int skip_blanks(struct edn *edn, uint32_t depth, struct error *error)
{
    for (;;) {
        int c = peek(edn);
        if (is_blank(c)) {
            edn->line += c == '\n';
            edn->at++;
        } else if (is_mark(edn)) {
            edn->at += 3;
        } else if (c == ';') {
            while (peek(edn) >= 0 && peek(edn) != '\n')
                edn->at++;
        } else if (c == '#' && peek_second(edn) == '_') {
            uint32_t dropped;
            edn->at += 2;
            int rc = read_value(edn, depth + 1, &dropped, error);
            if (rc < 0)
                return rc;
        } else {
            return 0;
        }
    }
}

static int read_string(struct edn *edn, uint32_t *ret_value, struct error *error)
{
    size_t from = ++edn->at;
    uint32_t line = edn->line;
    for (;; edn->at++) {
        int c = peek(edn);
        if (c == '"')
            break;
        if (c == '\\')
            edn->at++;
        if (peek(edn) < 0)
            return error_usage(error, "line %u: a string that does not end", line);
        edn->line += peek(edn) == '\n';
    }
    *ret_value = add_value(edn, EDN_STRING, (struct slice){edn->input.at + from, edn->at - from});
    edn->values[*ret_value].line = line;
    edn->at++;
    return 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t skip_digits(struct slice text, size_t at)
{
    while (at < text.length && is_digit(text.at[at]))
        at++;
    return at;
}

static bool starts_number(struct slice text)
{
    size_t sign = text.length && (text.at[0] == '+' || text.at[0] == '-');
    return text.length > sign && is_digit(text.at[sign]);
}

/* [+-]digits[N], or with a fraction, an exponent or an M a float; else no number. */
static bool classify_number(struct slice text, enum edn_kind *ret_kind)
{
    size_t at = skip_digits(text, text.at[0] == '+' || text.at[0] == '-');
    *ret_kind = EDN_INTEGER;
    if (at < text.length && text.at[at] == 'N')
        return at + 1 == text.length;
    if (at < text.length && text.at[at] == '.') {
        *ret_kind = EDN_FLOAT;
        at = skip_digits(text, at + 1);
    }
    if (at < text.length && (text.at[at] == 'e' || text.at[at] == 'E')) {
        *ret_kind = EDN_FLOAT;
        at++;
        if (at < text.length && (text.at[at] == '+' || text.at[at] == '-'))
            at++;
        if (skip_digits(text, at) == at)
            return false;
        at = skip_digits(text, at);
    }
    if (at < text.length && text.at[at] == 'M') {
        *ret_kind = EDN_FLOAT;
        at++;
    }
    return at == text.length;
}

static bool is_word_byte(char c)
{
    return (unsigned char)c > ' ' && (unsigned char)c != 0x7f && c != '\\' && c != '@' &&
           c != '`' && c != '~' && c != '^';
}

static bool is_word(struct slice text)
{
    for (size_t i = 0; i < text.length; i++)
        if (!is_word_byte(text.at[i]))
            return false;
    return text.length > 0 && slice_is_utf8(text);
}

static bool classify_token(struct slice text, enum edn_kind *ret_kind)
{
    if (text.length == 0)
        return false; /* a tag that is not there */
    if (starts_number(text))
        return classify_number(text, ret_kind);
    *ret_kind = slice_equals(text, "nil")                                   ? EDN_NIL
                : slice_equals(text, "true") || slice_equals(text, "false") ? EDN_BOOLEAN
                : text.at[0] == ':'                                         ? EDN_KEYWORD
                                                                            : EDN_SYMBOL;
    if (*ret_kind == EDN_KEYWORD)
        return is_word((struct slice){text.at + 1, text.length - 1});
    return is_word(text) && text.at[0] != '#';
}

static int read_token(struct edn *edn, uint32_t *ret_value, struct error *error)
{
    size_t from = edn->at;
    enum edn_kind kind;
    while (!ends_token(peek(edn)))
        edn->at++;
    struct slice text = {edn->input.at + from, edn->at - from};
    if (!classify_token(text, &kind)) {
        struct text quoted = {0};
        text_add_json(&quoted, (struct slice){text.at, text.length < 40 ? text.length : 40});
        int rc = error_usage(error, "line %u: %s is no EDN", edn->line, text_string(&quoted));
        text_release(&quoted);
        return rc;
    }
    *ret_value = add_value(edn, kind, text);
    return 0;
}

/* `\c`, `\newline`, `\u0041`: any one character, and what belongs to its name. */
static int read_character(struct edn *edn, uint32_t *ret_value, struct error *error)
{
    size_t from = edn->at++;
    if (peek(edn) < 0 || peek(edn) == '\n' || peek(edn) == '\r')
        return wrong(edn, error, "a character that is not there");
    for (edn->at++; !ends_token(peek(edn));)
        edn->at++;
    struct slice text = {edn->input.at + from, edn->at - from};
    if (!slice_is_utf8(text))
        return wrong(edn, error, "a character that is no UTF-8");
    *ret_value = add_value(edn, EDN_CHARACTER, text);
    return 0;
}

/* What is between the opening bracket, which is behind us, and `closes`. */
static int read_children(struct edn *edn, uint32_t depth, char closes, uint32_t parent,
                         struct error *error)
{
    uint32_t line = edn->values[parent].line, last = EDN_NONE, count = 0;
    for (;; count++) {
        uint32_t child;
        int rc = skip_blanks(edn, depth, error);
        if (rc < 0)
            return rc;
        if (peek(edn) < 0)
            return error_usage(error, "line %u: a bracket that nothing closes", line);
        if (peek(edn) == closes)
            break;
        rc = read_value(edn, depth, &child, error);
        if (rc < 0)
            return rc;
        if (last == EDN_NONE)
            edn->values[parent].first = child;
        else
            edn->values[last].next = child;
        last = child;
    }
    edn->at++;
    if (edn->values[parent].kind == EDN_MAP && count % 2)
        return error_usage(error, "line %u: a map with a key that has no value", line);
    return 0;
}

static int read_collection(struct edn *edn, uint32_t depth, enum edn_kind kind, char closes,
                           uint32_t *ret_value, struct error *error)
{
    *ret_value = add_value(edn, kind, (struct slice){"", 0});
    return read_children(edn, depth + 1, closes, *ret_value, error);
}

static int read_tagged(struct edn *edn, uint32_t depth, uint32_t *ret_value, struct error *error)
{
    uint32_t tag, value;
    edn->at++;
    *ret_value = add_value(edn, EDN_TAGGED, (struct slice){"", 0});
    int rc = read_token(edn, &tag, error);
    if (rc == 0 && edn->values[tag].kind != EDN_SYMBOL)
        rc = wrong(edn, error, "a tag that is no symbol");
    if (rc == 0)
        rc = skip_blanks(edn, depth, error);
    if (rc == 0)
        rc = read_value(edn, depth + 1, &value, error);
    if (rc == 0) {
        edn->values[*ret_value].first = tag;
        edn->values[tag].next = value;
    }
    return rc;
}

static int read_value(struct edn *edn, uint32_t depth, uint32_t *ret_value, struct error *error)
{
    if (depth > EDN_DEPTH_MAX)
        return wrong(edn, error, "brackets in brackets, too deep");
    int rc = skip_blanks(edn, depth, error);
    if (rc < 0)
        return rc;
    switch (peek(edn)) {
    case -1: return wrong(edn, error, "a value is missing at the end");
    case '"': return read_string(edn, ret_value, error);
    case '\\': return read_character(edn, ret_value, error);
    case '(': edn->at++; return read_collection(edn, depth, EDN_LIST, ')', ret_value, error);
    case '[': edn->at++; return read_collection(edn, depth, EDN_VECTOR, ']', ret_value, error);
    case '{': edn->at++; return read_collection(edn, depth, EDN_MAP, '}', ret_value, error);
    case ')':
    case ']':
    case '}': return wrong(edn, error, "a closing bracket that nothing opened");
    case '#':
        if (peek_second(edn) != '{')
            return read_tagged(edn, depth, ret_value, error);
        edn->at += 2;
        return read_collection(edn, depth, EDN_SET, '}', ret_value, error);
    default: return read_token(edn, ret_value, error);
    }
}

bool edn_enter(struct edn *edn)
{
    struct error ignored; /* will be met again by edn_next() */
    if (skip_blanks(edn, 0, &ignored) < 0 || (peek(edn) != '[' && peek(edn) != '('))
        return false;
    edn->closes = peek(edn) == '[' ? ']' : ')';
    edn->at++;
    return true;
}

int edn_next(struct edn *edn, uint32_t *ret_value, struct error *error)
{
    edn->count = 0;
    int rc = skip_blanks(edn, 0, error);
    if (rc < 0)
        return rc;
    if (edn->closes && peek(edn) == edn->closes) {
        edn->at++;
        edn->closes = 0;
        rc = skip_blanks(edn, 0, error);
        if (rc == 0 && peek(edn) >= 0)
            rc = wrong(edn, error, "something behind the history's closing bracket");
        return rc;
    }
    if (peek(edn) < 0 && edn->closes)
        return wrong(edn, error, "the history's opening bracket is never closed");
    if (peek(edn) < 0)
        return 0;
    edn->count = 0;
    edn->began = edn->at;
    rc = read_value(edn, 0, ret_value, error);
    return rc < 0 ? rc : 1;
}

bool edn_is_keyword(const struct edn_value *value, const char *keyword)
{
    return value->kind == EDN_KEYWORD &&
           slice_equals((struct slice){value->text.at + 1, value->text.length - 1}, keyword);
}

const struct edn_value *edn_child(const struct edn *edn, const struct edn_value *value,
                                  uint32_t index)
{
    uint32_t at = value->first;
    while (at != EDN_NONE && index-- > 0)
        at = edn->values[at].next;
    return at == EDN_NONE ? NULL : &edn->values[at];
}

const struct edn_value *edn_get(const struct edn *edn, const struct edn_value *map,
                                const char *keyword)
{
    for (uint32_t at = map->first; at != EDN_NONE;) {
        uint32_t value = edn->values[at].next;
        if (edn_is_keyword(&edn->values[at], keyword))
            return &edn->values[value];
        at = edn->values[value].next;
    }
    return NULL;
}

bool edn_integer(const struct edn_value *value, int64_t *ret)
{
    if (value->kind != EDN_INTEGER)
        return false;
    bool negative = value->text.at[0] == '-';
    uint64_t number = 0, limit = (uint64_t)INT64_MAX + negative;
    for (size_t i = 0; i < value->text.length; i++) {
        char c = value->text.at[i];
        if (!is_digit(c))
            continue; /* a sign, an N */
        uint64_t digit = (uint64_t)(c - '0');
        if (number > (limit - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *ret = negative ? (int64_t)(0 - number) : (int64_t)number;
    return true;
}

/* Four hexadecimal digits. */
static bool read_code(const char *at, size_t length, uint32_t *ret)
{
    uint32_t code = 0;
    if (length < 4)
        return false;
    for (size_t i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef", *found;
        char c = at[i] >= 'A' && at[i] <= 'F' ? (char)(at[i] - 'A' + 'a') : at[i];
        found = c ? strchr(digits, c) : NULL;
        if (!found)
            return false;
        code = code * 16 + (uint32_t)(found - digits);
    }
    *ret = code;
    return true;
}

/* UTF-8 of one UTF-16 unit; half of a pair becomes U+FFFD. */
static void add_code(uint32_t code, struct text *out)
{
    if (code >= 0xd800 && code <= 0xdfff)
        code = 0xfffd;
    unsigned char bytes[3] = {(unsigned char)(0xe0 | code >> 12),
                              (unsigned char)(0x80 | (code >> 6 & 0x3f)),
                              (unsigned char)(0x80 | (code & 0x3f))};
    if (code < 0x80) {
        bytes[2] = (unsigned char)code;
        text_add_bytes(out, bytes + 2, 1);
    } else if (code < 0x800) {
        bytes[1] = (unsigned char)(0xc0 | code >> 6);
        text_add_bytes(out, bytes + 1, 2);
    } else {
        text_add_bytes(out, bytes, 3);
    }
}

bool edn_string(const struct edn_value *value, struct text *out)
{
    static const char names[] = "\"\\ntrbf", bytes[] = "\"\\\n\t\r\b\f";
    struct slice text = value->text;
    for (size_t i = 0; i < text.length; i++) {
        uint32_t code;
        if (text.at[i] != '\\') {
            text_add_bytes(out, text.at + i, 1);
            continue;
        }
        char c = ++i < text.length ? text.at[i] : 'x';
        const char *name = c ? strchr(names, c) : NULL;
        if (name) {
            text_add_bytes(out, &bytes[name - names], 1);
        } else if (c == 'u' && read_code(text.at + i + 1, text.length - i - 1, &code)) {
            add_code(code, out);
            i += 4;
        } else {
            return false;
        }
    }
    return true;
}

/* Without a plus, leading zeros and the N: -0 is 0. */
static void write_integer(struct slice text, struct text *out)
{
    bool negative = text.at[0] == '-';
    size_t from = negative || text.at[0] == '+';
    size_t until = text.length - (text.at[text.length - 1] == 'N');
    while (from + 1 < until && text.at[from] == '0')
        from++;
    if (negative && text.at[from] != '0')
        text_add_bytes(out, "-", 1);
    text_add_bytes(out, text.at + from, until - from);
}

void edn_write(const struct edn *edn, const struct edn_value *value, struct text *out)
{
    static const char *const opens[] = {[EDN_LIST] = "(",
                                        [EDN_VECTOR] = "[",
                                        [EDN_MAP] = "{",
                                        [EDN_SET] = "#{",
                                        [EDN_TAGGED] = "#"};
    static const char *const closes[] = {
        [EDN_LIST] = ")", [EDN_VECTOR] = "]", [EDN_MAP] = "}", [EDN_SET] = "}", [EDN_TAGGED] = ""};
    struct text plain = {0};
    switch (value->kind) {
    case EDN_INTEGER: write_integer(value->text, out); break;
    case EDN_STRING:
        if (edn_string(value, &plain))
            text_add_json(out, (struct slice){text_string(&plain), plain.length});
        else
            text_add_json(out, value->text);
        break;
    case EDN_LIST:
    case EDN_VECTOR:
    case EDN_MAP:
    case EDN_SET:
    case EDN_TAGGED:
        text_add(out, "%s", opens[value->kind]);
        for (uint32_t at = value->first; at != EDN_NONE; at = edn->values[at].next) {
            text_add(out, "%s", at == value->first ? "" : " ");
            edn_write(edn, &edn->values[at], out);
        }
        text_add(out, "%s", closes[value->kind]);
        break;
    default: text_add_bytes(out, value->text.at, value->text.length);
    }
    text_release(&plain);
}
