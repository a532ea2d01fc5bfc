/* Election messages delivered twice: in a row, or once more when the fault ends, which is how one
 * from an earlier term comes back. */
#include "nemesis/message.h"

static const char *const copies[] = {"at-once", "late", NULL};
static const struct option options[] = {
    MESSAGE_OPTIONS,
    {"copy", OPTION_WORD, "at-once", 0, 0, copies,
     "the second one comes right behind, or when the fault ends"},
    {.name = NULL},
};

static void plan(struct random *random, const struct fault_scale *scale,
                 struct option_values *parameters)
{
    message_plan(random, scale, parameters);
    parameters->at[MESSAGE_OPTION_COUNT] = random_below(random, 2);
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    bool late = parameters->at[MESSAGE_OPTION_COUNT] == 1;
    (void)random;
    return message_start(late ? MESSAGE_ECHO : MESSAGE_DUPLICATE, view, chosen, parameters, out,
                         ret_why);
}

const struct fault fault_message_duplicate = {
    .name = "message-duplicate",
    .summary = "deliver election messages twice",
    .group = "message",
    .nodes_min = 2,
    .needs = FACILITY_MESSAGES,
    .between = true,
    .targets = message_targets,
    .target_count = MESSAGE_TARGETS,
    .parameters = options,
    .plan = plan,
    .start = start,
};
