/* A network backend carries the link matrix out: one file here and one line in COUP_NETWORKS. This
 * is the only part of nemesis/ that knows the machine. */
#ifndef COUP_NEMESIS_NETWORK_BACKEND_H
#define COUP_NEMESIS_NETWORK_BACKEND_H

#include "base/error.h"
#include "base/process.h"
#include "nemesis/link.h"

struct uv_loop_s;

/* Where an endpoint lives; the network namespace stays the caller's. */
struct endpoint {
    uint32_t process; /* base/process.h */
    int netns;        /* descriptor of its network namespace */
    uint32_t ipv4;    /* host order, in `prefix` bits */
};

struct network_config {
    const struct endpoint *endpoints; /* copied */
    uint32_t endpoint_count;
    uint32_t prefix_bits;
    uint64_t seed;
    bool tcp_as_kernel;         /* TCP is left as it is, not told to forget dead peers fast */
    const char *program_folder; /* where coup-switch lies */
    const char *log_path;       /* stderr of helpers */
    uint64_t origin_ns;         /* true monotonic time of the run's start */
};

struct network;

/* `begin`, `end`: true ns since the run's start; `touched` (counters only): frames affected since
 * the run began by the causes (impairment_causes()) of the impairments in the request; `failure`
 * NULL or why not. Answers come in the order of the requests. */
typedef void (*network_answer)(void *context, uint64_t ticket, const char *failure,
                               uint64_t begin_ns, uint64_t end_ns, uint64_t touched,
                               const char *proof);

/* Something the history should mention but nobody judges: a helper died and was replaced. */
typedef void (*network_note)(void *context, const char *text);

/* The network is down for good and nothing will bring it back: a failure of ours. Told once. */
typedef void (*network_failed)(void *context, const struct error *error);

/* Who hears of it; copied. note and failed may be NULL. */
struct network_listener {
    void *context;
    network_answer answer;
    network_note note;
    network_failed failed;
};

struct network_backend {
    const char *name, *summary;
    /* 0, or -errno with why this machine cannot and the one command that changes it. */
    int (*probe)(struct error *error);
    /* Create interfaces in every endpoint's namespace, addresses, neighbours; start helpers. */
    int (*open)(const struct network_config *config, struct uv_loop_s *loop,
                const struct network_listener *listener, struct network **out, struct error *error);
    /* Make these impairments the links' effective ones, all at the same instant if it can. */
    void (*apply)(struct network *network, uint64_t ticket, const struct link_change *changes,
                  uint32_t count);
    void (*counters)(struct network *network, uint64_t ticket, const struct link_change *links,
                     uint32_t count);
    /* Ends helpers and frees everything from within the loop; nothing is answered any more. The
     * interfaces go with their namespaces. */
    void (*close)(struct network *network);
};

/* In the order in which `--network auto` tries them. */
#define COUP_NETWORKS(X) X(netem) X(switch)

extern const struct network_backend *const network_backends[]; /* NULL-terminated */
const struct network_backend *network_find(const char *name);

#endif
