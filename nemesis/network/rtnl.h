/* A rtnetlink socket of one network namespace: requests are packed, sent in one go, and every one
 * of them is answered: by an acknowledgement, by what the kernel has now (NLM_F_ECHO), or by an
 * error. The kernel carries requests out, in order, before the send returns. */
#ifndef COUP_NEMESIS_NETWORK_RTNL_H
#define COUP_NEMESIS_NETWORK_RTNL_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Zeroed is closed. */
struct rtnl {
    struct mnl_socket *socket;
    char *packed; /* requests not yet sent, the last of them at `last`; owned */
    size_t last, capacity;
    char *room; /* for answers; kept, because fresh memory takes longer than the kernel does */
    uint32_t next_sequence; /* of the next request */
    uint32_t packed_count;
    uint32_t unanswered; /* of those sent */
};

/* Of the namespace that the caller is in. */
int rtnl_open(struct rtnl *rtnl, struct error *error);
void rtnl_close(struct rtnl *rtnl);

/* Pack another request. It is valid, and can be added to by mnl_attr_put_...(), until the next.
 * `extra` bytes of header behind nlmsghdr, zeroed, are at `*ret_extra`. Its nlmsg_seq is how an
 * answer tells what it answers. */
struct nlmsghdr *rtnl_request(struct rtnl *rtnl, uint16_t type, uint16_t flags, size_t extra,
                              void *ret_extra);

/* One message of an answer, not an acknowledgement; NULL where nobody wants them. */
typedef void (*rtnl_answer)(void *context, const struct nlmsghdr *message);

/* Send all that is packed: in one go, unless that is more than a socket takes. */
int rtnl_send(struct rtnl *rtnl, rtnl_answer answer, void *context, struct error *error);

/* Take the answers to all that was sent. -errno with the kernel's words for the first request that
 * failed; the others have been carried out. */
int rtnl_receive(struct rtnl *rtnl, rtnl_answer answer, void *context, struct error *error);

/* Both, for requests whose answers tell nothing but that they worked. */
int rtnl_do(struct rtnl *rtnl, struct error *error);

#endif
