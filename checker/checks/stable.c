/* While nothing changes around it, a leader that a majority hears keeps its place.
 *
 * A change of leaders counts against the algorithm when somebody stood for election although the
 * leader ran, was linked and undisturbed and had claimed its place long enough ago to be heard by
 * everybody; or when the leader gave up although nobody had stood against it. Once faults have
 * begun, the last change of the cluster must be two election timeouts ago, and a lease term where
 * there are leases, so that what it left behind is over. All that is judged while the running nodes
 * fall into clean parts, leader and rival together in the one with the majority. An algorithm with
 * the trait "steady" promises more: nobody deposes a leader that is linked with a majority,
 * whatever the other links are like.
 *
 * A loaded machine makes a node suspect its leader wrongly now and then, which is no fault of the
 * algorithm's. So on real machines a single such change says nothing; invalid are CHANGES of them
 * within ten election timeouts, and those after a stall that a process noted are not counted. The
 * simulator stalls nobody: there one is enough. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checker/calm.h"
#include "checker/cluster.h"
#include "checker/words.h"

#define CHANGES 5u

/* When something was said; zeroed: never. */
struct moment {
    uint64_t time_ns, index;
    uint32_t node;
};

struct leader_change {
    struct moment before, cause, claim; /* old claim; what unseated it; new claim */
    bool gave_up;                       /* the cause is the old leader's own end */
    uint32_t stretch;
    bool excused;
};

struct stable {
    struct cluster cluster;
    uint32_t needed; /* changes that make it invalid */
    bool steady;
    uint64_t timeout_min_ns, timeout_max_ns, calm_ns;
    bool over;                 /* phase "end" */
    bool broken;               /* some fault has begun */
    uint32_t stretch;          /* number of the present state of the cluster, which holds ... */
    uint64_t stretch_ns;       /* ... since then */
    uint32_t *part;            /* by node id */
    uint32_t majority_part;    /* 0: no clean parts, or none has a majority */
    struct moment *candidates; /* by node id: the last time it stood */
    struct moment claim;       /* of the leader of the newest term */
    uint64_t term;
    struct moment rival; /* first to stand without cause, since the claim and the last change */
    struct moment end;   /* the leader stepped down, or its process ended */
    bool provoked;       /* somebody stood with cause before that end */
    uint64_t stalled_ns; /* end of the last long stall */
    struct calm calm;    /* a leader was owed its place */
    struct leader_change *changes;
    uint32_t count, capacity;
};

static void begin(void *state, const struct history_header *header)
{
    struct stable *check = state;
    bool simulated = header->world && strcmp(header->world, "sim") == 0;
    cluster_init(&check->cluster, header);
    check->needed = simulated ? 1 : CHANGES;
    check->steady = header->traits & 1u << TRAIT_STEADY;
    check->timeout_min_ns = header->knobs.election_timeout_min;
    check->timeout_max_ns = header->knobs.election_timeout_max;
    check->calm_ns = liveness_calm_ns(header);
    check->part = must_alloc(header->nodes + 1, sizeof *check->part);
    check->candidates = must_alloc(header->nodes + 1, sizeof *check->candidates);
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

/* From when on nobody has cause to stand against the leader. */
static uint64_t calm_ns(const struct stable *check)
{
    return check->stretch_ns + (check->broken ? check->calm_ns : 0);
}

/* Whether leader and rival are so placed that the leader is owed its place. */
static bool owed(const struct stable *check, uint32_t rival)
{
    if (check->claim.node == 0 || check->over || !cluster_undisturbed(&check->cluster))
        return false;
    if (check->steady)
        return cluster_central(&check->cluster, check->claim.node);
    return check->majority_part && check->part[rival] == check->majority_part &&
           check->part[check->claim.node] == check->majority_part;
}

/* Standing shortly before the claim may unseat its owner afterwards: two contended. */
static bool may_unseat(const struct stable *check, const struct moment *candidate)
{
    return candidate->time_ns && candidate->node != check->claim.node &&
           candidate->time_ns + check->timeout_max_ns >= check->claim.time_ns &&
           candidate->time_ns <= check->end.time_ns;
}

/* Is the present leader owed its place, by whoever could stand from where it is? */
static void watch(struct stable *check, uint64_t time_ns)
{
    bool watched = check->claim.node && owed(check, check->claim.node);
    uint64_t from_ns = calm_ns(check);
    if (watched)
        calm_begin(&check->calm, from_ns > time_ns ? from_ns : time_ns);
    else
        calm_end(&check->calm, time_ns);
}

static void on_end(struct stable *check, const struct moment *end)
{
    if (end->node != check->claim.node || check->end.time_ns)
        return;
    check->end = *end;
    if (check->rival.time_ns > end->time_ns)
        check->rival = (struct moment){0};
    for (uint32_t id = 1; id <= check->cluster.nodes; id++)
        check->provoked = check->provoked || may_unseat(check, &check->candidates[id]);
}

static void on_candidate(struct stable *check, const struct moment *candidate)
{
    bool standing = check->end.time_ns == 0 || candidate->time_ns <= check->end.time_ns;
    uint64_t heard_ns = check->claim.time_ns + check->timeout_min_ns / 2;
    check->candidates[candidate->node] = *candidate;
    if (candidate->node == check->claim.node || !standing)
        return;
    /* Who started when somebody led already hears of that with the next message to all. */
    const struct member *member = cluster_member(&check->cluster, candidate->node);
    bool is_new = member && member->spawned_ns >= check->claim.time_ns &&
                  candidate->time_ns <= member->spawned_ns + check->timeout_max_ns;
    if (candidate->time_ns <= heard_ns || candidate->time_ns <= calm_ns(check) || is_new)
        check->provoked = check->provoked || check->end.time_ns;
    else if (check->rival.time_ns == 0 && owed(check, candidate->node))
        check->rival = *candidate;
}

/* A change of the cluster is told when it is complete: what it unseated meanwhile had cause. */
static void excuse_since(struct stable *check, uint64_t begin_ns)
{
    for (uint32_t i = check->count; i > 0 && check->changes[i - 1].cause.time_ns >= begin_ns; i--)
        check->changes[i - 1].excused = true;
}

static void on_change(struct stable *check, const struct event *event, const struct change *change)
{
    excuse_since(check, change->begin_ns);
    check->stretch++;
    check->stretch_ns = change->end_ns;
    check->broken = check->broken || event->f == F_FAULT || event->f == F_EXIT;
    check->majority_part = find_majority(check, cluster_parts(&check->cluster, check->part));
    check->rival = (struct moment){0};
    calm_end(&check->calm, change->begin_ns);
    watch(check, change->end_ns);
    if (event->f == F_EXIT)
        on_end(check, &(struct moment){event->time_ns, event->index, event->process});
}

static bool after_stall(const struct stable *check, uint64_t time_ns)
{
    return check->stalled_ns && time_ns <= check->stalled_ns + 2 * check->timeout_max_ns;
}

static void add_change(struct stable *check, const struct leader_change *change)
{
    if (check->count == check->capacity) {
        check->capacity = check->capacity ? check->capacity * 2 : 16;
        check->changes = must_grow(check->changes, check->capacity, sizeof *check->changes);
    }
    check->changes[check->count++] = *change;
}

/* What unseated the leader without cause; false: nothing did, or it had cause. */
static bool find_cause(const struct stable *check, uint32_t successor, struct moment *out)
{
    bool gave_up = check->end.time_ns > calm_ns(check) && !check->provoked;
    if (check->rival.time_ns)
        *out = check->rival;
    else if (gave_up && owed(check, successor))
        *out = check->end;
    else
        return false;
    return true;
}

/* Who claims without having stood before stands by claiming. */
static void on_lead(struct stable *check, const struct event *event)
{
    struct moment claim = {event->time_ns, event->index, process_index(event->process)};
    struct moment cause;
    uint64_t term = event_number(event, FIELD_TERM);
    if (check->claim.node && term <= check->term)
        return;
    if (check->candidates[claim.node].time_ns <= check->claim.time_ns)
        on_candidate(check, &claim);
    if (find_cause(check, claim.node, &cause))
        add_change(check, &(struct leader_change){.before = check->claim,
                                                  .cause = cause,
                                                  .claim = claim,
                                                  .gave_up = cause.node == check->claim.node,
                                                  .stretch = check->stretch,
                                                  .excused = after_stall(check, cause.time_ns)});
    check->term = term;
    check->claim = claim;
    check->rival = check->end = (struct moment){0};
    check->provoked = false;
    watch(check, event->time_ns);
}

/* The note comes when the stall is over, so it may excuse changes seen already. */
static void on_stall(struct stable *check, const struct event *event)
{
    uint64_t length_ns = stall_within(event, 0, UINT64_MAX);
    calm_stall(&check->calm, event);
    if (length_ns < check->timeout_min_ns / 2)
        return;
    uint64_t begin_ns = event->time_ns - length_ns;
    if (event->time_ns > check->stalled_ns)
        check->stalled_ns = event->time_ns;
    for (uint32_t i = check->count; i > 0 && check->changes[i - 1].claim.time_ns >= begin_ns; i--)
        check->changes[i - 1].excused = true;
}

static void on_belief(struct stable *check, const struct event *event)
{
    struct moment moment = {event->time_ns, event->index, process_index(event->process)};
    if (!cluster_member(&check->cluster, event->process))
        return;
    if (event->f == F_CAMPAIGN)
        on_candidate(check, &moment);
    else if (event->f == F_STEP_DOWN)
        on_end(check, &moment);
    else if (event->f == F_LEAD)
        on_lead(check, event);
}

static void on_phase(struct stable *check, const struct event *event)
{
    if (!slice_equals(event_text(event, FIELD_NAME), "end"))
        return;
    check->over = true;
    calm_end(&check->calm, event->time_ns);
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct stable *check = state;
    struct change change;
    (void)finding;
    if (event->f == F_NOTE)
        on_stall(check, event);
    else if (event->f == F_PHASE)
        on_phase(check, event);
    else if (cluster_step(&check->cluster, event, &change))
        on_change(check, event, &change);
    else if (event->f ==
             F_FAULT) /* in vain, but the nemesis may have unseated somebody by trying */
        excuse_since(check, event_has(event, FIELD_BEGIN) ? event_number(event, FIELD_BEGIN)
                                                          : event->time_ns);
    else
        on_belief(check, event);
}

static void report_one(const struct leader_change *change, struct finding *finding)
{
    struct words words = {0};
    uint64_t witness[3] = {change->before.index, change->cause.index, change->claim.index};
    const char *leader = word_node(&words, change->before.node);
    const char *since = word_time(&words, change->before.time_ns);
    const char *when = word_time(&words, change->cause.time_ns);
    if (change->gave_up)
        finding_invalid(finding, witness, 3,
                        "%s, leader since %s, gave up at %s although it was linked and undisturbed "
                        "and nobody had stood against it; %s took over at %s",
                        leader, since, when, word_node(&words, change->claim.node),
                        word_time(&words, change->claim.time_ns));
    else
        finding_invalid(finding, witness, 3,
                        "%s stood for election at %s although %s, leader since %s, was linked and "
                        "undisturbed; %s took over at %s",
                        word_node(&words, change->cause.node), when, leader, since,
                        word_node(&words, change->claim.node),
                        word_time(&words, change->claim.time_ns));
}

static void report_many(const struct stable *check, const struct leader_change *const *recent,
                        struct finding *finding)
{
    struct words words = {0};
    uint64_t witness[CHANGES];
    const struct leader_change *last = recent[CHANGES - 1];
    for (uint32_t i = 0; i < CHANGES; i++)
        witness[i] = recent[i]->claim.index;
    finding_invalid(finding, witness, CHANGES,
                    "the leader changed %u times within %s although nothing around it changed, "
                    "last from %s to %s at %s; fewer than %u in %s are allowed",
                    CHANGES, word_apart(&words, recent[0]->claim.time_ns, last->claim.time_ns),
                    word_node(&words, last->before.node), word_node(&words, last->claim.node),
                    word_time(&words, last->claim.time_ns), CHANGES,
                    word_span(&words, 10 * check->timeout_max_ns));
}

/* Slide over the counted changes of each stretch. */
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
        if (held == check->needed) {
            for (uint32_t j = 1; j < held; j++)
                recent[j - 1] = recent[j];
            held--;
        }
        recent[held++] = change;
        if (held < check->needed)
            continue;
        if (held == 1)
            report_one(change, finding);
        else if (change->claim.time_ns - recent[0]->claim.time_ns <= 10 * check->timeout_max_ns)
            report_many(check, recent, finding);
    }
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct stable *check = state;
    calm_end(&check->calm, end_ns);
    /* So long do as many changes take as it needs to complain. */
    calm_evidence(&check->calm, check->needed * check->timeout_max_ns, finding);
    judge(check, finding);
    cluster_release(&check->cluster);
    free(check->part);
    free(check->candidates);
    free(check->changes);
}

const struct check check_stable = {
    .name = "stable",
    .summary = "a leader around which nothing changes keeps its place",
    /* Where groups with leaders of their own merge, leadership moves by design. */
    .traits = 1u << TRAIT_TOKEN,
    .judges = "calm span",
    .may_idle = true,
    .events = CLUSTER_EVENTS | 1u << F_CAMPAIGN | 1u << F_NOTE | 1u << F_PHASE,
    .state_bytes = sizeof(struct stable),
    .begin = begin,
    .step = step,
    .end = end,
};
