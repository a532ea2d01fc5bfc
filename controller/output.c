#include "controller/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int output_text(const struct text *text, struct error *error)
{
    size_t done = 0;
    while (done < text->length) {
        ssize_t wrote = write(STDOUT_FILENO, text->at + done, text->length - done);
        if (wrote >= 0)
            done += (size_t)wrote;
        else if (errno == EPIPE)
            return 1;
        else if (errno != EINTR)
            return error_set(error, -errno, "write standard output: %s", strerror(errno));
    }
    return 0;
}

void output_error(const struct error *error)
{
    char line[sizeof error->text + 1];
    size_t length = 0;
    for (const char *c = error->text; *c; c++)
        line[length++] = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, length) < 0)
        return; /* nowhere left to complain */
}

static const char *program = "coup";

void output_called(const char *name)
{
    program = name;
}

const char *output_program(void)
{
    return program;
}

bool output_colour(void)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

unsigned output_columns(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
        return 0;
    return size.ws_col;
}
