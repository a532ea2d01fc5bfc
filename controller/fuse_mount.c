#define _GNU_SOURCE
#include "controller/fuse_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/text.h"
#include "controller/programs.h"
#include "controller/sandbox.h"

/* The positive errno, or 0. */
static int try_mount(const char *folder, int *ret_connection)
{
    char options[96];
    int connection = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (connection < 0)
        return errno;
    (void)snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u",
                   connection, geteuid(), getegid());
    if (mount("coup-disk", folder, "fuse", MS_NOSUID | MS_NODEV, options) < 0) {
        int code = errno;
        (void)close(connection); /* nothing was asked through it */
        return code;
    }
    *ret_connection = connection;
    return 0;
}

static const char *fix_of(int code)
{
    switch (code) {
    case EACCES: return "sudo chmod 0666 /dev/fuse";
    case ENOENT:
    case ENODEV:
    case ENXIO: return "sudo modprobe fuse";
    default: return NULL;
    }
}

static int refused(int code, struct error *error, const char **ret_fix)
{
    *ret_fix = fix_of(code);
    return error_set(error, -code, "/dev/fuse cannot be mounted: %s", strerror(code));
}

int fuse_mount(const char *folder, int *ret_connection, struct error *error, const char **ret_fix)
{
    int code = try_mount(folder, ret_connection);
    return code ? refused(code, error, ret_fix) : 0;
}

int fuse_program(struct error *error, const char **ret_fix)
{
    struct text folder = {0};
    struct error missing;
    int rc = programs_folder(&folder, error);
    if (rc == 0 && (rc = program_check(text_string(&folder), "coup-disk", &missing)) < 0) {
        *ret_fix = "scripts/setup && scripts/build";
        rc = error_set(error, rc, "coup-disk is not built, for libfuse was not installed");
    }
    text_release(&folder);
    return rc;
}

/* Over any folder: it is the sandbox's own. */
static int mount_inside(void *context, int outside_fd)
{
    int connection;
    (void)context;
    (void)outside_fd;
    int code = try_mount("/proc", &connection);
    if (code == 0) { /* nobody will answer: whatever looks there on the way out must not wait */
        (void)umount2("/proc", MNT_DETACH);
        (void)close(connection);
    }
    return code;
}

int fuse_probe(struct error *error, const char **ret_fix)
{
    struct sandbox_exit ended;
    int rc = fuse_program(error, ret_fix);
    if (rc == 0)
        rc = sandbox_try(mount_inside, NULL, &ended, error);
    if (rc < 0)
        return rc;
    int code = ended.signal ? EINTR : ended.status;
    return code ? refused(code, error, ret_fix) : 0;
}
