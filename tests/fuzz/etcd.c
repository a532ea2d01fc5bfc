/* Whatever bytes etcd, or whoever stands in its place, says: refused with a reason, or read into
 * texts that end and numbers that fit. */
#include <assert.h>
#include <string.h>

#include "nodes/services/etcd_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void vet(const struct etcd_kv *kv)
{
    uint32_t node, name;
    assert(memchr(kv->key, '\0', sizeof kv->key) && memchr(kv->value, '\0', sizeof kv->value));
    assert(kv->create <= INT64_MAX && kv->mod <= INT64_MAX && kv->lease <= INT64_MAX);
    if (etcd_holder(kv, 5, &node, &name))
        assert(node <= 5 && name <= 5);
}

static void on_change(void *context, const struct etcd_change *change)
{
    (void)context;
    vet(&change->kv);
    vet(&change->before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = {(const char *)data, size};
    struct etcd_reply reply;
    struct etcd_watched watched = {0};
    struct error error = {.text = ""};
    if (etcd_reply_read(bytes, &reply, &error) == 0) {
        assert(reply.kv_count <= ETCD_KVS_MAX && reply.lease_count <= ETCD_LEASES_MAX);
        for (uint32_t i = 0; i < reply.kv_count; i++)
            vet(&reply.kvs[i]);
    } else {
        assert(error.text[0] != '\0');
    }
    (void)etcd_watch_read(bytes, NULL, on_change, &watched, &error);
    return 0;
}
