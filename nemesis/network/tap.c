#include "nemesis/network/tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nemesis/network/ethernet.h"

#define TUN_PATH "/dev/net/tun"

/* How a node must treat TCP so that a healed network is used again at once (docs/faults.md): give
 * up connecting and resending soon, resend early, never back off for long. `optional` settings came
 * with later kernels. */
static const struct {
    const char *path, *value;
    bool optional;
} profile[] = {
    {"/proc/sys/net/ipv6/conf/all/disable_ipv6", "1", true}, /* no chatter of its own */
    {"/proc/sys/net/ipv6/conf/default/disable_ipv6", "1", true},
    {"/proc/sys/net/ipv4/tcp_syn_retries", "1", false},
    {"/proc/sys/net/ipv4/tcp_retries2", "2", false},
    {"/proc/sys/net/ipv4/tcp_keepalive_time", "1", false},
    {"/proc/sys/net/ipv4/tcp_keepalive_intvl", "1", false},
    {"/proc/sys/net/ipv4/tcp_keepalive_probes", "3", false},
    {"/proc/sys/net/ipv4/tcp_congestion_control", "reno", false},
    {"/proc/sys/net/ipv4/tcp_rto_max_ms", "1000", true},
};

#define RTO_MIN_PATH "/proc/sys/net/ipv4/tcp_rto_min_us"
#define RTO_MIN_MS 20

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

static int write_setting(const char *path, const char *value)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t written = write(fd, value, strlen(value));
    int code = written < 0 ? errno : 0;
    (void)close(fd); /* a setting takes effect with the write */
    return -code;
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
        .rto = RTO_MIN_MS,
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

/* The last of the settings that should have taken and did not, or NULL. */
static const char *apply_profile(void)
{
    const char *missing = NULL;
    for (size_t i = 0; i < sizeof profile / sizeof profile[0]; i++) {
        int rc = write_setting(profile[i].path, profile[i].value);
        if (rc < 0 && !profile[i].optional)
            missing = profile[i].path;
    }
    return missing;
}

static bool set_rto_min(const struct network_config *config, uint32_t index)
{
    char microseconds[16];
    (void)snprintf(microseconds, sizeof microseconds, "%d", RTO_MIN_MS * 1000);
    return write_setting(RTO_MIN_PATH, microseconds) == 0 ||
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

static int create(const struct network_config *config, uint32_t index, int *ret_fd,
                  const char **ret_warning, struct error *error)
{
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
    const char *missing = apply_profile(); /* IPv6 off before the interface comes up and greets */
    if (rc == 0)
        rc = configure(config, index, error);
    if (rc < 0) {
        (void)close(fd);
        return rc;
    }
    *ret_warning = set_rto_min(config, index) ? missing : RTO_MIN_PATH;
    *ret_fd = fd;
    return 0;
}

/* ---- there and back ---- */

int tap_open(const struct network_config *config, uint32_t index, int *ret_fd,
             const char **ret_warning, struct error *error)
{
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (home < 0)
        return error_set(error, -errno, "open /proc/self/ns/net: %s", strerror(errno));
    int rc = 0;
    if (setns(config->endpoints[index].netns, CLONE_NEWNET) < 0)
        rc = error_set(error, -errno, "enter the network namespace: %s", strerror(errno));
    if (rc == 0) {
        rc = create(config, index, ret_fd, ret_warning, error);
        if (setns(home, CLONE_NEWNET) < 0 && rc == 0) {
            (void)close(*ret_fd);
            rc = error_set(error, -errno, "leave the network namespace: %s", strerror(errno));
        }
    }
    (void)close(home);
    if (rc < 0) {
        char name[PROCESS_NAME_MAX];
        error_prefix(error, "network of %s", process_name(config->endpoints[index].process, name));
    }
    return rc;
}
