/* A file system of ours over a folder: what the kernel asks of it comes out of a descriptor. */
#ifndef COUP_CONTROLLER_FUSE_MOUNT_H
#define COUP_CONTROLLER_FUSE_MOUNT_H

#include "base/error.h"

/* Mount over `folder`, in a mount namespace of ours. Nothing below it answers until the descriptor
 * is served, and everything fails once it is closed. -errno: nothing is mounted, and `ret_fix` is
 * the one command (static text) that changes it; NULL: none is known. */
int fuse_mount(const char *folder, int *ret_connection, struct error *error, const char **ret_fix);

/* Whether coup-disk is there to serve it; the same. */
int fuse_program(struct error *error, const char **ret_fix);

/* Can a run have such mounts here? Tried out in a sandbox; the same. */
int fuse_probe(struct error *error, const char **ret_fix);

#endif
