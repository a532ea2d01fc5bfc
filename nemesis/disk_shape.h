/* What the disk faults share: whose disks they trouble, and an election meanwhile, for a node that
 * has nothing to write does not notice its disk. Pure. */
#ifndef COUP_NEMESIS_DISK_SHAPE_H
#define COUP_NEMESIS_DISK_SHAPE_H

#include "nemesis/fault.h"

#define CUT_LEADER_OPTION                                                     \
    {                                                                         \
        "cut-leader", OPTION_SWITCH, "on", 0, 0, NULL,                        \
            "cut the leader off meanwhile, so that others have votes to keep" \
    }

/* Trouble the disks of those among `chosen` that run. */
bool disk_start(const struct cluster_view *view, node_set chosen, const struct act *trouble,
                bool cut_leader, struct injection *out, const char **ret_why);

/* End the processes of those among `chosen` that run, and do `action` to their disks. */
bool disk_end(const struct cluster_view *view, node_set chosen, enum process_action action,
              struct injection *out, const char **ret_why);

/* Who votes when the leader is cut off. */
#define DISK_TARGETS 3
extern const struct target disk_targets[DISK_TARGETS];

#endif
