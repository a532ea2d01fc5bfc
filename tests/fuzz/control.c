/* A stream of bytes from the other end of a pipe, in pieces: frames are found or the stream is
 * given up; what decodes is encoded again and decodes to the same bytes. */
#include <assert.h>
#include <string.h>

#include "base/frame.h"
#include "nodes/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void round_trip(const struct control *control)
{
    struct text first = {0}, second = {0};
    struct control again;
    struct error error;
    control_encode(control, &first);
    int rc = control_decode((const uint8_t *)first.at + FRAME_HEAD_BYTES,
                            first.length - FRAME_HEAD_BYTES, &again, &error);
    assert(rc == 0 && again.verb == control->verb);
    control_encode(&again, &second);
    assert(first.length == second.length && memcmp(first.at, second.at, first.length) == 0);
    text_release(&first);
    text_release(&second);
}

static void decode(const uint8_t *bytes, size_t length)
{
    struct control control;
    struct error error = {0};
    if (control_decode(bytes, length, &control, &error) < 0) {
        assert(error.text[0] != '\0');
        return;
    }
    assert(control.verb < CONTROL_VERBS);
    round_trip(&control);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct frame_reader reader = {0};
    struct error error = {0};
    decode(data, size);
    int rc = 0;
    for (size_t at = 0, piece = 1; at < size && rc >= 0; at += piece, piece = piece * 2 % 61) {
        const uint8_t *frame;
        size_t room, length;
        if (piece > size - at)
            piece = size - at;
        memcpy(frame_reader_room(&reader, piece, &room), data + at, piece);
        frame_reader_filled(&reader, piece);
        while ((rc = frame_reader_next(&reader, &frame, &length, &error)) > 0)
            decode(frame, length);
    }
    frame_reader_release(&reader);
    return 0;
}
