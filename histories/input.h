/* Bytes read in order from a descriptor or from memory, a bounded window at a time. */
#ifndef COUP_HISTORIES_INPUT_H
#define COUP_HISTORIES_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* `at` and `length` are the bytes at hand, borrowed until the next input_need(). */
struct input {
    const uint8_t *at;
    size_t length;
    uint64_t offset; /* of `at` in the whole */
    int error;       /* errno of a failed read: nothing comes after it; 0: none */
    bool ended;
    bool owned; /* `descriptor` is open and ours */
    int descriptor;
    uint8_t *buffer; /* owned; descriptor only */
    size_t capacity;
};

void input_open_bytes(struct input *input, struct slice bytes); /* borrows them */
int input_open_file(struct input *input, const char *path);     /* 0 or a negative errno */

/* Have `want` bytes at hand unless the input ends or fails before; how many there are. */
size_t input_need(struct input *input, size_t want);
void input_skip(struct input *input, size_t bytes); /* at most input->length */
void input_release(struct input *input);

#endif
