#define _GNU_SOURCE
#include "controller/programs.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

const char *const program_names[] = {
    "coup-node",   "coup-resource", "coup-client", "coup-coordinator",
    "coup-keeper", "coup-switch",   NULL};

bool program_is_service(const char *name)
{
    return strcmp(name, "coup-coordinator") == 0 || strcmp(name, "coup-keeper") == 0;
}

int programs_folder(struct text *out, struct error *error)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        return error_set(error, -errno, "find the folder of coup: /proc/self/exe: %s",
                         strerror(errno));
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    text_add_bytes(out, path, slash && slash > path ? (size_t)(slash - path) : 1);
    return 0;
}

int program_check(const char *folder, const char *name, struct error *error)
{
    struct text path = {0};
    text_add(&path, "%s/%s", folder, name);
    int rc = access(text_string(&path), X_OK) < 0 ? -errno : 0;
    if (rc < 0)
        (void)error_set(error, rc, "%s: %s (scripts/build makes it)", text_string(&path),
                        strerror(-rc));
    text_release(&path);
    return rc;
}
