#include "nemesis/disk/disk_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define LINE_MAX_BYTES 200u

void disk_command_format(uint32_t node, const struct act *act, struct text *out)
{
    const struct disk_trouble *trouble = &act->disk;
    if (act->action == ACTION_POWER)
        text_add(out, "power %" PRIu32 " %" PRIu64, node, act->kept_ppm);
    else if (act->action == ACTION_WIPE)
        text_add(out, "wipe %" PRIu32, node);
    else
        text_add(out, "trouble %" PRIu32 " %d %" PRIu64 " %d %" PRIu64 " %" PRIu64 " %d", node,
                 (int)act->symptom, trouble->fsync_delay_ns, trouble->full, trouble->room_bytes,
                 trouble->error_ppm, trouble->stalled);
}

/* Every number is there, in its bounds, and nothing behind it. */
static bool read_line(const char *line, uint32_t *ret_node, struct act *out)
{
    struct disk_trouble *trouble = &out->disk;
    unsigned symptom = 0, full = 0, stalled = 0;
    char end;
    if (sscanf(line, "power %" SCNu32 " %" SCNu64 "%c", ret_node, &out->kept_ppm, &end) == 2) {
        out->action = ACTION_POWER;
        return out->kept_ppm <= PPM_ONE;
    }
    if (sscanf(line, "wipe %" SCNu32 "%c", ret_node, &end) == 1) {
        out->action = ACTION_WIPE;
        return true;
    }
    if (sscanf(line, "trouble %" SCNu32 " %u %" SCNu64 " %u %" SCNu64 " %" SCNu64 " %u%c", ret_node,
               &symptom, &trouble->fsync_delay_ns, &full, &trouble->room_bytes, &trouble->error_ppm,
               &stalled, &end) != 7)
        return false;
    out->action = ACTION_DISK;
    out->symptom = (enum disk_symptom)symptom;
    trouble->full = full;
    trouble->stalled = stalled;
    return symptom < DISK_SYMPTOMS && full <= 1 && stalled <= 1 && trouble->error_ppm <= PPM_ONE;
}

int disk_command_parse(struct slice text, uint32_t nodes, uint32_t *ret_node, struct act *out,
                       struct error *error)
{
    char line[LINE_MAX_BYTES];
    struct act act = {0};
    uint32_t node = 0;
    size_t length = text.length < sizeof line ? text.length : sizeof line - 1;
    memcpy(line, text.at, length);
    line[length] = '\0';
    if (length < text.length || !read_line(line, &node, &act))
        return error_set(error, -EINVAL, "'%s' is no command to a disk", line);
    if (node < 1 || node > nodes)
        return error_set(error, -EINVAL, "node %" PRIu32 " of %" PRIu32, node, nodes);
    *ret_node = node;
    *out = act;
    return 0;
}
