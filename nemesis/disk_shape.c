#include "nemesis/disk_shape.h"

#include "nemesis/shape.h"

const struct target disk_targets[DISK_TARGETS] = {
    {.role = TARGET_FOLLOWER}, {.role = TARGET_FOLLOWERS}, {.role = TARGET_MINORITY}};

bool disk_start(const struct cluster_view *view, node_set chosen, const struct act *trouble,
                bool cut_leader, struct injection *out, const char **ret_why)
{
    out->act = *trouble;
    if (!disk_end(view, chosen, ACTION_DISK, out, ret_why))
        return false;
    if (cut_leader && view->leader)
        shape_isolate(out, node_bit(view->leader), view->nodes, (struct impairment){.cut = true});
    return true;
}

bool disk_end(const struct cluster_view *view, node_set chosen, enum process_action action,
              struct injection *out, const char **ret_why)
{
    out->act.action = action;
    out->targets = chosen & view->running;
    *ret_why = "the target is not running";
    return out->targets != 0;
}
