/* Whatever bytes stand in a transaction log: texts end, the place moves forward and never beyond
 * the end, names are in range. */
#include <assert.h>
#include <string.h>

#include "nodes/services/zk_log.h"

#define NODES 5u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* So that damage is not all that is tried. */
static void mend(uint8_t *bytes, size_t size)
{
    uint32_t a = 1, b = 0;
    if (size < 14)
        return;
    size_t length = size - 13;
    for (int i = 0; i < 8; i++)
        bytes[i] = 0;
    for (int i = 0; i < 4; i++)
        bytes[8 + i] = (uint8_t)(length >> (24 - 8 * i));
    bytes[size - 1] = 'B';
    for (size_t i = 12; i < size - 1; i++) {
        a = (a + bytes[i]) % 65521;
        b = (b + a) % 65521;
    }
    uint32_t sum = b << 16 | a;
    for (int i = 0; i < 4; i++)
        bytes[4 + i] = (uint8_t)(sum >> (24 - 8 * i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t bytes[4096];
    char text[64];
    struct zk_transaction transaction;
    struct zk_name name;
    size_t at = 0, before = 0;
    if (size > sizeof bytes)
        size = sizeof bytes;
    memcpy(bytes, data, size);
    if (size && data[0] & 1)
        mend(bytes, size);
    while (zk_log_next(bytes, size, &at, &transaction)) {
        assert(at > before && at <= size);
        assert(memchr(transaction.path, '\0', sizeof transaction.path));
        assert(memchr(transaction.data, '\0', sizeof transaction.data));
        before = at;
    }
    size_t length = size < sizeof text ? size : sizeof text - 1;
    memcpy(text, data, length);
    text[length] = '\0';
    uint32_t node;
    if (zk_name_read(text, NODES, &name))
        assert(name.node >= 1 && name.node <= NODES && name.record >= 1);
    if (zk_node_read(text, NODES, &node))
        assert(node >= 1 && node <= NODES);
    return 0;
}
