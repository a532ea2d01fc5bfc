#include "nodes/hanging.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/random.h"

/* The local port if `fd` is a TCP socket whose SYN is not yet answered, else 0. */
static uint16_t connecting_port(int fd)
{
    struct tcp_info info;
    struct sockaddr_in local;
    socklen_t info_size = sizeof info, local_size = sizeof local;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &info_size) != 0 ||
        info_size <= offsetof(struct tcp_info, tcpi_state) || info.tcpi_state != TCP_SYN_SENT)
        return 0;
    if (getsockname(fd, (struct sockaddr *)&local, &local_size) != 0)
        return 0;
    return ntohs(local.sin_port);
}

static uint64_t allowed_ns(uint16_t port, bool reached)
{
    if (reached)
        return HANGING_RECENT_NS;
    return mix64(port) % 8 == 0 ? HANGING_LONG_NS : HANGING_SHORT_NS;
}

/* NNG may close the descriptor between look and shutdown; whatever has taken its number by then is
 * at worst another connection, which is dialled again. */
void hanging_look(struct hanging *hanging, uint64_t now_ns, bool reached)
{
    for (int fd = 3; fd < HANGING_FDS; fd++) {
        uint16_t port = connecting_port(fd);
        bool same = port && hanging->attempts[fd].port == port;
        if (same && now_ns - hanging->attempts[fd].since_ns >= allowed_ns(port, reached))
            (void)shutdown(fd, SHUT_RDWR); /* fails when it has just connected or closed */
        if (!same) {
            hanging->attempts[fd].port = port;
            hanging->attempts[fd].since_ns = now_ns;
        }
    }
}
