#include "nodes/chronicle.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

void chronicle_init(struct chronicle *chronicle, const struct algorithm *algorithm,
                    uint32_t process, bool trace)
{
    assert(algorithm_kind_count(algorithm) <= CHRONICLE_KINDS_MAX);
    *chronicle = (struct chronicle){.algorithm = algorithm, .process = process, .trace = trace};
}

static struct event *info(const struct chronicle *chronicle, enum event_f f, struct outbox *outbox)
{
    return outbox_event(outbox, chronicle->process, EVENT_INFO, f);
}

static void set_if(struct event *event, enum event_field field, uint64_t number)
{
    if (number)
        event_set(event, field, number);
}

static void set_reason(struct event *event, enum event_field field, const char *reason)
{
    if (reason)
        event_set_text(event, field, slice_of(reason));
}

/* Pieces are cut from one scratch in a row, so together they are one text. */
static void add_pair(struct slice *whole, const char *name, uint64_t number, struct outbox *outbox)
{
    struct slice piece =
        outbox_text(outbox, "%s%s=%" PRIu64, whole->length ? "," : "", name, number);
    if (whole->length == 0)
        whole->at = piece.at;
    whole->length += piece.length;
}

static void add_persist(const struct chronicle *chronicle, const struct durable *durable,
                        struct outbox *outbox)
{
    const char *const *names = chronicle->algorithm->durable;
    struct event *event = info(chronicle, F_PERSIST, outbox);
    struct slice others = {"", 0};
    for (uint32_t i = 0; i < DURABLE_WORDS && names[i]; i++) {
        if (strcmp(names[i], "term") == 0)
            event_set(event, FIELD_TERM, durable->word[i]);
        else if (strcmp(names[i], "vote") == 0)
            set_if(event, FIELD_FOR, durable->word[i]);
        else
            add_pair(&others, names[i], durable->word[i], outbox);
    }
    if (others.length)
        event_set_text(event, FIELD_DURABLE, others);
}

static void add_note(const struct chronicle *chronicle, const struct note *note,
                     struct outbox *outbox)
{
    struct event *event = info(chronicle, note->f, outbox);
    bool adopted = note->f != F_CAMPAIGN || note->term != 0;
    if (note->f != F_NOTE && adopted)
        event_set(event, FIELD_TERM, note->term);
    set_if(event, note->f == F_VOTE ? FIELD_FOR : FIELD_PEER, note->peer);
    set_if(event, FIELD_UNTIL, note->until_ns);
    set_reason(event, note->f == F_NOTE ? FIELD_TEXT : FIELD_REASON, note->reason);
}

static bool same_reign(const struct belief *a, const struct belief *b)
{
    return a->role == ROLE_LEADER && b->role == ROLE_LEADER && a->term == b->term &&
           a->token == b->token;
}

static void add_end_of_reign(const struct chronicle *chronicle, const char *reason,
                             struct outbox *outbox)
{
    struct event *event = info(chronicle, F_STEP_DOWN, outbox);
    event_set(event, FIELD_TERM, chronicle->last.term);
    set_reason(event, FIELD_REASON, reason);
}

static void add_reign(const struct chronicle *chronicle, const struct belief *belief,
                      struct outbox *outbox)
{
    struct event *event = info(chronicle, F_LEAD, outbox);
    event_set(event, FIELD_TERM, belief->term);
    event_set(event, FIELD_TOKEN, belief->token);
    set_if(event, FIELD_UNTIL, belief->until_ns);
}

static void add_follow(const struct chronicle *chronicle, const struct belief *belief,
                       const char *reason, struct outbox *outbox)
{
    struct event *event = info(chronicle, F_FOLLOW, outbox);
    event_set(event, FIELD_TERM, belief->term);
    set_if(event, FIELD_LEADER, belief->leader);
    set_reason(event, FIELD_REASON, reason);
}

/* A new term without a leader is no news about whom the node follows. */
static bool follows_anew(const struct belief *last, const struct belief *now)
{
    return now->role != ROLE_LEADER &&
           (now->leader != last->leader || (now->leader && now->term != last->term));
}

void chronicle_step(struct chronicle *chronicle, const struct output *output, struct outbox *outbox)
{
    const struct belief *last = &chronicle->last;
    struct belief now = output->belief;
    if (now.role == ROLE_LEADER)
        now.leader = process_index(chronicle->process);
    bool ended = last->role == ROLE_LEADER && !same_reign(last, &now);
    if (ended)
        add_end_of_reign(chronicle, output->step_reason, outbox);
    if (output->persist && !output->send_before_persist)
        add_persist(chronicle, &output->durable, outbox);
    for (uint32_t i = 0; i < output->note_count; i++)
        add_note(chronicle, &output->notes[i], outbox);
    if (now.role == ROLE_LEADER && !same_reign(last, &now))
        add_reign(chronicle, &now, outbox);
    if (follows_anew(last, &now))
        add_follow(chronicle, &now, ended ? NULL : output->step_reason, outbox);
    chronicle->last = now;
}

void chronicle_late_persist(const struct chronicle *chronicle, const struct output *output,
                            struct outbox *outbox)
{
    if (output->persist && output->send_before_persist)
        add_persist(chronicle, &output->durable, outbox);
}

static void add_traced(const struct chronicle *chronicle, enum event_f f, uint32_t peer,
                       const struct message *message, struct outbox *outbox)
{
    if (!chronicle->trace)
        return;
    struct event *event = info(chronicle, f, outbox);
    event_set_text(event, FIELD_KIND, slice_of(chronicle->algorithm->kinds[message->kind]));
    event_set(event, FIELD_PEER, peer ? peer : PROCESS_NUMBER(PROCESS_COORDINATOR, 0));
    event_set(event, FIELD_TERM, message->term);
}

void chronicle_send(struct chronicle *chronicle, const struct message *message,
                    struct outbox *outbox)
{
    chronicle->sent[message->kind]++;
    add_traced(chronicle, F_SEND, message->target, message, outbox);
}

void chronicle_dropped(struct chronicle *chronicle, const struct message *message)
{
    assert(chronicle->sent[message->kind] > 0);
    chronicle->sent[message->kind]--;
    chronicle->dropped[message->kind]++;
}

void chronicle_receive(const struct chronicle *chronicle, const struct message *message,
                       struct outbox *outbox)
{
    add_traced(chronicle, F_RECEIVE, message->source, message, outbox);
}

static struct slice counted(const struct chronicle *chronicle, uint64_t *counts,
                            struct outbox *outbox)
{
    struct slice whole = {"", 0};
    for (uint32_t i = 0; i < algorithm_kind_count(chronicle->algorithm); i++) {
        if (counts[i])
            add_pair(&whole, chronicle->algorithm->kinds[i], counts[i], outbox);
        counts[i] = 0;
    }
    return whole;
}

void chronicle_counts(struct chronicle *chronicle, struct outbox *outbox)
{
    struct slice sent = counted(chronicle, chronicle->sent, outbox);
    struct slice dropped = counted(chronicle, chronicle->dropped, outbox);
    if (sent.length == 0 && dropped.length == 0)
        return;
    struct event *event = info(chronicle, F_MESSAGE_COUNTS, outbox);
    event_set_text(event, FIELD_COUNTS, sent);
    if (dropped.length)
        event_set_text(event, FIELD_DROPPED, dropped);
}
