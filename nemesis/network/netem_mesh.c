#include "nemesis/network/netem_mesh.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nemesis/network/ethernet.h"
#include "nemesis/network/namespace.h"
#include "nemesis/network/netem_requests.h"

#define LOOPBACK_INDEX 1

struct build {
    const struct network_config *config;
    struct netem_side *sides;
    const char *warning;
};

bool netem_linked(const struct network_config *config, uint32_t from, uint32_t to)
{
    return from != to && (process_kind(config->endpoints[from].process) != PROCESS_CLIENT ||
                          process_kind(config->endpoints[to].process) != PROCESS_CLIENT);
}

/* ---- namespaces ---- */

static int open_side(void *context, uint32_t index, struct error *error)
{
    struct build *build = context;
    struct netem_side *side = &build->sides[index];
    namespace_prepare(build->config, &build->warning);
    side->rto_min = build->config->tcp_as_kernel || namespace_rto_min();
    side->checksum_errors = open("/proc/self/net/snmp", O_RDONLY | O_CLOEXEC);
    if (side->checksum_errors < 0)
        return error_set(error, -errno, "open /proc/self/net/snmp: %s", strerror(errno));
    return rtnl_open(&side->rtnl, error);
}

void netem_mesh_close(struct netem_side *sides, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        rtnl_close(&sides[i].rtnl);
        if (sides[i].checksum_errors > 0)
            (void)close(sides[i].checksum_errors); /* was only read */
    }
}

/* ---- a pair of interfaces ---- */

/* The interface of `at` towards `to`: what both ends of a pair are told alike. */
static void put_interface(struct nlmsghdr *head, const struct network_config *config, uint32_t at,
                          uint32_t to)
{
    uint8_t address[ETHERNET_ADDRESS_BYTES];
    char name[PROCESS_NAME_MAX];
    ethernet_address(at, address);
    mnl_attr_put_strz(head, IFLA_IFNAME, process_name(config->endpoints[to].process, name));
    mnl_attr_put(head, IFLA_ADDRESS, sizeof address, address);
    mnl_attr_put_u32(head, IFLA_MTU, 1500);
    mnl_attr_put_u32(head, IFLA_NUM_TX_QUEUES, 1);
    mnl_attr_put_u32(head, IFLA_NUM_RX_QUEUES, 1);
}

static struct ifinfomsg interface_head(uint32_t to)
{
    return (struct ifinfomsg){.ifi_family = AF_UNSPEC,
                              .ifi_index = (int)netem_interface(to),
                              .ifi_flags = IFF_UP,
                              .ifi_change = IFF_UP};
}

static void request_pair(const struct build *build, uint32_t from, uint32_t to)
{
    const struct network_config *config = build->config;
    struct ifinfomsg *interface;
    struct nlmsghdr *head =
        rtnl_request(&build->sides[from].rtnl, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK,
                     sizeof *interface, &interface);
    *interface = interface_head(to);
    put_interface(head, config, from, to);
    struct nlattr *info = mnl_attr_nest_start(head, IFLA_LINKINFO);
    mnl_attr_put_strz(head, IFLA_INFO_KIND, "veth");
    struct nlattr *data = mnl_attr_nest_start(head, IFLA_INFO_DATA);
    struct nlattr *peer = mnl_attr_nest_start(head, VETH_INFO_PEER);
    interface = mnl_nlmsg_put_extra_header(head, sizeof *interface);
    *interface = interface_head(from);
    interface->ifi_flags = interface->ifi_change = 0; /* cannot come up before it has a peer */
    put_interface(head, config, to, from);
    mnl_attr_put_u32(head, IFLA_NET_NS_FD, (uint32_t)config->endpoints[to].netns);
    mnl_attr_nest_end(head, peer);
    mnl_attr_nest_end(head, data);
    mnl_attr_nest_end(head, info);
}

static int make_pairs(const struct build *build, uint32_t from, struct error *error)
{
    for (uint32_t to = from + 1; to < build->config->endpoint_count; to++)
        if (netem_linked(build->config, from, to))
            request_pair(build, from, to);
    int rc = rtnl_do(&build->sides[from].rtnl, error);
    if (rc < 0)
        error_prefix(error, "create veth interfaces");
    return rc;
}

/* ---- addresses and routes ---- */

static void request_up(struct rtnl *rtnl, uint32_t index)
{
    struct ifinfomsg *interface;
    (void)rtnl_request(rtnl, RTM_NEWLINK, NLM_F_ACK, sizeof *interface, &interface);
    *interface = (struct ifinfomsg){.ifi_family = AF_UNSPEC,
                                    .ifi_index = (int)index,
                                    .ifi_flags = IFF_UP,
                                    .ifi_change = IFF_UP};
}

/* One address for all interfaces: they are chosen by the route to the peer. */
static void request_address(const struct build *build, uint32_t at)
{
    struct ifaddrmsg *address;
    struct nlmsghdr *head =
        rtnl_request(&build->sides[at].rtnl, RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK,
                     sizeof *address, &address);
    *address =
        (struct ifaddrmsg){.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = LOOPBACK_INDEX};
    mnl_attr_put_u32(head, IFA_LOCAL, htonl(build->config->endpoints[at].ipv4));
    mnl_attr_put_u32(head, IFA_ADDRESS, htonl(build->config->endpoints[at].ipv4));
}

/* A permanent neighbour: a cut must not leave a failed one behind. */
static void request_neighbour(const struct build *build, uint32_t at, uint32_t to)
{
    uint8_t address[ETHERNET_ADDRESS_BYTES];
    struct ndmsg *neighbour;
    struct nlmsghdr *head =
        rtnl_request(&build->sides[at].rtnl, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK,
                     sizeof *neighbour, &neighbour);
    *neighbour = (struct ndmsg){
        .ndm_family = AF_INET, .ndm_ifindex = (int)netem_interface(to), .ndm_state = NUD_PERMANENT};
    ethernet_address(to, address);
    mnl_attr_put_u32(head, NDA_DST, htonl(build->config->endpoints[to].ipv4));
    mnl_attr_put(head, NDA_LLADDR, sizeof address, address);
}

static void request_route(const struct build *build, uint32_t at, uint32_t to)
{
    const struct netem_side *side = &build->sides[at];
    struct rtmsg *route;
    struct nlmsghdr *head =
        rtnl_request(&build->sides[at].rtnl, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK,
                     sizeof *route, &route);
    *route = (struct rtmsg){.rtm_family = AF_INET,
                            .rtm_dst_len = 32,
                            .rtm_table = RT_TABLE_MAIN,
                            .rtm_protocol = RTPROT_STATIC,
                            .rtm_scope = RT_SCOPE_LINK,
                            .rtm_type = RTN_UNICAST};
    mnl_attr_put_u32(head, RTA_DST, htonl(build->config->endpoints[to].ipv4));
    mnl_attr_put_u32(head, RTA_PREFSRC, htonl(build->config->endpoints[at].ipv4));
    mnl_attr_put_u32(head, RTA_OIF, netem_interface(to));
    if (side->rto_min)
        return;
    struct nlattr *metrics = mnl_attr_nest_start(head, RTA_METRICS);
    mnl_attr_put_u32(head, RTAX_LOCK, 1u << RTAX_RTO_MIN);
    mnl_attr_put_u32(head, RTAX_RTO_MIN, NAMESPACE_RTO_MIN_MS);
    mnl_attr_nest_end(head, metrics);
}

static int configure(const struct build *build, uint32_t at, struct error *error)
{
    const struct impairment clean = {0};
    const struct netem_settings settings = netem_settings_of(&clean);
    struct rtnl *rtnl = &build->sides[at].rtnl;
    request_up(rtnl, LOOPBACK_INDEX);
    request_address(build, at);
    for (uint32_t to = 0; to < build->config->endpoint_count; to++) {
        if (!netem_linked(build->config, at, to))
            continue;
        if (at > to) /* the other end of the pair was created up */
            request_up(rtnl, netem_interface(to));
        request_neighbour(build, at, to);
        request_route(build, at, to);
        netem_request_replacement(rtnl, to, NETEM_HANDLE, &settings);
    }
    int rc = rtnl_do(rtnl, error);
    if (rc < 0)
        error_prefix(error, "configure veth interfaces with netem");
    return rc;
}

int netem_mesh_open(const struct network_config *config, struct netem_side *sides,
                    const char **ret_warning, struct error *error)
{
    struct build build = {.config = config, .sides = sides};
    int rc = 0;
    for (uint32_t i = 0; i < config->endpoint_count && rc == 0; i++) {
        const char *warning = build.warning;
        rc = namespace_run(config, i, open_side, &build, error);
        build.warning = build.warning ? build.warning : warning;
    }
    for (uint32_t i = 0; i < config->endpoint_count && rc == 0; i++)
        rc = make_pairs(&build, i, error);
    for (uint32_t i = 0; i < config->endpoint_count && rc == 0; i++)
        rc = configure(&build, i, error);
    *ret_warning = build.warning;
    return rc;
}

/* ---- checksum errors ---- */

/* The value in the second line under that name in the first: "Udp: InDatagrams NoPorts ...". */
static uint64_t column(const char *text, const char *table, const char *name)
{
    const char *names = strstr(text, table), *values = names ? strstr(names + 1, table) : NULL;
    while (values && *values != '\n' && *names != '\n') {
        size_t length = strcspn(names, " \n");
        if (length == strlen(name) && strncmp(names, name, length) == 0)
            return strtoull(values, NULL, 10);
        names += length;
        names += strspn(names, " ");
        values += strcspn(values, " \n");
        values += strspn(values, " ");
    }
    return 0;
}

uint64_t netem_checksum_errors(const struct netem_side *side)
{
    char text[8192];
    ssize_t length = pread(side->checksum_errors, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return column(text, "Ip: ", "InHdrErrors") + column(text, "Tcp: ", "InCsumErrors") +
           column(text, "Udp: ", "InCsumErrors");
}
