/* One node's disk as the kernel asks for it: a FUSE connection that somebody else has mounted, the
 * core that holds the files, what ails it. A disk that is stalled is simply not served: a process
 * whose request nobody has read can still be killed. */
#ifndef COUP_NEMESIS_DISK_DISK_REQUESTS_H
#define COUP_NEMESIS_DISK_DISK_REQUESTS_H

#include "base/error.h"
#include "nemesis/disk/ailment.h"
#include "nemesis/disk/disk_core.h"

struct fuse_session;
struct fuse_req;

/* An fsync that takes its time. */
struct slow_sync {
    struct fuse_req *request;
    uint64_t file, asked_ns;
    bool interrupted; /* its process has got a signal */
};

struct disk {
    int fuse, folder; /* the connection; what the mount hides, for the end */
    struct fuse_session *session;
    void *buffer; /* struct fuse_buf */
    struct disk_core *core;
    struct ailment ailment;
    struct slow_sync *slow;
    uint32_t slow_count, slow_capacity;
    bool catching_up; /* what is read now has waited */
    bool gone;        /* the kernel has closed the connection */
};

/* Takes both descriptors over. */
int disk_open(struct disk *disk, uint64_t seed, uint32_t node, int fuse, int folder,
              struct error *error);
void disk_close(struct disk *disk);

/* Read one request, if there is one, and answer it unless it takes its time. */
void disk_serve(struct disk *disk);

/* When the next slow fsync ends, UINT64_MAX: none is under way; and end those that are due. True
 * monotonic time. */
uint64_t disk_due(const struct disk *disk);
void disk_end_due(struct disk *disk, uint64_t now_ns);

/* From now on. What a stall that ends had held up is read before this returns. */
void disk_set_trouble(struct disk *disk, const struct disk_trouble *trouble);

/* Write the files into the folder that the mount hides. */
int disk_save(const struct disk *disk, struct error *error);

#endif
