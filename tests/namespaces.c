#include "tests/namespaces.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool written = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    (void)close(fd);
    return written;
}

bool namespaces_allowed(void)
{
    char map[64];
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (uid == 0)
        return true;
    /* Back from another network namespace one only comes to one that is ours as well. */
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        return false;
    (void)snprintf(map, sizeof map, "0 %u 1", (unsigned)uid);
    bool mapped = write_file("/proc/self/uid_map", map);
    (void)write_file("/proc/self/setgroups", "deny");
    (void)snprintf(map, sizeof map, "0 %u 1", (unsigned)gid);
    return mapped && write_file("/proc/self/gid_map", map);
}

int namespace_call(int netns, int (*what)(void *context), void *context)
{
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (home < 0)
        return -errno;
    int rc = netns < 0 ? unshare(CLONE_NEWNET) : setns(netns, CLONE_NEWNET);
    rc = rc < 0 ? -errno : what(context);
    if (setns(home, CLONE_NEWNET) < 0)
        rc = -errno;
    (void)close(home);
    return rc;
}

static int open_own(void *context)
{
    (void)context;
    int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int namespace_new(void)
{
    return namespace_call(-1, open_own, NULL);
}

struct socket_request {
    int type;
    struct sockaddr_in address;
};

static int open_socket(void *context)
{
    const struct socket_request *request = context;
    int one = 1;
    int sock = socket(AF_INET, request->type | SOCK_CLOEXEC, 0);
    if (sock < 0)
        return -errno;
    (void)setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(sock, (const struct sockaddr *)&request->address, sizeof request->address) == 0)
        return sock;
    int rc = -errno;
    (void)close(sock);
    return rc;
}

int namespace_socket(int netns, int type, uint32_t ipv4, uint16_t port)
{
    struct socket_request request = {
        .type = type,
        .address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(ipv4)},
    };
    return namespace_call(netns, open_socket, &request);
}
