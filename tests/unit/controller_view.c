/* What the controller believes of the cluster, from events alone. */
#include "controller/view.h"

#include "tests/test.h"

static void tell(struct view *view, enum event_f f, uint32_t node, uint64_t term, uint32_t leader)
{
    struct event event = {.process = node, .type = EVENT_INFO, .f = (uint8_t)f};
    event_set(&event, FIELD_TERM, term);
    if (leader)
        event_set(&event, FIELD_LEADER, leader);
    view_event(view, &event);
}

static struct view three(void)
{
    struct view view;
    view_init(&view, 3, 0);
    for (uint32_t id = 1; id <= 3; id++)
        tell(&view, F_SPAWN, id, 0, 0);
    return view;
}

static void test_leader_is_the_newest(void **state)
{
    (void)state;
    struct view view = three();
    uint64_t term = 0;
    assert_int_equal(view_leader(&view, NULL), 0);
    tell(&view, F_LEAD, 2, 4, 0);
    tell(&view, F_LEAD, 1, 3, 0);
    assert_int_equal(view_leader(&view, &term), 2);
    assert_int_equal(term, 4);
    tell(&view, F_STEP_DOWN, 2, 4, 0);
    assert_int_equal(view_leader(&view, &term), 1);
    assert_int_equal(term, 3);
    tell(&view, F_EXIT, 1, 0, 0);
    assert_int_equal(view_leader(&view, NULL), 0);
}

static void test_agreement(void **state)
{
    (void)state;
    struct view view = three();
    assert_false(view_agreed(&view));
    tell(&view, F_LEAD, 2, 1, 0);
    tell(&view, F_FOLLOW, 1, 1, 2);
    assert_false(view_agreed(&view)); /* n3 names nobody */
    view_paused(&view, 3, true);
    assert_true(view_agreed(&view));
    view_paused(&view, 3, false);
    tell(&view, F_FOLLOW, 3, 1, 2);
    assert_true(view_agreed(&view));
    tell(&view, F_LEAD, 3, 2, 0);
    assert_false(view_agreed(&view)); /* n1 still follows n2 */
    tell(&view, F_FOLLOW, 1, 2, 3);
    tell(&view, F_FOLLOW, 2, 2, 3);
    assert_true(view_agreed(&view));
    tell(&view, F_EXIT, 3, 0, 0);
    assert_false(view_agreed(&view)); /* the leader they name is gone */
}

static void test_cluster(void **state)
{
    (void)state;
    struct view view = three();
    struct cluster_view cluster;
    tell(&view, F_LEAD, 1, 1, 0);
    tell(&view, F_CAMPAIGN, 2, 2, 0);
    tell(&view, F_EXIT, 3, 0, 0);
    view_paused(&view, 2, true);
    view_cluster(&view, &cluster);
    assert_int_equal(cluster.nodes, 3);
    assert_int_equal(cluster.leader, 1);
    assert_int_equal(cluster.running, node_bit(1) | node_bit(2));
    assert_int_equal(cluster.paused, node_bit(2));
    assert_int_equal(cluster.candidates, node_bit(2));
    tell(&view, F_FOLLOW, 2, 3, 1);
    tell(&view, F_SPAWN, 3, 0, 0);
    view_cluster(&view, &cluster);
    assert_int_equal(cluster.candidates, 0);
    assert_int_equal(cluster.running, node_bit(1) | node_bit(2) | node_bit(3));
}

static void test_counts_and_strangers(void **state)
{
    (void)state;
    struct view view = three();
    struct event accept = {.time_ns = 77,
                           .process = PROCESS_NUMBER(PROCESS_RESOURCE, 0),
                           .type = EVENT_INFO,
                           .f = F_ACCEPT};
    view_event(&view, &accept);
    assert_int_equal(view.writes_accepted, 1);
    assert_int_equal(view.accepted_ns, 77);
    tell(&view, F_REJECT, PROCESS_NUMBER(PROCESS_RESOURCE, 0), 1, 0);
    assert_int_equal(view.writes_rejected, 1);
    tell(&view, F_LEAD, 0, 9, 0); /* no node of ours */
    tell(&view, F_LEAD, 4, 9, 0);
    tell(&view, F_LEAD, PROCESS_NUMBER(PROCESS_CLIENT, 1), 9, 0);
    assert_int_equal(view_leader(&view, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leader_is_the_newest),
        cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_cluster),
        cmocka_unit_test(test_counts_and_strangers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
