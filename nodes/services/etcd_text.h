/* What is said to etcd and heard from it, as text: requests of its v3 HTTP gateway, which maps the
 * calls of its API (etcd documentation, "etcd API" and "gRPC gateway") to JSON: 64-bit numbers are
 * strings, bytes are base64, fields that are zero are left out. Pure.
 *
 * Keys: coup/record/leader is the one record of the lease recipe; coup/record/SESSION/ASK one of
 * the queue's; both hold the node's id. coup/row holds "NODE NAME", or "0 0" when it was given up,
 * coup/until until when; the row's token is the revision at which it was taken. coup/released names
 * the record that is deleted in the same transaction, which tells a release from an expiry. */
#ifndef COUP_NODES_SERVICES_ETCD_TEXT_H
#define COUP_NODES_SERVICES_ETCD_TEXT_H

#include "base/error.h"
#include "base/text.h"
#include "nodes/coordination.h"

#define ETCD_KEY_MAX 64u
#define ETCD_KVS_MAX 4u
#define ETCD_LEASES_MAX 256u

#define ETCD_RECORDS "coup/record/"
#define ETCD_LEADER ETCD_RECORDS "leader"
#define ETCD_ROW "coup/row"
#define ETCD_UNTIL "coup/until"
#define ETCD_RELEASED "coup/released"

/* Texts are terminated; whoever wrote longer ones was not us. */
struct etcd_kv {
    char key[ETCD_KEY_MAX], value[ETCD_KEY_MAX];
    uint64_t create, mod; /* revisions */
    uint64_t lease;
    uint32_t from; /* which of a transaction's answers it is in */
};

struct etcd_reply {
    uint64_t revision;
    uint64_t id, ttl_s; /* of a lease; ttl 0: there is none */
    bool succeeded;     /* the transaction's conditions held */
    uint64_t error;     /* code of gRPC; 0: none */
    struct etcd_kv kvs[ETCD_KVS_MAX];
    uint32_t kv_count;
    uint64_t leases[ETCD_LEASES_MAX];
    uint32_t lease_count;
};
#define ETCD_NOT_FOUND 5u /* of `error`: no such lease */

/* Any answer but a stream's. -EBADMSG: it is none of etcd's, `error` says why. */
int etcd_reply_read(struct slice body, struct etcd_reply *out, struct error *error);
/* The first pair from that answer of a transaction; NULL: there is none. */
const struct etcd_kv *etcd_reply_find(const struct etcd_reply *reply, uint32_t from);

struct etcd_change {
    bool deleted;
    struct etcd_kv kv; /* deleted: only key and mod */
    bool has_before;
    struct etcd_kv before;
};
struct etcd_watched {
    uint64_t revision;
    bool created, canceled;
};
/* One line of a watch: every change is told in order, then what the line says of the watch. */
int etcd_watch_read(struct slice line, void *context,
                    void (*change)(void *context, const struct etcd_change *change),
                    struct etcd_watched *out, struct error *error);

/* A key's value: "3" is node 3, "3 2" node 3 by the name of 2. False: it is none. */
bool etcd_holder(const struct etcd_kv *kv, uint32_t nodes, uint32_t *ret_node, uint32_t *ret_name);

/* Sessions are leases whose numbers we choose, so that they tell their owner. Below 2^53. */
uint64_t etcd_session(uint32_t node, uint64_t incarnation, uint32_t count);
uint32_t etcd_session_node(uint64_t session);

/* Requests: the body is appended, the path is returned, static. */
const char *etcd_grant(uint64_t session, uint64_t ttl_ns, struct text *out);
const char *etcd_keepalive(uint64_t session, struct text *out);
const char *etcd_revoke(uint64_t session, struct text *out);
const char *etcd_leases(struct text *out);
/* Put `key` if it is absent, else show it. */
const char *etcd_create(const char *key, uint32_t node, uint64_t session, struct text *out);
/* Of the records numbered min..max (0: unbounded) the first, or the last; and the row. */
const char *etcd_look(uint64_t min, uint64_t max, bool last, struct text *out);
/* Delete the record if it is still the one of that number. */
const char *etcd_delete(const char *key, uint64_t record, struct text *out);
/* The row and its end. */
const char *etcd_row(struct text *out);
/* What was seen of both when it is written: otherwise nothing is. */
struct etcd_row_seen {
    uint64_t row_mod, until_mod; /* 0: absent */
};
const char *etcd_row_take(const struct etcd_row_seen *seen, uint32_t node, uint32_t name,
                          uint64_t until_ns, struct text *out);
const char *etcd_row_extend(const struct etcd_row_seen *seen, uint64_t until_ns, struct text *out);
const char *etcd_row_release(uint64_t row_mod, struct text *out);
/* Changes from `revision` on: of one key that goes, or of all that is ours, with what was before.
 */
const char *etcd_watch_key(const char *key, uint64_t revision, struct text *out);
const char *etcd_watch_all(uint64_t revision, struct text *out);
/* Who are you? */
const char *etcd_status(struct text *out);

#endif
