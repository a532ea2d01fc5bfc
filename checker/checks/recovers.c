/* After the final heal the cluster works again within the bound: all live nodes know one leader,
 * and the resource has accepted a write. Counted from phase "heal" or from the last change of the
 * cluster after it (a heal, a restart), whichever is later. A history that ends before the bound
 * without having recovered proves nothing: unknown. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checker/cluster.h"
#include "checker/words.h"

#define NEVER UINT64_MAX

struct recovers {
    struct cluster cluster;
    uint64_t bound_ns;
    bool resource;
    bool healing, over;          /* phases "heal" and "end" came */
    uint64_t since_ns, index;    /* what the clock starts from */
    uint64_t known_ns, write_ns; /* first time of either after it */
    uint64_t stalled_ns, over_ns;
    uint32_t *named; /* by node id: how many running nodes name it as leader */
    uint32_t running;
};

static void begin(void *state, const struct history_header *header)
{
    struct recovers *check = state;
    cluster_init(&check->cluster, header);
    check->bound_ns = liveness_bound_ns(header) + liveness_slack_ns(header);
    check->known_ns = check->write_ns = NEVER;
    check->named = must_alloc(header->nodes + 1, sizeof *check->named);
    check->resource = check_needs_resource(header);
}

/* The moment the last of the running nodes came to its present belief. */
static uint64_t newest_belief_ns(const struct recovers *check)
{
    uint64_t newest = check->since_ns;
    for (uint32_t id = 1; id <= check->cluster.nodes; id++)
        if (cluster_runs(&check->cluster, id) && check->cluster.members[id].since_ns > newest)
            newest = check->cluster.members[id].since_ns;
    return newest;
}

/* Does every running node name `leader`, which runs and so names itself? */
static void look(struct recovers *check, uint32_t leader)
{
    bool known = check->healing && check->known_ns == NEVER && leader >= 1 &&
                 leader <= check->cluster.nodes && check->running >= check->cluster.majority &&
                 check->named[leader] == check->running && cluster_runs(&check->cluster, leader);
    if (known)
        check->known_ns = newest_belief_ns(check);
}

static void restart_clock(struct recovers *check, uint64_t since_ns, uint64_t index)
{
    if (since_ns < check->since_ns)
        return;
    check->since_ns = since_ns;
    check->index = index;
    check->known_ns = check->write_ns = NEVER;
    check->stalled_ns = 0;
}

static void recount(struct recovers *check)
{
    const struct cluster *cluster = &check->cluster;
    uint32_t leader = 0;
    check->running = 0;
    memset(check->named, 0, (cluster->nodes + 1) * sizeof *check->named);
    for (uint32_t id = 1; id <= cluster->nodes; id++) {
        if (!cluster_runs(cluster, id))
            continue;
        check->running++;
        leader = cluster->members[id].leader;
        if (leader <= cluster->nodes)
            check->named[leader]++;
    }
    look(check, leader);
}

static void on_belief(struct recovers *check, const struct event *event)
{
    struct change change;
    const struct member *member = cluster_member(&check->cluster, event->process);
    uint32_t before = member ? member->leader : 0;
    (void)cluster_step(&check->cluster, event, &change);
    if (!member || !cluster_runs(&check->cluster, process_index(event->process)))
        return;
    if (before <= check->cluster.nodes)
        check->named[before]--;
    if (member->leader <= check->cluster.nodes)
        check->named[member->leader]++;
    look(check, member->leader);
}

static void on_phase(struct recovers *check, const struct event *event)
{
    struct slice name = event_text(event, FIELD_NAME);
    if (slice_equals(name, "heal") && !check->healing) {
        check->healing = true;
        restart_clock(check, event->time_ns, event->index);
        recount(check);
    } else if (slice_equals(name, "end") && !check->over) {
        check->over = true;
        check->over_ns = event->time_ns;
    }
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct recovers *check = state;
    struct change change;
    (void)finding;
    if (check->over)
        return;
    switch ((enum event_f)event->f) {
    case F_PHASE: on_phase(check, event); break;
    case F_ACCEPT:
        if (check->write_ns == NEVER && check->healing && event->time_ns >= check->since_ns)
            check->write_ns = event->time_ns;
        break;
    case F_NOTE: check->stalled_ns += stall_within(event, check->since_ns, NEVER); break;
    case F_LEAD:
    case F_FOLLOW:
    case F_STEP_DOWN: on_belief(check, event); break;
    default:
        if (!cluster_step(&check->cluster, event, &change))
            break;
        if (check->healing)
            restart_clock(check, change.end_ns, change.index);
        recount(check);
    }
}

static void report_never(const struct recovers *check, uint64_t end_ns, uint64_t allowed_ns,
                         struct finding *finding)
{
    struct words words = {0};
    const char *what = check->known_ns != NEVER   ? "the resource accepted no write"
                       : check->write_ns != NEVER ? "no leader was known to all live nodes"
                                                  : "there was no leader known to all live nodes "
                                                    "and no accepted write";
    if (end_ns - check->since_ns >= allowed_ns)
        finding_invalid(finding, &check->index, 1,
                        "%s in the %s from the end of all faults at %s to the end of the run; %s "
                        "are allowed",
                        what, word_apart(&words, check->since_ns, end_ns),
                        word_time(&words, check->since_ns),
                        word_allowed(&words, check->bound_ns, check->stalled_ns));
    else
        finding_unknown(finding, &check->index, 1,
                        "%s, but the run ended %s after all faults, before the allowed %s had "
                        "passed",
                        what, word_apart(&words, check->since_ns, end_ns),
                        word_allowed(&words, check->bound_ns, check->stalled_ns));
}

static void judge(const struct recovers *check, uint64_t end_ns, struct finding *finding)
{
    struct words words = {0};
    uint64_t allowed_ns = check->bound_ns + check->stalled_ns;
    uint64_t write_ns = check->resource ? check->write_ns : check->since_ns;
    uint64_t worked_ns = check->known_ns > write_ns ? check->known_ns : write_ns;
    finding->judged = 1;
    if (!check->healing)
        finding_unknown(finding, NULL, 0, "the history ends before the faults were healed");
    else if (check->cluster.active.count)
        finding_unknown(finding, &check->index, 1, "there are faults that were never healed (%zu)",
                        check->cluster.active.count);
    else if (check->running < check->cluster.majority)
        finding_unknown(finding, &check->index, 1,
                        "only %u of %u nodes ran after the final heal, no majority", check->running,
                        check->cluster.nodes);
    else if (worked_ns == NEVER)
        report_never(check, end_ns, allowed_ns, finding);
    else if (worked_ns - check->since_ns > allowed_ns)
        finding_invalid(finding, &check->index, 1,
                        "the cluster worked again only at %s, %s after the end of all faults at "
                        "%s; %s are allowed",
                        word_time(&words, worked_ns),
                        word_apart(&words, check->since_ns, worked_ns),
                        word_time(&words, check->since_ns),
                        word_allowed(&words, check->bound_ns, check->stalled_ns));
    else
        finding_evidence(finding, "after %s, %s may pass",
                         word_apart(&words, check->since_ns, worked_ns),
                         word_allowed(&words, check->bound_ns, check->stalled_ns));
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct recovers *check = state;
    judge(check, check->over ? check->over_ns : end_ns, finding);
    cluster_release(&check->cluster);
    free(check->named);
}

const struct check check_recovers = {
    .name = "recovers",
    .summary = "after the final heal all know one leader and a write is accepted, within the bound",
    .judges = "recovery",
    .events = CLUSTER_EVENTS | 1u << F_ACCEPT | 1u << F_NOTE | 1u << F_PHASE,
    .state_bytes = sizeof(struct recovers),
    .begin = begin,
    .step = step,
    .end = end,
};
