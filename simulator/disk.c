#include "simulator/disk.h"

void disk_write(struct disk *disk, const struct durable *record)
{
    disk->written = *record;
    disk->dirty = true;
}

void disk_sync(struct disk *disk)
{
    disk->synced = disk->written;
    disk->dirty = false;
}

void disk_after_kill(struct disk *disk)
{
    disk_sync(disk); /* the kernel writes back what it holds */
}

void disk_after_power_loss(struct disk *disk)
{
    disk->written = disk->synced;
    disk->dirty = false;
}
