/* Lets go what message-hold holds back, at once: at a time or after an event of its own. */
#include "nemesis/message.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)random;
    return message_start(MESSAGE_RELEASE, view, chosen, parameters, out, ret_why);
}

const struct fault fault_message_release = {
    .name = "message-release",
    .summary = "deliver election messages that message-hold holds back",
    .group = "message",
    .nodes_min = 2,
    .needs = FACILITY_MESSAGES,
    .between = true,
    .by_name = true,
    .targets = message_targets,
    .target_count = MESSAGE_TARGETS,
    .parameters = message_options,
    .plan = message_plan,
    .start = start,
};
