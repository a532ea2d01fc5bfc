/* A node's disk: one durable record. A write is in the page cache at once and on the platter after
 * fsync. A killed process loses nothing it had handed to the kernel, a power loss loses what was
 * not yet synced. */
#ifndef COUP_SIMULATOR_DISK_H
#define COUP_SIMULATOR_DISK_H

#include "nodes/elector.h"

struct disk {
    struct durable synced;  /* survives everything */
    struct durable written; /* the newest write, synced or not */
    bool dirty;             /* written, and not yet synced */
};

void disk_write(struct disk *disk, const struct durable *record);
void disk_sync(struct disk *disk);

/* What the next incarnation will read after the process, or the machine, went down. */
void disk_after_kill(struct disk *disk);
void disk_after_power_loss(struct disk *disk);

#endif
