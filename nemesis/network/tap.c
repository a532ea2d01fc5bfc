#include "nemesis/network/tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nemesis/network/ethernet.h"
#include "nemesis/network/namespace.h"

#define TUN_PATH "/dev/net/tun"

static int open_tun(struct error *error)
{
    int fd = open(TUN_PATH, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0)
        return fd;
    int code = errno;
    const char *fix =
        code == EACCES || code == EPERM ? "sudo chmod 0666 " TUN_PATH : "sudo modprobe tun";
    return error_set(error, -code, "cannot open " TUN_PATH ": %s (try: %s)", strerror(code), fix);
}

int tap_probe(struct error *error)
{
    int fd = open_tun(error);
    if (fd < 0)
        return fd;
    (void)close(fd); /* nothing was written */
    return 0;
}

/* ---- inside the namespace ---- */

static struct ifreq request_for(const char *interface)
{
    struct ifreq request;
    memset(&request, 0, sizeof request);
    (void)snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
    return request;
}

static struct sockaddr_in internet(uint32_t ipv4)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(ipv4)};
}

static int ask(int sock, unsigned long what, void *request, const char *doing, struct error *error)
{
    if (ioctl(sock, what, request) == 0)
        return 0;
    int code = errno;
    return error_set(error, -code, "%s: %s", doing, strerror(code));
}

static int bring_up(int sock, const char *interface, struct error *error)
{
    struct ifreq request = request_for(interface);
    int rc = ask(sock, SIOCGIFFLAGS, &request, "read interface flags", error);
    if (rc < 0)
        return rc;
    request.ifr_flags = (short)(request.ifr_flags | IFF_UP);
    return ask(sock, SIOCSIFFLAGS, &request, "bring the interface up", error);
}

static int set_address(int sock, uint32_t ipv4, uint32_t prefix_bits, struct error *error)
{
    struct ifreq request = request_for(TAP_INTERFACE);
    struct sockaddr_in address = internet(ipv4);
    memcpy(&request.ifr_addr, &address, sizeof address);
    int rc = ask(sock, SIOCSIFADDR, &request, "set the address", error);
    if (rc < 0)
        return rc;
    address = internet(prefix_bits ? UINT32_MAX << (32 - prefix_bits) : 0);
    memcpy(&request.ifr_netmask, &address, sizeof address);
    return ask(sock, SIOCSIFNETMASK, &request, "set the netmask", error);
}

static int set_hardware(int sock, uint32_t index, struct error *error)
{
    struct ifreq request = request_for(TAP_INTERFACE);
    request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    ethernet_address(index, (uint8_t *)request.ifr_hwaddr.sa_data);
    int rc = ask(sock, SIOCSIFHWADDR, &request, "set the hardware address", error);
    if (rc < 0)
        return rc;
    request = request_for(TAP_INTERFACE);
    request.ifr_mtu = TAP_MTU;
    return ask(sock, SIOCSIFMTU, &request, "set the MTU", error);
}

static int add_neighbours(int sock, const struct network_config *config, uint32_t index,
                          struct error *error)
{
    for (uint32_t i = 0; i < config->endpoint_count; i++) {
        struct arpreq request = {.arp_flags = ATF_PERM | ATF_COM};
        struct sockaddr_in address = internet(config->endpoints[i].ipv4);
        if (i == index)
            continue;
        memcpy(&request.arp_pa, &address, sizeof address);
        request.arp_ha.sa_family = ARPHRD_ETHER;
        ethernet_address(i, (uint8_t *)request.arp_ha.sa_data);
        (void)snprintf(request.arp_dev, sizeof request.arp_dev, "%s", TAP_INTERFACE);
        int rc = ask(sock, SIOCSARP, &request, "add a neighbour", error);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Earlier kernels know the shortest resend time as a metric of the route only. */
static int set_route_rto_min(const struct endpoint *endpoint, uint32_t prefix_bits)
{
    struct {
        struct nlmsghdr head;
        struct rtmsg route;
        struct rtattr destination_head;
        uint32_t destination;
        struct rtattr source_head;
        uint32_t source;
        struct rtattr interface_head;
        uint32_t interface;
        struct rtattr metrics_head;
        struct rtattr lock_head;
        uint32_t lock;
        struct rtattr rto_head;
        uint32_t rto;
    } request = {
        .head = {sizeof request, RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_ACK | NLM_F_REPLACE, 1, 0},
        .route = {.rtm_family = AF_INET,
                  .rtm_dst_len = (unsigned char)prefix_bits,
                  .rtm_table = RT_TABLE_MAIN,
                  .rtm_protocol = RTPROT_KERNEL,
                  .rtm_scope = RT_SCOPE_LINK,
                  .rtm_type = RTN_UNICAST},
        .destination_head = {RTA_LENGTH(4), RTA_DST},
        .destination = htonl(endpoint->ipv4 & (UINT32_MAX << (32 - prefix_bits))),
        .source_head = {RTA_LENGTH(4), RTA_PREFSRC},
        .source = htonl(endpoint->ipv4),
        .interface_head = {RTA_LENGTH(4), RTA_OIF},
        .interface = if_nametoindex(TAP_INTERFACE),
        .metrics_head = {RTA_LENGTH(2 * RTA_LENGTH(4)), RTA_METRICS},
        .lock_head = {RTA_LENGTH(4), RTAX_LOCK},
        .lock = 1u << RTAX_RTO_MIN,
        .rto_head = {RTA_LENGTH(4), RTAX_RTO_MIN},
        .rto = NAMESPACE_RTO_MIN_MS,
    };
    struct {
        struct nlmsghdr head;
        struct nlmsgerr answer;
        char rest[256];
    } reply = {.answer.error = -EPROTO};
    int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (sock < 0)
        return -errno;
    bool asked = send(sock, &request, sizeof request, 0) == (ssize_t)sizeof request &&
                 recv(sock, &reply, sizeof reply, 0) >= (ssize_t)NLMSG_LENGTH(sizeof reply.answer);
    (void)close(sock);
    return asked ? reply.answer.error : -EIO;
}

/* False: TCP will take longer to resend. */
static bool set_rto_min(const struct network_config *config, uint32_t index)
{
    return config->tcp_as_kernel || namespace_rto_min() ||
           set_route_rto_min(&config->endpoints[index], config->prefix_bits) == 0;
}

static int configure(const struct network_config *config, uint32_t index, struct error *error)
{
    int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sock < 0)
        return error_set(error, -errno, "open a socket: %s", strerror(errno));
    int rc = set_hardware(sock, index, error);
    if (rc == 0)
        rc = set_address(sock, config->endpoints[index].ipv4, config->prefix_bits, error);
    if (rc == 0)
        rc = bring_up(sock, TAP_INTERFACE, error);
    if (rc == 0)
        rc = bring_up(sock, "lo", error);
    if (rc == 0)
        rc = add_neighbours(sock, config, index, error);
    (void)close(sock);
    return rc;
}

struct creation {
    const struct network_config *config;
    int fd;
    const char *warning;
};

static int create(void *context, uint32_t index, struct error *error)
{
    struct creation *creation = context;
    struct ifreq request = request_for(TAP_INTERFACE);
    int fd = open_tun(error);
    if (fd < 0)
        return fd;
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    int rc = ask(fd, TUNSETIFF, &request, "create the interface", error);
    /* The interface goes with its namespace, of which the kernel clears away many at once; taking
     * it out alone, when its descriptor is closed, takes some 20 ms each. A kernel that refuses is
     * slower, no more. */
    (void)ioctl(fd, TUNSETPERSIST, 1L);
    namespace_prepare(creation->config, &creation->warning);
    if (rc == 0)
        rc = configure(creation->config, index, error);
    if (rc < 0) {
        (void)close(fd);
        return rc;
    }
    if (!set_rto_min(creation->config, index))
        creation->warning = "the shortest time to resend";
    creation->fd = fd;
    return 0;
}

int tap_open(const struct network_config *config, uint32_t index, int *ret_fd,
             const char **ret_warning, struct error *error)
{
    struct creation creation = {.config = config, .fd = -1};
    int rc = namespace_run(config, index, create, &creation, error);
    if (rc < 0) {
        if (creation.fd >= 0)
            (void)close(creation.fd); /* there is no way back to the namespace we came from */
        return rc;
    }
    *ret_fd = creation.fd;
    *ret_warning = creation.warning;
    return 0;
}
