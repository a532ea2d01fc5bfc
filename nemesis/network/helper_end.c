#include "nemesis/network/helper_end.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#define READ_BYTES 65536u

int helper_end_begin(const struct option *options, int argc, char **argv, struct option_values *out,
                     struct error *error)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* EOF on stdin ends us as well */
    (void)signal(SIGPIPE, SIG_IGN);
    options_defaults(options, out);
    for (int i = 1; i < argc; i++) {
        int rc = options_parse(options, "argument", argv[i], out, error);
        if (rc < 0)
            return rc;
    }
    return 0;
}

bool helper_end_send(struct helper_end *end, const struct control *control)
{
    text_clear(&end->output);
    control_encode(control, &end->output);
    for (size_t sent = 0; sent < end->output.length;) {
        ssize_t written = write(STDOUT_FILENO, end->output.at + sent, end->output.length - sent);
        if (written < 0 && errno != EINTR)
            return false;
        sent += written > 0 ? (size_t)written : 0;
    }
    return true;
}

static int take_frames(struct helper_end *end, struct error *error)
{
    const uint8_t *bytes;
    size_t length;
    struct control control;
    int rc = 0;
    while (!end->ended && (rc = frame_reader_next(&end->reader, &bytes, &length, error)) > 0) {
        rc = control_decode(bytes, length, &control, error);
        if (rc == 0 && control.verb != CONTROL_COMMAND)
            rc = error_set(error, -EBADMSG, "a control frame that is no command");
        if (rc < 0)
            break;
        end->ended = !end->command(end->context, &control);
    }
    return rc;
}

int helper_end_read(struct helper_end *end, struct error *error)
{
    size_t room;
    uint8_t *at = frame_reader_room(&end->reader, READ_BYTES, &room);
    ssize_t length = read(STDIN_FILENO, at, room);
    if (length < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (length <= 0) { /* EOF is how a run ends */
        end->ended = true;
        return 0;
    }
    frame_reader_filled(&end->reader, (size_t)length);
    return take_frames(end, error);
}

void helper_end_release(struct helper_end *end)
{
    frame_reader_release(&end->reader);
    text_release(&end->output);
}
