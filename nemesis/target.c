/* Targets as text and as nodes. */
#include "nemesis/target.h"

#include <string.h>

#include "base/units.h"

/* Words of the roles, in the order of enum target_role; the last has no word of its own. */
static const struct {
    const char *word;
    bool counted;
    uint32_t nodes_min;
} roles[TARGET_ROLES] = {
    [TARGET_ANY] = {"any", false, 1},
    [TARGET_LEADER] = {"leader", false, 1},
    [TARGET_CANDIDATE] = {"candidate", false, 1},
    [TARGET_FOLLOWER] = {"follower", true, 2},
    [TARGET_FOLLOWERS] = {"followers", false, 2},
    [TARGET_LOWEST] = {"lowest", false, 1},
    [TARGET_HIGHEST] = {"highest", false, 1},
    [TARGET_ACTOR] = {"actor", false, 1},
    [TARGET_RANDOM] = {"random", true, 1},
    [TARGET_MINORITY] = {"minority", false, 3},
    [TARGET_MAJORITY] = {"majority", false, 1},
    [TARGET_ALL] = {"all", false, 1},
    [TARGET_NODES] = {NULL, false, 1},
};

uint32_t nodes_pick(struct random *random, node_set set)
{
    uint64_t skip = random_below(random, nodes_count(set));
    if (set == 0)
        return 0;
    while (skip--)
        set &= set - 1;
    return nodes_first(set);
}

node_set nodes_pick_some(struct random *random, node_set set, uint32_t count)
{
    node_set picked = 0;
    while (count-- && set) {
        node_set bit = node_bit(nodes_pick(random, set));
        picked |= bit;
        set &= ~bit;
    }
    return picked;
}

const char *party_name(uint32_t id, uint32_t nodes, char buffer[PROCESS_NAME_MAX])
{
    return process_name(id > nodes ? PROCESS_NUMBER(PROCESS_COORDINATOR, 0)
                                   : PROCESS_NUMBER(PROCESS_NODE, id),
                        buffer);
}

void parties_format(node_set set, uint32_t nodes, char separator, struct text *out)
{
    char name[PROCESS_NAME_MAX];
    for (bool first = true; set; set &= set - 1, first = false) {
        if (!first)
            text_add(out, "%c", separator);
        text_add(out, "%s", party_name(nodes_first(set), nodes, name));
    }
}

node_set cluster_candidates(const struct cluster_view *view)
{
    return view->running & ~view->paused & nodes_all(view->nodes - view->witnesses);
}

node_set cluster_leads(const struct cluster_view *view)
{
    return view->leader ? node_bit(view->leader) & cluster_candidates(view) : 0;
}

uint32_t target_nodes_min(enum target_role role)
{
    return roles[role].nodes_min;
}

void target_format(const struct target *target, struct text *out)
{
    if (target->role == TARGET_NODES) {
        parties_format(target->nodes, NODES_MAX, '+', out);
        return;
    }
    text_add(out, "%s", roles[target->role].word);
    if (roles[target->role].counted && target->count > 1)
        text_add(out, ":%u", target->count);
}

static int parse_node(struct slice name, uint32_t nodes, node_set *set, struct error *error)
{
    uint32_t process;
    if (!process_parse(name, &process) || process_kind(process) != PROCESS_NODE ||
        process_index(process) == 0 || process_index(process) > nodes)
        return error_usage(error,
                           "target '%.*s' is not one of any, leader, candidate, follower[:N], "
                           "followers, lowest, highest, actor, random[:N], minority, majority, "
                           "all, or nodes n1 to n%u joined by +",
                           (int)(name.length < 60 ? name.length : 60), name.at, nodes);
    *set |= node_bit(process_index(process));
    return 0;
}

static int parse_nodes(struct slice text, uint32_t nodes, struct target *out, struct error *error)
{
    struct target parsed = {.role = TARGET_NODES};
    for (;;) {
        const char *plus = memchr(text.at, '+', text.length);
        struct slice name = {text.at, plus ? (size_t)(plus - text.at) : text.length};
        int rc = parse_node(name, nodes, &parsed.nodes, error);
        if (rc < 0)
            return rc;
        if (!plus)
            break;
        text = (struct slice){plus + 1, text.length - name.length - 1};
    }
    *out = parsed;
    return 0;
}

static int parse_number_of(struct slice text, uint32_t nodes, uint32_t *out, struct error *error)
{
    struct text copy = {0};
    uint64_t count;
    text_add_bytes(&copy, text.at, text.length);
    int rc = parse_count(text_string(&copy), &count, error);
    text_release(&copy);
    if (rc == 0 && (count == 0 || count > nodes))
        rc = error_usage(error, "number of targets must be between 1 and %u", nodes);
    if (rc == 0)
        *out = count > 1 ? (uint32_t)count : 0;
    return rc;
}

int target_parse(struct slice text, uint32_t nodes, struct target *out, struct error *error)
{
    for (uint32_t role = 0; role < TARGET_NODES; role++) {
        struct target parsed = {.role = (enum target_role)role};
        size_t length = strlen(roles[role].word);
        if (text.length < length || memcmp(text.at, roles[role].word, length) != 0)
            continue;
        struct slice rest = {text.at + length, text.length - length};
        bool counted = roles[role].counted && rest.length > 0 && rest.at[0] == ':';
        if (rest.length > 0 && !counted)
            continue;
        if (counted) {
            struct slice number = {rest.at + 1, rest.length - 1};
            int rc = parse_number_of(number, nodes, &parsed.count, error);
            if (rc < 0)
                return rc;
        }
        *out = parsed;
        return 0;
    }
    return parse_nodes(text, nodes, out, error);
}

static node_set leader_of(const struct cluster_view *view)
{
    return view->leader ? node_bit(view->leader) & view->running : 0;
}

node_set target_resolve(const struct target *target, const struct cluster_view *view,
                        struct random *random, const char **ret_why)
{
    uint32_t count = target->count ? target->count : 1;
    uint32_t minority = (view->nodes - 1) / 2, majority = view->nodes / 2 + 1;
    node_set all = nodes_all(view->nodes), set = 0;
    *ret_why = "no node is running";
    switch (target->role) {
    case TARGET_ANY: set = all; break;
    case TARGET_LEADER:
        *ret_why = "no leader is known";
        set = leader_of(view);
        break;
    case TARGET_CANDIDATE:
        *ret_why = "no node is a candidate";
        set = nodes_pick_some(random, view->candidates & view->running, 1);
        break;
    case TARGET_FOLLOWER:
        *ret_why = "no follower is running";
        set = nodes_pick_some(random, view->running & ~leader_of(view), count);
        break;
    case TARGET_FOLLOWERS:
        *ret_why = "no follower is running";
        set = view->running & ~leader_of(view);
        break;
    case TARGET_LOWEST: set = view->running & -view->running; break;
    case TARGET_HIGHEST: set = view->running ? node_bit(nodes_last(view->running)) : 0; break;
    case TARGET_ACTOR:
        *ret_why = "the node whose event it waited for is not running";
        set = view->actor ? node_bit(view->actor) & view->running : 0;
        break;
    case TARGET_RANDOM: set = nodes_pick_some(random, view->running, count); break;
    case TARGET_MINORITY:
        *ret_why = minority ? *ret_why : "a cluster this small has no minority";
        set = nodes_pick_some(random, view->running, minority);
        break;
    case TARGET_MAJORITY: set = nodes_pick_some(random, view->running, majority); break;
    case TARGET_ALL: set = view->running; break;
    case TARGET_NODES:
        *ret_why = "the cluster has no such node";
        set = target->nodes & all;
        break;
    case TARGET_ROLES: break;
    }
    return set;
}

node_set target_resolve_other(const struct target *target, const struct cluster_view *view,
                              node_set senders, struct random *random, const char **ret_why)
{
    struct cluster_view others = *view;
    bool chooses = target->role == TARGET_FOLLOWER || target->role == TARGET_RANDOM ||
                   target->role == TARGET_MINORITY || target->role == TARGET_MAJORITY;
    if (chooses && view->running & ~senders)
        others.running &= ~senders;
    return target_resolve(target, &others, random, ret_why);
}
