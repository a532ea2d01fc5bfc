#include "nodes/resource.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodes/store.h"

#define LOG_NAME "resource.log"

static int failed(struct error *error, const char *what)
{
    int code = errno;
    return error_set(error, -code, "%s " LOG_NAME ": %s", what, strerror(code));
}

/* O_APPEND is set later: a torn end must go first. */
static int open_or_begin(int folder, const struct resource *resource, int *ret_file,
                         struct error *error)
{
    int file = openat(folder, LOG_NAME, O_RDWR | O_CLOEXEC);
    if (file < 0 && errno == ENOENT) {
        struct text head = {0};
        resource_log_head(resource, &head);
        int rc = store_replace(folder, LOG_NAME, (struct slice){head.at, head.length}, error);
        text_release(&head);
        if (rc < 0)
            return rc;
        file = openat(folder, LOG_NAME, O_RDWR | O_CLOEXEC);
    }
    if (file < 0)
        return failed(error, "open");
    *ret_file = file;
    return 0;
}

static int replay(int file, struct resource *resource, struct error *error)
{
    struct stat status;
    size_t used = 0;
    if (fstat(file, &status) < 0)
        return failed(error, "stat");
    size_t length = (size_t)status.st_size;
    void *bytes = length ? mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0) : NULL;
    if (bytes == MAP_FAILED)
        return failed(error, "map");
    int rc = resource_replay(resource, (struct slice){bytes, length}, &used, error);
    if (bytes)
        (void)munmap(bytes, length); /* cannot fail for what mmap gave */
    if (rc < 0) {
        error_prefix(error, LOG_NAME);
        return rc;
    }
    if (used < length && (ftruncate(file, (off_t)used) < 0 || fdatasync(file) < 0))
        return failed(error, "cut the torn end off");
    if (lseek(file, 0, SEEK_END) < 0)
        return failed(error, "find the end of");
    return 0;
}

int resource_log_open(const char *folder, struct resource *resource, struct resource_log *out,
                      struct error *error)
{
    int directory = -1, file = -1;
    int rc = store_folder(folder, &directory, error);
    if (rc < 0)
        return rc;
    rc = open_or_begin(directory, resource, &file, error);
    (void)close(directory); /* store_replace() has synced it */
    if (rc == 0)
        rc = replay(file, resource, error);
    if (rc < 0) {
        error_prefix(error, "state in %s", folder);
        if (file >= 0)
            (void)close(file); /* the error is already known */
        return rc;
    }
    *out = (struct resource_log){.file = file};
    return 0;
}

int resource_log_commit(struct resource_log *log, struct error *error)
{
    size_t at = 0;
    while (at < log->waiting.length) {
        ssize_t written = write(log->file, log->waiting.at + at, log->waiting.length - at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return failed(error, "write");
        at += (size_t)written;
    }
    if (at > 0 && fdatasync(log->file) < 0)
        return failed(error, "fdatasync");
    text_clear(&log->waiting);
    return 0;
}

void resource_log_release(struct resource_log *log)
{
    if (log->file >= 0)
        (void)close(log->file); /* committed data is on disk already */
    text_release(&log->waiting);
    *log = (struct resource_log){.file = -1};
}
