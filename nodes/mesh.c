#include "nodes/mesh.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nng/nng.h>
#include <nng/protocol/pubsub0/pub.h>
#include <nng/protocol/pubsub0/sub.h>

#include "base/units.h"
#include "nodes/address.h"
#include "nodes/alarm.h"
#include "nodes/clock.h"
#include "nodes/hanging.h"

/* Messages that wait while the one before is on its way into the kernel. */
#define QUEUE_MESSAGES 128
/* Messages that wait for the loop; after a long pause the oldest give way. */
#define RECEIVE_MESSAGES 4096
#define URL_MAX 64
/* Messages taken before the loop's other work has its turn. */
#define DRAIN_MAX 256u
/* NNG dials again so soon after an attempt has failed; those that hang are failed (hanging.h). */
#define REDIAL_MIN_MS 20
#define REDIAL_MAX_MS 50

struct peer {
    struct mesh *mesh;
    uint32_t process;
    nng_socket socket;
    atomic_int pipes; /* written by NNG's threads */
};

struct mesh {
    struct wire_context context;
    struct mesh_events events;
    nng_socket listener;
    uv_poll_t readable;
    uv_async_t changed;
    struct alarm look; /* while some peer is not connected */
    struct hanging hanging;
    atomic_bool reached; /* a peer has connected to us since the last look */
    struct text encoded;
    uint32_t *ids;
    uint64_t foreign, malformed;
    bool polled;      /* readable is in the loop */
    uint32_t closing; /* handles whose end the loop has yet to confirm */
    uint32_t peer_count;
    struct peer peers[];
};

/* The one place where NNG's codes become errno. */
static int nng_failed(struct error *error, int code, const char *what, const char *where)
{
    static const struct {
        int nng, code;
    } table[] = {
        {NNG_ENOMEM, ENOMEM},
        {NNG_EADDRINUSE, EADDRINUSE},
        {NNG_EPERM, EPERM},
        {NNG_EADDRINVAL, EINVAL},
        {NNG_ENOTSUP, ENOTSUP},
        {NNG_ECLOSED, EBADF},
        {NNG_ECONNREFUSED, ECONNREFUSED},
        {NNG_EUNREACHABLE, EHOSTUNREACH},
    };
    int errno_code = code & NNG_ESYSERR ? code & ~NNG_ESYSERR : EIO;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].nng == code)
            errno_code = table[i].code;
    return error_set(error, -errno_code, "%s %s: %s", what, where, nng_strerror(code));
}

static void url_of(uint32_t base, uint32_t process, char *url, size_t room)
{
    char address[ADDRESS_TEXT_MAX];
    (void)snprintf(url, room, "tcp://%s:%u", address_format(address_of(base, process), address),
                   ADDRESS_PORT);
}

/* Dialling */

static bool all_connected(const struct mesh *mesh)
{
    for (uint32_t i = 0; i < mesh->peer_count; i++)
        if (atomic_load(&mesh->peers[i].pipes) == 0)
            return false;
    return true;
}

static void look(void *context)
{
    struct mesh *mesh = context;
    uint64_t now_ns = clock_own_ns();
    hanging_look(&mesh->hanging, now_ns, atomic_exchange(&mesh->reached, false));
    alarm_set(&mesh->look, all_connected(mesh) ? UINT64_MAX : now_ns + HANGING_LOOK_NS);
}

static void on_changed(uv_async_t *async)
{
    look(async->data);
}

/* On NNG's threads: nothing but atomics and a wake-up. */
static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void *context)
{
    struct peer *peer = context;
    (void)pipe;
    (void)atomic_fetch_add(&peer->pipes, event == NNG_PIPE_EV_ADD_POST ? 1 : -1);
    (void)uv_async_send(&peer->mesh->changed); /* fails only on a closing handle */
}

/* On NNG's threads too. */
static void on_reached(nng_pipe pipe, nng_pipe_ev event, void *context)
{
    struct mesh *mesh = context;
    (void)pipe;
    (void)event; /* asked for one kind only */
    atomic_store(&mesh->reached, true);
    (void)uv_async_send(&mesh->changed); /* fails only on a closing handle */
}

static struct peer *peer_find(struct mesh *mesh, uint32_t process)
{
    for (uint32_t i = 0; i < mesh->peer_count; i++)
        if (mesh->peers[i].process == process)
            return &mesh->peers[i];
    return NULL;
}

/* Receiving */

static void take(struct mesh *mesh, nng_msg *message)
{
    struct envelope envelope;
    struct error error;
    int rc = wire_decode(&mesh->context, nng_msg_body(message), nng_msg_len(message), mesh->ids,
                         &envelope, &error);
    if (rc == 0)
        mesh->events.message(mesh->events.context, &envelope);
    else if (rc == -ESTALE)
        mesh->foreign++;
    else
        mesh->malformed++;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct mesh *mesh = poll->data;
    (void)status; /* an error is found by receiving */
    (void)events;
    nng_msg *message = NULL;
    for (uint32_t i = 0; i < DRAIN_MAX; i++) {
        if (nng_recvmsg(mesh->listener, &message, NNG_FLAG_NONBLOCK) != 0)
            break;
        take(mesh, message);
        nng_msg_free(message);
    }
    if (mesh->events.drained)
        mesh->events.drained(mesh->events.context);
}

bool mesh_send(struct mesh *mesh, const struct envelope *envelope)
{
    struct peer *peer = peer_find(mesh, envelope->target);
    nng_msg *message = NULL;
    if (!peer || atomic_load(&peer->pipes) == 0)
        return false;
    struct envelope sent = *envelope;
    sent.run = mesh->context.run;
    text_clear(&mesh->encoded);
    wire_encode(&sent, &mesh->encoded);
    if (nng_msg_alloc(&message, 0) != 0)
        return false;
    if (nng_msg_append(message, mesh->encoded.at, mesh->encoded.length) == 0 &&
        nng_sendmsg(peer->socket, message, NNG_FLAG_NONBLOCK) == 0)
        return true;
    nng_msg_free(message);
    return false;
}

/* Opening and closing */

static void forget(struct mesh *mesh)
{
    text_release(&mesh->encoded);
    free(mesh->ids);
    free(mesh);
}

static int listen_on(struct mesh *mesh, const char *url, struct error *error)
{
    nng_listener listener = NNG_LISTENER_INITIALIZER;
    int fd = -1;
    int code = nng_sub0_open(&mesh->listener);
    if (code == 0)
        code = nng_socket_set(mesh->listener, NNG_OPT_SUB_SUBSCRIBE, "", 0);
    if (code == 0)
        code = nng_socket_set_int(mesh->listener, NNG_OPT_RECVBUF, RECEIVE_MESSAGES);
    if (code == 0)
        code = nng_socket_set_size(mesh->listener, NNG_OPT_RECVMAXSZ, WIRE_BYTES_MAX);
    if (code == 0)
        code = nng_pipe_notify(mesh->listener, NNG_PIPE_EV_ADD_POST, on_reached, mesh);
    if (code == 0)
        code = nng_listener_create(&listener, mesh->listener, url);
    if (code == 0)
        code = nng_listener_set_bool(listener, NNG_OPT_TCP_KEEPALIVE, true);
    if (code == 0)
        code = nng_listener_start(listener, 0);
    if (code == 0)
        code = nng_socket_get_int(mesh->listener, NNG_OPT_RECVFD, &fd);
    if (code != 0)
        return nng_failed(error, code, "listen on", url);
    int rc = uv_poll_init(mesh->look.timer.loop, &mesh->readable, fd);
    mesh->polled = rc == 0;
    if (rc == 0) {
        mesh->readable.data = mesh;
        rc = uv_poll_start(&mesh->readable, UV_READABLE, on_readable);
    }
    if (rc < 0)
        return error_set(error, rc, "poll %s: %s", url, uv_strerror(rc));
    return 0;
}

static int open_peer(struct mesh *mesh, struct peer *peer, uint32_t base, uint32_t process,
                     struct error *error)
{
    peer->mesh = mesh;
    peer->process = process;
    nng_dialer dialer = NNG_DIALER_INITIALIZER;
    char url[URL_MAX];
    url_of(base, process, url, sizeof url);
    int code = nng_pub0_open(&peer->socket);
    if (code == 0)
        code = nng_socket_set_int(peer->socket, NNG_OPT_SENDBUF, QUEUE_MESSAGES);
    if (code == 0)
        code = nng_pipe_notify(peer->socket, NNG_PIPE_EV_ADD_POST, on_pipe, peer);
    if (code == 0)
        code = nng_pipe_notify(peer->socket, NNG_PIPE_EV_REM_POST, on_pipe, peer);
    if (code == 0)
        code = nng_dialer_create(&dialer, peer->socket, url);
    if (code == 0)
        code = nng_dialer_set_ms(dialer, NNG_OPT_RECONNMINT, REDIAL_MIN_MS);
    if (code == 0)
        code = nng_dialer_set_ms(dialer, NNG_OPT_RECONNMAXT, REDIAL_MAX_MS);
    if (code == 0)
        code = nng_dialer_set_bool(dialer, NNG_OPT_TCP_NODELAY, true);
    if (code == 0)
        code = nng_dialer_set_bool(dialer, NNG_OPT_TCP_KEEPALIVE, true);
    if (code == 0)
        code = nng_dialer_start(dialer, NNG_FLAG_NONBLOCK);
    if (code != 0)
        return nng_failed(error, code, "dial", url);
    return 0;
}

static int open_all(struct mesh *mesh, const struct mesh_config *config, struct error *error)
{
    char url[URL_MAX];
    url_of(config->base, config->self, url, sizeof url);
    int rc = listen_on(mesh, url, error);
    for (; rc == 0 && mesh->peer_count < config->peer_count; mesh->peer_count++)
        rc = open_peer(mesh, &mesh->peers[mesh->peer_count], config->base,
                       config->peers[mesh->peer_count], error);
    return rc;
}

int mesh_open(uv_loop_t *loop, const struct mesh_config *config, const struct mesh_events *events,
              struct mesh **out, struct error *error)
{
    struct mesh *mesh = must_alloc(1, sizeof *mesh + config->peer_count * sizeof mesh->peers[0]);
    mesh->context = (struct wire_context){
        .run = config->run, .self = config->self, .nodes = config->nodes, .kinds = config->kinds};
    mesh->events = *events;
    mesh->ids = must_alloc(config->nodes, sizeof *mesh->ids);
    int rc = uv_async_init(loop, &mesh->changed, on_changed);
    if (rc < 0) {
        forget(mesh);
        return error_set(error, rc, "watch connections: %s", uv_strerror(rc));
    }
    mesh->changed.data = mesh;
    alarm_init(&mesh->look, loop, look, mesh);
    rc = open_all(mesh, config, error);
    if (rc < 0) {
        mesh_close(mesh);
        return rc;
    }
    look(mesh);
    *out = mesh;
    return 0;
}

uint32_t mesh_self(const struct mesh *mesh)
{
    return mesh->context.self;
}

uint64_t mesh_foreign(const struct mesh *mesh)
{
    return mesh->foreign;
}

uint64_t mesh_malformed(const struct mesh *mesh)
{
    return mesh->malformed;
}

static void on_closed(uv_handle_t *handle)
{
    struct mesh *mesh = handle->data;
    if (--mesh->closing == 0)
        forget(mesh);
}

static void close_handle(struct mesh *mesh, uv_handle_t *handle)
{
    handle->data = mesh;
    mesh->closing++;
    uv_close(handle, on_closed);
}

/* nng_close() waits for NNG's callbacks, so none comes after the handles are gone. An id of 0 is a
 * socket that was never opened, which NNG refuses to close. */
void mesh_close(struct mesh *mesh)
{
    if (!mesh)
        return;
    if (mesh->polled)
        close_handle(mesh, (uv_handle_t *)&mesh->readable);
    for (uint32_t i = 0; i < mesh->peer_count; i++)
        (void)nng_close(mesh->peers[i].socket);
    (void)nng_close(mesh->listener);
    close_handle(mesh, (uv_handle_t *)&mesh->look.timer);
    close_handle(mesh, (uv_handle_t *)&mesh->changed);
}
