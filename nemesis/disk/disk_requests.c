#define FUSE_USE_VERSION 35
#include "nemesis/disk/disk_requests.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodes/clock.h"

static struct disk *disk_of(fuse_req_t request)
{
    return fuse_req_userdata(request);
}

static void arrived(fuse_req_t request)
{
    disk_of(request)->ailment.touched[DISK_STALLED] += disk_of(request)->catching_up;
}

static void answer(fuse_req_t request, int rc)
{
    (void)fuse_reply_err(request, -rc); /* who asked may be gone */
}

/* A request that a dying disk may fail. True: it did, and it is answered. */
static bool fails(fuse_req_t request)
{
    arrived(request);
    if (!ailment_errs(&disk_of(request)->ailment))
        return false;
    answer(request, -EIO);
    return true;
}

/* ---- attributes and names ---- */

static int attributes_of(const struct disk *disk, fuse_ino_t number, struct stat *out)
{
    struct slice bytes = {0};
    *out = (struct stat){.st_ino = number, .st_mode = S_IFDIR | 0777, .st_nlink = 2};
    if (number == DISK_FOLDER)
        return 0;
    out->st_mode = S_IFREG | 0666;
    out->st_nlink = 1;
    int rc = disk_core_read(disk->core, number, &bytes);
    out->st_size = (off_t)bytes.length;
    return rc;
}

static int entry_of(struct disk *disk, uint64_t file, struct fuse_entry_param *out)
{
    *out = (struct fuse_entry_param){.ino = file, .generation = 1};
    return attributes_of(disk, file, &out->attr);
}

static void on_init(void *context, struct fuse_conn_info *connection)
{
    (void)context;
    connection->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
                                    FUSE_CAP_SPLICE_MOVE | FUSE_CAP_WRITEBACK_CACHE);
}

static void on_lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
    struct disk *disk = disk_of(request);
    struct fuse_entry_param entry;
    uint64_t file = 0;
    (void)parent; /* there is one folder */
    arrived(request);
    int rc = disk_core_find(disk->core, name, &file);
    if (rc == 0)
        rc = entry_of(disk, file, &entry);
    if (rc < 0) {
        answer(request, rc);
        return;
    }
    if (fuse_reply_entry(request, &entry) == 0)
        disk_core_hold(disk->core, file);
}

static void on_forget(fuse_req_t request, fuse_ino_t file, uint64_t times)
{
    disk_core_let_go(disk_of(request)->core, file, times);
    fuse_reply_none(request);
}

static void on_getattr(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *info)
{
    struct stat attributes;
    (void)info;
    arrived(request);
    int rc = attributes_of(disk_of(request), number, &attributes);
    if (rc < 0)
        answer(request, rc);
    else
        (void)fuse_reply_attr(request, &attributes, 0);
}

/* Modes, owners and times are nobody's business here. */
static void on_setattr(fuse_req_t request, fuse_ino_t number, struct stat *wanted, int which,
                       struct fuse_file_info *info)
{
    struct disk *disk = disk_of(request);
    struct stat attributes;
    int rc = 0;
    (void)info;
    if (fails(request))
        return;
    if (which & FUSE_SET_ATTR_SIZE)
        rc = disk_core_resize(disk->core, number, (uint64_t)wanted->st_size);
    if (rc == 0)
        rc = attributes_of(disk, number, &attributes);
    if (rc < 0)
        answer(request, rc);
    else
        (void)fuse_reply_attr(request, &attributes, 0);
}

static void on_rename(fuse_req_t request, fuse_ino_t parent, const char *from,
                      fuse_ino_t other_parent, const char *to, unsigned flags)
{
    (void)parent;
    (void)other_parent;
    if (!fails(request))
        answer(request, flags ? -EINVAL : disk_core_rename(disk_of(request)->core, from, to));
}

static void on_unlink(fuse_req_t request, fuse_ino_t parent, const char *name)
{
    (void)parent;
    if (!fails(request))
        answer(request, disk_core_unlink(disk_of(request)->core, name));
}

/* ---- the folder's list ---- */

static void on_opendir(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *info)
{
    (void)number;
    if (!fails(request))
        (void)fuse_reply_open(request, info);
}

static const char *entry_at(const struct disk *disk, off_t index, struct stat *out)
{
    uint64_t file = DISK_FOLDER;
    const char *name = index == 0 ? "." : "..";
    if (index >= 2)
        name = disk_core_name(disk->core, (uint32_t)(index - 2), &file);
    if (name)
        (void)attributes_of(disk, file, out); /* what has a name is there */
    return name;
}

static void on_readdir(fuse_req_t request, fuse_ino_t number, size_t size, off_t offset,
                       struct fuse_file_info *info)
{
    struct stat attributes;
    const char *name;
    char list[4096];
    size_t room = size < sizeof list ? size : sizeof list, used = 0;
    (void)number;
    (void)info;
    if (fails(request))
        return;
    while ((name = entry_at(disk_of(request), offset, &attributes)) != NULL) {
        size_t more =
            fuse_add_direntry(request, list + used, room - used, name, &attributes, ++offset);
        if (more > room - used)
            break;
        used += more;
    }
    (void)fuse_reply_buf(request, list, used);
}

/* ---- files ---- */

/* Nothing is kept by the kernel, and no close waits for a disk that is stalled. */
static void pass_through(struct fuse_file_info *info)
{
    info->direct_io = 1;
    info->noflush = 1;
}

static void on_create(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode,
                      struct fuse_file_info *info)
{
    struct disk *disk = disk_of(request);
    struct fuse_entry_param entry;
    uint64_t file = 0;
    (void)parent;
    (void)mode;
    if (fails(request))
        return;
    int rc = ailment_is_full(&disk->ailment) ? -ENOSPC : disk_core_create(disk->core, name, &file);
    if (rc == 0)
        rc = entry_of(disk, file, &entry);
    if (rc < 0) {
        answer(request, rc);
        return;
    }
    pass_through(info);
    if (fuse_reply_create(request, &entry, info) == 0)
        disk_core_hold(disk->core, file);
}

static void on_open(fuse_req_t request, fuse_ino_t file, struct fuse_file_info *info)
{
    if (fails(request))
        return;
    int rc = info->flags & O_TRUNC ? disk_core_resize(disk_of(request)->core, file, 0) : 0;
    if (rc < 0) {
        answer(request, rc);
        return;
    }
    pass_through(info);
    (void)fuse_reply_open(request, info);
}

static void on_read(fuse_req_t request, fuse_ino_t file, size_t size, off_t offset,
                    struct fuse_file_info *info)
{
    struct slice bytes;
    (void)info;
    if (fails(request))
        return;
    int rc = disk_core_read(disk_of(request)->core, file, &bytes);
    if (rc < 0) {
        answer(request, rc);
        return;
    }
    size_t from = (size_t)offset < bytes.length ? (size_t)offset : bytes.length;
    size_t length = size < bytes.length - from ? size : bytes.length - from;
    (void)fuse_reply_buf(request, bytes.at + from, length);
}

static void on_write(fuse_req_t request, fuse_ino_t file, const char *bytes, size_t size,
                     off_t offset, struct fuse_file_info *info)
{
    struct disk *disk = disk_of(request);
    (void)info;
    if (fails(request))
        return;
    size_t length = (size_t)ailment_take_room(&disk->ailment, size);
    int rc = length == 0 && size > 0 ? -ENOSPC
                                     : disk_core_write(disk->core, file, (uint64_t)offset,
                                                       (struct slice){bytes, length});
    if (rc < 0)
        answer(request, rc);
    else
        (void)fuse_reply_write(request, length);
}

/* ---- fsync ---- */

/* A process that is to end or stop need not wait for it; the loop answers. */
static void on_interrupt(fuse_req_t request, void *context)
{
    struct disk *disk = context;
    for (uint32_t i = 0; i < disk->slow_count; i++)
        if (disk->slow[i].request == request)
            disk->slow[i].interrupted = true;
}

static void on_fsync(fuse_req_t request, fuse_ino_t number, int data_only,
                     struct fuse_file_info *info)
{
    struct disk *disk = disk_of(request);
    (void)data_only;
    (void)info;
    if (fails(request))
        return;
    if (disk->ailment.trouble.fsync_delay_ns == 0) {
        answer(request, disk_core_sync(disk->core, number));
        return;
    }
    disk->ailment.touched[DISK_SLOW]++;
    if (disk->slow_count == disk->slow_capacity) {
        disk->slow_capacity = disk->slow_capacity ? disk->slow_capacity * 2 : 4;
        disk->slow = must_grow(disk->slow, disk->slow_capacity, sizeof *disk->slow);
    }
    disk->slow[disk->slow_count++] = (struct slow_sync){request, number, clock_true_ns(), false};
    fuse_req_interrupt_func(request, on_interrupt, disk);
}

static uint64_t due_of(const struct disk *disk, const struct slow_sync *slow)
{
    return slow->interrupted ? 0 : slow->asked_ns + disk->ailment.trouble.fsync_delay_ns;
}

uint64_t disk_due(const struct disk *disk)
{
    uint64_t first_ns = UINT64_MAX;
    for (uint32_t i = 0; i < disk->slow_count; i++)
        if (due_of(disk, &disk->slow[i]) < first_ns)
            first_ns = due_of(disk, &disk->slow[i]);
    return first_ns;
}

void disk_end_due(struct disk *disk, uint64_t now_ns)
{
    for (uint32_t i = 0; i < disk->slow_count;) {
        const struct slow_sync slow = disk->slow[i];
        if (due_of(disk, &slow) > now_ns) {
            i++;
            continue;
        }
        disk->slow[i] = disk->slow[--disk->slow_count];
        answer(slow.request, slow.interrupted ? -EINTR : disk_core_sync(disk->core, slow.file));
    }
}

/* ---- the whole ---- */

static const struct fuse_lowlevel_ops operations = {
    .init = on_init,
    .lookup = on_lookup,
    .forget = on_forget,
    .getattr = on_getattr,
    .setattr = on_setattr,
    .unlink = on_unlink,
    .rename = on_rename,
    .open = on_open,
    .read = on_read,
    .write = on_write,
    .fsync = on_fsync,
    .opendir = on_opendir,
    .readdir = on_readdir,
    .fsyncdir = on_fsync,
    .create = on_create,
};

int disk_open(struct disk *disk, uint64_t seed, uint32_t node, int fuse, int folder,
              struct error *error)
{
    char name[] = "coup-disk", where[32];
    char *words[] = {name, NULL};
    struct fuse_args arguments = FUSE_ARGS_INIT(1, words);
    int flags = fcntl(fuse, F_GETFL);
    *disk = (struct disk){.fuse = fuse, .folder = folder, .core = disk_core_new()};
    ailment_init(&disk->ailment, seed, node);
    disk->buffer = must_alloc(1, sizeof(struct fuse_buf));
    disk->session = fuse_session_new(&arguments, &operations, sizeof operations, disk);
    (void)snprintf(where, sizeof where, "/dev/fd/%d", fuse);
    if (flags < 0 || fcntl(fuse, F_SETFL, flags | O_NONBLOCK) < 0)
        return error_set(error, -errno, "descriptor %d: %s", fuse, strerror(errno));
    if (!disk->session || fuse_session_mount(disk->session, where) != 0)
        return error_set(error, -EINVAL, "libfuse refuses descriptor %d", fuse);
    return 0;
}

void disk_close(struct disk *disk)
{
    struct fuse_buf *buffer = disk->buffer;
    if (disk->session)
        fuse_session_destroy(disk->session); /* closes the connection as well */
    if (buffer)
        free(buffer->mem);
    free(buffer);
    free(disk->slow);
    disk_core_free(disk->core);
}

void disk_serve(struct disk *disk)
{
    int length = fuse_session_receive_buf(disk->session, disk->buffer);
    if (length > 0)
        fuse_session_process_buf(disk->session, disk->buffer);
    disk->gone = fuse_session_exited(disk->session);
}

/* There may be messages that nobody waits for, and the process may ask on as soon as the one that
 * it waits for is answered. */
static void catch_up(struct disk *disk)
{
    struct pollfd waiting = {.fd = disk->fuse, .events = POLLIN};
    uint64_t before = disk->ailment.touched[DISK_STALLED];
    disk->catching_up = true;
    while (!disk->gone && disk->ailment.touched[DISK_STALLED] == before && poll(&waiting, 1, 0) > 0)
        disk_serve(disk);
    disk->catching_up = false;
}

void disk_set_trouble(struct disk *disk, const struct disk_trouble *trouble)
{
    bool goes_on = disk->ailment.trouble.stalled && !trouble->stalled;
    ailment_set(&disk->ailment, trouble);
    if (goes_on)
        catch_up(disk);
}

static int save_file(int folder, const char *name, struct slice bytes, struct error *error)
{
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    bool wrote = file >= 0 && write(file, bytes.at, bytes.length) == (ssize_t)bytes.length;
    int code = errno;
    if (file >= 0)
        (void)close(file); /* the history is what counts */
    return wrote ? 0 : error_set(error, -code, "save %s: %s", name, strerror(code));
}

int disk_save(const struct disk *disk, struct error *error)
{
    uint64_t file;
    const char *name;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && (name = disk_core_name(disk->core, i, &file)) != NULL; i++) {
        struct slice bytes;
        rc = disk_core_read(disk->core, file, &bytes);
        if (rc == 0)
            rc = save_file(disk->folder, name, bytes, error);
    }
    return rc;
}
