/* The other end of helper.h, in the program that helps: commands come on stdin, answers go to
 * stdout, both control frames (nodes/control.h). One thread, nothing but the kernel. */
#ifndef COUP_NEMESIS_NETWORK_HELPER_END_H
#define COUP_NEMESIS_NETWORK_HELPER_END_H

#include <stdbool.h>

#include "base/frame.h"
#include "base/options.h"
#include "nodes/control.h"

/* Zeroed but for the first two. */
struct helper_end {
    void *context;
    /* Carry it out and helper_end_send() the answer; false: there is nobody to send to. */
    bool (*command)(void *context, const struct control *command);
    struct frame_reader reader;
    struct text output;
    bool ended; /* by end of file, or nobody reads */
};

/* Dies with its parent and of nothing it writes; `argv` by the table. */
int helper_end_begin(const struct option *options, int argc, char **argv, struct option_values *out,
                     struct error *error);

/* Blocks while the controller does not read; it reads what it asked for. False: it is gone. */
bool helper_end_send(struct helper_end *end, const struct control *control);

/* stdin is readable. -EBADMSG when the stream is lost. */
int helper_end_read(struct helper_end *end, struct error *error);

void helper_end_release(struct helper_end *end);

#endif
