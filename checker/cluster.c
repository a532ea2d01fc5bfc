#include "checker/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "checker/fault_kinds.h"

/* What an active fault did, so that its heal undoes exactly that. */
struct active {
    enum fault_effect effect;
    uint32_t count, capacity;
    uint32_t *pairs; /* owned; nodes, or from and to of links, 2 numbers each */
};

void cluster_init(struct cluster *cluster, const struct history_header *header)
{
    *cluster = (struct cluster){.nodes = header->nodes, .majority = header->nodes / 2 + 1};
    cluster->members = must_alloc(header->nodes + 1, sizeof *cluster->members);
    table_init(&cluster->active, sizeof(struct active));
}

static void release_active(void *context, void *value)
{
    (void)context;
    free(((struct active *)value)->pairs);
}

void cluster_release(struct cluster *cluster)
{
    table_each(&cluster->active, release_active, NULL);
    table_release(&cluster->active);
    free(cluster->members);
    free(cluster->cuts);
    cluster->members = NULL;
    cluster->cuts = NULL;
}

struct member *cluster_member(const struct cluster *cluster, uint32_t process)
{
    uint32_t id = process_index(process);
    bool known = process_kind(process) == PROCESS_NODE && id >= 1 && id <= cluster->nodes;
    return known ? &cluster->members[id] : NULL;
}

static void add_pair(struct active *active, uint32_t a, uint32_t b)
{
    if (active->count == active->capacity) {
        active->capacity = active->capacity ? active->capacity * 2 : 8;
        active->pairs = must_grow(active->pairs, active->capacity, 2 * sizeof *active->pairs);
    }
    active->pairs[2 * active->count] = a;
    active->pairs[2 * active->count + 1] = b;
    active->count++;
}

static void add_target(void *context, uint32_t node)
{
    add_pair(context, node, 0);
}

/* A cut off resource or client is beyond this model: then nothing is promised. */
static void add_link(void *context, uint32_t from, uint32_t to)
{
    struct active *active = context;
    if (process_kind(from) == PROCESS_NODE && process_kind(to) == PROCESS_NODE)
        add_pair(active, process_index(from), process_index(to));
    else
        active->effect = EFFECT_DISTURB;
}

static void apply_cuts(struct cluster *cluster, const struct active *active, bool on)
{
    uint32_t width = cluster->nodes + 1;
    if (!cluster->cuts)
        cluster->cuts = must_alloc((size_t)width * width, sizeof *cluster->cuts);
    for (uint32_t i = 0; i < active->count; i++) {
        uint32_t from = active->pairs[2 * i], to = active->pairs[2 * i + 1];
        if (from > cluster->nodes || to > cluster->nodes)
            continue;
        uint16_t *cuts = &cluster->cuts[from * width + to];
        *cuts = (uint16_t)(*cuts + (on ? 1 : -1));
        cluster->cut_count += on ? 1 : UINT64_MAX;
    }
}

static void apply(struct cluster *cluster, const struct active *active, bool on)
{
    if (active->effect == EFFECT_DISTURB)
        cluster->disturb_count += on ? 1 : UINT64_MAX;
    else if (active->effect == EFFECT_CUT)
        apply_cuts(cluster, active, on);
    else
        for (uint32_t i = 0; i < active->count; i++) {
            uint32_t id = active->pairs[2 * i];
            if (id > cluster->nodes)
                continue;
            struct member *member = &cluster->members[id];
            uint32_t *faults = active->effect == EFFECT_KILL ? &member->kills : &member->pauses;
            *faults += on ? 1 : UINT32_MAX;
        }
}

static void on_fault(struct cluster *cluster, const struct event *event)
{
    bool fresh;
    if (!fault_installed(event))
        return;
    struct active *active = table_put(&cluster->active, event_number(event, FIELD_ID), 0, &fresh);
    if (!fresh)
        return;
    active->effect = fault_effect(event);
    if (active->effect == EFFECT_FAIL)
        active->effect = EFFECT_DISTURB;
    if (active->effect == EFFECT_CUT)
        fault_links(event, add_link, active);
    else
        fault_targets(event, add_target, active);
    if (active->effect == EFFECT_CUT && cluster->nodes > CLUSTER_LINKED_MAX)
        active->effect = EFFECT_DISTURB;
    apply(cluster, active, true);
}

static void on_heal(struct cluster *cluster, const struct event *event)
{
    uint64_t id = event_number(event, FIELD_ID);
    struct active *active = table_find(&cluster->active, id, 0);
    if (!active)
        return;
    apply(cluster, active, false);
    release_active(NULL, active);
    (void)table_remove(&cluster->active, id, 0);
}

static void forget_belief(struct member *member, const struct event *event)
{
    member->leader = 0;
    member->term = member->token = 0;
    member->since_ns = event->time_ns;
    member->index = event->index;
}

static void on_life(struct cluster *cluster, const struct event *event)
{
    struct member *member = cluster_member(cluster, event->process);
    bool spawned = event->f == F_SPAWN;
    if (member) {
        member->spawned = spawned;
        member->spawned_ns = spawned ? event->time_ns : member->spawned_ns;
        forget_belief(member, event);
    } else if (process_kind(event->process) != PROCESS_CLIENT && !process_elects(event->process)) {
        if (!spawned)
            cluster->helpers_down++;
        else if (cluster->helpers_down)
            cluster->helpers_down--;
    }
}

static void on_belief(struct cluster *cluster, const struct event *event)
{
    struct member *member = cluster_member(cluster, event->process);
    if (!member)
        return;
    uint32_t self = process_index(event->process);
    if (event->f == F_STEP_DOWN && member->leader != self)
        return;
    forget_belief(member, event);
    member->term = event_number(event, FIELD_TERM);
    if (event->f == F_LEAD) {
        member->leader = self;
        member->token = event_number(event, FIELD_TOKEN);
    } else if (event->f == F_FOLLOW) {
        member->leader = process_index((uint32_t)event_number(event, FIELD_LEADER));
    }
}

bool cluster_step(struct cluster *cluster, const struct event *event, struct change *ret_change)
{
    switch ((enum event_f)event->f) {
    case F_FAULT: on_fault(cluster, event); break;
    case F_HEAL: on_heal(cluster, event); break;
    case F_SPAWN:
    case F_EXIT: on_life(cluster, event); break;
    case F_LEAD:
    case F_STEP_DOWN:
    case F_FOLLOW: on_belief(cluster, event); return false;
    default: return false;
    }
    if (process_kind(event->process) == PROCESS_CLIENT)
        return false;
    *ret_change = (struct change){event->time_ns, event->time_ns, event->index};
    if (event_has(event, FIELD_BEGIN) && event->field[FIELD_BEGIN].number < event->time_ns)
        ret_change->begin_ns = event->field[FIELD_BEGIN].number;
    if (event_has(event, FIELD_END) && event->field[FIELD_END].number > event->time_ns)
        ret_change->end_ns = event->field[FIELD_END].number;
    return true;
}

bool cluster_runs(const struct cluster *cluster, uint32_t id)
{
    const struct member *member = &cluster->members[id];
    return member->spawned && member->pauses == 0 && member->kills == 0;
}

static bool cut(const struct cluster *cluster, uint32_t from, uint32_t to)
{
    return cluster->cut_count && cluster->cuts[from * (cluster->nodes + 1) + to];
}

bool cluster_linked(const struct cluster *cluster, uint32_t a, uint32_t b)
{
    return !cut(cluster, a, b) && !cut(cluster, b, a);
}

bool cluster_of_use(const struct cluster *cluster, uint32_t id)
{
    const struct member *member = &cluster->members[id];
    uint32_t linked = 0;
    if (!member->spawned || member->pauses)
        return false;
    if (cluster->cut_count == 0)
        return true;
    for (uint32_t other = 1; other <= cluster->nodes; other++)
        linked += other == id || cluster_linked(cluster, id, other);
    return linked >= cluster->majority;
}

bool cluster_central(const struct cluster *cluster, uint32_t id)
{
    return cluster_runs(cluster, id) && cluster_of_use(cluster, id);
}

bool cluster_undisturbed(const struct cluster *cluster)
{
    return cluster->disturb_count == 0 && cluster->helpers_down == 0;
}

static bool fits(const struct cluster *cluster, const bool *group, uint32_t id)
{
    for (uint32_t other = 1; other <= cluster->nodes; other++)
        if (group[other] && other != id && !cluster_linked(cluster, id, other))
            return false;
    return true;
}

static uint32_t grow_group(const struct cluster *cluster, uint32_t first, bool *group)
{
    uint32_t size = 1;
    memset(group, 0, cluster->nodes + 1);
    group[first] = true;
    for (uint32_t id = 1; id <= cluster->nodes; id++) {
        if (group[id] || !cluster_runs(cluster, id))
            continue;
        if (cluster->cut_count == 0 || fits(cluster, group, id)) {
            group[id] = true;
            size++;
        }
    }
    return size;
}

uint32_t cluster_group(const struct cluster *cluster, bool *group)
{
    bool *trial = must_alloc(cluster->nodes + 1, 1);
    uint32_t best = 0;
    memset(group, 0, cluster->nodes + 1);
    for (uint32_t first = 1; first <= cluster->nodes; first++) {
        if (!cluster_runs(cluster, first))
            continue;
        uint32_t size = grow_group(cluster, first, trial);
        if (size > best) {
            best = size;
            memcpy(group, trial, cluster->nodes + 1);
        }
        if (cluster->cut_count == 0)
            break; /* all running nodes: no start finds more */
    }
    free(trial);
    return best;
}

bool cluster_group_holds(const struct cluster *cluster, const bool *group)
{
    for (uint32_t id = 1; id <= cluster->nodes; id++) {
        if (!group[id])
            continue;
        if (!cluster_runs(cluster, id) || (cluster->cut_count && !fits(cluster, group, id)))
            return false;
    }
    return true;
}

/* Two nodes are of one part when they are linked; that is clean when being linked is the same
 * relation for all: every node sees exactly its part. */
static bool same_part(const struct cluster *cluster, const uint32_t *part, uint32_t a, uint32_t b)
{
    bool there = !cut(cluster, a, b), back = !cut(cluster, b, a);
    return there == back && there == (part[a] == part[b]);
}

uint32_t cluster_parts(const struct cluster *cluster, uint32_t *part)
{
    uint32_t parts = 0;
    memset(part, 0, (cluster->nodes + 1) * sizeof *part);
    for (uint32_t id = 1; id <= cluster->nodes; id++) {
        if (!cluster_runs(cluster, id) || part[id])
            continue;
        parts++;
        for (uint32_t other = id; other <= cluster->nodes; other++)
            if (cluster_runs(cluster, other) && !part[other] && cluster_linked(cluster, id, other))
                part[other] = parts;
    }
    if (cluster->cut_count == 0)
        return parts;
    for (uint32_t a = 1; a <= cluster->nodes; a++)
        for (uint32_t b = a + 1; part[a] && b <= cluster->nodes; b++)
            if (part[b] && !same_part(cluster, part, a, b))
                return 0;
    return parts;
}

/* The option "lease=500ms" of an algorithm that has leases, or what a service made of it; else 0.
 */
static uint64_t lease_ns(const struct history_header *header)
{
    static const char word[] = "lease=";
    char value[UNIT_TEXT_MAX];
    uint64_t ns = 0;
    if (!(header->traits & 1u << TRAIT_LEASE))
        return 0;
    for (const char *at = header->options; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, word, sizeof word - 1) != 0)
            continue;
        at += sizeof word - 1;
        (void)snprintf(value, sizeof value, "%.*s", (int)strcspn(at, ","), at);
        if (parse_duration(value, &ns, NULL) < 0)
            ns = 0;
    }
    return header->service_lease_ns > ns ? header->service_lease_ns : ns;
}

uint64_t liveness_bound_ns(const struct history_header *header)
{
    return header->knobs.recover_within
               ? header->knobs.recover_within
               : 10 * header->knobs.election_timeout_max + 2 * lease_ns(header);
}

uint64_t liveness_slack_ns(const struct history_header *header)
{
    bool simulated = header->world && strcmp(header->world, "sim") == 0;
    return simulated ? 0 : header->knobs.election_timeout_max;
}

uint64_t liveness_calm_ns(const struct history_header *header)
{
    return 2 * header->knobs.election_timeout_max + lease_ns(header);
}

static bool parse_stall(struct slice text, uint64_t *out)
{
    static const char word[] = "stall ";
    size_t length = sizeof word - 1;
    uint64_t ns = 0;
    if (text.length <= length || text.length > length + 18 || memcmp(text.at, word, length) != 0)
        return false;
    for (size_t i = length; i < text.length; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        ns = ns * 10 + (uint64_t)(text.at[i] - '0');
    }
    *out = ns;
    return true;
}

uint64_t stall_within(const struct event *event, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t ns;
    if (event->f != F_NOTE || !parse_stall(event_text(event, FIELD_TEXT), &ns))
        return 0;
    uint64_t begin_ns = event->time_ns > ns ? event->time_ns - ns : 0;
    uint64_t end_ns = event->time_ns < to_ns ? event->time_ns : to_ns;
    if (begin_ns < from_ns)
        begin_ns = from_ns;
    return end_ns > begin_ns ? end_ns - begin_ns : 0;
}
