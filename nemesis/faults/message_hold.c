/* Election messages held back until the fault ends, or a message-release lets them go: then those
 * of another term arrive, in order, among those of the present. */
#include "nemesis/message.h"

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    (void)random;
    return message_start(MESSAGE_HOLD, view, chosen, parameters, out, ret_why);
}

const struct fault fault_message_hold = {
    .name = "message-hold",
    .summary = "hold election messages back until the fault ends",
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
