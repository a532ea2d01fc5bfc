#include "nemesis/message.h"

const char *const message_kinds[] = {
    "any",
    /* raft, paxos, zab */
    "vote-request", "vote-reply", "prevote-request", "prevote-reply", "heartbeat",
    "heartbeat-reply", "timeout-now", "prepare", "promise", "refusal", "notification",
    "follower-info", "new-epoch", "ack-epoch", "ping", "ping-reply",
    /* bully, ring, invitation, successors */
    "election", "alive", "halt", "halted", "coordinator", "elected", "acknowledge", "query",
    "answer", "invite", "accept", "ready", "fallback", "succession", "present",
    /* leases, and what is said to a coordination service */
    "request", "grant", "release", "open", "keepalive", "acquire", "enqueue", "after", "before",
    "watch", "update", "ok", "refused", "gone", "changed", NULL};

const struct option message_options[] = {MESSAGE_OPTIONS, {.name = NULL}};

const struct target message_targets[MESSAGE_TARGETS] = {
    {.role = TARGET_ANY},
    {.role = TARGET_LEADER},
    {.role = TARGET_RANDOM},
    {.role = TARGET_MINORITY},
};

/* The place of a name in the table above; 0, any, where it has none. */
static uint64_t kind_number(const char *name)
{
    for (uint64_t i = 1; message_kinds[i]; i++)
        if (slice_equals(slice_of(name), message_kinds[i]))
            return i;
    return 0;
}

/* The first is about any message, so that it meets one: most kinds are sent in elections only. */
void message_plan(struct random *random, const struct fault_scale *scale,
                  struct option_values *parameters)
{
    uint32_t kinds = 0;
    while (scale->message_kinds && scale->message_kinds[kinds])
        kinds++;
    uint64_t kind = random_below(random, kinds + 1);
    uint64_t few = random_between(random, 1, 4);
    bool any = scale->turn == 0 || kind == kinds;
    parameters->at[MESSAGE_KIND] = any ? 0 : kind_number(scale->message_kinds[kind]);
    parameters->at[MESSAGE_COUNT] = random_chance(random, PPM_ONE / 2) ? few : 0;
}

const char *message_outcome(enum message_deed deed)
{
    static const char *const outcomes[MESSAGE_DEEDS] = {
        [MESSAGE_DROP] = "dropped",         [MESSAGE_HOLD] = "held",
        [MESSAGE_DUPLICATE] = "duplicated", [MESSAGE_ECHO] = "duplicated",
        [MESSAGE_REORDER] = "overtaken",    [MESSAGE_RELEASE] = "released",
    };
    return outcomes[deed];
}

node_set message_senders(const struct message_trouble *trouble, uint32_t receiver)
{
    node_set service = trouble->service ? node_bit(trouble->service) : 0;
    if (!service)
        return trouble->from & ~node_bit(receiver);
    return receiver == trouble->service ? trouble->from & ~service : trouble->from & service;
}

bool message_start(enum message_deed deed, const struct cluster_view *view, node_set from,
                   const struct option_values *parameters, struct injection *out,
                   const char **ret_why)
{
    node_set everybody = nodes_all(view->nodes), to = view->to, there = view->running;
    uint64_t kind = parameters->at[MESSAGE_KIND];
    bool reaches = false;
    if (view->service) {
        from |= from == everybody ? node_bit(view->service) : 0;
        to |= to == everybody ? node_bit(view->service) : 0;
        there |= view->service_running ? node_bit(view->service) : 0;
    }
    out->act = (struct act){.action = ACTION_MESSAGES,
                            .message = {.deed = deed,
                                        .kind = kind ? message_kinds[kind] : NULL,
                                        .term = parameters->at[MESSAGE_TERM],
                                        .count = parameters->at[MESSAGE_COUNT],
                                        .from = from,
                                        .service = view->service}};
    for (; to; to &= to - 1) {
        uint32_t receiver = nodes_first(to);
        node_set senders = message_senders(&out->act.message, receiver);
        out->targets |= senders ? node_bit(receiver) : 0;
        reaches = reaches || ((senders & there) && (there & node_bit(receiver)));
    }
    *ret_why = out->targets ? "no running nodes at both ends of a link"
                            : "nobody of the one side sends to anybody of the other";
    return reaches;
}
