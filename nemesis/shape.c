#include "nemesis/shape.h"

const char *const cut_words[] = {"hard", "soft", NULL};

const struct option cut_options[] = {
    CUT_OPTION,
    {.name = NULL},
};

struct impairment cut_read(const struct option_values *parameters, uint32_t at)
{
    bool soft = parameters->at[at] != 0;
    return (struct impairment){.cut = !soft, .cut_soft = soft};
}

uint64_t draw_duration(struct random *random, uint64_t low_ns, uint64_t high_ns)
{
    uint64_t step = low_ns >= 10 * NS_PER_MS ? NS_PER_MS : NS_PER_US;
    return random_between(random, low_ns / step + 1, high_ns / step + 1) * step;
}

node_set shape_side(struct random *random, uint32_t nodes, node_set chosen, uint32_t size)
{
    node_set side = nodes_pick_some(random, chosen, size);
    node_set others = nodes_all(nodes) & ~side;
    return side | nodes_pick_some(random, others, size - nodes_count(side));
}

void shape_split(struct injection *injection, node_set a, node_set b, struct impairment cut)
{
    for (node_set from = a; from; from &= from - 1)
        for (node_set to = b; to; to &= to - 1) {
            injection_link(injection, nodes_first(from), nodes_first(to), cut);
            injection_link(injection, nodes_first(to), nodes_first(from), cut);
        }
}

/* ---- scopes ---- */

const char *const scope_links_words[] = {"node", "one", "all", NULL};
const char *const scope_direction_words[] = {"both", "out", "in", NULL};

void scope_plan(struct random *random, uint32_t at, struct option_values *parameters)
{
    /* Mostly a whole node, both ways; the rest often enough to come up in a long run. */
    static const uint8_t links[] = {SCOPE_NODE, SCOPE_NODE, SCOPE_NODE, SCOPE_ONE, SCOPE_ALL};
    static const uint8_t directions[] = {SCOPE_BOTH, SCOPE_BOTH, SCOPE_OUT, SCOPE_IN};
    parameters->at[at] = links[random_below(random, sizeof links)];
    parameters->at[at + 1] = directions[random_below(random, sizeof directions)];
}

struct scope scope_read(const struct option_values *parameters, uint32_t at,
                        struct impairment impairment)
{
    return (struct scope){(enum scope_links)parameters->at[at],
                          (enum scope_direction)parameters->at[at + 1], impairment};
}

static bool in_scope(enum scope_direction direction, bool out, bool in)
{
    return (out && direction != SCOPE_IN) || (in && direction != SCOPE_OUT);
}

/* Every link for which `out` (it begins at a chosen node) or `in` (it ends at one) is asked for. */
static void impair_nodes(const struct scope *scope, uint32_t nodes, node_set chosen,
                         struct injection *out)
{
    for (uint32_t from = 1; from <= nodes; from++)
        for (uint32_t to = 1; to <= nodes; to++)
            if (from != to &&
                in_scope(scope->direction, chosen & node_bit(from), chosen & node_bit(to)))
                injection_link(out, from, to, scope->impairment);
}

void shape_isolate(struct injection *injection, node_set alone, uint32_t nodes,
                   struct impairment cut)
{
    const struct scope scope = {SCOPE_NODE, SCOPE_BOTH, cut};
    impair_nodes(&scope, nodes, alone, injection);
}

/* The other end of a single link at `node`: the other of two named nodes, the leader, or any that
 * runs. Always one draw, so that later draws do not depend on the view. */
static uint32_t pick_peer(const struct cluster_view *view, node_set chosen, uint32_t node,
                          struct random *random)
{
    node_set others = view->running & ~node_bit(node);
    uint32_t drawn = nodes_pick(random, others);
    if (nodes_count(chosen) == 2)
        return nodes_first(chosen & ~node_bit(node));
    if (view->leader && (others & node_bit(view->leader)))
        return view->leader;
    return drawn;
}

static bool pick_pair(const struct cluster_view *view, node_set chosen, struct random *random,
                      uint32_t pair[2], const char **ret_why)
{
    pair[0] = nodes_pick(random, chosen & view->running);
    pair[1] = pair[0] ? pick_peer(view, chosen, pair[0], random) : 0;
    *ret_why = pair[0] ? "no other node is running" : "the target is not running";
    return pair[0] && pair[1];
}

static bool impair_one(const struct scope *scope, const struct cluster_view *view, node_set chosen,
                       struct random *random, struct injection *out, const char **ret_why)
{
    uint32_t pair[2];
    if (!pick_pair(view, chosen, random, pair, ret_why))
        return false;
    out->targets = node_bit(pair[0]) | node_bit(pair[1]);
    if (scope->direction != SCOPE_IN)
        injection_link(out, pair[0], pair[1], scope->impairment);
    if (scope->direction != SCOPE_OUT)
        injection_link(out, pair[1], pair[0], scope->impairment);
    return true;
}

bool scope_start(const struct scope *scope, const struct cluster_view *view, node_set chosen,
                 struct random *random, struct injection *out, const char **ret_why)
{
    if (scope->links == SCOPE_ONE)
        return impair_one(scope, view, chosen, random, out, ret_why);
    out->targets = scope->links == SCOPE_ALL ? nodes_all(view->nodes) : chosen;
    impair_nodes(scope, view->nodes, out->targets, out);
    return true;
}

/* ---- one way ---- */

const char *const one_way_links_words[] = {"node", "one", NULL};
const char *const one_way_direction_words[] = {"out", "in", NULL};

void one_way_plan(struct random *random, const struct fault_scale *scale,
                  struct option_values *parameters)
{
    (void)scale;
    parameters->at[0] = random_chance(random, 300000);
    parameters->at[1] = random_below(random, 2);
}

bool one_way_start(const struct option_values *parameters, const struct cluster_view *view,
                   node_set chosen, struct random *random, struct impairment impairment,
                   struct injection *out, const char **ret_why)
{
    const struct scope one = {SCOPE_ONE, parameters->at[1] ? SCOPE_IN : SCOPE_OUT, impairment};
    node_set from = chosen, to = nodes_all(view->nodes) & ~chosen;
    if (parameters->at[0])
        return impair_one(&one, view, chosen, random, out, ret_why);
    *ret_why = "nobody is left on the other side";
    out->targets = chosen;
    for (; from; from &= from - 1)
        for (node_set peer = to; peer; peer &= peer - 1) {
            uint32_t a = nodes_first(from), b = nodes_first(peer);
            injection_link(out, parameters->at[1] ? b : a, parameters->at[1] ? a : b, impairment);
        }
    return out->link_count > 0;
}
