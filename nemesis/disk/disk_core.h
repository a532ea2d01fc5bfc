/* A disk that knows what of it would survive a power loss: one flat folder of small files, as it
 * is, as it was synced, and in between the journal of what was done since. fsync of a file makes
 * its bytes durable, fsync of the folder its names; nothing else does. Pure. */
#ifndef COUP_NEMESIS_DISK_DISK_CORE_H
#define COUP_NEMESIS_DISK_DISK_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define DISK_FOLDER                                                              \
    UINT64_C(1) /* the folder's own number; files have larger ones, never reused \
                 */
#define DISK_NAME_MAX 255u
#define DISK_FILE_BYTES_MAX (UINT64_C(64) << 20)

struct disk_core;
struct disk_core *disk_core_new(void);
void disk_core_free(struct disk_core *core); /* NULL is fine */

/* Each 0 or -errno: -ENOENT, -EEXIST, -ENAMETOOLONG, -EFBIG. */
int disk_core_find(const struct disk_core *core, const char *name, uint64_t *ret_file);
int disk_core_create(struct disk_core *core, const char *name, uint64_t *ret_file);
int disk_core_rename(struct disk_core *core, const char *from, const char *to);
int disk_core_unlink(struct disk_core *core, const char *name);
int disk_core_write(struct disk_core *core, uint64_t file, uint64_t offset, struct slice bytes);
int disk_core_resize(struct disk_core *core, uint64_t file, uint64_t size);
/* The whole file, borrowed until the next change. */
int disk_core_read(const struct disk_core *core, uint64_t file, struct slice *out);
int disk_core_sync(struct disk_core *core, uint64_t file_or_folder);

/* The name at `index`, borrowed; NULL behind the last. */
const char *disk_core_name(const struct disk_core *core, uint32_t index, uint64_t *ret_file);

/* Somebody knows the file by its number: it stays, with a name or without, until they let go. */
void disk_core_hold(struct disk_core *core, uint64_t file);
void disk_core_let_go(struct disk_core *core, uint64_t file, uint64_t times);

/* Operations that are not durable yet. */
uint32_t disk_core_unsynced(const struct disk_core *core);

/* What was not synced is gone, but for the first part of it, in the order it was done; a write at
 * which the part ends is torn. Returns how many operations are lost, a torn one among them. */
uint32_t disk_core_power_loss(struct disk_core *core, uint64_t kept_ppm);

void disk_core_wipe(struct disk_core *core);

#endif
