#include "nemesis/network/netem_requests.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/gen_stats.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <string.h>

#define GATE_FILTER 1u
#define ATTRIBUTES_MAX 32u

static struct nlmsghdr *request(struct rtnl *rtnl, uint16_t type, uint16_t flags, uint32_t to,
                                uint32_t parent, uint32_t handle)
{
    struct tcmsg *tc;
    struct nlmsghdr *head = rtnl_request(rtnl, type, flags, sizeof *tc, &tc);
    *tc = (struct tcmsg){.tcm_family = AF_UNSPEC,
                         .tcm_ifindex = (int)netem_interface(to),
                         .tcm_parent = parent,
                         .tcm_handle = handle};
    return head;
}

/* ---- the qdisc ---- */

/* Every field, also those at 0: the qdisc keeps what is not named. No correlation, which would make
 * the kernel forget most of a loss. */
static void put_settings(struct nlmsghdr *head, const struct netem_settings *settings)
{
    const struct tc_netem_qopt options = {.limit = settings->limit,
                                          .loss = settings->loss,
                                          .gap = settings->gap,
                                          .duplicate = settings->duplicate};
    const struct tc_netem_corr correlation = {0};
    const struct tc_netem_reorder reorder = {.probability = settings->reorder};
    const struct tc_netem_corrupt corrupt = {.probability = settings->corrupt};
    uint64_t bytes = settings->rate_bytes_per_s;
    const struct tc_netem_rate rate = {.rate = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes};
    mnl_attr_put_strz(head, TCA_KIND, "netem");
    struct nlattr *nest = mnl_attr_nest_start(head, TCA_OPTIONS);
    memcpy(mnl_nlmsg_put_extra_header(head, sizeof options), &options, sizeof options);
    mnl_attr_put(head, TCA_NETEM_CORR, sizeof correlation, &correlation);
    mnl_attr_put(head, TCA_NETEM_REORDER, sizeof reorder, &reorder);
    mnl_attr_put(head, TCA_NETEM_CORRUPT, sizeof corrupt, &corrupt);
    mnl_attr_put(head, TCA_NETEM_RATE, sizeof rate, &rate);
    mnl_attr_put_u64(head, TCA_NETEM_RATE64, bytes);
    mnl_attr_put_u64(head, TCA_NETEM_LATENCY64, (uint64_t)settings->latency_ns);
    mnl_attr_put_u64(head, TCA_NETEM_JITTER64, (uint64_t)settings->jitter_ns);
    mnl_attr_nest_end(head, nest);
}

void netem_request_settings(struct rtnl *rtnl, uint32_t to, const struct netem_settings *settings)
{
    put_settings(request(rtnl, RTM_NEWQDISC, NLM_F_ECHO, to, TC_H_ROOT, 0), settings);
}

void netem_request_replacement(struct rtnl *rtnl, uint32_t to, uint32_t handle,
                               const struct netem_settings *settings)
{
    put_settings(request(rtnl, RTM_NEWQDISC, NLM_F_ECHO | NLM_F_CREATE | NLM_F_REPLACE, to,
                         TC_H_ROOT, handle),
                 settings);
}

void netem_request_reading(struct rtnl *rtnl, uint32_t to)
{
    (void)request(rtnl, RTM_GETQDISC, NLM_F_ECHO, to, TC_H_ROOT, 0);
}

/* ---- the gate ---- */

void netem_request_gate(struct rtnl *rtnl, uint32_t to)
{
    struct nlmsghdr *head = request(rtnl, RTM_NEWQDISC, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, to,
                                    TC_H_CLSACT, TC_H_MAKE(TC_H_CLSACT, 0));
    mnl_attr_put_strz(head, TCA_KIND, "clsact");
}

#define FRAME_TYPE 12u
#define IPV4_HEAD 14u
#define IPV4_LENGTH (IPV4_HEAD + 2u)
#define IPV4_FRAGMENT (IPV4_HEAD + 6u)
#define IPV4_PROTOCOL (IPV4_HEAD + 9u)
#define TCP_DATA_OFFSET 12u

/* Drops what ethernet_carries_data() says, of IPv4; without a word to the sender, whose TCP would
 * not count it as sent, try again with every acknowledgement, and lose that too. Loads beyond the
 * frame end it with 0, which lets it pass. */
static const struct sock_filter drop_data[] = {
    BPF_STMT(BPF_LD | BPF_H | BPF_ABS, FRAME_TYPE),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 16),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, IPV4_PROTOCOL),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 14),
    BPF_STMT(BPF_LD | BPF_H | BPF_ABS, IPV4_FRAGMENT),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x1fff, 11, 0),
    BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, IPV4_HEAD), /* X = bytes of the IPv4 head */
    BPF_STMT(BPF_LD | BPF_H | BPF_ABS, IPV4_LENGTH),
    BPF_STMT(BPF_ALU | BPF_SUB | BPF_X, 0),
    BPF_STMT(BPF_ST, 0), /* bytes of the segment */
    BPF_STMT(BPF_LD | BPF_B | BPF_IND, IPV4_HEAD + TCP_DATA_OFFSET),
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0),
    BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 2), /* bytes of the TCP head */
    BPF_STMT(BPF_MISC | BPF_TAX, 0),
    BPF_STMT(BPF_LD | BPF_MEM, 0),
    BPF_STMT(BPF_ALU | BPF_SUB | BPF_X, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, TC_ACT_STOLEN),
    BPF_STMT(BPF_RET | BPF_K, TC_ACT_OK),
};

static const struct sock_filter pass[] = {BPF_STMT(BPF_RET | BPF_K, TC_ACT_OK)};

void netem_request_gate_cuts(struct rtnl *rtnl, uint32_t to, bool cuts_data)
{
    const struct sock_filter *program = cuts_data ? drop_data : pass;
    size_t bytes = cuts_data ? sizeof drop_data : sizeof pass;
    struct nlmsghdr *head = request(rtnl, RTM_NEWTFILTER, NLM_F_ACK | NLM_F_CREATE, to,
                                    TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS), GATE_FILTER);
    struct tcmsg *tc = mnl_nlmsg_get_payload(head);
    tc->tcm_info = TC_H_MAKE(1u << 16, htons(ETH_P_ALL));
    mnl_attr_put_strz(head, TCA_KIND, "bpf");
    struct nlattr *nest = mnl_attr_nest_start(head, TCA_OPTIONS);
    mnl_attr_put_u16(head, TCA_BPF_OPS_LEN, (uint16_t)(bytes / sizeof *program));
    mnl_attr_put(head, TCA_BPF_OPS, bytes, program);
    mnl_attr_put_u32(head, TCA_BPF_FLAGS, TCA_BPF_FLAG_ACT_DIRECT);
    mnl_attr_nest_end(head, nest);
}

void netem_request_gate_reading(struct rtnl *rtnl, uint32_t to)
{
    (void)request(rtnl, RTM_GETQDISC, NLM_F_ECHO, to, TC_H_CLSACT, 0);
}

/* ---- answers ---- */

struct attributes {
    const struct nlattr *at[ATTRIBUTES_MAX];
};

static int sort_in(const struct nlattr *attribute, void *context)
{
    struct attributes *found = context;
    uint16_t type = mnl_attr_get_type(attribute);
    if (type < ATTRIBUTES_MAX)
        found->at[type] = attribute;
    return MNL_CB_OK;
}

/* What an attribute holds, as far as it goes, into `out`, which is zeroed. False: not there. */
static bool copy(const struct nlattr *attribute, void *out, size_t bytes)
{
    if (!attribute)
        return false;
    size_t there = mnl_attr_get_payload_len(attribute);
    memcpy(out, mnl_attr_get_payload(attribute), there < bytes ? there : bytes);
    return true;
}

static bool read_settings(const struct nlattr *attribute, struct netem_settings *out)
{
    struct attributes found = {{NULL}};
    struct tc_netem_qopt options = {0};
    struct tc_netem_reorder reorder = {0};
    struct tc_netem_corrupt corrupt = {0};
    struct tc_netem_rate rate = {0};
    uint64_t rate64 = 0;
    if (!attribute || mnl_attr_get_payload_len(attribute) < sizeof options)
        return false;
    const char *payload = mnl_attr_get_payload(attribute);
    memcpy(&options, payload, sizeof options);
    (void)mnl_attr_parse_payload(payload + sizeof options,
                                 mnl_attr_get_payload_len(attribute) - sizeof options, sort_in,
                                 &found);
    *out = (struct netem_settings){.limit = options.limit,
                                   .loss = options.loss,
                                   .duplicate = options.duplicate,
                                   .gap = options.gap};
    (void)copy(found.at[TCA_NETEM_REORDER], &reorder, sizeof reorder);
    (void)copy(found.at[TCA_NETEM_CORRUPT], &corrupt, sizeof corrupt);
    (void)copy(found.at[TCA_NETEM_RATE], &rate, sizeof rate);
    out->reorder = reorder.probability;
    out->corrupt = corrupt.probability;
    out->rate_bytes_per_s =
        copy(found.at[TCA_NETEM_RATE64], &rate64, sizeof rate64) ? rate64 : rate.rate;
    return copy(found.at[TCA_NETEM_LATENCY64], &out->latency_ns, sizeof out->latency_ns) &&
           copy(found.at[TCA_NETEM_JITTER64], &out->jitter_ns, sizeof out->jitter_ns);
}

static bool read_statistics(const struct nlattr *attribute, struct netem_answer *out)
{
    struct attributes found = {{NULL}};
    struct gnet_stats_basic basic = {0};
    struct gnet_stats_queue queue = {0};
    if (!attribute || mnl_attr_parse_nested(attribute, sort_in, &found) < 0)
        return false;
    bool there = copy(found.at[TCA_STATS_BASIC], &basic, sizeof basic) &&
                 copy(found.at[TCA_STATS_QUEUE], &queue, sizeof queue);
    out->reading = (struct netem_reading){.sent = basic.packets,
                                          .queued = queue.qlen,
                                          .dropped = queue.drops,
                                          .reordered = queue.requeues};
    out->gate_reading = (struct gate_reading){.arrived = basic.packets};
    return there;
}

bool netem_answer_read(const struct nlmsghdr *message, struct netem_answer *out)
{
    struct attributes found = {{NULL}};
    const struct tcmsg *tc = mnl_nlmsg_get_payload(message);
    if ((message->nlmsg_type != RTM_NEWQDISC && message->nlmsg_type != RTM_DELQDISC) ||
        mnl_nlmsg_get_payload_len(message) < sizeof *tc ||
        mnl_attr_parse(message, sizeof *tc, sort_in, &found) < 0 || !found.at[TCA_KIND])
        return false;
    const char *kind = mnl_attr_get_str(found.at[TCA_KIND]);
    *out = (struct netem_answer){.to = (uint32_t)tc->tcm_ifindex - NETEM_FIRST_INTERFACE,
                                 .gate = strcmp(kind, "clsact") == 0,
                                 .gone = message->nlmsg_type == RTM_DELQDISC};
    if (!out->gate && strcmp(kind, "netem") != 0)
        return false;
    out->complete = read_statistics(found.at[TCA_STATS2], out) &&
                    (out->gate || read_settings(found.at[TCA_OPTIONS], &out->settings));
    return true;
}
