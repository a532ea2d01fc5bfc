#include "checker/measure.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checker/cluster.h"
#include "checker/fault_kinds.h"
#include "checker/table.h"

#define NEVER UINT64_MAX

/* A node's claim began or ended, or its being of use did: that it runs, with links to a majority.
 * Collected and swept at the end, because recording order may lag. */
struct edge {
    uint64_t time_ns;
    uint32_t node;
    bool is_claim;
    int32_t step; /* +1, -1 */
};

struct measurer {
    struct measure measure;
    struct cluster cluster;
    struct table terms;
    bool *led, *leads; /* by node id: ever; now */
    bool *central;     /* by node id, of those that ever led: as of the last change */
    struct edge *edges;
    uint32_t edge_count, edge_capacity;
    uint64_t first_claim_ns, faults_begin_ns, faults_end_ns;
    bool over; /* phase "end" */
    /* The leader of the largest term, and whether it is lost. */
    uint32_t leader;
    uint64_t term, token;
    bool lost;
    bool following; /* the last failover still waits for something */
};

static struct fault_count *count_of(struct measure *measure, struct slice kind)
{
    if (kind.length == 0 || kind.length >= sizeof measure->faults[0].kind)
        return NULL;
    for (uint32_t i = 0; i < measure->fault_kinds; i++)
        if (slice_equals(kind, measure->faults[i].kind))
            return &measure->faults[i];
    if (measure->fault_kinds == MEASURE_KINDS_MAX)
        return NULL;
    struct fault_count *count = &measure->faults[measure->fault_kinds++];
    memcpy(count->kind, kind.at, kind.length);
    return count;
}

/* A planned fault is a line of "name=value" words (nemesis/plan.h). */
static void count_planned(struct measure *measure, const char *line)
{
    static const char word[] = "fault=";
    for (const char *at = line; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL) {
        if (strncmp(at, word, sizeof word - 1) != 0)
            continue;
        const char *kind = at + sizeof word - 1;
        struct fault_count *count = count_of(measure, (struct slice){kind, strcspn(kind, " ")});
        if (count)
            count->planned++;
        return;
    }
}

struct measurer *measurer_new(const struct history_header *header)
{
    struct measurer *measurer = must_alloc(1, sizeof *measurer);
    cluster_init(&measurer->cluster, header);
    table_init(&measurer->terms, 0);
    measurer->led = must_alloc(header->nodes + 1, sizeof *measurer->led);
    measurer->leads = must_alloc(header->nodes + 1, sizeof *measurer->leads);
    measurer->central = must_alloc(header->nodes + 1, sizeof *measurer->central);
    measurer->first_claim_ns = measurer->faults_end_ns = NEVER;
    for (uint32_t i = 0; i < header->schedule_count; i++)
        count_planned(&measurer->measure, header->schedule[i]);
    return measurer;
}

static void add_edge(struct measurer *measurer, const struct edge *edge)
{
    if (measurer->edge_count == measurer->edge_capacity) {
        measurer->edge_capacity = measurer->edge_capacity ? measurer->edge_capacity * 2 : 64;
        measurer->edges =
            must_grow(measurer->edges, measurer->edge_capacity, sizeof *measurer->edges);
    }
    measurer->edges[measurer->edge_count++] = *edge;
}

static void add_claim(struct measurer *measurer, uint64_t time_ns, uint32_t id, int32_t step)
{
    add_edge(measurer, &(struct edge){time_ns, id, true, step});
}

/* A node becomes of use when the change is over and ceases to be when it begins. */
static void place(struct measurer *measurer, uint32_t id, const struct change *change)
{
    bool central = cluster_central(&measurer->cluster, id);
    if (central == measurer->central[id])
        return;
    measurer->central[id] = central;
    add_edge(measurer, &(struct edge){central ? change->end_ns : change->begin_ns, id, false,
                                      central ? 1 : -1});
}

static struct failover *last_failover(struct measurer *measurer)
{
    struct measure *measure = &measurer->measure;
    return measurer->following ? &measure->failovers[measure->failover_count - 1] : NULL;
}

static void lose_leader(struct measurer *measurer, uint64_t time_ns)
{
    struct measure *measure = &measurer->measure;
    if (measurer->leader == 0 || measurer->lost || measurer->over)
        return;
    measurer->lost = measurer->following = true;
    if (measure->failover_count == measure->failover_capacity) {
        measure->failover_capacity =
            measure->failover_capacity ? measure->failover_capacity * 2 : 8;
        measure->failovers =
            must_grow(measure->failovers, measure->failover_capacity, sizeof *measure->failovers);
    }
    measure->failovers[measure->failover_count++] = (struct failover){
        .lost_ns = time_ns,
        .suspected_ns = NEVER,
        .campaign_ns = NEVER,
        .elected_ns = NEVER,
        .accepted_ns = NEVER,
        .old_leader = measurer->leader,
    };
}

/* A fault may take the leader, its heal may give it back before anybody else was elected. */
static void on_change(struct measurer *measurer, const struct change *change)
{
    for (uint32_t id = 1; id <= measurer->cluster.nodes; id++)
        if (measurer->led[id])
            place(measurer, id, change);
    if (measurer->leader == 0)
        return;
    if (!cluster_central(&measurer->cluster, measurer->leader))
        lose_leader(measurer, change->begin_ns);
    else if (measurer->leads[measurer->leader])
        measurer->lost = false;
}

static void elect(struct measurer *measurer, const struct event *event, uint32_t id, uint64_t term)
{
    struct failover *failover = last_failover(measurer);
    measurer->leader = id;
    measurer->term = term;
    measurer->token = event_number(event, FIELD_TOKEN);
    measurer->lost = false;
    if (failover && failover->elected_ns == NEVER) {
        failover->elected_ns = event->time_ns;
        failover->new_leader = id;
    }
}

static void on_lead(struct measurer *measurer, const struct event *event, uint32_t id)
{
    bool fresh;
    uint64_t term = event_number(event, FIELD_TERM);
    if (measurer->leads[id])
        add_claim(measurer, event->time_ns, id, -1);
    add_claim(measurer, event->time_ns, id, 1);
    place(measurer, id, &(struct change){0});
    (void)table_put(&measurer->terms, term, 0, &fresh);
    measurer->measure.terms += fresh;
    measurer->measure.leaders += !measurer->led[id];
    measurer->led[id] = measurer->leads[id] = true;
    if (event->time_ns < measurer->first_claim_ns)
        measurer->first_claim_ns = event->time_ns;
    if (measurer->leader == 0 || term > measurer->term)
        elect(measurer, event, id, term);
}

static void end_reign(struct measurer *measurer, const struct event *event, uint32_t id)
{
    if (!measurer->leads[id])
        return;
    measurer->leads[id] = false;
    add_claim(measurer, event->time_ns, id, -1);
    if (id == measurer->leader)
        lose_leader(measurer, event->time_ns);
}

static void on_exit_event(struct measurer *measurer, const struct event *event)
{
    struct slice by = event_text(event, FIELD_BY);
    if (measurer->over)
        return;
    measurer->measure.crashes += slice_equals(by, "itself");
    measurer->measure.kills +=
        slice_equals(by, "schedule") && event_number(event, FIELD_SIGNAL) == 9;
}

/* What follows the loss of a leader, each moment once; nothing from before the loss counts. */
static void mark(struct measurer *measurer, const struct event *event, uint32_t id)
{
    struct failover *failover = last_failover(measurer);
    if (!failover || event->time_ns < failover->lost_ns || failover->elected_ns != NEVER ||
        id == failover->old_leader)
        return;
    uint64_t *moment = event->f == F_SUSPECT ? &failover->suspected_ns : &failover->campaign_ns;
    if (*moment == NEVER)
        *moment = event->time_ns;
}

static void on_accept(struct measurer *measurer, const struct event *event)
{
    struct failover *failover = last_failover(measurer);
    measurer->measure.writes_accepted++;
    if (!failover || failover->elected_ns == NEVER ||
        event_number(event, FIELD_TOKEN) != measurer->token)
        return;
    failover->accepted_ns = event->time_ns;
    measurer->following = false;
}

static void on_reject(struct measure *measure, const struct event *event)
{
    measure->writes_rejected++;
    measure->stale_attempts_rejected +=
        event_number(event, FIELD_TOKEN) < event_number(event, FIELD_HIGHEST);
}

/* "kind=number,kind=number" */
static uint64_t sum_of_counts(struct slice text)
{
    uint64_t sum = 0, number = 0;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.at[i];
        if (c >= '0' && c <= '9') {
            number = number * 10 + (uint64_t)(c - '0');
            continue;
        }
        sum += c == ',' ? number : 0;
        number = 0;
    }
    return sum + number;
}

static void on_client(struct measure *measure, const struct event *event)
{
    measure->client_ok += event->type == EVENT_OK;
    measure->client_fail += event->type == EVENT_FAIL;
    measure->client_unknown += event->type == EVENT_INFO;
}

/* What stopped a process has landed when it is installed; a cut that no frame ran into tested
 * nothing, which only its heal tells. */
static bool lands_at_once(const struct event *event)
{
    enum fault_effect effect = fault_effect(event);
    return effect == EFFECT_KILL || effect == EFFECT_PAUSE;
}

static void on_fault(struct measure *measure, const struct event *event)
{
    struct fault_count *count = count_of(measure, event_text(event, FIELD_KIND));
    struct slice outcome = event_text(event, FIELD_OUTCOME);
    if (!count)
        return;
    count->installed += fault_installed(event);
    count->landed += fault_installed(event) && lands_at_once(event);
    count->skipped += slice_equals(outcome, "skipped");
    count->failed += slice_equals(outcome, "failed");
}

static void on_heal(struct measure *measure, const struct event *event)
{
    struct fault_count *count = count_of(measure, event_text(event, FIELD_KIND));
    if (count && !lands_at_once(event) && event_number(event, FIELD_VALUE) > 0)
        count->landed++;
}

static void on_phase(struct measurer *measurer, const struct event *event)
{
    struct slice name = event_text(event, FIELD_NAME);
    if (slice_equals(name, "faults"))
        measurer->faults_begin_ns = event->time_ns;
    if (slice_equals(name, "heal") && measurer->faults_end_ns == NEVER)
        measurer->faults_end_ns = event->time_ns;
    if (slice_equals(name, "end"))
        measurer->over = true;
}

/* Notes are free text but for these two. */
static void on_note(struct measurer *measurer, const struct event *event)
{
    struct measure *measure = &measurer->measure;
    uint64_t stall_ns = stall_within(event, 0, NEVER);
    measure->stalls += stall_ns > 0;
    measure->stalled_ns += stall_ns;
    if (stall_ns > measure->longest_stall_ns)
        measure->longest_stall_ns = stall_ns;
    if (process_kind(event->process) != PROCESS_CONTROLLER || measure->interrupted ||
        !slice_equals(event_text(event, FIELD_TEXT), NOTE_INTERRUPTED))
        return;
    measure->interrupted = true;
    if (measurer->faults_begin_ns)
        measure->interrupted_ns = event->time_ns - measurer->faults_begin_ns;
}

/* Events of an election node. */
static void on_node(struct measurer *measurer, const struct event *event, uint32_t id)
{
    switch ((enum event_f)event->f) {
    case F_LEAD: on_lead(measurer, event, id); break;
    case F_STEP_DOWN: end_reign(measurer, event, id); break;
    case F_EXIT:
        end_reign(measurer, event, id);
        on_exit_event(measurer, event);
        break;
    case F_CAMPAIGN:
        measurer->measure.elections++;
        mark(measurer, event, id);
        break;
    case F_SUSPECT: mark(measurer, event, id); break;
    case F_VOTE: measurer->measure.votes++; break;
    case F_MESSAGE_COUNTS:
        measurer->measure.messages += sum_of_counts(event_text(event, FIELD_COUNTS));
        break;
    default: break;
    }
}

void measurer_step(struct measurer *measurer, const struct event *event)
{
    struct change change;
    if (event->time_ns > measurer->measure.duration_ns)
        measurer->measure.duration_ns = event->time_ns;
    switch ((enum event_f)event->f) {
    case F_ACCEPT: on_accept(measurer, event); return;
    case F_REJECT: on_reject(&measurer->measure, event); return;
    case F_READ:
    case F_WRITE:
    case F_CAS: on_client(&measurer->measure, event); return;
    case F_GUARDED_WRITE: return;
    case F_PHASE: on_phase(measurer, event); return;
    case F_NOTE: on_note(measurer, event); return;
    case F_FAULT: on_fault(&measurer->measure, event); break;
    case F_HEAL: on_heal(&measurer->measure, event); break;
    default: break;
    }
    bool changed = cluster_step(&measurer->cluster, event, &change);
    if (cluster_member(&measurer->cluster, event->process))
        on_node(measurer, event, process_index(event->process));
    if (changed)
        on_change(measurer, &change);
}

static int by_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return y->step - x->step; /* a claim that takes over at the same moment leaves no gap */
}

/* Length of what lies in both spans. */
static uint64_t shared_ns(uint64_t a_begin, uint64_t a_end, uint64_t b_begin, uint64_t b_end)
{
    uint64_t begin = a_begin > b_begin ? a_begin : b_begin;
    uint64_t end = a_end < b_end ? a_end : b_end;
    return end > begin ? end - begin : 0;
}

/* Of one node while sweeping. */
struct standing {
    int32_t claims, central;
};

static bool of_use(const struct standing *standing)
{
    return standing->claims > 0 && standing->central > 0;
}

static void sweep_claims(struct measurer *measurer)
{
    struct measure *measure = &measurer->measure;
    struct standing *standings = must_alloc(measurer->cluster.nodes + 1, sizeof *standings);
    uint64_t end_ns = measurer->faults_end_ns < measure->duration_ns ? measurer->faults_end_ns
                                                                     : measure->duration_ns;
    int64_t live = 0, useful = 0;
    measure->faults_ended = measurer->faults_end_ns != NEVER;
    measure->watched_ns = shared_ns(0, NEVER, measurer->first_claim_ns, end_ns);
    if (measurer->edge_count)
        qsort(measurer->edges, measurer->edge_count, sizeof *measurer->edges, by_time);
    for (uint32_t i = 0; i < measurer->edge_count; i++) {
        const struct edge *edge = &measurer->edges[i];
        struct standing *standing = &standings[edge->node];
        uint64_t to_ns =
            i + 1 < measurer->edge_count ? measurer->edges[i + 1].time_ns : measure->duration_ns;
        useful -= of_use(standing);
        *(edge->is_claim ? &standing->claims : &standing->central) += edge->step;
        useful += of_use(standing);
        live += edge->is_claim ? edge->step : 0;
        if (useful <= 0)
            measure->leaderless_ns +=
                shared_ns(edge->time_ns, to_ns, measurer->first_claim_ns, end_ns);
        if (live > 1)
            measure->overlap_ns += shared_ns(edge->time_ns, to_ns, 0, NEVER);
    }
    free(standings);
}

void measurer_end(struct measurer *measurer, struct measure *out)
{
    sweep_claims(measurer);
    cluster_release(&measurer->cluster);
    table_release(&measurer->terms);
    free(measurer->led);
    free(measurer->leads);
    free(measurer->central);
    free(measurer->edges);
    *out = measurer->measure;
    free(measurer);
}
