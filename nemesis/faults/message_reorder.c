/* Election messages that are overtaken by the next one from the same sender, which TCP never lets
 * happen but a datagram or a second connection does. */
#include "nemesis/message.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)random;
    return message_start(MESSAGE_REORDER, view, chosen, parameters, out, ret_why);
}

const struct fault fault_message_reorder = {
    .name = "message-reorder",
    .summary = "let the next message of the same sender overtake election messages",
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
