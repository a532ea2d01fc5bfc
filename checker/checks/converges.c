/* Nodes that are linked and undisturbed do not go on naming different leaders. Owed while the
 * running nodes fall into clean parts (all linked within, nothing across): each part must come to
 * one mind within the bound, and again whenever it loses it. Naming nobody is no disagreement.
 *
 * Topologies that are not clean (one-way cuts, rings, bridges) promise nothing here: a node in the
 * middle rightly hears of two leaders. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "checker/calm.h"
#include "checker/cluster.h"
#include "checker/words.h"

#define DISPUTES_MAX 32

/* Two nodes of one part that name different leaders. */
struct dispute {
    uint64_t since_ns, end_ns, stalled_ns;
    uint32_t node[2], leader[2];
    uint64_t index[2];
};

struct part_state {
    bool disputed;
    uint32_t nodes;
    struct dispute dispute;
};

struct converges {
    struct cluster cluster;
    uint64_t bound_ns;
    bool over;                /* phase "end" */
    uint32_t *part;           /* by node id */
    struct part_state *parts; /* 1..part_count */
    uint32_t part_count;      /* 0: nothing is owed now */
    struct calm calm;         /* some part had nodes that could disagree, and named leaders */
    struct dispute long_ones[DISPUTES_MAX];
    uint32_t count;
};

static void begin(void *state, const struct history_header *header)
{
    struct converges *check = state;
    cluster_init(&check->cluster, header);
    check->bound_ns = liveness_bound_ns(header) + liveness_slack_ns(header);
    check->part = must_alloc(header->nodes + 1, sizeof *check->part);
    check->parts = must_alloc(header->nodes + 1, sizeof *check->parts);
}

static void close_dispute(struct converges *check, struct part_state *part, uint64_t end_ns)
{
    struct dispute *dispute = &part->dispute;
    part->disputed = false;
    if (end_ns < dispute->since_ns || end_ns - dispute->since_ns < check->bound_ns ||
        check->count == DISPUTES_MAX)
        return;
    dispute->end_ns = end_ns;
    check->long_ones[check->count++] = *dispute;
}

/* The first two running nodes of the part that name different leaders. */
static bool find_dispute(const struct converges *check, uint32_t number, struct dispute *out)
{
    const struct cluster *cluster = &check->cluster;
    uint32_t first = 0;
    for (uint32_t id = 1; id <= cluster->nodes; id++) {
        const struct member *member = &cluster->members[id];
        if (check->part[id] != number || member->leader == 0)
            continue;
        if (first == 0)
            first = id;
        const struct member *other = &cluster->members[first];
        if (member->leader == other->leader)
            continue;
        *out = (struct dispute){.node = {first, id},
                                .leader = {other->leader, member->leader},
                                .index = {other->index, member->index}};
        return true;
    }
    return false;
}

static bool part_names(const struct converges *check, uint32_t number)
{
    for (uint32_t id = 1; id <= check->cluster.nodes; id++)
        if (check->part[id] == number && check->cluster.members[id].leader)
            return true;
    return false;
}

static void look(struct converges *check, uint32_t number, uint64_t time_ns)
{
    struct part_state *part = &check->parts[number];
    struct dispute found;
    if (!check->calm.open && part->nodes > 1 && part_names(check, number))
        calm_begin(&check->calm, time_ns);
    if (!find_dispute(check, number, &found)) {
        if (part->disputed)
            close_dispute(check, part, time_ns);
        return;
    }
    found.since_ns = part->disputed ? part->dispute.since_ns : time_ns;
    found.stalled_ns = part->disputed ? part->dispute.stalled_ns : 0;
    part->disputed = true;
    part->dispute = found;
}

static void close_all(struct converges *check, uint64_t end_ns)
{
    for (uint32_t i = 1; i <= check->part_count; i++)
        if (check->parts[i].disputed)
            close_dispute(check, &check->parts[i], end_ns);
    calm_end(&check->calm, end_ns);
    check->part_count = 0;
}

static void on_change(struct converges *check, const struct change *change)
{
    close_all(check, change->begin_ns);
    if (check->over || !cluster_undisturbed(&check->cluster))
        return;
    check->part_count = cluster_parts(&check->cluster, check->part);
    for (uint32_t i = 1; i <= check->part_count; i++)
        check->parts[i].nodes = 0;
    for (uint32_t id = 1; id <= check->cluster.nodes; id++)
        check->parts[check->part[id]].nodes++; /* [0]: those that do not run */
    for (uint32_t i = 1; i <= check->part_count; i++)
        look(check, i, change->end_ns);
}

static void on_stall(struct converges *check, const struct event *event)
{
    calm_stall(&check->calm, event);
    for (uint32_t i = 1; i <= check->part_count; i++)
        if (check->parts[i].disputed)
            check->parts[i].dispute.stalled_ns +=
                stall_within(event, check->parts[i].dispute.since_ns, UINT64_MAX);
    for (uint32_t i = 0; i < check->count; i++)
        check->long_ones[i].stalled_ns +=
            stall_within(event, check->long_ones[i].since_ns, check->long_ones[i].end_ns);
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct converges *check = state;
    struct change change;
    uint32_t id = process_index(event->process);
    (void)finding;
    if (check->over)
        return;
    if (event->f == F_NOTE) {
        on_stall(check, event);
    } else if (event->f == F_PHASE) {
        check->over = slice_equals(event_text(event, FIELD_NAME), "end");
        if (check->over)
            close_all(check, event->time_ns);
    } else if (cluster_step(&check->cluster, event, &change)) {
        on_change(check, &change);
    } else if (check->part_count && cluster_member(&check->cluster, event->process) &&
               check->part[id]) {
        look(check, check->part[id], event->time_ns);
    }
}

static void judge(const struct converges *check, const struct dispute *dispute,
                  struct finding *finding)
{
    struct words words = {0};
    uint64_t length_ns = dispute->end_ns - dispute->since_ns;
    if (length_ns < check->bound_ns + dispute->stalled_ns)
        return;
    finding_invalid(finding, dispute->index, 2,
                    "%s and %s were linked and undisturbed from %s to %s but their part never "
                    "agreed in these %s: %s names %s, %s names %s; %s are allowed",
                    word_node(&words, dispute->node[0]), word_node(&words, dispute->node[1]),
                    word_time(&words, dispute->since_ns), word_time(&words, dispute->end_ns),
                    word_span(&words, length_ns), word_node(&words, dispute->node[0]),
                    word_node(&words, dispute->leader[0]), word_node(&words, dispute->node[1]),
                    word_node(&words, dispute->leader[1]),
                    word_allowed(&words, check->bound_ns, dispute->stalled_ns));
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct converges *check = state;
    close_all(check, end_ns);
    calm_evidence(&check->calm, check->bound_ns, finding);
    for (uint32_t i = 0; i < check->count; i++)
        judge(check, &check->long_ones[i], finding);
    cluster_release(&check->cluster);
    free(check->part);
    free(check->parts);
}

const struct check check_converges = {
    .name = "converges",
    .summary = "linked, undisturbed nodes do not go on naming different leaders",
    .judges = "calm span",
    .may_idle = true,
    .events = CLUSTER_EVENTS | 1u << F_NOTE | 1u << F_PHASE,
    .state_bytes = sizeof(struct converges),
    .begin = begin,
    .step = step,
    .end = end,
};
