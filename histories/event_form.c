/* Which fields each event must and may carry: the table that docs/history-format.md prints. */
#include "histories/event.h"

#include <assert.h>

#define ANYBODY ((1u << PROCESS_KINDS) - 1)
#define NODE (1u << PROCESS_NODE | 1u << PROCESS_TWIN)
#define CLIENT (1u << PROCESS_CLIENT)
#define RESOURCE (1u << PROCESS_RESOURCE)
#define COORDINATOR (1u << PROCESS_COORDINATOR)
#define NEMESIS (1u << PROCESS_NEMESIS)
#define CONTROLLER (1u << PROCESS_CONTROLLER)

#define HAS(field) FIELD_BIT(FIELD_##field)
#define NOTHING UINT64_C(0)

/* A leader's write, from the attempt to what became of it. */
#define ATTEMPT (HAS(ID) | HAS(TOKEN) | HAS(REGISTER) | HAS(VALUE))
#define DECISION (ATTEMPT | HAS(TERM) | HAS(HOLDER) | HAS(HIGHEST) | HAS(SEQUENCE) | HAS(REASON))

/* A client's operation: the answer may say where in the order of writes it stands, and, when the
 * node asked does not lead, who does. */
#define ANSWER                                                                         \
    (HAS(REGISTER) | HAS(VALUE) | HAS(EXPECTED) | HAS(NODE) | HAS(TERM) | HAS(TOKEN) | \
     HAS(SEQUENCE) | HAS(POSITION) | HAS(LEADER) | HAS(REASON))

#define FAULT_DETAILS                                                                    \
    (HAS(TARGETS) | HAS(PARAMETERS) | HAS(BEGIN) | HAS(END) | HAS(PROOF) | HAS(REASON) | \
     HAS(KIND) | HAS(OUTCOME) | HAS(GROUP) | HAS(VALUE))

#define GRANT_DETAILS (HAS(TOKEN) | HAS(TTL) | HAS(ID) | HAS(TERM) | HAS(REASON))

#define ONE(f, processes, must, may) [f] = {[EVENT_INFO] = {processes, must, may}}

/* An operation: invoked once, then ended as ok, fail or, its outcome unknown, info. */
#define OPERATION(f, processes, must, answer)                                  \
    [f] = {                                                                    \
        [EVENT_INVOKE] = {processes, HAS(ID) | (must), HAS(NODE) | HAS(TERM)}, \
        [EVENT_OK] = {processes, HAS(ID), answer},                             \
        [EVENT_FAIL] = {processes, HAS(ID), answer},                           \
        [EVENT_INFO] = {processes, HAS(ID), answer},                           \
    }

static const struct event_form forms[EVENT_FS][EVENT_TYPES] = {
    ONE(F_LEAD, NODE, HAS(TERM) | HAS(TOKEN), HAS(UNTIL) | HAS(REASON)),
    ONE(F_STEP_DOWN, NODE, HAS(TERM), HAS(TOKEN) | HAS(LEADER) | HAS(REASON)),
    ONE(F_FOLLOW, NODE, HAS(TERM), HAS(LEADER) | HAS(REASON)),
    ONE(F_CAMPAIGN, NODE, NOTHING, HAS(TERM) | HAS(PEER) | HAS(UNTIL) | HAS(REASON)),
    ONE(F_VOTE, NODE, HAS(TERM) | HAS(FOR), HAS(UNTIL) | HAS(REASON)),
    ONE(F_SUSPECT, NODE, NOTHING, HAS(TERM) | HAS(LEADER) | HAS(PEER) | HAS(REASON)),
    ONE(F_RENEW, NODE, HAS(TERM) | HAS(UNTIL), HAS(TOKEN) | HAS(PEER) | HAS(REASON)),
    ONE(F_PERSIST, NODE, NOTHING, HAS(TERM) | HAS(FOR) | HAS(DURABLE)),
    ONE(F_SEND, NODE, HAS(KIND) | HAS(PEER), HAS(TERM) | HAS(ID)),
    ONE(F_RECEIVE, NODE, HAS(KIND) | HAS(PEER), HAS(TERM) | HAS(ID)),
    ONE(F_MESSAGE_COUNTS, NODE, HAS(COUNTS), HAS(DROPPED)),
    OPERATION(F_GUARDED_WRITE, NODE, ATTEMPT, DECISION),
    ONE(F_ACCEPT, RESOURCE, HAS(TOKEN) | HAS(HOLDER) | HAS(REGISTER) | HAS(VALUE),
        DECISION | HAS(EXPECTED) | HAS(NODE)),
    ONE(F_REJECT, RESOURCE, HAS(TOKEN) | HAS(HOLDER),
        DECISION | HAS(KIND) | HAS(EXPECTED) | HAS(NODE)),
    OPERATION(F_READ, CLIENT, HAS(REGISTER), ANSWER),
    OPERATION(F_WRITE, CLIENT, HAS(REGISTER) | HAS(VALUE), ANSWER),
    OPERATION(F_CAS, CLIENT, HAS(REGISTER) | HAS(VALUE) | HAS(EXPECTED), ANSWER),
    ONE(F_GRANT, COORDINATOR, HAS(RECORD) | HAS(HOLDER), GRANT_DETAILS),
    ONE(F_REVOKE, COORDINATOR, HAS(RECORD) | HAS(HOLDER), GRANT_DETAILS),
    ONE(F_EXPIRE, COORDINATOR, HAS(RECORD) | HAS(HOLDER), GRANT_DETAILS),
    ONE(F_SPAWN, ANYBODY, HAS(PID) | HAS(INCARNATION), NOTHING),
    ONE(F_EXIT, ANYBODY, HAS(BY), HAS(PID) | HAS(INCARNATION) | HAS(STATUS) | HAS(SIGNAL)),
    ONE(F_FAULT, NEMESIS, HAS(ID) | HAS(KIND) | HAS(OUTCOME), FAULT_DETAILS),
    ONE(F_HEAL, NEMESIS, HAS(ID), FAULT_DETAILS),
    ONE(F_PHASE, CONTROLLER, HAS(NAME), HAS(TEXT)),
    ONE(F_NOTE, ANYBODY, NOTHING, ~NOTHING),
    ONE(F_MESSAGE, NODE | COORDINATOR, HAS(OUTCOME) | HAS(KIND) | HAS(PEER) | HAS(ID), HAS(TERM)),
};

const struct event_form *event_form(enum event_f f, enum event_type type)
{
    assert(f < EVENT_FS && type < EVENT_TYPES);
    return &forms[f][type];
}

int event_check(const struct event *event, struct error *error)
{
    const struct event_form *form =
        event_form((enum event_f)event->f, (enum event_type)event->type);
    const char *f = event_f_name((enum event_f)event->f);
    char name[PROCESS_NAME_MAX];
    if (form->processes == 0)
        return error_usage(error, "'%s' is never of type %s", f,
                           event_type_name((enum event_type)event->type));
    if (!(form->processes >> process_kind(event->process) & 1))
        return error_usage(error, "'%s' is never an event of %s", f,
                           process_name(event->process, name));
    uint64_t present = event_present(event);
    uint64_t missing = form->must & ~present;
    if (missing)
        return error_usage(error, "'%s' without '%s'", f,
                           event_field_name((enum event_field)__builtin_ctzll(missing)));
    uint64_t extra = present & ~(form->must | form->may | HAS(ERROR));
    if (extra)
        return error_usage(error, "'%s' does not carry '%s'", f,
                           event_field_name((enum event_field)__builtin_ctzll(extra)));
    return 0;
}
