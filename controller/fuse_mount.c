#define _GNU_SOURCE
#include "controller/fuse_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/text.h"
#include "controller/probe.h"
#include "controller/programs.h"

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

int fuse_mount(const char *folder, int *ret_connection, struct error *error)
{
    int code = try_mount(folder, ret_connection);
    return code ? error_set(error, -code, "mount /dev/fuse over %s: %s", folder, strerror(code))
                : 0;
}

static int mount_somewhere(void)
{
    int connection, code = probe_enter_namespaces();
    if (code == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        code = errno;
    return code ? code : try_mount("/proc", &connection);
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

int fuse_probe(struct error *error, const char **ret_fix)
{
    struct text folder = {0};
    struct error missing;
    int rc = programs_folder(&folder, error);
    if (rc == 0 && (rc = program_check(text_string(&folder), "coup-disk", &missing)) < 0) {
        *ret_fix = "scripts/setup && scripts/build";
        rc = error_set(error, rc, "coup-disk is not built, for libfuse was not installed");
    }
    text_release(&folder);
    if (rc < 0)
        return rc;
    int code = probe_in_child(mount_somewhere);
    if (code == 0)
        return 0;
    *ret_fix = fix_of(code);
    return error_set(error, -code, "/dev/fuse cannot be mounted: %s", strerror(code));
}
