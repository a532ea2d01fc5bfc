/* The netem backend's network: between every two endpoints a pair of veth interfaces, one in the
 * namespace of each, named after the process at the other end; on each a root netem qdisc. So every
 * directed link has a qdisc of its own, and no classifier. Clients have nothing to say to each
 * other and get none. */
#ifndef COUP_NEMESIS_NETWORK_NETEM_MESH_H
#define COUP_NEMESIS_NETWORK_NETEM_MESH_H

#include "nemesis/network/backend.h"
#include "nemesis/network/rtnl.h"

/* An endpoint's namespace from where we are. Zeroed is closed. */
struct netem_side {
    struct rtnl rtnl;
    int checksum_errors; /* descriptor of /proc/net/snmp there */
    bool rto_min;        /* holds for the whole namespace; else routes carry it */
};

/* Prepare all namespaces and build everything in them. `sides` has room for one for each endpoint;
 * netem_mesh_close() what is there even after an error. `*ret_warning` as namespace_prepare(). */
int netem_mesh_open(const struct network_config *config, struct netem_side *sides,
                    const char **ret_warning, struct error *error);
void netem_mesh_close(struct netem_side *sides, uint32_t count);

bool netem_linked(const struct network_config *config, uint32_t from, uint32_t to);

/* Frames that arrived damaged in the namespace and were refused by a checksum, since it exists. */
uint64_t netem_checksum_errors(const struct netem_side *side);

#endif
