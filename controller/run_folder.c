#define _GNU_SOURCE
#include "controller/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SAME_NAME_MAX 10000

static bool is_empty(const char *path)
{
    DIR *folder = opendir(path);
    int entries = 0;
    if (!folder)
        return false;
    while (readdir(folder))
        entries++;
    (void)closedir(folder); /* read only */
    return entries <= 2;    /* . and .. */
}

/* A machine that is out of something is at fault itself; any other reason is about the path. */
static int cannot_create(const char *path, int code, const char *advice, struct error *error)
{
    if (error_is_machine(code))
        return error_set(error, -code, "create %s: %s", path, strerror(code));
    return error_usage(error, "create %s: %s%s", path, strerror(code), advice);
}

/* Each folder on the way that is not there; what stands in the way shows when the last is made. */
static void create_parents(const char *folder)
{
    struct text path = {0};
    for (const char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        text_clear(&path);
        text_add_bytes(&path, folder, (size_t)(slash - folder));
        (void)mkdir(text_string(&path), 0777);
    }
    text_release(&path);
}

static int create_named(const char *folder, struct error *error)
{
    if (*folder)
        create_parents(folder);
    if (mkdir(folder, 0777) == 0)
        return 0;
    if (errno != EEXIST)
        return cannot_create(folder, errno, "", error);
    if (!is_empty(folder))
        return error_usage(error, "%s exists and is not an empty folder", folder);
    if (access(folder, W_OK) < 0)
        return cannot_create(folder, errno, "", error);
    return 0;
}

static int ensure(const char *path, struct error *error)
{
    if (mkdir(path, 0777) < 0 && errno != EEXIST)
        return cannot_create(path, errno, " (-o DIR chooses another place)", error);
    return 0;
}

static int create_dated(const char *parent, uint64_t seed, struct text *out, struct error *error)
{
    struct timespec now;
    struct tm utc;
    char stamp[32];
    struct text run = {0}, path = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail for this clock */
    (void)gmtime_r(&now.tv_sec, &utc);
    (void)strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    int rc = -EEXIST;
    for (int i = 1; rc == -EEXIST && i <= SAME_NAME_MAX; i++) {
        text_clear(&run);
        text_clear(&path);
        text_add(&run, "%s-%" PRIu64, stamp, seed);
        if (i > 1)
            text_add(&run, "-%d", i);
        text_add(&path, "%s/%s", parent, text_string(&run));
        rc = mkdir(text_string(&path), 0777) < 0 ? -errno : 0;
    }
    if (rc < 0) {
        rc = cannot_create(text_string(&path), -rc, " (-o DIR chooses another place)", error);
    } else {
        text_add(out, "%s", text_string(&path));
    }
    text_release(&run);
    text_release(&path);
    return rc;
}

int run_folder_create(const char *folder, const char *name, uint64_t seed, struct text *out,
                      struct error *error)
{
    int rc;
    if (folder) {
        rc = create_named(folder, error);
        if (rc == 0)
            text_add(out, "%s", folder);
        return rc;
    }
    struct text parent = {0};
    text_add(&parent, "%s/%s", RUN_FOLDERS, name);
    rc = ensure(RUN_FOLDERS, error);
    if (rc == 0)
        rc = ensure(text_string(&parent), error);
    if (rc == 0)
        rc = create_dated(text_string(&parent), seed, out, error);
    text_release(&parent);
    return rc;
}

/* The link is swapped by rename, so it always points somewhere; the temporary name is ours alone,
 * because the run's folder is. A file system without links does without. */
void run_folder_point(const char *folder)
{
    static const char below[] = RUN_FOLDERS "/";
    struct text temporary = {0};
    const char *target = folder + sizeof below - 1, *run = strrchr(folder, '/');
    if (strncmp(folder, below, sizeof below - 1) != 0)
        return;
    text_add(&temporary, "%s/.latest-%s", RUN_FOLDERS, run + 1);
    if (symlink(target, text_string(&temporary)) == 0 &&
        rename(text_string(&temporary), RUN_FOLDERS "/latest") < 0)
        (void)unlink(text_string(&temporary)); /* "latest" is no link of ours: left alone */
    text_release(&temporary);
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about;
    (void)type;
    (void)place;
    return remove(path);
}

int run_folder_remove(const char *folder, struct error *error)
{
    if (nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) < 0 && errno != ENOENT)
        return error_set(error, -errno, "remove %s: %s", folder, strerror(errno));
    return 0;
}
