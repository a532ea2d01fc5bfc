#include "nodes/coordinator_state.h"

#include <inttypes.h>
#include <stdlib.h>

struct coordinator *coordinator_new(uint32_t nodes)
{
    struct coordinator *coordinator = must_alloc(1, sizeof *coordinator);
    coordinator->nodes = nodes;
    coordinator->newest = must_alloc(nodes + 1, sizeof *coordinator->newest);
    return coordinator;
}

void coordinator_free(struct coordinator *coordinator)
{
    if (!coordinator)
        return;
    free(coordinator->newest);
    free(coordinator->sessions);
    free(coordinator->records);
    free(coordinator->watches);
    stored_list_release(&coordinator->changes);
    free(coordinator);
}

/* --- what is said --- */

static void tell(uint32_t node, const struct answer *answer, struct outbox *outbox)
{
    struct envelope *envelope = outbox_message(outbox, PROCESS_NUMBER(PROCESS_COORDINATOR, 0),
                                               PROCESS_NUMBER(PROCESS_NODE, node), WIRE_ELECTION);
    envelope->message = answer_message(answer, node);
}

/* A grant, or the end of one. */
static void record_event(enum event_f f, struct slice record, uint32_t holder, uint64_t token,
                         const char *reason, struct outbox *outbox)
{
    struct event *event =
        outbox_event(outbox, PROCESS_NUMBER(PROCESS_COORDINATOR, 0), EVENT_INFO, f);
    event_set_text(event, FIELD_RECORD, record);
    event_set(event, FIELD_HOLDER, PROCESS_NUMBER(PROCESS_NODE, holder));
    event_set(event, FIELD_TOKEN, token);
    if (reason)
        event_set_text(event, FIELD_REASON, slice_of(reason));
}

static struct slice record_name(const struct record *record, struct outbox *outbox)
{
    return record->queued ? outbox_text(outbox, "queue/%" PRIu64, record->number)
                          : slice_of("leader");
}

/* --- sessions and records --- */

static struct lasting *session_find(const struct coordinator *coordinator, uint64_t number)
{
    for (uint32_t i = 0; i < coordinator->session_count; i++)
        if (coordinator->sessions[i].number == number)
            return &coordinator->sessions[i];
    return NULL;
}

static void fire_watches(struct coordinator *coordinator, uint64_t record, struct outbox *outbox)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < coordinator->watch_count; i++) {
        const struct watch watch = coordinator->watches[i];
        if (watch.record == record)
            tell(watch.node,
                 &(struct answer){.kind = ANSWER_CHANGED, .id = watch.id, .record = record},
                 outbox);
        else
            coordinator->watches[kept++] = watch;
    }
    coordinator->watch_count = kept;
}

static void delete_record(struct coordinator *coordinator, uint32_t at, enum event_f f,
                          const char *reason, struct outbox *outbox)
{
    const struct record gone = coordinator->records[at];
    (void)coordinator_next_revision(coordinator);
    coordinator_add_stored(
        &coordinator->changes,
        (struct stored){.kind = STORED_RECORD, .gone = true, .number = gone.number});
    record_event(f, record_name(&gone, outbox), gone.owner, gone.number, reason, outbox);
    coordinator->record_count--;
    for (; at < coordinator->record_count; at++)
        coordinator->records[at] = coordinator->records[at + 1];
    fire_watches(coordinator, gone.number, outbox);
}

/* The session's place is taken by another. */
static void end_session(struct coordinator *coordinator, struct lasting *session, enum event_f f,
                        const char *reason, struct outbox *outbox)
{
    uint64_t number = session->number;
    coordinator_add_stored(&coordinator->changes,
                           (struct stored){.kind = STORED_SESSION, .gone = true, .number = number});
    *session = coordinator->sessions[--coordinator->session_count];
    for (uint32_t i = 0; i < coordinator->record_count;)
        if (coordinator->records[i].session == number)
            delete_record(coordinator, i, f, reason, outbox);
        else
            i++;
}

void coordinator_wake(struct coordinator *coordinator, uint64_t now_ns, struct outbox *outbox)
{
    for (uint32_t i = 0; i < coordinator->session_count;)
        if (now_ns >= coordinator->sessions[i].deadline_ns)
            end_session(coordinator, &coordinator->sessions[i], F_EXPIRE, "ttl", outbox);
        else
            i++;
}

uint64_t coordinator_deadline(const struct coordinator *coordinator)
{
    uint64_t deadline_ns = UINT64_MAX;
    for (uint32_t i = 0; i < coordinator->session_count; i++)
        if (coordinator->sessions[i].deadline_ns < deadline_ns)
            deadline_ns = coordinator->sessions[i].deadline_ns;
    return deadline_ns;
}

uint32_t coordinator_drop(struct coordinator *coordinator, uint32_t node, struct outbox *outbox)
{
    uint32_t dropped = 0;
    for (uint32_t i = 0; i < coordinator->session_count;)
        if (coordinator->sessions[i].owner == node) {
            end_session(coordinator, &coordinator->sessions[i], F_REVOKE, "dropped", outbox);
            dropped++;
        } else {
            i++;
        }
    return dropped;
}

/* --- asks --- */

/* One ask, and the answer as far as it is known. */
struct asking {
    struct coordinator *coordinator;
    const struct ask *ask;
    uint32_t node;
    struct service_time time;
    struct answer answer;
    struct outbox *outbox;
};

static void show_record(struct asking *asking, const struct record *record)
{
    asking->answer.record = record ? record->number : 0;
    asking->answer.session = record ? record->session : 0;
    asking->answer.holder = record ? record->owner : 0;
}

static bool on_open(struct asking *asking)
{
    struct coordinator *coordinator = asking->coordinator;
    if (coordinator->session_count == COORDINATOR_SESSIONS_MAX || asking->ask->ttl_ns == 0)
        return false;
    struct lasting session = {.number = coordinator_next_revision(coordinator),
                              .ttl_ns = asking->ask->ttl_ns,
                              .deadline_ns = asking->time.now_ns + asking->ask->ttl_ns,
                              .owner = asking->node};
    coordinator_add_session(coordinator, session);
    coordinator_add_stored(&coordinator->changes, stored_session(&session));
    asking->answer.kind = ANSWER_ALIVE;
    asking->answer.session = session.number;
    return true;
}

/* The asker's own session; NULL: gone, which is said. */
static struct lasting *own_session(struct asking *asking)
{
    struct lasting *session = session_find(asking->coordinator, asking->ask->session);
    if (session && session->owner == asking->node)
        return session;
    asking->answer.kind = ANSWER_GONE;
    asking->answer.session = asking->ask->session;
    return NULL;
}

static bool on_keepalive(struct asking *asking)
{
    struct lasting *session = own_session(asking);
    if (session) {
        session->deadline_ns = asking->time.now_ns + session->ttl_ns;
        asking->answer.kind = ANSWER_ALIVE;
        asking->answer.session = session->number;
    }
    return true;
}

static const struct record *exclusive(const struct coordinator *coordinator)
{
    for (uint32_t i = 0; i < coordinator->record_count; i++)
        if (!coordinator->records[i].queued)
            return &coordinator->records[i];
    return NULL;
}

static bool create(struct asking *asking, const struct lasting *session, bool queued)
{
    struct coordinator *coordinator = asking->coordinator;
    if (coordinator->record_count == COORDINATOR_RECORDS_MAX)
        return false;
    struct record record = {.number = coordinator_next_revision(coordinator),
                            .session = session->number,
                            .owner = asking->node,
                            .queued = queued};
    coordinator_add_record(coordinator, record);
    coordinator_add_stored(&coordinator->changes, stored_record(&record));
    record_event(F_GRANT, record_name(&record, asking->outbox), record.owner, record.number, NULL,
                 asking->outbox);
    show_record(asking, &record);
    return true;
}

static bool on_create(struct asking *asking)
{
    bool queued = asking->ask->kind == ASK_ENQUEUE;
    const struct lasting *session = own_session(asking);
    const struct record *there = queued ? NULL : exclusive(asking->coordinator);
    if (!session)
        return true;
    if (!there)
        return create(asking, session, queued);
    asking->answer.kind = ANSWER_REFUSED;
    show_record(asking, there);
    return true;
}

/* The row keeps its token, so that the next one is larger. */
static void release_row(struct asking *asking)
{
    struct row *row = &asking->coordinator->row;
    if (row->owner == 0)
        return;
    record_event(F_REVOKE, slice_of("row"), row->owner, row->token, "released", asking->outbox);
    row->owner = row->name = 0;
    row->until_ns = 0;
    coordinator_add_stored(&asking->coordinator->changes, stored_row(row));
}

static bool on_release(struct asking *asking)
{
    struct coordinator *coordinator = asking->coordinator;
    uint64_t wanted = asking->ask->record;
    for (uint32_t i = 0; i < coordinator->record_count; i++)
        if (wanted == 0 || coordinator->records[i].number == wanted) {
            delete_record(coordinator, i, F_REVOKE, "released", asking->outbox);
            return true;
        }
    if (coordinator->row.token && (wanted == 0 || wanted == coordinator->row.token))
        release_row(asking);
    return true;
}

static bool on_look(struct asking *asking)
{
    const struct coordinator *coordinator = asking->coordinator;
    const struct record *found = NULL;
    bool after = asking->ask->kind == ASK_AFTER;
    for (uint32_t i = 0; i < coordinator->record_count; i++) {
        const struct record *record = &coordinator->records[i];
        if (after && record->number > asking->ask->record) {
            found = record;
            break;
        }
        if (!after && record->number < asking->ask->record)
            found = record;
    }
    show_record(asking, found);
    if (!found && after && coordinator->row.token > asking->ask->record) {
        asking->answer.record = coordinator->row.token;
        asking->answer.holder = coordinator->row.owner;
    }
    return true;
}

/* One watch for each node and record; the newest ask counts. */
static bool on_watch(struct asking *asking)
{
    struct coordinator *coordinator = asking->coordinator;
    uint64_t record = asking->ask->record;
    struct watch watch = {.record = record, .id = asking->ask->id, .node = asking->node};
    bool there = false;
    for (uint32_t i = 0; i < coordinator->record_count; i++)
        there = there || coordinator->records[i].number == record;
    asking->answer.kind = ANSWER_CHANGED;
    asking->answer.record = record;
    if (!there)
        return true;
    for (uint32_t i = 0; i < coordinator->watch_count; i++)
        if (coordinator->watches[i].record == record &&
            coordinator->watches[i].node == asking->node) {
            coordinator->watches[i] = watch;
            return false;
        }
    GROW(coordinator->watches, coordinator->watch_count, coordinator->watch_capacity);
    coordinator->watches[coordinator->watch_count++] = watch;
    return false;
}

static void take_row(struct asking *asking)
{
    struct row *row = &asking->coordinator->row;
    if (row->owner)
        record_event(F_EXPIRE, slice_of("row"), row->owner, row->token, NULL, asking->outbox);
    row->token = coordinator_next_revision(asking->coordinator);
    row->owner = asking->node;
    row->name = asking->ask->name;
    record_event(F_GRANT, slice_of("row"), row->owner, row->token, NULL, asking->outbox);
}

/* update row set ... where (name = me and token = mine) or name = me or until <= now */
static bool on_update(struct asking *asking)
{
    struct row *row = &asking->coordinator->row;
    const struct ask *ask = asking->ask;
    uint64_t now_ns = ask->now_ns ? ask->now_ns : asking->time.wall_ns;
    bool mine = row->name == ask->name;
    if (mine || row->until_ns <= now_ns) {
        if (!mine || ask->record != row->token)
            take_row(asking);
        row->until_ns = now_ns + ask->ttl_ns;
        coordinator_add_stored(&asking->coordinator->changes, stored_row(row));
    } else {
        asking->answer.kind = ANSWER_REFUSED;
        asking->answer.left_ns = row->until_ns - now_ns;
    }
    asking->answer.record = row->token;
    asking->answer.holder = row->owner;
    return true;
}

void coordinator_ask(struct coordinator *coordinator, const struct message *message,
                     struct service_time time, struct outbox *outbox)
{
    /* False: nothing is answered. */
    static bool (*const handlers[ASKS])(struct asking *) = {
        [ASK_OPEN] = on_open,      [ASK_KEEPALIVE] = on_keepalive, [ASK_ACQUIRE] = on_create,
        [ASK_ENQUEUE] = on_create, [ASK_RELEASE] = on_release,     [ASK_AFTER] = on_look,
        [ASK_BEFORE] = on_look,    [ASK_WATCH] = on_watch,         [ASK_UPDATE] = on_update,
    };
    struct ask ask;
    if (message->source < 1 || message->source > coordinator->nodes ||
        !ask_read(message, coordinator->nodes, &ask) ||
        ask.id <= coordinator->newest[message->source])
        return;
    coordinator->newest[message->source] = ask.id;
    struct asking asking = {
        coordinator, &ask, message->source, time, {.kind = ANSWER_OK, .id = ask.id}, outbox};
    coordinator_wake(coordinator, time.now_ns, outbox);
    if (handlers[ask.kind](&asking))
        tell(message->source, &asking.answer, outbox);
}
