/* The netem backend: the kernel's own impairments. A change is packed into one send for each
 * namespace it begins in, the kernel answers each request with what the qdisc has from then on and
 * with its counters up to then: proof, and what tells the causes apart. All calls answer at once.
 * Nothing runs beside the kernel, and everything goes with the namespaces. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nemesis/network/backend.h"
#include "nemesis/network/netem_mesh.h"
#include "nemesis/network/netem_probe.h"
#include "nemesis/network/netem_requests.h"
#include "nodes/clock.h"

/* A directed link. */
struct netem_link {
    struct netem_ledger ledger;
    struct netem_settings settings;
    struct gate_reading gate;
    struct netem_reading reading; /* the latest answers */
    uint32_t handle;              /* of the qdisc */
    bool has_gate;
    bool holds;    /* frames may be waiting in the qdisc */
    bool answered; /* reading is newer than the ledger */
    bool wrong;    /* the kernel has not what was asked for */
};

struct network {
    struct endpoint *endpoints;
    struct network_config config;
    struct network_listener listener;
    struct netem_side *sides;
    struct netem_link *links; /* endpoints x endpoints, from-major */
    uint32_t from;            /* whose answers are taken */
};

static struct netem_link *link_at(struct network *network, uint32_t from, uint32_t to)
{
    return &network->links[(size_t)from * network->config.endpoint_count + to];
}

static uint64_t now(const struct network *network)
{
    return clock_true_ns() - network->config.origin_ns;
}

/* ---- asking the kernel ---- */

static void take(void *context, const struct nlmsghdr *message)
{
    struct network *network = context;
    struct netem_answer answer;
    if (!netem_answer_read(message, &answer) || answer.to >= network->config.endpoint_count)
        return;
    struct netem_link *link = link_at(network, network->from, answer.to);
    if (answer.gate) {
        link->gate = answer.gate_reading;
        return;
    }
    if (answer.gone) { /* was read right before; its successor answers next */
        netem_ledger_read(&link->ledger, &link->reading, NULL);
        netem_ledger_replaced(&link->ledger);
        return;
    }
    link->answered = true;
    link->reading = answer.reading;
    link->wrong = !answer.complete || !netem_settings_equal(&answer.settings, &link->settings);
}

/* Everything that is packed, for all namespaces, then the answers: `*ret_begin_ns` and
 * `*ret_end_ns` are right before the first and right after the last request was carried out. */
static int exchange(struct network *network, uint64_t *ret_begin_ns, uint64_t *ret_end_ns,
                    struct error *error)
{
    struct error ignored;
    int rc = 0;
    *ret_begin_ns = now(network);
    for (uint32_t i = 0; i < network->config.endpoint_count; i++) {
        network->from = i;
        int sent = rtnl_send(&network->sides[i].rtnl, take, network, rc ? &ignored : error);
        rc = rc ? rc : sent;
    }
    *ret_end_ns = now(network);
    for (uint32_t i = 0; i < network->config.endpoint_count; i++) {
        network->from = i;
        int got = rtnl_receive(&network->sides[i].rtnl, take, network, rc ? &ignored : error);
        rc = rc ? rc : got;
    }
    return rc;
}

/* ---- apply ---- */

/* What is queued must be destroyed, and no change of a qdisc does that. */
static bool needs_replacement(const struct netem_link *link, const struct impairment *next)
{
    return next->cut && !link->ledger.now.cut && link->holds;
}

static void pack_change(struct network *network, const struct link_change *change)
{
    struct rtnl *rtnl = &network->sides[change->from].rtnl;
    struct netem_link *link = link_at(network, change->from, change->to);
    bool cuts_data = change->impairment.cut_data;
    link->settings = netem_settings_of(&change->impairment);
    if (!link->has_gate && netem_needs_gate(&change->impairment)) {
        netem_request_gate(rtnl, change->to);
        netem_request_gate_cuts(rtnl, change->to, cuts_data);
        link->has_gate = true;
    } else if (link->has_gate && cuts_data != link->ledger.now.cut_data) {
        netem_request_gate_cuts(rtnl, change->to, cuts_data);
    }
    /* Also before a replacement: nothing passes from here on, its answer is the last reading, and
     * a kernel may refuse a second netem beside one that duplicates. */
    netem_request_settings(rtnl, change->to, &link->settings);
    if (needs_replacement(link, &change->impairment)) {
        link->handle = link->handle == NETEM_HANDLE ? 2 * NETEM_HANDLE : NETEM_HANDLE;
        netem_request_replacement(rtnl, change->to, link->handle, &link->settings);
    }
    if (link->has_gate)
        netem_request_gate_reading(rtnl, change->to);
}

/* Bring the link's ledger up to its latest reading. */
static void settle(struct netem_link *link)
{
    if (link->answered)
        netem_ledger_read(&link->ledger, &link->reading, link->has_gate ? &link->gate : NULL);
    link->answered = false;
}

static void adopt(struct network *network, const struct link_change *change)
{
    struct netem_link *link = link_at(network, change->from, change->to);
    bool replaced = needs_replacement(link, &change->impairment);
    settle(link);
    link->ledger.now = change->impairment;
    link->holds = (link->holds && !replaced) || netem_settings_hold(&link->settings);
}

static const char *link_name(const struct network *network, const struct link_change *change,
                             char out[2 * PROCESS_NAME_MAX + 2])
{
    char from[PROCESS_NAME_MAX], to[PROCESS_NAME_MAX];
    size_t used = 0;
    process_name(network->config.endpoints[change->from].process, from);
    process_name(network->config.endpoints[change->to].process, to);
    memcpy(out, from, strlen(from));
    used = strlen(from);
    out[used++] = '>';
    memcpy(out + used, to, strlen(to) + 1);
    return out;
}

static int check_links(const struct network *network, const struct link_change *links,
                       uint32_t count, struct error *error)
{
    char name[2 * PROCESS_NAME_MAX + 2];
    for (uint32_t i = 0; i < count; i++)
        if (!netem_linked(&network->config, links[i].from, links[i].to))
            return error_set(error, -ENOENT, "there is no link %s",
                             link_name(network, &links[i], name));
    return 0;
}

static int check_applied(struct network *network, const struct link_change *changes, uint32_t count,
                         struct error *error)
{
    char name[2 * PROCESS_NAME_MAX + 2];
    for (uint32_t i = 0; i < count; i++)
        if (link_at(network, changes[i].from, changes[i].to)->wrong)
            return error_set(error, -EPROTO, "%s: the kernel has other settings than asked for",
                             link_name(network, &changes[i], name));
    return 0;
}

static void netem_apply(struct network *network, uint64_t ticket, const struct link_change *changes,
                        uint32_t count)
{
    struct text proof = {0};
    struct error error;
    uint64_t begin_ns = now(network), end_ns = begin_ns;
    int rc = check_links(network, changes, count, &error);
    for (uint32_t i = 0; i < count && rc == 0; i++)
        pack_change(network, &changes[i]);
    if (rc == 0) {
        rc = exchange(network, &begin_ns, &end_ns, &error);
        for (uint32_t i = 0; i < count; i++)
            adopt(network, &changes[i]);
    }
    if (rc == 0)
        rc = check_applied(network, changes, count, &error);
    text_add(&proof, "%u set within %" PRIu64 " us and read back", count,
             (end_ns - begin_ns + NS_PER_US - 1) / NS_PER_US);
    network->listener.answer(network->listener.context, ticket, rc < 0 ? error.text : NULL,
                             begin_ns, end_ns, 0, text_string(&proof));
    text_release(&proof);
}

/* ---- counters ---- */

/* What receivers refused; once for each of them, since it cannot be told by which link it came. */
static uint64_t damaged(const struct network *network, const struct link_change *links,
                        uint32_t count)
{
    bool *seen = must_alloc(network->config.endpoint_count, sizeof *seen);
    uint64_t frames = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (links[i].impairment.corrupt_ppm == 0 || seen[links[i].to])
            continue;
        seen[links[i].to] = true;
        frames += netem_checksum_errors(&network->sides[links[i].to]);
    }
    free(seen);
    return frames;
}

static uint64_t touched_by(const struct netem_link *link, const struct impairment *impairment)
{
    uint32_t causes = impairment_causes(impairment);
    uint64_t touched = 0;
    for (uint32_t cause = 0; cause < CAUSES; cause++)
        if (causes >> cause & 1)
            touched += link->ledger.touched[cause];
    return touched;
}

static void netem_counters(struct network *network, uint64_t ticket,
                           const struct link_change *links, uint32_t count)
{
    struct text proof = {0};
    struct error error;
    uint64_t begin_ns = now(network), end_ns = begin_ns, touched = 0, sent = 0, queued = 0;
    int rc = check_links(network, links, count, &error);
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        struct rtnl *rtnl = &network->sides[links[i].from].rtnl;
        netem_request_reading(rtnl, links[i].to);
        if (link_at(network, links[i].from, links[i].to)->has_gate)
            netem_request_gate_reading(rtnl, links[i].to);
    }
    if (rc == 0)
        rc = exchange(network, &begin_ns, &end_ns, &error);
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        struct netem_link *link = link_at(network, links[i].from, links[i].to);
        settle(link);
        touched += touched_by(link, &links[i].impairment);
        sent += link->reading.sent;
        queued += link->reading.queued;
    }
    if (rc == 0)
        touched += damaged(network, links, count);
    text_add(&proof, "sent=%" PRIu64 " queued=%" PRIu64, sent, queued);
    network->listener.answer(network->listener.context, ticket, rc < 0 ? error.text : NULL,
                             begin_ns, end_ns, touched, text_string(&proof));
    text_release(&proof);
}

/* ---- open and close ---- */

static void netem_close(struct network *network)
{
    if (!network)
        return;
    netem_mesh_close(network->sides, network->config.endpoint_count);
    free(network->endpoints);
    free(network->sides);
    free(network->links);
    free(network);
}

static int open_mesh(const struct network_config *config, const struct network_listener *listener,
                     struct network **out, struct error *error)
{
    struct network *network = must_alloc(1, sizeof *network);
    size_t count = config->endpoint_count;
    const struct impairment clean = {0};
    const char *missing = NULL;
    network->endpoints = must_alloc(count, sizeof *network->endpoints);
    memcpy(network->endpoints, config->endpoints, count * sizeof *network->endpoints);
    network->config = *config;
    network->config.endpoints = network->endpoints;
    network->listener = *listener;
    network->sides = must_alloc(count, sizeof *network->sides);
    network->links = must_alloc(count * count, sizeof *network->links);
    for (size_t i = 0; i < count * count; i++)
        network->links[i] =
            (struct netem_link){.handle = NETEM_HANDLE, .settings = netem_settings_of(&clean)};
    int rc = netem_mesh_open(&network->config, network->sides, &missing, error);
    if (rc < 0) {
        netem_close(network);
        return rc;
    }
    if (missing && listener->note) {
        struct text note = {0};
        text_add(&note, "%s cannot be set: TCP will take longer to use a healed network", missing);
        listener->note(listener->context, text_string(&note));
        text_release(&note);
    }
    *out = network;
    return 0;
}

static int netem_open(const struct network_config *config, struct uv_loop_s *loop,
                      const struct network_listener *listener, struct network **out,
                      struct error *error)
{
    (void)loop; /* every call is answered at once */
    int rc = open_mesh(config, listener, out, error);
    if (rc < 0)
        error_prefix(error, "network netem");
    return rc;
}

/* ---- can this machine? ---- */

struct trial {
    struct error error;
    int rc; /* of the impairments */
};

static void on_trial(void *context, uint64_t ticket, const char *failure, uint64_t begin_ns,
                     uint64_t end_ns, uint64_t touched, const char *proof)
{
    struct trial *trial = context;
    (void)ticket, (void)begin_ns, (void)end_ns, (void)touched, (void)proof;
    if (failure)
        trial->rc = error_set(&trial->error, -EOPNOTSUPP, "%s", failure);
}

/* Everything that an impairment can need, on a link between two namespaces. */
static int try_link(const struct endpoint *endpoints, struct trial *trial)
{
    const struct network_config config = {
        .endpoints = endpoints, .endpoint_count = 2, .prefix_bits = 24};
    const struct network_listener listener = {.context = trial, .answer = on_trial};
    struct link_change change = {0, 1, {.loss_ppm = 1}};
    struct network *network;
    int rc = open_mesh(&config, &listener, &network, &trial->error);
    if (rc < 0)
        return rc;
    change.impairment = (struct impairment){.cut_data = true,
                                            .loss_ppm = 1,
                                            .duplicate_ppm = 1,
                                            .reorder_ppm = 1,
                                            .corrupt_ppm = 1,
                                            .delay_ns = NS_PER_MS,
                                            .jitter_ns = 1,
                                            .rate_bits_per_s = 8000};
    netem_apply(network, 1, &change, 1);
    change.impairment = (struct impairment){.cut = true};
    if (trial->rc == 0)
        netem_apply(network, 2, &change, 1);
    netem_close(network);
    return trial->rc;
}

static int try_here(struct trial *trial)
{
    struct endpoint endpoints[2];
    if (geteuid() != 0 && unshare(CLONE_NEWUSER) < 0)
        return error_set(&trial->error, -errno, "make a user namespace: %s", strerror(errno));
    for (uint32_t i = 0; i < 2; i++) {
        if (unshare(CLONE_NEWNET) < 0)
            return error_set(&trial->error, -errno, "make a network namespace: %s",
                             strerror(errno));
        endpoints[i] = (struct endpoint){.process = PROCESS_NUMBER(PROCESS_NODE, i + 1),
                                         .netns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC),
                                         .ipv4 = 0x0a000001u + i};
        if (endpoints[i].netns < 0)
            return error_set(&trial->error, -errno, "open /proc/self/ns/net: %s", strerror(errno));
    }
    return try_link(endpoints, trial);
}

int netem_probe(struct error *error, const char **ret_fix)
{
    struct trial trial = {.error = {.text = ""}};
    struct utsname kernel;
    struct text modules = {0};
    int ends[2], status;
    *ret_fix = "scripts/netem-vm build/bin/coup run";
    if (uname(&kernel) == 0)
        text_add(&modules, "/lib/modules/%s", kernel.release);
    if (modules.length && access(text_string(&modules), F_OK) == 0)
        *ret_fix = "sudo modprobe -a veth sch_netem sch_ingress cls_bpf";
    text_release(&modules);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_set(error, -errno, "make a pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        trial.rc = try_here(&trial);
        _exit(write(ends[1], &trial, sizeof trial) != (ssize_t)sizeof trial);
    }
    (void)close(ends[1]); /* the child has its own */
    bool told = child > 0 && read(ends[0], &trial, sizeof trial) == (ssize_t)sizeof trial;
    (void)close(ends[0]); /* was only read */
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!told)
        return error_set(error, -ECHILD, "a child process to try it out did not finish");
    if (trial.rc < 0)
        *error = trial.error;
    return trial.rc;
}

static int probe(struct error *error)
{
    const char *fix;
    int rc = netem_probe(error, &fix);
    if (rc < 0) {
        struct error what = *error;
        (void)error_set(error, rc, "%.180s (try: %s)", what.text, fix);
    }
    return rc;
}

extern const struct network_backend network_netem;
const struct network_backend network_netem = {
    .name = "netem",
    .summary = "the kernel's own impairments on a mesh of veth pairs; needs sch_netem",
    .probe = probe,
    .open = netem_open,
    .apply = netem_apply,
    .counters = netem_counters,
    .close = netem_close,
};
