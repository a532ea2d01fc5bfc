/* Why publish/subscribe, one publisher for each peer, and not push/pull: in NNG 1.5.2 a push pipe
 * that is closed while its last send completes comes back into the list of ready pipes and is used
 * after it was freed. Publishers look under their lock whether the pipe is closed. Everybody
 * subscribes to everything, so the result is the same: a queue towards each peer. */
#include "nodes/mesh.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <nng/nng.h>
#include <nng/protocol/pubsub0/pub.h>
#include <nng/protocol/pubsub0/sub.h>

#include "base/random.h"
#include "base/units.h"
#include "nodes/address.h"
#include "nodes/alarm.h"
#include "nodes/clock.h"

/* Messages that wait while the one before is on its way into the kernel, and those that have come
 * but were not yet taken, for instance because the process was stopped. The oldest give way. */
#define SEND_QUEUE_MESSAGES 128
#define RECEIVE_QUEUE_MESSAGES 4096
/* Messages taken before the loop's other work has its turn. */
#define DRAIN_MAX 256u
/* Attempts under way at once. A new one starts before the last has failed, because after a cut the
 * kernel repeats a lost SYN late; the last few go on, because on a slow link they need the time. */
#define ATTEMPTS 4u
#define DIAL_MIN_NS (150 * NS_PER_MS)
#define DIAL_MAX_NS (250 * NS_PER_MS)
#define DIAL_AGAIN_NS (20 * NS_PER_MS) /* never sooner, whatever happens */
/* All peers together are dialled no more often than this on average: where dozens of nodes start at
 * once, dialling those that do not listen yet would take the time they need to come up. */
#define DIAL_EACH_NS (15 * NS_PER_MS)
/* NNG's own redialling follows the wall clock, which faults may bend: it is left to us. */
#define NNG_REDIAL_MS (24 * 3600 * 1000)

struct peer {
    struct mesh *mesh;
    uint32_t process;
    nng_socket socket;
    nng_dialer attempts[ATTEMPTS]; /* id 0: none */
    uint32_t next_attempt;
    uint64_t dialled_ns, dial_ns; /* last and next attempt, own monotonic */
    atomic_int pipes;             /* the rest but `connected` is written by NNG's threads */
    atomic_int dialer;            /* id of the one that connected last */
    atomic_bool knocked;          /* the peer has connected to us */
    bool connected;               /* as the loop has seen it */
    char url[64];
};

struct mesh {
    struct wire_context context;
    struct mesh_events events;
    struct random random; /* only spreads dialling in time */
    uint32_t base, home;  /* nodes/address.h */
    uint32_t twin_of;     /* the node that has a twin; 0: none has */
    enum mesh_reach reach;
    bool twin_open;
    nng_socket listener;
    uv_poll_t readable;
    uv_async_t changed;
    struct alarm redial;
    struct text encoded;
    uint32_t *ids;
    uint64_t foreign, malformed;
    uint32_t unconnected; /* peers, at the last look */
    uint32_t peer_count;
    struct peer peers[]; /* and one more, the twin */
};

static struct peer *twin_peer(struct mesh *mesh)
{
    return &mesh->peers[mesh->peer_count];
}

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

/* Dialling */

static void attempt_close(nng_dialer *attempt)
{
    if (attempt->id > 0)
        (void)nng_dialer_close(*attempt); /* already closed is fine */
    *attempt = (nng_dialer)NNG_DIALER_INITIALIZER;
}

static uint64_t pause_before_next(struct mesh *mesh)
{
    uint64_t pause_ns = random_between(&mesh->random, DIAL_MIN_NS, DIAL_MAX_NS);
    uint64_t paced_ns = mesh->unconnected * DIAL_EACH_NS;
    return pause_ns > paced_ns ? pause_ns : paced_ns;
}

/* A dialer that cannot be made (no memory, no descriptors) is tried again like one that failed. */
static void dial(struct peer *peer, uint64_t now_ns)
{
    nng_dialer *attempt = &peer->attempts[peer->next_attempt];
    peer->next_attempt = (peer->next_attempt + 1) % ATTEMPTS;
    attempt_close(attempt);
    peer->dialled_ns = now_ns;
    peer->dial_ns = now_ns + pause_before_next(peer->mesh);
    if (nng_dialer_create(attempt, peer->socket, peer->url) != 0)
        return;
    (void)nng_dialer_set_ms(*attempt, NNG_OPT_RECONNMINT, NNG_REDIAL_MS);
    (void)nng_dialer_set_bool(*attempt, NNG_OPT_TCP_NODELAY, true);
    (void)nng_dialer_set_bool(*attempt, NNG_OPT_TCP_KEEPALIVE, true);
    (void)nng_dialer_start(*attempt, NNG_FLAG_NONBLOCK);
}

static void dial_soon(struct peer *peer, uint64_t now_ns)
{
    uint64_t earliest = peer->dialled_ns + DIAL_AGAIN_NS;
    peer->dial_ns = now_ns > earliest ? now_ns : earliest;
}

/* Two attempts may have succeeded; the one NNG told us of last stays. */
static void keep_one_attempt(struct peer *peer)
{
    int kept = atomic_load(&peer->dialer);
    for (uint32_t i = 0; i < ATTEMPTS; i++)
        if (nng_dialer_id(peer->attempts[i]) != kept)
            attempt_close(&peer->attempts[i]);
}

static void observe(struct peer *peer, uint64_t now_ns)
{
    if (atomic_exchange(&peer->knocked, false) && !peer->connected)
        dial_soon(peer, now_ns);
    int pipes = atomic_load(&peer->pipes);
    bool was_connected = peer->connected;
    peer->connected = pipes > 0;
    if (peer->connected && (!was_connected || pipes > 1))
        keep_one_attempt(peer);
    else if (!peer->connected && was_connected)
        dial_soon(peer, now_ns);
}

static void redial(void *context)
{
    struct mesh *mesh = context;
    uint64_t now_ns = clock_own_ns(), next_ns = UINT64_MAX;
    uint32_t count = mesh->peer_count + (mesh->twin_of != 0);
    mesh->unconnected = 0;
    for (uint32_t i = 0; i < count; i++) {
        observe(&mesh->peers[i], now_ns);
        mesh->unconnected += !mesh->peers[i].connected;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct peer *peer = &mesh->peers[i];
        if (peer->connected)
            continue;
        if (now_ns >= peer->dial_ns)
            dial(peer, now_ns);
        if (peer->dial_ns < next_ns)
            next_ns = peer->dial_ns;
    }
    alarm_set(&mesh->redial, next_ns);
}

static void on_changed(uv_async_t *async)
{
    redial(async->data);
}

/* On NNG's threads: nothing but atomics and a wake-up. */
static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void *context)
{
    struct peer *peer = context;
    if (event == NNG_PIPE_EV_ADD_POST) {
        atomic_store(&peer->dialer, nng_dialer_id(nng_pipe_dialer(pipe)));
        (void)atomic_fetch_add(&peer->pipes, 1);
    } else {
        (void)atomic_fetch_sub(&peer->pipes, 1);
    }
    (void)uv_async_send(&peer->mesh->changed); /* fails only on a closing handle */
}

/* Which peer dialled: processes dial from their own addresses. */
static struct peer *peer_at(struct mesh *mesh, uint32_t address)
{
    for (uint32_t i = 0; i < mesh->peer_count; i++)
        if (address_of(mesh->base, mesh->peers[i].process) == address)
            return &mesh->peers[i];
    return NULL;
}

/* On NNG's threads too. A peer that has just come up, or within reach, is worth dialling now. */
static void on_knock(nng_pipe pipe, nng_pipe_ev event, void *context)
{
    struct mesh *mesh = context;
    nng_sockaddr from;
    (void)event; /* asked for one kind only */
    if (nng_pipe_get_addr(pipe, NNG_OPT_REMADDR, &from) != 0 || from.s_family != NNG_AF_INET)
        return;
    struct peer *peer = peer_at(mesh, ntohl(from.s_in.sa_addr));
    if (!peer)
        return;
    atomic_store(&peer->knocked, true);
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

/* A peer that talks is alive: if our own connection to it is down, dial now. */
static void heard_from(struct mesh *mesh, uint32_t process)
{
    struct peer *peer = peer_find(mesh, process);
    if (!peer || atomic_load(&peer->pipes) > 0)
        return;
    uint64_t now_ns = clock_own_ns();
    if (peer->dial_ns > now_ns + DIAL_AGAIN_NS) {
        dial_soon(peer, now_ns);
        redial(mesh);
    }
}

static void take(struct mesh *mesh, nng_msg *message)
{
    struct envelope envelope;
    struct error error;
    int rc = wire_decode(&mesh->context, nng_msg_body(message), nng_msg_len(message), mesh->ids,
                         &envelope, &error);
    if (rc == 0) {
        heard_from(mesh, envelope.source);
        mesh->events.message(mesh->events.context, &envelope);
    } else if (rc == -ESTALE) {
        mesh->foreign++;
    } else {
        mesh->malformed++;
    }
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

/* What is encoded; false: it certainly did not leave. */
static bool send_encoded(const struct mesh *mesh, struct peer *peer)
{
    nng_msg *message = NULL;
    if (!peer || atomic_load(&peer->pipes) == 0 || nng_msg_alloc(&message, 0) != 0)
        return false;
    if (nng_msg_append(message, mesh->encoded.at, mesh->encoded.length) == 0 &&
        nng_sendmsg(peer->socket, message, NNG_FLAG_NONBLOCK) == 0)
        return true;
    nng_msg_free(message);
    return false;
}

bool mesh_send(struct mesh *mesh, const struct envelope *envelope)
{
    struct envelope sent = *envelope;
    bool twinned = mesh->twin_of && envelope->target == mesh->twin_of;
    sent.run = mesh->context.run;
    text_clear(&mesh->encoded);
    wire_encode(&sent, &mesh->encoded);
    bool to_node = (!twinned || mesh->reach != REACH_TWIN) &&
                   send_encoded(mesh, peer_find(mesh, envelope->target));
    bool to_twin = twinned && send_encoded(mesh, twin_peer(mesh));
    return to_node || to_twin;
}

/* Opening */

static int listen_on(struct mesh *mesh, struct error *error)
{
    nng_listener listener = NNG_LISTENER_INITIALIZER;
    char url[48], address[ADDRESS_TEXT_MAX];
    int fd = -1;
    (void)snprintf(url, sizeof url, "tcp://%s:%u",
                   address_format(address_of(mesh->base, mesh->home), address), ADDRESS_PORT);
    int code = nng_sub0_open(&mesh->listener);
    if (code == 0)
        code = nng_socket_set(mesh->listener, NNG_OPT_SUB_SUBSCRIBE, "", 0);
    if (code == 0)
        code = nng_socket_set_int(mesh->listener, NNG_OPT_RECVBUF, RECEIVE_QUEUE_MESSAGES);
    if (code == 0)
        code = nng_socket_set_size(mesh->listener, NNG_OPT_RECVMAXSZ, WIRE_BYTES_MAX);
    if (code == 0)
        code = nng_pipe_notify(mesh->listener, NNG_PIPE_EV_ADD_POST, on_knock, mesh);
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
    int rc = uv_poll_init(mesh->redial.timer.loop, &mesh->readable, fd);
    if (rc == 0) {
        mesh->readable.data = mesh;
        rc = uv_poll_start(&mesh->readable, UV_READABLE, on_readable);
    }
    if (rc < 0)
        return error_set(error, rc, "poll %s: %s", url, uv_strerror(rc));
    return 0;
}

static int open_peer(struct mesh *mesh, struct peer *peer, uint32_t process, struct error *error)
{
    char own[ADDRESS_TEXT_MAX], address[ADDRESS_TEXT_MAX];
    peer->mesh = mesh;
    peer->process = process;
    /* NNG takes the address to dial from before a semicolon. */
    (void)snprintf(peer->url, sizeof peer->url, "tcp://%s;%s:%u",
                   address_format(address_of(mesh->base, mesh->home), own),
                   address_format(address_of(mesh->base, process), address), ADDRESS_PORT);
    int code = nng_pub0_open(&peer->socket);
    if (code == 0)
        code = nng_socket_set_int(peer->socket, NNG_OPT_SENDBUF, SEND_QUEUE_MESSAGES);
    if (code == 0)
        code = nng_pipe_notify(peer->socket, NNG_PIPE_EV_ADD_POST, on_pipe, peer);
    if (code == 0)
        code = nng_pipe_notify(peer->socket, NNG_PIPE_EV_REM_POST, on_pipe, peer);
    if (code != 0)
        return nng_failed(error, code, "prepare to dial", peer->url);
    return 0;
}

/* The listener comes last: from then on NNG's threads look the peers up. */
static int open_all(struct mesh *mesh, const struct mesh_config *config, struct error *error)
{
    int rc = 0;
    for (; rc == 0 && mesh->peer_count < config->peer_count; mesh->peer_count++)
        rc =
            open_peer(mesh, &mesh->peers[mesh->peer_count], config->peers[mesh->peer_count], error);
    return rc < 0 ? rc : listen_on(mesh, error);
}

int mesh_open(uv_loop_t *loop, const struct mesh_config *config, const struct mesh_events *events,
              struct mesh **out, struct error *error)
{
    struct mesh *mesh =
        must_alloc(1, sizeof *mesh + (config->peer_count + 1) * sizeof mesh->peers[0]);
    mesh->context = (struct wire_context){.run = config->run,
                                          .self = config->self,
                                          .nodes = config->nodes,
                                          .kinds = config->kinds,
                                          .service = config->service};
    mesh->events = *events;
    mesh->base = config->base;
    mesh->home = config->home ? config->home : config->self;
    mesh->ids = must_alloc(config->nodes, sizeof *mesh->ids);
    random_init(&mesh->random, config->seed, "dial", config->self);
    int rc = uv_async_init(loop, &mesh->changed, on_changed);
    if (rc < 0)
        return error_set(error, rc, "watch connections: %s", uv_strerror(rc));
    mesh->changed.data = mesh;
    alarm_init(&mesh->redial, loop, redial, mesh);
    rc = open_all(mesh, config, error);
    if (rc < 0)
        return rc;
    redial(mesh);
    *out = mesh;
    return 0;
}

/* The socket stays: whoever has a twin next has it at the same address. */
int mesh_twin(struct mesh *mesh, uint32_t node, enum mesh_reach reach, struct error *error)
{
    struct peer *twin = twin_peer(mesh);
    int rc = 0;
    if (!mesh->twin_open)
        rc = open_peer(mesh, twin, PROCESS_NUMBER(PROCESS_TWIN, node), error);
    if (rc < 0)
        return rc;
    mesh->twin_open = true;
    mesh->reach = reach;
    mesh->twin_of = reach == REACH_NODE ? 0 : node;
    for (uint32_t i = 0; i < ATTEMPTS && !mesh->twin_of; i++)
        attempt_close(&twin->attempts[i]);
    twin->connected = false;
    dial_soon(twin, clock_own_ns());
    redial(mesh);
    return 0;
}

uint32_t mesh_self(const struct mesh *mesh)
{
    return mesh->context.self;
}

uint32_t mesh_home(const struct mesh *mesh)
{
    return mesh->home;
}

uint64_t mesh_foreign(const struct mesh *mesh)
{
    return mesh->foreign;
}

uint64_t mesh_malformed(const struct mesh *mesh)
{
    return mesh->malformed;
}
