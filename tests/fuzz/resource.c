/* The resource: any requests, then its log with damage, is replayed or refused, and what is
 * replayed goes on like the original. The first byte chooses: requests drawn from the bytes, or the
 * bytes as the records of a log, sealed so that they get past the checksum. */
#include <assert.h>
#include <string.h>

#include "histories/crc32c.h"
#include "nodes/resource_core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RECORD 64u
#define REGISTERS 4u

static struct resource *fresh(void)
{
    return resource_new(
        &(struct resource_config){.fenced = true, .registers = REGISTERS, .run = 1});
}

static struct request drawn(const uint8_t at[8])
{
    uint64_t id = operation_number(1 + at[0] % 3, 1 + at[1] % 2, 1 + at[2]);
    return (struct request){.id = id,
                            .operation = (enum operation)(at[3] % OPERATIONS),
                            .reg = at[4] % (REGISTERS + 1),
                            .value = at[5] ? id : 0,
                            .expected = at[6],
                            .token = at[7] % 16,
                            .holder = 1};
}

/* Tokens accepted never fall; the sequence counts without a gap. */
static void judge(const struct outbox *outbox, uint64_t *highest, uint64_t *sequence)
{
    for (uint32_t i = 0; i < outbox->event_count; i++) {
        const struct event *event = &outbox->events[i];
        if (event->f != F_ACCEPT)
            continue;
        assert(event_number(event, FIELD_TOKEN) >= *highest);
        assert(event_number(event, FIELD_SEQUENCE) == *sequence + 1);
        *highest = event_number(event, FIELD_TOKEN);
        *sequence += 1;
    }
}

static void request_and_replay(const uint8_t *data, size_t size)
{
    struct resource *resource = fresh(), *again = fresh();
    struct outbox outbox = {0};
    struct text log = {0};
    struct error error;
    uint64_t highest = 0, sequence = 0;
    size_t used = 0;
    resource_log_head(resource, &log);
    for (size_t at = 0; at + 8 <= size; at += 8) {
        struct request request = drawn(data + at);
        resource_request(resource, 1, &request, &outbox, &log);
        judge(&outbox, &highest, &sequence);
        outbox_reset(&outbox);
    }
    int rc = resource_replay(again, (struct slice){log.at, log.length}, &used, &error);
    assert(rc == 0 && used == log.length);
    assert(resource_highest(again) == resource_highest(resource));
    text_release(&log);
    outbox_release(&outbox);
    resource_free(resource);
    resource_free(again);
}

static void seal(char *record)
{
    uint64_t check = crc32c(0, record + 8, RECORD - 8);
    for (uint32_t i = 0; i < 8; i++)
        record[i] = (char)(check >> (8 * i));
}

static void replay_any(const uint8_t *data, size_t size)
{
    struct resource *resource = fresh();
    struct text log = {0};
    struct error error = {0};
    size_t used = 0;
    resource_log_head(resource, &log);
    text_add_bytes(&log, data, size);
    for (size_t at = RECORD; at + RECORD <= log.length; at += RECORD)
        seal(log.at + at);
    if (resource_replay(resource, (struct slice){log.at, log.length}, &used, &error) < 0)
        assert(error.text[0] != '\0');
    else
        assert(used <= log.length && log.length - used < RECORD);
    text_release(&log);
    resource_free(resource);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] & 1)
        request_and_replay(data + 1, size - 1);
    else
        replay_any(data + 1, size - 1);
    return 0;
}
