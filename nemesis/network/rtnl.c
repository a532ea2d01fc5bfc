#include "nemesis/network/rtnl.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define REQUEST_BYTES_MAX 4096u /* room for one */
#define SEND_BYTES_MAX 65536u
#define SEND_REQUESTS_MAX 128u /* whose answers fit into a receive buffer of the usual size */
#define ANSWERS_AT_ONCE 16u
#define ANSWER_BYTES_MAX 4096u

int rtnl_open(struct rtnl *rtnl, struct error *error)
{
    int on = 1;
    *rtnl =
        (struct rtnl){.socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC), .next_sequence = 1};
    if (!rtnl->socket || mnl_socket_bind(rtnl->socket, 0, MNL_SOCKET_AUTOPID) < 0) {
        int code = errno;
        rtnl_close(rtnl);
        return error_set(error, -code, "open a netlink socket: %s", strerror(code));
    }
    /* Earlier kernels do without: longer errors, or fewer words. */
    (void)mnl_socket_setsockopt(rtnl->socket, NETLINK_EXT_ACK, &on, sizeof on);
    (void)mnl_socket_setsockopt(rtnl->socket, NETLINK_CAP_ACK, &on, sizeof on);
    return 0;
}

void rtnl_close(struct rtnl *rtnl)
{
    if (rtnl->socket)
        (void)mnl_socket_close(rtnl->socket); /* nothing is buffered in it */
    free(rtnl->packed);
    free(rtnl->room);
    *rtnl = (struct rtnl){0};
}

static struct nlmsghdr *request_at(const struct rtnl *rtnl, size_t at)
{
    return (struct nlmsghdr *)(void *)(rtnl->packed + at);
}

static size_t end_of(const struct rtnl *rtnl, size_t at)
{
    size_t length = request_at(rtnl, at)->nlmsg_len;
    return at + ((length + MNL_ALIGNTO - 1) & ~(size_t)(MNL_ALIGNTO - 1));
}

struct nlmsghdr *rtnl_request(struct rtnl *rtnl, uint16_t type, uint16_t flags, size_t extra,
                              void *ret_extra)
{
    size_t at = rtnl->packed_count ? end_of(rtnl, rtnl->last) : 0;
    if (at + REQUEST_BYTES_MAX > rtnl->capacity) {
        rtnl->capacity = 2 * rtnl->capacity + REQUEST_BYTES_MAX;
        rtnl->packed = must_grow(rtnl->packed, rtnl->capacity, 1);
    }
    rtnl->last = at;
    rtnl->packed_count++;
    struct nlmsghdr *head = mnl_nlmsg_put_header(rtnl->packed + at);
    head->nlmsg_type = type;
    head->nlmsg_flags = NLM_F_REQUEST | flags;
    head->nlmsg_seq = rtnl->next_sequence++;
    *(void **)ret_extra = mnl_nlmsg_put_extra_header(head, extra);
    return head;
}

/* Where the part ends that may be sent in one go, and how many requests it holds. */
static size_t part_from(const struct rtnl *rtnl, size_t begin, uint32_t left, uint32_t *ret_count)
{
    size_t at = begin;
    uint32_t count = 0;
    while (count < left && count < SEND_REQUESTS_MAX &&
           (count == 0 || end_of(rtnl, at) - begin <= SEND_BYTES_MAX)) {
        at = end_of(rtnl, at);
        count++;
    }
    *ret_count = count;
    return at;
}

int rtnl_send(struct rtnl *rtnl, rtnl_answer answer, void *context, struct error *error)
{
    uint32_t left = rtnl->packed_count, count;
    int rc = 0;
    rtnl->packed_count = 0;
    for (size_t begin = 0, end; left && rc == 0; begin = end, left -= count) {
        end = part_from(rtnl, begin, left, &count);
        if (rtnl->unanswered)
            rc = rtnl_receive(rtnl, answer, context, error);
        if (rc == 0 && mnl_socket_sendto(rtnl->socket, rtnl->packed + begin, end - begin) < 0)
            rc = error_set(error, -errno, "send to the kernel: %s", strerror(errno));
        if (rc == 0)
            rtnl->unanswered += count;
    }
    return rc;
}

/* ---- answers ---- */

static int take_word(const struct nlattr *attribute, void *context)
{
    const char **words = context;
    if (mnl_attr_get_type(attribute) == NLMSGERR_ATTR_MSG &&
        mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) == 0)
        *words = mnl_attr_get_str(attribute);
    return MNL_CB_OK;
}

/* The kernel's verdict on a request: 0, or the error with the kernel's own words if it has some. */
static int read_verdict(const struct nlmsghdr *head, struct error *error)
{
    const struct nlmsgerr *verdict = mnl_nlmsg_get_payload(head);
    const char *words = NULL;
    if (mnl_nlmsg_get_payload_len(head) < sizeof *verdict)
        return error_set(error, -EPROTO, "the kernel's answer is too short");
    if (verdict->error == 0)
        return 0;
    if ((head->nlmsg_flags & NLM_F_ACK_TLVS) && (head->nlmsg_flags & NLM_F_CAPPED))
        (void)mnl_attr_parse(head, sizeof *verdict, take_word, &words);
    return error_set(error, verdict->error, "%s%s%s", strerror(-verdict->error), words ? ": " : "",
                     words ? words : "");
}

struct taking {
    rtnl_answer answer;
    void *context;
    struct error *error;
    uint32_t last; /* sequence of the request answered last */
    int rc;
};

/* Returns how many requests this answers: several messages may answer one. */
static uint32_t take_message(struct taking *taking, const struct nlmsghdr *head)
{
    struct error ignored;
    bool another = head->nlmsg_seq != taking->last;
    taking->last = head->nlmsg_seq;
    if (head->nlmsg_type == NLMSG_ERROR) {
        int rc = read_verdict(head, taking->rc ? &ignored : taking->error);
        taking->rc = taking->rc ? taking->rc : rc;
    } else if (taking->answer) {
        taking->answer(taking->context, head);
    }
    return another;
}

static uint32_t take_bytes(struct taking *taking, const void *bytes, size_t length)
{
    const struct nlmsghdr *head = bytes;
    int left = (int)length;
    uint32_t answered = 0;
    for (; mnl_nlmsg_ok(head, left); head = mnl_nlmsg_next(head, &left))
        answered += take_message(taking, head);
    return answered;
}

/* The kernel has put every answer there before the send returned: to wait would be for ever. */
int rtnl_receive(struct rtnl *rtnl, rtnl_answer answer, void *context, struct error *error)
{
    struct taking taking = {.answer = answer, .context = context, .error = error};
    struct iovec parts[ANSWERS_AT_ONCE];
    struct mmsghdr heads[ANSWERS_AT_ONCE];
    if (rtnl->unanswered && !rtnl->room)
        rtnl->room = must_alloc(ANSWERS_AT_ONCE, ANSWER_BYTES_MAX);
    memset(heads, 0, sizeof heads);
    for (uint32_t i = 0; i < ANSWERS_AT_ONCE && rtnl->unanswered; i++) {
        parts[i] = (struct iovec){rtnl->room + (size_t)i * ANSWER_BYTES_MAX, ANSWER_BYTES_MAX};
        heads[i].msg_hdr.msg_iov = &parts[i];
        heads[i].msg_hdr.msg_iovlen = 1;
    }
    while (rtnl->unanswered) {
        int count =
            recvmmsg(mnl_socket_get_fd(rtnl->socket), heads, ANSWERS_AT_ONCE, MSG_DONTWAIT, NULL);
        if (count < 0 && taking.rc == 0)
            taking.rc = error_set(error, -errno, "%u answers of the kernel are missing: %s",
                                  rtnl->unanswered, strerror(errno));
        if (count < 0)
            break;
        for (int i = 0; i < count; i++) {
            uint32_t answered = take_bytes(&taking, parts[i].iov_base, heads[i].msg_len);
            rtnl->unanswered -= answered < rtnl->unanswered ? answered : rtnl->unanswered;
        }
    }
    rtnl->unanswered = 0;
    return taking.rc;
}

int rtnl_do(struct rtnl *rtnl, struct error *error)
{
    int rc = rtnl_send(rtnl, NULL, NULL, error);
    return rc < 0 ? rc : rtnl_receive(rtnl, NULL, NULL, error);
}
