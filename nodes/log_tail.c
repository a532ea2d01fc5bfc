#include "nodes/log_tail.h"

#include <fcntl.h>
#include <unistd.h>

void log_tail(const char *path, struct text *out)
{
    char tail[512];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    off_t length = lseek(fd, 0, SEEK_END);
    off_t from = length > (off_t)sizeof tail ? length - (off_t)sizeof tail : 0;
    ssize_t got = pread(fd, tail, sizeof tail, from);
    (void)close(fd); /* read only */
    while (got > 0 && tail[got - 1] == '\n')
        got--;
    ssize_t start = got > 0 ? got : 0;
    while (start > 0 && tail[start - 1] != '\n')
        start--;
    if (got > start)
        text_add_bytes(out, tail + start, (size_t)(got - start));
}
