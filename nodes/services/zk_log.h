/* ZooKeeper's transaction log (its source, FileTxnLog): what the server wrote down before it
 * answered, in order. A file begins with "ZKLG" and 12 bytes more; each transaction is a checksum
 * (Adler-32 in 8 bytes), its length in 4, its bytes and a 'B'; zeros follow the last. Pure. */
#ifndef COUP_NODES_SERVICES_ZK_LOG_H
#define COUP_NODES_SERVICES_ZK_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZK_LOG_HEADER 16u
#define ZK_PATH_MAX 128u

enum zk_type { ZK_OTHER, ZK_CREATE, ZK_DELETE, ZK_CLOSE_SESSION };

struct zk_transaction {
    enum zk_type type;
    uint64_t zxid, session; /* the session that asked, or is over */
    char path[ZK_PATH_MAX]; /* create, delete; "": longer than any of ours */
    char data[ZK_PATH_MAX]; /* create; printable, or "" */
};

/* The transaction at `*at`, which moves behind it. False: it is not wholly there (yet): `*at`
 * stays. Damage looks the same, and is what a kill leaves at the end of a file. */
bool zk_log_next(const uint8_t *bytes, size_t length, size_t *at, struct zk_transaction *out);

/* Of the records' paths: /coup/leader, and /coup/q/SESSION-NODE-SEQUENCE with the session in 16
 * hexadecimal digits and the sequence in 10 decimal ones, as the server appends it. */
#define ZK_ROOT "/coup"
#define ZK_LEADER ZK_ROOT "/leader"
#define ZK_QUEUE ZK_ROOT "/q"
struct zk_name {
    uint64_t session, record; /* the sequence and one */
    uint32_t node;
};
/* The last part of such a path; false: it is none. */
bool zk_name_read(const char *name, uint32_t nodes, struct zk_name *out);
/* What the leader's record holds: its node. */
bool zk_node_read(const char *data, uint32_t nodes, uint32_t *ret_node);

#endif
