#include "nodes/services/zk_link.h"

#include <stdlib.h>
#include <sys/time.h>

/* The client's socket in the loop; on the heap, because it closes late. */
struct zk_watched {
    uv_poll_t poll;
    int fd;
};

static void on_closed(uv_handle_t *handle)
{
    free(handle); /* it is the first member */
}

/* The client closes its socket itself when a connection is lost, and may get the same number again:
 * whoever hears of a loss forgets the socket first. */
static void unwatch(struct zk_link *link)
{
    if (!link->watched)
        return;
    (void)uv_poll_stop(&link->watched->poll);
    uv_close((uv_handle_t *)&link->watched->poll, on_closed);
    link->watched = NULL;
}

static void on_socket(uv_poll_t *poll, int status, int events)
{
    struct zk_link *link = poll->data;
    int what =
        (events & UV_READABLE ? ZOOKEEPER_READ : 0) | (events & UV_WRITABLE ? ZOOKEEPER_WRITE : 0);
    if (status < 0)
        what = ZOOKEEPER_READ | ZOOKEEPER_WRITE; /* the client finds the error itself */
    link->busy = true;
    int rc = zookeeper_process(link->handle, what);
    link->busy = false;
    if (rc != ZOK)
        unwatch(link);
    zk_link_moved(link);
}

static void watch(struct zk_link *link, int fd, int interest)
{
    int events = (interest & ZOOKEEPER_READ ? UV_READABLE : 0) |
                 (interest & ZOOKEEPER_WRITE ? UV_WRITABLE : 0);
    if (link->watched && link->watched->fd != fd)
        unwatch(link);
    if (!link->watched) {
        struct zk_watched *watched = must_alloc(1, sizeof *watched);
        watched->fd = fd;
        if (uv_poll_init(link->loop, &watched->poll, fd) < 0) {
            free(watched);
            return;
        }
        watched->poll.data = link;
        link->watched = watched;
    }
    if (events)
        (void)uv_poll_start(&link->watched->poll, events, on_socket);
    else
        (void)uv_poll_stop(&link->watched->poll);
}

static void on_timer(uv_timer_t *timer)
{
    zk_link_moved(timer->data);
}

void zk_link_moved(struct zk_link *link)
{
    struct timeval wait = {0};
    int fd = -1, interest = 0;
    if (link->busy)
        return;
    if (!link->handle || is_unrecoverable(link->handle) != ZOK) {
        unwatch(link);
        (void)uv_timer_stop(&link->timer);
        return;
    }
    if (zookeeper_interest(link->handle, &fd, &interest, &wait) != ZOK)
        unwatch(link);
    else if (fd >= 0)
        watch(link, fd, interest);
    uint64_t wait_ms = (uint64_t)wait.tv_sec * 1000 + (uint64_t)wait.tv_usec / 1000 + 1;
    (void)uv_timer_start(&link->timer, on_timer, wait_ms, 0);
}

static void on_event(zhandle_t *handle, int type, int state, const char *path, void *context)
{
    struct zk_link *link = context;
    if (handle != link->handle)
        return; /* of one that is being closed */
    if (type != ZOO_SESSION_EVENT)
        link->events.watched(link->events.context, type, path ? path : "");
    else if (state == ZOO_CONNECTED_STATE)
        link->events.connected(link->events.context);
    else if (state == ZOO_EXPIRED_SESSION_STATE)
        link->events.expired(link->events.context);
}

bool zk_link_open(struct zk_link *link, uv_loop_t *loop, const char *address, int timeout_ms,
                  const struct zk_link_events *events)
{
    if (!link->has_timer) {
        (void)uv_timer_init(loop, &link->timer); /* cannot fail */
        link->timer.data = link;
        link->has_timer = true;
    }
    link->loop = loop;
    link->events = *events;
    zoo_set_debug_level((ZooLogLevel)0); /* it would log every attempt to connect */
    link->handle = zookeeper_init(address, on_event, timeout_ms, NULL, link, 0);
    if (link->handle)
        zk_link_moved(link);
    return link->handle;
}

void zk_link_close(struct zk_link *link)
{
    zhandle_t *handle = link->handle;
    if (!handle)
        return;
    link->handle = NULL;
    unwatch(link);
    (void)uv_timer_stop(&link->timer);
    (void)zookeeper_close(handle); /* it is gone whatever this says */
}
