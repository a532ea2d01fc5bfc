#include "controller/view.h"

#include <assert.h>

#include "checker/cluster.h"

void view_init(struct view *view, uint32_t nodes, uint32_t witnesses)
{
    assert(nodes <= NODES_MAX);
    *view = (struct view){.nodes = nodes, .witnesses = witnesses};
}

static void node_event(struct node_view *node, const struct event *event)
{
    switch (event->f) {
    case F_SPAWN: *node = (struct node_view){.running = true}; break;
    case F_EXIT: *node = (struct node_view){0}; break;
    case F_CAMPAIGN: node->candidate = true; break;
    case F_LEAD:
        node->leading = true;
        node->candidate = false;
        node->reign = event_number(event, FIELD_TERM);
        node->leader = process_index(event->process);
        break;
    case F_STEP_DOWN:
        node->leading = false;
        node->leader = 0;
        break;
    case F_FOLLOW:
        node->leading = node->candidate = false;
        node->leader = process_index((uint32_t)event_number(event, FIELD_LEADER));
        break;
    default: break;
    }
}

void view_event(struct view *view, const struct event *event)
{
    uint32_t id = process_index(event->process);
    if (process_kind(event->process) == PROCESS_NODE && id >= 1 && id <= view->nodes)
        node_event(&view->node[id], event);
    view->elections += event->f == F_CAMPAIGN;
    view->writes_rejected += event->f == F_REJECT;
    if (event->f == F_NOTE)
        view->stalled_ns += stall_within(event, 0, UINT64_MAX);
    if (event->f == F_ACCEPT) {
        view->writes_accepted++;
        view->accepted_ns = event->time_ns;
    }
}

void view_paused(struct view *view, uint32_t node, bool paused)
{
    view->node[node].paused = paused;
}

uint32_t view_leader(const struct view *view, uint64_t *ret_term)
{
    uint32_t leader = 0;
    for (uint32_t id = 1; id <= view->nodes; id++) {
        const struct node_view *node = &view->node[id];
        if (node->leading && (leader == 0 || node->reign > view->node[leader].reign))
            leader = id;
    }
    if (leader && ret_term)
        *ret_term = view->node[leader].reign;
    return leader;
}

bool view_agreed(const struct view *view)
{
    uint32_t leader = view_leader(view, NULL);
    for (uint32_t id = 1; id <= view->nodes; id++) {
        const struct node_view *node = &view->node[id];
        if (node->running && !node->paused && node->leader != leader)
            return false;
    }
    return leader != 0;
}

void view_cluster(const struct view *view, struct cluster_view *out)
{
    *out = (struct cluster_view){
        .nodes = view->nodes,
        .witnesses = view->witnesses,
        .leader = view_leader(view, NULL),
    };
    for (uint32_t id = 1; id <= view->nodes; id++) {
        const struct node_view *node = &view->node[id];
        out->running |= node->running ? node_bit(id) : 0;
        out->paused |= node->paused ? node_bit(id) : 0;
        out->candidates |= node->candidate ? node_bit(id) : 0;
    }
}
