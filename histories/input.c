#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC */
#include "histories/input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* Large enough that a read() costs little next to unpacking what it brought. */
#define WINDOW_BYTES ((size_t)128 << 10)

void input_open_bytes(struct input *input, struct slice bytes)
{
    *input = (struct input){.at = (const uint8_t *)bytes.at, .length = bytes.length, .ended = true};
}

int input_open_file(struct input *input, const char *path)
{
    struct stat file;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return -errno;
    if (fstat(descriptor, &file) == 0 && S_ISDIR(file.st_mode)) {
        int folder = descriptor;
        descriptor = openat(folder, "history.coup", O_RDONLY | O_CLOEXEC);
        int code = errno;
        (void)close(folder);
        if (descriptor < 0)
            return code == ENOENT ? -EISDIR : -code;
    }
    *input = (struct input){.descriptor = descriptor, .owned = true};
    return 0;
}

/* Move what is at hand to the front of a buffer of at least `want` bytes. */
static void make_room(struct input *input, size_t want)
{
    if (input->length > 0)
        memmove(input->buffer, input->at, input->length);
    if (input->capacity < want) {
        input->capacity = want > WINDOW_BYTES ? want : WINDOW_BYTES;
        input->buffer = must_grow(input->buffer, input->capacity, 1);
    }
    input->at = input->buffer;
}

size_t input_need(struct input *input, size_t want)
{
    if (input->length >= want || input->ended)
        return input->length;
    make_room(input, want);
    while (input->length < want && !input->ended) {
        ssize_t got =
            read(input->descriptor, input->buffer + input->length, input->capacity - input->length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            input->error = errno;
        if (got <= 0)
            input->ended = true;
        else
            input->length += (size_t)got;
    }
    return input->length;
}

void input_skip(struct input *input, size_t bytes)
{
    assert(bytes <= input->length);
    input->at += bytes;
    input->length -= bytes;
    input->offset += bytes;
}

void input_release(struct input *input)
{
    if (input->owned)
        (void)close(input->descriptor); /* only read from: nothing can be lost */
    free(input->buffer);
    *input = (struct input){.ended = true};
}
