/* Every node hears a majority, and no two the same one: on a ring in random order each hears its
 * nearest neighbours and itself, together just a majority. With an even majority one side of the
 * window is longer, so some links are cut one way only; of three nodes each hears just one other.
 */
#include "nemesis/shape.h"

static uint32_t distance(uint32_t from, uint32_t to, uint32_t nodes)
{
    return (to + nodes - from) % nodes;
}

/* Place `other` lies in the window of place `at`. */
static bool heard(uint32_t at, uint32_t other, uint32_t nodes)
{
    uint32_t majority = nodes / 2 + 1;
    return distance(at, other, nodes) <= majority / 2 ||
           distance(other, at, nodes) <= (majority - 1) / 2;
}

static bool start(const struct cluster_view *view, node_set chosen,
                  const struct option_values *parameters, struct random *random,
                  struct injection *out, const char **ret_why)
{
    uint32_t ring[NODES_MAX], nodes = view->nodes;
    const struct impairment cut = cut_read(parameters, 0);
    (void)chosen;
    (void)ret_why;
    for (uint32_t i = 0; i < nodes; i++)
        ring[i] = i + 1;
    random_shuffle(random, ring, nodes);
    for (uint32_t at = 0; at < nodes; at++)
        for (uint32_t other = 0; other < nodes; other++)
            if (other != at && !heard(at, other, nodes))
                injection_link(out, ring[other], ring[at], cut);
    out->targets = nodes_all(nodes);
    return true;
}

static const struct target targets[] = {{.role = TARGET_ANY}};

const struct fault fault_majorities_ring = {
    .name = "majorities-ring",
    .summary = "every node hears a majority, no two the same one",
    .group = "partition",
    .nodes_min = 3,
    .targets = targets,
    .target_count = sizeof targets / sizeof targets[0],
    .parameters = cut_options,
    .start = start,
};
