/* Frames between the controller and its children, each a msgpack array:
 *   [0, text]  [1, event]  [2, id, begin, end, text]  [3, id, text] */
#include "nodes/control.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/frame.h"
#include "base/pack.h"

static const uint32_t verb_items[CONTROL_VERBS] = {
    [CONTROL_READY] = 2,
    [CONTROL_EVENT] = 2,
    [CONTROL_DONE] = 5,
    [CONTROL_COMMAND] = 3,
};

void control_encode(const struct control *control, struct text *out)
{
    static const uint8_t no_head[FRAME_HEAD_BYTES] = {0};
    assert(control->verb < CONTROL_VERBS);
    size_t start = out->length;
    text_add_bytes(out, no_head, sizeof no_head);
    pack_array(out, verb_items[control->verb]);
    pack_uint(out, control->verb);
    if (control->verb == CONTROL_DONE || control->verb == CONTROL_COMMAND)
        pack_uint(out, control->id);
    if (control->verb == CONTROL_DONE) {
        pack_uint(out, control->begin);
        pack_uint(out, control->end);
    }
    if (control->verb == CONTROL_EVENT)
        event_encode(&control->event, out);
    else
        pack_text(out, control->text);
    size_t length = out->length - start - FRAME_HEAD_BYTES;
    assert(length <= FRAME_BYTES_MAX);
    uint8_t head[FRAME_HEAD_BYTES];
    frame_head(head, (uint32_t)length);
    memcpy(out->at + start, head, sizeof head);
}

static int decode_event(struct pack_reader *in, struct event *out, struct error *error)
{
    size_t used = 0;
    int rc = event_decode(in->at, (size_t)(in->end - in->at), out, &used, error);
    if (rc < 0)
        return rc;
    in->at += used;
    return 0;
}

int control_decode(const uint8_t *bytes, size_t length, struct control *out, struct error *error)
{
    struct pack_reader in = {bytes, bytes + length, false};
    struct control read = {0};
    uint32_t items = pack_read_array(&in);
    uint64_t verb = pack_read_uint(&in);
    if (in.bad || verb >= CONTROL_VERBS || items != verb_items[verb])
        return error_set(error, -EBADMSG, "a control frame that is none of ours");
    read.verb = (enum control_verb)verb;
    if (read.verb == CONTROL_DONE || read.verb == CONTROL_COMMAND)
        read.id = pack_read_uint(&in);
    if (read.verb == CONTROL_DONE) {
        read.begin = pack_read_uint(&in);
        read.end = pack_read_uint(&in);
    }
    int rc = 0;
    if (read.verb == CONTROL_EVENT)
        rc = decode_event(&in, &read.event, error);
    else
        read.text = pack_read_text(&in);
    if (rc < 0) {
        error_prefix(error, "control frame");
        return rc;
    }
    if (in.bad || in.at != in.end)
        return error_set(error, -EBADMSG, "a control frame of the wrong length");
    *out = read;
    return 0;
}
