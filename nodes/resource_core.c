/* The log is a row of 64-byte records, each eight little-endian words of which the first holds the
 * CRC32C of the other bytes. The first record names the run. Records are appended in the order of
 * decisions; a read that raised the highest token leaves one too. */
#include "nodes/resource_core.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "histories/crc32c.h"

struct cell {
    uint64_t value, token, sequence; /* the write that put it there; zeroed: none */
};

/* The latest operations of one owner. Those at or below `forgotten` may have been here. */
struct asker {
    uint64_t owner;
    uint64_t forgotten;
    uint32_t next; /* slot to be overwritten */
    struct reply replies[RESOURCE_REMEMBERED];
};

struct resource {
    struct resource_config config;
    uint64_t highest, sequence;
    struct cell cells[WIRE_REGISTERS_MAX];
    struct asker **askers; /* asker_count, in the order in which they were first heard of */
    uint32_t asker_count, asker_capacity;
};

struct resource *resource_new(const struct resource_config *config)
{
    struct resource *resource = must_alloc(1, sizeof *resource);
    resource->config = *config;
    return resource;
}

void resource_free(struct resource *resource)
{
    if (!resource)
        return;
    for (uint32_t i = 0; i < resource->asker_count; i++)
        free(resource->askers[i]);
    free(resource->askers);
    free(resource);
}

uint64_t resource_highest(const struct resource *resource)
{
    return resource->highest;
}

/* Remembering */

/* Few ask: the leaders there have been and the clients. */
static struct asker *asker_of(struct resource *resource, uint64_t id)
{
    uint64_t owner = operation_owner(id);
    for (uint32_t i = 0; i < resource->asker_count; i++)
        if (resource->askers[i]->owner == owner)
            return resource->askers[i];
    if (resource->asker_count == resource->asker_capacity) {
        resource->asker_capacity = resource->asker_capacity ? resource->asker_capacity * 2 : 8;
        resource->askers =
            must_grow(resource->askers, resource->asker_capacity, sizeof(struct asker *));
    }
    struct asker *asker = must_alloc(1, sizeof *asker);
    asker->owner = owner;
    resource->askers[resource->asker_count++] = asker;
    return asker;
}

static const struct reply *remembered(const struct asker *asker, uint64_t id)
{
    for (uint32_t i = 0; i < RESOURCE_REMEMBERED; i++)
        if (asker->replies[i].id == id)
            return &asker->replies[i];
    return NULL;
}

static void remember(struct asker *asker, const struct reply *reply)
{
    struct reply *slot = &asker->replies[asker->next];
    if (slot->id > asker->forgotten)
        asker->forgotten = slot->id;
    *slot = *reply;
    asker->next = (asker->next + 1) % RESOURCE_REMEMBERED;
}

/* The log */

enum word { WORD_CHECK, WORD_WHAT, WORD_HOLDER, WORD_TOKEN, WORD_VALUE, WORD_SEQUENCE, WORD_ID };
#define WORDS 8u
#define RECORD_BYTES (WORDS * 8u)
#define CHECK_BYTES 8u
#define MAGIC UINT64_C(0x3170756f63736572) /* "rescoup1" */

static void put_record(const uint64_t words[WORDS], struct text *log)
{
    uint8_t bytes[RECORD_BYTES];
    for (uint32_t i = CHECK_BYTES; i < RECORD_BYTES; i++)
        bytes[i] = (uint8_t)(words[i / 8] >> (8 * (i % 8)));
    uint64_t check = crc32c(0, bytes + CHECK_BYTES, RECORD_BYTES - CHECK_BYTES);
    for (uint32_t i = 0; i < CHECK_BYTES; i++)
        bytes[i] = (uint8_t)(check >> (8 * i));
    text_add_bytes(log, bytes, sizeof bytes);
}

/* False when the check does not fit. */
static bool get_record(const char *at, uint64_t words[WORDS])
{
    const uint8_t *bytes = (const uint8_t *)at;
    memset(words, 0, WORDS * sizeof words[0]);
    for (uint32_t i = 0; i < RECORD_BYTES; i++)
        words[i / 8] |= (uint64_t)bytes[i] << (8 * (i % 8));
    return words[WORD_CHECK] == crc32c(0, bytes + CHECK_BYTES, RECORD_BYTES - CHECK_BYTES);
}

void resource_log_head(const struct resource *resource, struct text *log)
{
    put_record((uint64_t[WORDS]){[WORD_WHAT] = MAGIC, [WORD_TOKEN] = resource->config.run}, log);
}

static void log_decision(const struct resource *resource, const struct request *request,
                         struct text *log)
{
    if (!log)
        return;
    uint64_t what = (uint64_t)request->operation << 32 | request->reg;
    put_record((uint64_t[WORDS]){[WORD_WHAT] = what,
                                 [WORD_HOLDER] = request->holder,
                                 [WORD_TOKEN] = request->token,
                                 [WORD_VALUE] = request->value,
                                 [WORD_SEQUENCE] = resource->sequence,
                                 [WORD_ID] = request->id},
               log);
}

/* Deciding */

static struct reply reply_to(const struct resource *resource, const struct request *request,
                             enum outcome outcome)
{
    struct reply reply = {.id = request->id, .outcome = outcome, .highest = resource->highest};
    if (request->reg < resource->config.registers) {
        const struct cell *cell = &resource->cells[request->reg];
        reply.value = cell->value;
        reply.position = cell->token;
        reply.sequence = cell->sequence;
    }
    return reply;
}

static void report(const struct resource *resource, const struct request *request, enum event_f f,
                   struct outbox *outbox)
{
    struct event *event = outbox_event(outbox, PROCESS_NUMBER(PROCESS_RESOURCE, 0), EVENT_INFO, f);
    event_set(event, FIELD_TOKEN, request->token);
    event_set(event, FIELD_HOLDER, request->holder);
    event_set(event, FIELD_REGISTER, request->reg);
    event_set(event, FIELD_HIGHEST, resource->highest);
    event_set(event, FIELD_ID, request->id);
    if (request->operation != OPERATION_READ)
        event_set(event, FIELD_VALUE, request->value);
    if (f == F_ACCEPT)
        event_set(event, FIELD_SEQUENCE, resource->sequence);
    else if (request->operation == OPERATION_READ)
        event_set_text(event, FIELD_KIND, slice_of("read"));
}

static bool well_formed(const struct resource *resource, const struct request *request)
{
    bool writes = request->operation != OPERATION_READ;
    return request->reg < resource->config.registers && (!writes || request->value != 0);
}

static void apply_write(struct resource *resource, const struct request *request)
{
    resource->cells[request->reg] =
        (struct cell){request->value, request->token, ++resource->sequence};
}

static struct reply decide(struct resource *resource, const struct request *request,
                           struct outbox *outbox, struct text *log)
{
    if (!well_formed(resource, request))
        return reply_to(resource, request, OUTCOME_FAIL);
    if (resource->config.fenced && request->token < resource->highest) {
        report(resource, request, F_REJECT, outbox);
        return reply_to(resource, request, OUTCOME_STALE);
    }
    bool raises = request->token > resource->highest;
    if (raises)
        resource->highest = request->token;
    bool matches = request->operation != OPERATION_CAS ||
                   resource->cells[request->reg].value == request->expected;
    if (request->operation != OPERATION_READ && matches) {
        apply_write(resource, request);
        log_decision(resource, request, log);
        report(resource, request, F_ACCEPT, outbox);
    } else if (raises) {
        struct request fence = *request;
        fence.operation = OPERATION_READ;
        log_decision(resource, &fence, log);
    }
    return reply_to(resource, request, matches ? OUTCOME_OK : OUTCOME_MISMATCH);
}

void resource_request(struct resource *resource, uint32_t source, const struct request *request,
                      struct outbox *outbox, struct text *log)
{
    struct reply reply;
    if (request->id == 0 || operation_owner(request->id) >= OPERATION_OWNERS) {
        reply = reply_to(resource, request, OUTCOME_FAIL);
    } else {
        struct asker *asker = asker_of(resource, request->id);
        const struct reply *before = remembered(asker, request->id);
        if (before) {
            reply = *before;
        } else if (request->id <= asker->forgotten) {
            reply = reply_to(resource, request, OUTCOME_UNKNOWN);
        } else {
            reply = decide(resource, request, outbox, log);
            remember(asker, &reply);
        }
    }
    outbox_message(outbox, PROCESS_NUMBER(PROCESS_RESOURCE, 0), source, WIRE_REPLY)->reply = reply;
}

/* Replaying */

static int replay_record(struct resource *resource, const uint64_t words[WORDS],
                         struct error *error)
{
    struct request request = {.id = words[WORD_ID],
                              .operation = (enum operation)(words[WORD_WHAT] >> 32),
                              .reg = (uint32_t)words[WORD_WHAT],
                              .value = words[WORD_VALUE],
                              .token = words[WORD_TOKEN],
                              .holder = (uint32_t)words[WORD_HOLDER]};
    bool writes = request.operation != OPERATION_READ;
    if (request.operation >= OPERATIONS || !well_formed(resource, &request) ||
        operation_owner(request.id) >= OPERATION_OWNERS ||
        words[WORD_SEQUENCE] != resource->sequence + writes)
        return error_set(error, -EBADMSG, "a record that does not follow from those before it");
    if (request.token > resource->highest)
        resource->highest = request.token;
    if (writes) {
        apply_write(resource, &request);
        struct reply reply = reply_to(resource, &request, OUTCOME_OK);
        remember(asker_of(resource, request.id), &reply);
    }
    return 0;
}

static bool any_good_record(struct slice log, size_t from)
{
    uint64_t words[WORDS];
    for (size_t at = from; at + RECORD_BYTES <= log.length; at += RECORD_BYTES)
        if (get_record(log.at + at, words))
            return true;
    return false;
}

static int replay_head(const struct resource *resource, struct slice log, struct error *error)
{
    uint64_t words[WORDS];
    if (log.length < RECORD_BYTES)
        return error_set(error, -EBADMSG, "too short for a resource log");
    if (!get_record(log.at, words) || words[WORD_WHAT] != MAGIC)
        return error_set(error, -EBADMSG, "not a resource log, or its head is damaged");
    if (words[WORD_TOKEN] != resource->config.run)
        return error_set(error, -EBADMSG, "the log of another run (%016" PRIx64 ")",
                         words[WORD_TOKEN]);
    return 0;
}

int resource_replay(struct resource *resource, struct slice log, size_t *ret_used,
                    struct error *error)
{
    int rc = replay_head(resource, log, error);
    size_t at = RECORD_BYTES;
    for (; rc == 0 && at + RECORD_BYTES <= log.length; at += RECORD_BYTES) {
        uint64_t words[WORDS];
        if (!get_record(log.at + at, words)) {
            if (any_good_record(log, at + RECORD_BYTES))
                rc = error_set(error, -EBADMSG, "damaged at byte %zu, with good records behind it",
                               at);
            break;
        }
        rc = replay_record(resource, words, error);
        if (rc < 0)
            error_prefix(error, "byte %zu", at);
    }
    if (rc == 0)
        *ret_used = at;
    return rc;
}
