/* While a majority runs, is linked all with all and nothing disturbs it, some leader completes a
 * guarded write now and then: at the latest after the bound (docs/checks.md). "Somebody says it
 * leads" is not enough; a leader that cannot reach its followers, or that everybody deposes, is
 * none.
 *
 * The promise runs on over faults that leave the majority alone; without the trait "progress" only
 * where the running nodes fall into clean parts, for a node that is heard and does not hear, or
 * that some reach and others do not, may keep the others electing for ever. A silence that is too
 * long is only noted when it is over and judged at the end: by then the stalls of the machine
 * within it, which excuse it, have been recorded too. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checker/calm.h"
#include "checker/cluster.h"
#include "checker/words.h"

#define SILENCES_MAX 32
#define GROUP_TEXT_MAX 80

/* A stretch without an accepted write. */
struct silence {
    uint64_t begin_ns, end_ns, stalled_ns;
    uint64_t begin_index, end_index;
    char group[GROUP_TEXT_MAX];
};

/* The claim with the largest token so far; zeroed: none. */
struct claim {
    uint32_t node;
    uint64_t term, token;
};

enum stage {
    STAGE_BEFORE, /* phase faults has not begun, or nobody led yet where there are no phases */
    STAGE_DURING,
    STAGE_AFTER, /* phase end: processes are taken down */
};

struct usable_leader {
    struct cluster cluster;
    uint64_t bound_ns;
    bool progress, majority, service;
    struct claim newest;
    uint32_t *part; /* by node id; scratch */
    enum stage stage;
    bool phased;   /* the history tells its phases: until all processes are ready nothing is owed */
    bool watching; /* `group` is owed progress and `now` is open */
    bool *group;
    struct calm calm; /* all the time in which `watching` */
    struct silence now;
    struct silence long_ones[SILENCES_MAX];
    uint32_t count;
};

static void begin(void *state, const struct history_header *header)
{
    struct usable_leader *check = state;
    cluster_init(&check->cluster, header);
    check->bound_ns = liveness_bound_ns(header) + liveness_slack_ns(header);
    check->progress = header->traits & 1u << TRAIT_PROGRESS;
    check->majority = header->traits & 1u << TRAIT_MAJORITY;
    check->service = header->traits & 1u << TRAIT_SERVICE;
    check->part = must_alloc(header->nodes + 1, sizeof *check->part);
    check->group = must_alloc(header->nodes + 1, sizeof *check->group);
}

/* "n1, n2, n3", cut where it does not fit. */
static void name_group(const struct usable_leader *check, char text[GROUP_TEXT_MAX])
{
    char name[PROCESS_NAME_MAX];
    size_t length = 0;
    for (uint32_t id = 1; id <= check->cluster.nodes && length < GROUP_TEXT_MAX; id++)
        if (check->group[id])
            length +=
                (size_t)snprintf(text + length, GROUP_TEXT_MAX - length, "%s%s", length ? ", " : "",
                                 process_name(PROCESS_NUMBER(PROCESS_NODE, id), name));
}

static void close_silence(struct usable_leader *check, uint64_t end_ns, uint64_t index)
{
    struct silence *now = &check->now;
    if (end_ns < now->begin_ns || end_ns - now->begin_ns < check->bound_ns ||
        check->count == SILENCES_MAX)
        return;
    now->end_ns = end_ns;
    now->end_index = index;
    name_group(check, now->group);
    check->long_ones[check->count++] = *now;
}

static void open_silence(struct usable_leader *check, uint64_t begin_ns, uint64_t index)
{
    check->now.begin_ns = begin_ns;
    check->now.begin_index = index;
    check->now.stalled_ns = 0;
}

/* Whether the newest token belongs to a node that is out of reach and nobody who runs has heard of
 * that term: it led behind a cut, or for a moment. Nothing tells the others that they must count
 * beyond it. */
static bool outranked(const struct usable_leader *check)
{
    const struct cluster *cluster = &check->cluster;
    if (check->newest.node == 0 || cluster_runs(cluster, check->newest.node))
        return false;
    for (uint32_t id = 1; id <= cluster->nodes; id++)
        if (cluster_runs(cluster, id) && cluster->members[id].term >= check->newest.term)
            return false;
    return true;
}

/* Where neither a majority nor a service is needed to lead, a node outside the group may lead too,
 * or have led, under a newer token, and then it is right that the resource fences the group's
 * writes off. */
static bool owed_now(const struct usable_leader *check)
{
    if (check->stage != STAGE_DURING || !cluster_undisturbed(&check->cluster))
        return false;
    if (check->progress && check->majority)
        return true;
    uint32_t parts = cluster_parts(&check->cluster, check->part);
    if (check->majority)
        return parts > 0;
    return parts == 1 && (check->service || !outranked(check));
}

/* Go on with the group if the change left it alone, else see whether there is another. */
static void on_change(struct usable_leader *check, const struct change *change)
{
    bool owed = owed_now(check);
    if (check->watching && owed && cluster_group_holds(&check->cluster, check->group))
        return;
    if (check->watching)
        close_silence(check, change->begin_ns, change->index);
    calm_end(&check->calm, change->begin_ns);
    check->watching =
        owed && cluster_group(&check->cluster, check->group) >= check->cluster.majority;
    if (!check->watching)
        return;
    calm_begin(&check->calm, change->end_ns);
    open_silence(check, change->end_ns, change->index);
}

static void set_stage(struct usable_leader *check, enum stage stage, const struct event *event)
{
    if (stage <= check->stage)
        return;
    check->stage = stage;
    on_change(check, &(struct change){event->time_ns, event->time_ns, event->index});
}

/* A newer token may outrank the group, or be its own again. */
static void on_lead(struct usable_leader *check, const struct event *event)
{
    struct claim claim = {process_index(event->process), event_number(event, FIELD_TERM),
                          event_number(event, FIELD_TOKEN)};
    if (!check->phased)
        set_stage(check, STAGE_DURING, event);
    if (claim.token <= check->newest.token || !cluster_member(&check->cluster, event->process))
        return;
    check->newest = claim;
    if (!check->majority && !check->service)
        on_change(check, &(struct change){event->time_ns, event->time_ns, event->index});
}

/* A write recorded after the change that ended a silence, but made before it. */
static void forgive(struct usable_leader *check, uint64_t time_ns)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < check->count; i++)
        if (time_ns <= check->long_ones[i].begin_ns || time_ns >= check->long_ones[i].end_ns)
            check->long_ones[kept++] = check->long_ones[i];
    check->count = kept;
}

static void on_accept(struct usable_leader *check, const struct event *event)
{
    if (check->count)
        forgive(check, event->time_ns);
    const struct member *holder =
        cluster_member(&check->cluster, (uint32_t)event_number(event, FIELD_HOLDER));
    if (!check->watching || event->time_ns < check->now.begin_ns || !holder ||
        !cluster_of_use(&check->cluster, (uint32_t)(holder - check->cluster.members)))
        return;
    close_silence(check, event->time_ns, event->index);
    open_silence(check, event->time_ns, event->index);
}

static void on_stall(struct usable_leader *check, const struct event *event)
{
    calm_stall(&check->calm, event);
    if (check->watching)
        check->now.stalled_ns += stall_within(event, check->now.begin_ns, UINT64_MAX);
    for (uint32_t i = 0; i < check->count; i++)
        check->long_ones[i].stalled_ns +=
            stall_within(event, check->long_ones[i].begin_ns, check->long_ones[i].end_ns);
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct usable_leader *check = state;
    struct change change;
    (void)finding;
    switch ((enum event_f)event->f) {
    case F_ACCEPT: on_accept(check, event); return;
    case F_NOTE: on_stall(check, event); return;
    case F_PHASE:
        check->phased = true;
        if (slice_equals(event_text(event, FIELD_NAME), "faults"))
            set_stage(check, STAGE_DURING, event);
        else if (slice_equals(event_text(event, FIELD_NAME), "end"))
            set_stage(check, STAGE_AFTER, event);
        return;
    default: break;
    }
    if (cluster_step(&check->cluster, event, &change))
        on_change(check, &change);
    else if (event->f == F_LEAD)
        on_lead(check, event);
}

static void judge(const struct usable_leader *check, const struct silence *silence,
                  struct finding *finding)
{
    struct words words = {0};
    uint64_t length_ns = silence->end_ns - silence->begin_ns;
    if (length_ns < check->bound_ns + silence->stalled_ns)
        return;
    finding_invalid(finding, (uint64_t[]){silence->begin_index, silence->end_index}, 2,
                    "%s ran and were linked from %s to %s, undisturbed, but the resource accepted "
                    "no write in these %s; %s are allowed",
                    silence->group, word_time(&words, silence->begin_ns),
                    word_time(&words, silence->end_ns), word_span(&words, length_ns),
                    word_allowed(&words, check->bound_ns, silence->stalled_ns));
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct usable_leader *check = state;
    if (check->watching)
        close_silence(check, end_ns, check->now.begin_index);
    calm_end(&check->calm, end_ns);
    calm_evidence(&check->calm, check->bound_ns, finding);
    for (uint32_t i = 0; i < check->count; i++)
        judge(check, &check->long_ones[i], finding);
    cluster_release(&check->cluster);
    free(check->part);
    free(check->group);
}

const struct check check_usable_leader = {
    .name = "usable-leader",
    .summary = "a linked, running, undisturbed majority gets guarded writes done",
    .owed = check_needs_resource,
    .judges = "calm span",
    .may_idle = true,
    .events = CLUSTER_EVENTS | 1u << F_ACCEPT | 1u << F_NOTE | 1u << F_PHASE,
    .state_bytes = sizeof(struct usable_leader),
    .begin = begin,
    .step = step,
    .end = end,
};
