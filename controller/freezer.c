#define _GNU_SOURCE
#include "controller/freezer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define PREFIX "coup-"

struct freezer {
    struct text folder; /* our group, of which those of the processes are part */
};

/* Where the unified hierarchy is, alone or beside version 1. */
static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

/* The folder of our own group; false: no version 2 is mounted. */
static bool own_folder(struct text *out)
{
    char line[512], path[700];
    FILE *file = fopen("/proc/self/cgroup", "re");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::", 3) != 0)
            continue;
        for (size_t i = 0; !found && i < sizeof mounts / sizeof mounts[0]; i++) {
            (void)snprintf(path, sizeof path, "%s%s", mounts[i], line + 3);
            text_clear(out);
            text_add(out, "%s", path);
            text_add(out, "/cgroup.procs");
            found = access(text_string(out), F_OK) == 0;
            text_clear(out);
            text_add(out, "%s", path);
        }
    }
    if (file)
        (void)fclose(file); /* read only */
    return found;
}

static int write_word(const char *folder, const char *name, const char *word)
{
    struct text path = {0};
    text_add(&path, "%s/%s", folder, name);
    int fd = open(text_string(&path), O_WRONLY | O_CLOEXEC);
    int rc = fd < 0 || write(fd, word, strlen(word)) < 0 ? -errno : 0;
    if (fd >= 0)
        (void)close(fd); /* each write is a command of its own */
    text_release(&path);
    return rc;
}

/* A group of ours and those in it, unless a process is in one. */
static void remove_group(const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct text inner = {0};
        text_add(&inner, "%s/%s", folder, entry->d_name);
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            (void)rmdir(text_string(&inner)); /* a busy one stays */
        text_release(&inner);
    }
    if (dir)
        (void)closedir(dir);
    (void)rmdir(folder); /* likewise */
}

/* What nobody uses any more. Of a run that goes on, it goes as well while nothing is frozen in it,
 * and is made again when something is. */
static void remove_stale(const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct text group = {0};
        text_add(&group, "%s/%s", folder, entry->d_name);
        if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) == 0)
            remove_group(text_string(&group));
        text_release(&group);
    }
    if (dir)
        (void)closedir(dir);
}

int freezer_probe(struct error *error, const char **ret_fix)
{
    struct text folder = {0};
    int rc = 0;
    *ret_fix = NULL;
    if (!own_folder(&folder)) {
        rc = error_set(error, -ENOENT, "no cgroup version 2 is mounted");
    } else if (access(text_string(&folder), W_OK) < 0) {
        *ret_fix = "systemd-run --user --scope -p Delegate=yes bash";
        rc = error_set(error, -EACCES, "no cgroup of ours to make groups in");
    }
    text_release(&folder);
    return rc;
}

void freezer_sweep(void)
{
    struct text folder = {0};
    if (own_folder(&folder))
        remove_stale(text_string(&folder));
    text_release(&folder);
}

int freezer_open(uint64_t run, struct freezer **out, struct error *error)
{
    const char *fix;
    int rc = freezer_probe(error, &fix);
    if (rc < 0)
        return rc;
    struct freezer *freezer = must_alloc(1, sizeof *freezer);
    (void)own_folder(&freezer->folder); /* the probe found it */
    text_add(&freezer->folder, "/" PREFIX "%" PRIx64, run);
    *out = freezer;
    return 0;
}

void freezer_close(struct freezer *freezer)
{
    if (!freezer)
        return;
    remove_group(text_string(&freezer->folder));
    text_release(&freezer->folder);
    free(freezer);
}

static void member_folder(const struct freezer *freezer, uint32_t member, struct text *out)
{
    text_add(out, "%s/%" PRIu32, text_string(&freezer->folder), member);
}

/* Somebody who removes what is stale may come in between. */
static int enter(const struct freezer *freezer, const char *folder, pid_t pid)
{
    char number[24];
    int rc = -ENOENT;
    (void)snprintf(number, sizeof number, "%d", (int)pid);
    for (int tries = 0; tries < 3 && rc == -ENOENT; tries++) {
        if (mkdir(text_string(&freezer->folder), 0755) < 0 && errno != EEXIST)
            return -errno;
        if (mkdir(folder, 0755) < 0 && errno != EEXIST && errno != ENOENT)
            return -errno;
        rc = write_word(folder, "cgroup.procs", number);
    }
    return rc;
}

int freezer_freeze(struct freezer *freezer, uint32_t member, pid_t pid, struct error *error)
{
    struct text folder = {0};
    member_folder(freezer, member, &folder);
    int rc = enter(freezer, text_string(&folder), pid);
    if (rc == 0)
        rc = write_word(text_string(&folder), "cgroup.freeze", "1");
    if (rc < 0)
        (void)error_set(error, rc, "%s: %s", text_string(&folder), strerror(-rc));
    text_release(&folder);
    return rc;
}

int freezer_thaw(struct freezer *freezer, uint32_t member, struct error *error)
{
    struct text folder = {0};
    member_folder(freezer, member, &folder);
    int rc = write_word(text_string(&folder), "cgroup.freeze", "0");
    if (rc < 0)
        (void)error_set(error, rc, "%s: %s", text_string(&folder), strerror(-rc));
    text_release(&folder);
    return rc;
}

bool freezer_holds(const struct freezer *freezer, uint32_t member)
{
    struct text path = {0};
    char said[256];
    member_folder(freezer, member, &path);
    text_add(&path, "/cgroup.events");
    int fd = open(text_string(&path), O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, said, sizeof said - 1);
    if (fd >= 0)
        (void)close(fd); /* read only */
    text_release(&path);
    said[got > 0 ? got : 0] = '\0';
    return strstr(said, "frozen 1") != NULL;
}
