/* One session with ZooKeeper by its single-threaded C client, in the uv loop. After every call to
 * the client that asks something, zk_link_moved(): what it wants of its socket may have changed. */
#ifndef COUP_NODES_SERVICES_ZK_LINK_H
#define COUP_NODES_SERVICES_ZK_LINK_H

#include <uv.h>

#include <zookeeper/zookeeper.h>

#include "base/error.h"

#define ZOOKEEPER_PORT 2181u

struct zk_link_events {
    void *context;
    void (*connected)(void *context);
    void (*expired)(void *context); /* the session is over: nothing works any more */
    void (*watched)(void *context, int type, const char *path);
};

/* Zeroed is closed. Its address must not change while it is open. */
struct zk_link {
    uv_loop_t *loop;
    zhandle_t *handle; /* NULL: closed */
    struct zk_watched *watched;
    uv_timer_t timer;
    struct zk_link_events events;
    bool has_timer;
    bool busy; /* the client is at work: what it wants is asked afterwards */
};

/* "10.1.2.3:2181"; sessions of `timeout_ms`. NULL for ZooKeeper's own want of something. */
bool zk_link_open(struct zk_link *link, uv_loop_t *loop, const char *address, int timeout_ms,
                  const struct zk_link_events *events);
/* The session ends at once, if the server hears of it; what is under way ends with ZCLOSING. */
void zk_link_close(struct zk_link *link);
void zk_link_moved(struct zk_link *link);

#endif
