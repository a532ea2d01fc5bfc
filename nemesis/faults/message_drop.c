/* Election messages that never arrive: the next vote reply, every heartbeat. TCP does not notice,
 * so nothing is sent again. */
#include "nemesis/message.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)random;
    return message_start(MESSAGE_DROP, view, chosen, parameters, out, ret_why);
}

const struct fault fault_message_drop = {
    .name = "message-drop",
    .summary = "lose election messages of a kind, with nothing else",
    .group = "message",
    .nodes_min = 2,
    .needs = FACILITY_MESSAGES,
    .between = true,
    .targets = message_targets,
    .target_count = MESSAGE_TARGETS,
    .parameters = message_options,
    .plan = message_plan,
    .start = start,
};
