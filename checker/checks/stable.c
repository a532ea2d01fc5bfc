/* While nothing changes around it, a majority that has agreed on a leader keeps it. Judged in
 * stretches without any fault, or under faults that stay as they are, in which nothing disturbs and
 * the running nodes fall into clean parts (all linked within, nothing across), from the moment the
 * majority part first agrees.
 *
 * A loaded machine makes a node suspect its leader wrongly now and then, which is no fault of the
 * algorithm's. So single changes count for nothing: invalid are CHANGES of them within the bound,
 * that is reigns of less than two election timeouts one after the other. Changes right after a
 * stall that a process noted are not counted at all. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "checker/cluster.h"
#include "checker/words.h"

#define CHANGES 5

struct leader_change {
    uint64_t time_ns, index;
    uint32_t node, stretch;
    bool excused;
};

struct stable {
    struct cluster cluster;
    uint64_t bound_ns, timeout_max_ns, stall_min_ns;
    bool over;
    uint32_t *part;
    uint32_t majority_part; /* 0: nothing is owed now */
    bool settled;           /* it agreed once in this stretch */
    uint32_t leader;        /* its last one */
    uint64_t term;
    uint32_t stretch;    /* number of the stretch */
    uint64_t stalled_ns; /* end of the last long stall */
    struct leader_change *changes;
    uint32_t count, capacity;
};

static void begin(void *state, const struct history_header *header)
{
    struct stable *check = state;
    cluster_init(&check->cluster, header);
    check->bound_ns = 10 * header->knobs.election_timeout_max;
    check->timeout_max_ns = header->knobs.election_timeout_max;
    check->stall_min_ns = header->knobs.election_timeout_min / 2;
    check->part = must_alloc(header->nodes + 1, sizeof *check->part);
}

/* The part with a majority in it; 0: there is none. */
static uint32_t find_majority(const struct stable *check, uint32_t parts)
{
    for (uint32_t number = 1; number <= parts; number++) {
        uint32_t size = 0;
        for (uint32_t id = 1; id <= check->cluster.nodes; id++)
            size += check->part[id] == number;
        if (size >= check->cluster.majority)
            return number;
    }
    return 0;
}

/* All of the part name one leader, which is one of them. */
static bool agreed(const struct stable *check, uint32_t *ret_leader)
{
    uint32_t leader = 0;
    for (uint32_t id = 1; id <= check->cluster.nodes; id++) {
        if (check->part[id] != check->majority_part)
            continue;
        uint32_t named = check->cluster.members[id].leader;
        if (named == 0 || (leader && named != leader))
            return false;
        leader = named;
    }
    *ret_leader = leader;
    return leader <= check->cluster.nodes && check->part[leader] == check->majority_part;
}

static void settle(struct stable *check)
{
    if (check->settled || check->majority_part == 0 || !agreed(check, &check->leader))
        return;
    check->settled = true;
    check->term = check->cluster.members[check->leader].term;
}

static void on_change(struct stable *check)
{
    check->stretch++;
    check->settled = false;
    check->majority_part = 0;
    if (check->over || !cluster_undisturbed(&check->cluster))
        return;
    uint32_t parts = cluster_parts(&check->cluster, check->part);
    check->majority_part = find_majority(check, parts);
    settle(check);
}

static bool after_stall(const struct stable *check, uint64_t time_ns)
{
    return check->stalled_ns && time_ns <= check->stalled_ns + 2 * check->timeout_max_ns;
}

static void add_change(struct stable *check, const struct event *event)
{
    if (check->count == check->capacity) {
        check->capacity = check->capacity ? check->capacity * 2 : 16;
        check->changes = must_grow(check->changes, check->capacity, sizeof *check->changes);
    }
    check->changes[check->count++] = (struct leader_change){
        .time_ns = event->time_ns,
        .index = event->index,
        .node = event->process,
        .stretch = check->stretch,
        .excused = after_stall(check, event->time_ns),
    };
}

static void on_lead(struct stable *check, const struct event *event)
{
    uint32_t id = process_index(event->process);
    uint64_t term = event_number(event, FIELD_TERM);
    if (!check->settled || !cluster_member(&check->cluster, event->process) ||
        check->part[id] != check->majority_part || (id == check->leader && term == check->term))
        return;
    check->leader = id;
    check->term = term;
    add_change(check, event);
}

/* The note comes when the stall is over, so it may excuse changes seen already. */
static void on_stall(struct stable *check, const struct event *event)
{
    uint64_t length_ns = stall_within(event, 0, UINT64_MAX);
    if (length_ns < check->stall_min_ns)
        return;
    uint64_t begin_ns = event->time_ns - length_ns;
    if (event->time_ns > check->stalled_ns)
        check->stalled_ns = event->time_ns;
    for (uint32_t i = check->count; i > 0 && check->changes[i - 1].time_ns >= begin_ns; i--)
        check->changes[i - 1].excused = true;
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct stable *check = state;
    struct change change;
    (void)finding;
    if (event->f == F_NOTE) {
        on_stall(check, event);
    } else if (event->f == F_PHASE) {
        check->over = check->over || slice_equals(event_text(event, FIELD_NAME), "end");
        if (check->over)
            check->settled = false;
    } else if (cluster_step(&check->cluster, event, &change)) {
        on_change(check);
    } else {
        if (event->f == F_LEAD)
            on_lead(check, event);
        settle(check);
    }
}

static void report(const struct stable *check, const struct leader_change *const *recent,
                   struct finding *finding)
{
    struct words words = {0};
    uint64_t witness[CHANGES];
    for (uint32_t i = 0; i < CHANGES; i++)
        witness[i] = recent[i]->index;
    finding_invalid(finding, witness, CHANGES,
                    "the leader changed %d times within %s although nothing around the majority "
                    "changed, last from %s to %s at %s; fewer than %d in %s are allowed",
                    CHANGES, word_apart(&words, recent[0]->time_ns, recent[CHANGES - 1]->time_ns),
                    word_process(&words, recent[CHANGES - 2]->node),
                    word_process(&words, recent[CHANGES - 1]->node),
                    word_time(&words, recent[CHANGES - 1]->time_ns), CHANGES,
                    word_span(&words, check->bound_ns));
}

/* Slide over the counted changes of each stretch, CHANGES at a time. */
static void judge(const struct stable *check, struct finding *finding)
{
    const struct leader_change *recent[CHANGES];
    uint32_t held = 0;
    for (uint32_t i = 0; i < check->count; i++) {
        const struct leader_change *change = &check->changes[i];
        if (change->excused)
            continue;
        if (held && recent[0]->stretch != change->stretch)
            held = 0;
        if (held == CHANGES) {
            for (uint32_t j = 1; j < CHANGES; j++)
                recent[j - 1] = recent[j];
            held--;
        }
        recent[held++] = change;
        if (held == CHANGES && change->time_ns - recent[0]->time_ns <= check->bound_ns)
            report(check, recent, finding);
    }
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct stable *check = state;
    (void)end_ns;
    judge(check, finding);
    cluster_release(&check->cluster);
    free(check->part);
    free(check->changes);
}

const struct check check_stable = {
    .name = "stable",
    .summary = "a majority around which nothing changes keeps its leader",
    .events = CLUSTER_EVENTS | 1u << F_NOTE | 1u << F_PHASE,
    .state_bytes = sizeof(struct stable),
    .begin = begin,
    .step = step,
    .end = end,
};
