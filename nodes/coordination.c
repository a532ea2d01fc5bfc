/* Asks and answers in the common envelope: the record is its term, the rest are its arguments. */
#include "nodes/coordination.h"

enum argument { ARGUMENT_ID, ARGUMENT_SESSION, ARGUMENT_SPAN, ARGUMENT_NODE };

const char *const coordination_kinds[] = {
    [ASK_OPEN] = "open",         [ASK_KEEPALIVE] = "keepalive",
    [ASK_ACQUIRE] = "acquire",   [ASK_ENQUEUE] = "enqueue",
    [ASK_RELEASE] = "release",   [ASK_AFTER] = "after",
    [ASK_BEFORE] = "before",     [ASK_WATCH] = "watch",
    [ASK_UPDATE] = "update",     [ANSWER_ALIVE] = "alive",
    [ANSWER_OK] = "ok",          [ANSWER_REFUSED] = "refused",
    [ANSWER_GONE] = "gone",      [ANSWER_CHANGED] = "changed",
    [COORDINATION_KINDS] = NULL,
};

struct message ask_message(const struct ask *ask, uint32_t source)
{
    return (struct message){
        .source = source,
        .target = SERVICE_ID,
        .kind = (uint8_t)ask->kind,
        .term = ask->record,
        .argument = {[ARGUMENT_ID] = ask->id,
                     [ARGUMENT_SESSION] = ask->kind == ASK_UPDATE ? ask->now_ns : ask->session,
                     [ARGUMENT_SPAN] = ask->ttl_ns,
                     [ARGUMENT_NODE] = ask->name},
    };
}

struct message answer_message(const struct answer *answer, uint32_t target)
{
    return (struct message){
        .source = SERVICE_ID,
        .target = target,
        .kind = (uint8_t)answer->kind,
        .term = answer->record,
        .argument = {[ARGUMENT_ID] = answer->id,
                     [ARGUMENT_SESSION] = answer->session,
                     [ARGUMENT_SPAN] = answer->left_ns,
                     [ARGUMENT_NODE] = answer->holder},
    };
}

bool ask_read(const struct message *message, uint32_t nodes, struct ask *out)
{
    uint64_t name = message->argument[ARGUMENT_NODE];
    uint64_t second = message->argument[ARGUMENT_SESSION];
    bool updates = message->kind == ASK_UPDATE;
    if (message->kind >= ASKS || name < 1 || name > nodes)
        return false;
    *out = (struct ask){.kind = (enum coordination_kind)message->kind,
                        .id = message->argument[ARGUMENT_ID],
                        .session = updates ? 0 : second,
                        .record = message->term,
                        .ttl_ns = message->argument[ARGUMENT_SPAN],
                        .now_ns = updates ? second : 0,
                        .name = (uint32_t)name};
    return true;
}

bool answer_read(const struct message *message, uint32_t nodes, struct answer *out)
{
    uint64_t holder = message->argument[ARGUMENT_NODE];
    if (message->kind < ASKS || message->kind >= COORDINATION_KINDS || holder > nodes)
        return false;
    *out = (struct answer){.kind = (enum coordination_kind)message->kind,
                           .id = message->argument[ARGUMENT_ID],
                           .session = message->argument[ARGUMENT_SESSION],
                           .record = message->term,
                           .left_ns = message->argument[ARGUMENT_SPAN],
                           .holder = (uint32_t)holder};
    return true;
}
