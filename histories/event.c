#include "histories/event.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/pack.h"

/* Elements of an encoded event; a later writer may append more. */
#define EVENT_ELEMENTS 6

static const char *const f_names[EVENT_FS] = {
#define X(id, name) [F_##id] = name,
    COUP_EVENTS(X)
#undef X
};

static const char *const type_names[EVENT_TYPES] = {"invoke", "ok", "fail", "info"};

static const struct {
    const char *name;
    enum field_kind kind;
} fields[EVENT_FIELDS] = {
#define X(id, name, kind) [FIELD_##id] = {name, FIELD_KIND_##kind},
    COUP_FIELDS(X)
#undef X
};

static_assert(EVENT_FIELDS <= 64, "one bit per field");

const char *event_f_name(enum event_f f)
{
    assert(f < EVENT_FS);
    return f_names[f];
}

int event_f_parse(struct slice name)
{
    for (int f = 0; f < EVENT_FS; f++)
        if (slice_equals(name, f_names[f]))
            return f;
    return -1;
}

const char *event_type_name(enum event_type type)
{
    assert(type < EVENT_TYPES);
    return type_names[type];
}

int event_type_parse(struct slice name)
{
    for (int type = 0; type < EVENT_TYPES; type++)
        if (slice_equals(name, type_names[type]))
            return type;
    return -1;
}

const char *event_field_name(enum event_field field)
{
    assert(field < EVENT_FIELDS);
    return fields[field].name;
}

enum field_kind event_field_kind(enum event_field field)
{
    assert(field < EVENT_FIELDS);
    return fields[field].kind;
}

int event_field_parse(struct slice name)
{
    for (int field = 0; field < EVENT_FIELDS; field++)
        if (slice_equals(name, fields[field].name))
            return field;
    return -1;
}

uint64_t event_present(const struct event *event)
{
    uint64_t keep = event->present;
    for (uint64_t left = keep; left; left &= left - 1) {
        int field = __builtin_ctzll(left);
        if (fields[field].kind == FIELD_KIND_PROCESS && event->field[field].number == 0)
            keep &= ~FIELD_BIT(field);
    }
    return keep;
}

/* Texts in a history are UTF-8, so that every form of it can hold them. */
static void encode_text(struct slice slice, struct text *out)
{
    struct text mended = {0};
    if (slice_is_utf8(slice)) {
        pack_text(out, slice);
        return;
    }
    text_add_utf8(&mended, slice);
    pack_text(out, (struct slice){mended.at, mended.length});
    text_release(&mended);
}

void event_encode(const struct event *event, struct text *out)
{
    assert(process_valid(event->process) && event->type < EVENT_TYPES && event->f < EVENT_FS);
    assert(event->present >> EVENT_FIELDS == 0);
    uint64_t keep = event_present(event);
    pack_array(out, EVENT_ELEMENTS);
    pack_uint(out, event->time_ns);
    if (event->node_ns)
        pack_uint(out, event->node_ns);
    else
        pack_nil(out);
    pack_uint(out, event->process);
    pack_uint(out, event->type);
    pack_uint(out, event->f);
    pack_map(out, (uint32_t)__builtin_popcountll(keep));
    for (; keep; keep &= keep - 1) {
        int field = __builtin_ctzll(keep);
        pack_uint(out, (uint64_t)field);
        if (fields[field].kind == FIELD_KIND_TEXT)
            encode_text(event->field[field].text, out);
        else
            pack_uint(out, event->field[field].number);
    }
}

/* One `field number: value`; false when it makes no sense. */
static bool decode_field(struct pack_reader *reader, struct event *out)
{
    uint64_t field = pack_read_uint(reader);
    if (field >= EVENT_FIELDS) {
        pack_skip(reader);
        return true;
    }
    if (event_has(out, (enum event_field)field))
        return false;
    out->present |= FIELD_BIT(field);
    if (fields[field].kind == FIELD_KIND_TEXT) {
        out->field[field].text = pack_read_text(reader);
        return slice_is_utf8(out->field[field].text);
    }
    uint64_t number = pack_read_uint(reader);
    out->field[field].number = number;
    return fields[field].kind == FIELD_KIND_NUMBER ||
           (number <= UINT32_MAX && process_valid((uint32_t)number));
}

static bool decode_fields(struct pack_reader *reader, struct event *out)
{
    out->present = 0;
    for (uint32_t left = pack_read_map(reader); left > 0 && !reader->bad; left--)
        if (!decode_field(reader, out))
            return false;
    return true;
}

int event_decode(const uint8_t *bytes, size_t length, struct event *out, size_t *ret_used,
                 struct error *error)
{
    struct pack_reader reader = {.at = bytes, .end = bytes + length};
    uint32_t elements = pack_read_array(&reader);
    out->time_ns = pack_read_uint(&reader);
    out->node_ns = pack_read_nil(&reader) ? 0 : pack_read_uint(&reader);
    uint64_t process = pack_read_uint(&reader);
    uint64_t type = pack_read_uint(&reader);
    uint64_t f = pack_read_uint(&reader);
    if (!reader.bad && (type >= EVENT_TYPES || f >= EVENT_FS))
        return error_set(error, -EBADMSG, "event of unknown %s %" PRIu64,
                         f >= EVENT_FS ? "f" : "type", f >= EVENT_FS ? f : type);
    if (!reader.bad && (process > UINT32_MAX || !process_valid((uint32_t)process)))
        return error_set(error, -EBADMSG, "event of unknown process %" PRIu64, process);
    out->process = (uint32_t)process;
    out->type = (uint8_t)type;
    out->f = (uint8_t)f;
    bool good = decode_fields(&reader, out);
    for (uint32_t i = EVENT_ELEMENTS; i < elements && !reader.bad; i++)
        pack_skip(&reader);
    if (!good || reader.bad || elements < EVENT_ELEMENTS)
        return error_set(error, -EBADMSG, "bytes that are no event");
    *ret_used = (size_t)(reader.at - bytes);
    return 0;
}
