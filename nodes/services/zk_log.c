#include "nodes/services/zk_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of a transaction: checksum and length before it, one byte behind. */
#define BEFORE 12u
#define BEHIND 1u
/* Session, cxid, zxid, time, type. */
#define HEADER_BYTES 32u
#define TRANSACTION_MAX (1u << 20)

static uint64_t big_endian(const uint8_t *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* RFC 1950, section 8. */
static uint32_t adler32(const uint8_t *bytes, size_t length)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < length; i++) {
        a = (a + bytes[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

/* A length of four bytes, then as many; one of -1 is none. */
static void read_text(const uint8_t *bytes, size_t length, size_t *at, char out[ZK_PATH_MAX])
{
    out[0] = '\0';
    if (length - *at < 4)
        return;
    uint64_t count = big_endian(bytes + *at, 4);
    *at += 4;
    if (count > length - *at)
        return;
    bool printable = count < ZK_PATH_MAX;
    for (size_t i = 0; printable && i < count; i++)
        printable = bytes[*at + i] >= ' ' && bytes[*at + i] <= '~';
    if (printable) {
        memcpy(out, bytes + *at, count);
        out[count] = '\0';
    }
    *at += count;
}

static void read_transaction(const uint8_t *bytes, size_t length, struct zk_transaction *out)
{
    size_t at = HEADER_BYTES;
    *out =
        (struct zk_transaction){.session = big_endian(bytes, 8), .zxid = big_endian(bytes + 12, 8)};
    switch ((int32_t)(uint32_t)big_endian(bytes + 28, 4)) {
    case 1: /* create */
    case 15: /* the same, asked for with what the node is then like */ out->type = ZK_CREATE; break;
    case 2: out->type = ZK_DELETE; break;
    case -11: out->type = ZK_CLOSE_SESSION; return;
    default: return;
    }
    read_text(bytes, length, &at, out->path);
    if (out->type == ZK_CREATE)
        read_text(bytes, length, &at, out->data);
}

bool zk_log_next(const uint8_t *bytes, size_t length, size_t *at, struct zk_transaction *out)
{
    if (*at > length || length - *at < BEFORE + HEADER_BYTES + BEHIND)
        return false;
    const uint8_t *here = bytes + *at;
    uint64_t size = big_endian(here + 8, 4);
    if (size < HEADER_BYTES || size > TRANSACTION_MAX || size > length - *at - BEFORE - BEHIND ||
        here[BEFORE + size] != 'B' || adler32(here + BEFORE, size) != big_endian(here, 8))
        return false;
    read_transaction(here + BEFORE, size, out);
    *at += BEFORE + size + BEHIND;
    return true;
}

bool zk_name_read(const char *name, uint32_t nodes, struct zk_name *out)
{
    unsigned node = 0;
    uint64_t session = 0, sequence = 0;
    char end = '\0';
    if (sscanf(name, "%16" SCNx64 "-%2u-%10" SCNu64 "%c", &session, &node, &sequence, &end) != 3 ||
        node < 1 || node > nodes || sequence > INT32_MAX)
        return false;
    *out = (struct zk_name){.session = session, .record = sequence + 1, .node = node};
    return true;
}

bool zk_node_read(const char *data, uint32_t nodes, uint32_t *ret_node)
{
    unsigned node = 0;
    char end = '\0';
    if (sscanf(data, "%2u%c", &node, &end) != 1 || node < 1 || node > nodes)
        return false;
    *ret_node = node;
    return true;
}
