/* What each fault does to a cluster, as text for a few seeds and as properties for many. */
#include "nemesis/fault.h"

#include <string.h>

#include "tests/test.h"

#define SEEDS 300

static struct cluster_view healthy(uint32_t nodes, uint32_t leader)
{
    return (struct cluster_view){.nodes = nodes, .leader = leader, .running = nodes_all(nodes)};
}

static const struct fault *find(const char *name)
{
    const struct fault *fault = fault_find(slice_of(name));
    assert_non_null(fault);
    return fault;
}

struct call {
    const char *fault, *parameters;
    node_set chosen; /* 0: all */
    uint64_t seed;
};

static bool start(const struct call *call, const struct cluster_view *view, struct injection *out,
                  const char **ret_why)
{
    const struct fault *fault = find(call->fault);
    struct option_values parameters;
    struct random random;
    struct error error;
    options_defaults(fault->parameters, &parameters);
    if (call->parameters)
        assert_int_equal(
            options_parse(fault->parameters, "parameter", call->parameters, &parameters, &error),
            0);
    random_init(&random, call->seed, "fault", 0);
    node_set chosen = call->chosen ? call->chosen : nodes_all(view->nodes);
    return fault_start(fault, view, chosen, &parameters, &random, out, ret_why);
}

static struct injection started(const char *name, const char *parameters, node_set chosen,
                                const struct cluster_view *view, uint64_t seed)
{
    const struct call call = {name, parameters, chosen, seed};
    struct injection injection = {0};
    const char *why = "";
    if (!start(&call, view, &injection, &why))
        fail_msg("%s did not start: %s", name, why);
    return injection;
}

/* A row per sender, a column per receiver: x cut, s cut-soft, d cut-data, o impaired otherwise. */
static const char *picture(const struct injection *injection, uint32_t nodes, struct text *out)
{
    char cell[NODES_MAX][NODES_MAX];
    memset(cell, '.', sizeof cell);
    for (uint32_t i = 0; i < injection->link_count; i++) {
        const struct link_change *link = &injection->links[i];
        assert_int_equal(cell[link->from][link->to], '.'); /* no link is given twice */
        cell[link->from][link->to] = link->impairment.cut        ? 'x'
                                     : link->impairment.cut_soft ? 's'
                                     : link->impairment.cut_data ? 'd'
                                                                 : 'o';
    }
    text_clear(out);
    for (uint32_t from = 0; from < nodes; from++) {
        cell[from][from] = '-';
        text_add(out, "%s%.*s", from ? " " : "", (int)nodes, cell[from]);
    }
    return text_string(out);
}

static void test_golden_pictures(void **state)
{
    (void)state;
    static const struct {
        struct call call;
        uint32_t nodes, leader;
        const char *picture;
    } golden[] = {
        {{"isolate-leader", NULL, 1 << 1, 1}, 5, 2, "-x... x-xxx .x-.. .x.-. .x..-"},
        {{"isolate-one", NULL, 1 << 4, 1}, 5, 2, "-...x .-..x ..-.x ...-x xxxx-"},
        {{"halves", NULL, 0x11, 1}, 5, 2, "-xxx. x-..x x.-.x x..-x .xxx-"},
        {{"halves", NULL, 0x3, 1}, 4, 2, "-.xx .-xx xx-. xx.-"},
        {{"halves", "cut=soft", 0x3, 1}, 4, 2, "-.ss .-ss ss-. ss.-"},
        {{"minority-third", NULL, 0x4, 1}, 5, 2, "-.x.. .-x.. xx-xx ..x-. ..x.-"},
        {{"single-link", NULL, 0x9, 1}, 4, 0, "-..x .-.. ..-. x..-"},
        {{"one-way", "links=node,direction=out", 0x2, 1}, 4, 2, "-... x-xx ..-. ...-"},
        {{"one-way", "links=node,direction=in", 0x2, 1}, 4, 2, "-x.. .-.. .x-. .x.-"},
        {{"one-way-data", "links=node,direction=in", 0x2, 1}, 4, 2, "-d.. .-.. .d-. .d.-"},
        {{"loss", "links=node,direction=both", 0x2, 1}, 3, 2, "-o. o-o .o-"},
        {{"loss", "links=node,direction=out", 0x2, 1}, 3, 2, "-.. o-o ..-"},
        {{"delay", "links=node,direction=in", 0x2, 1}, 3, 2, "-o. .-. .o-"},
        {{"jitter", "links=all", 0x2, 1}, 3, 2, "-oo o-o oo-"},
        {{"rate", "links=one,direction=out", 0x1, 1}, 3, 2, "-o. .-. ..-"},
        {{"bridge", NULL, 0x1, 1}, 3, 0, "-.. .-x .x-"},
    };
    struct text text = {0};
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        struct cluster_view view = healthy(golden[i].nodes, golden[i].leader);
        struct injection injection = {0};
        const char *why;
        assert_true(start(&golden[i].call, &view, &injection, &why));
        assert_string_equal(picture(&injection, view.nodes, &text), golden[i].picture);
        injection_release(&injection);
    }
    text_release(&text);
}

/* The service shares the fate of one of the nodes, and the link between the two is clean. */
static void test_link_faults_reach_the_service(void **state)
{
    (void)state;
    static const char *const shapes[] = {"halves",  "isolate-one", "bridge",         "single-link",
                                         "one-way", "loss",        "majorities-ring"};
    for (size_t shape = 0; shape < sizeof shapes / sizeof shapes[0]; shape++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct cluster_view view = healthy(5, 1);
            view.service = 6;
            view.service_running = true;
            struct injection injection =
                started(shapes[shape], NULL, node_bit(1 + (uint32_t)seed % 5), &view, seed);
            bool hit[7][7] = {{false}};
            uint32_t beside = 0;
            for (uint32_t i = 0; i < injection.link_count; i++)
                hit[injection.links[i].from + 1][injection.links[i].to + 1] = true;
            for (uint32_t twin = 1; twin <= 5; twin++) {
                bool same = !hit[twin][6] && !hit[6][twin];
                for (uint32_t other = 1; other <= 5; other++)
                    same = same && (other == twin || (hit[other][twin] == hit[other][6] &&
                                                      hit[twin][other] == hit[6][other]));
                beside = same ? twin : beside;
            }
            assert_true(beside != 0);
            injection_release(&injection);
        }
}

/* ---- properties ---- */

/* Whom each node hears: itself and those whose link to it is not cut. */
static void hearing(const struct injection *injection, uint32_t nodes, node_set hears[NODES_MAX])
{
    for (uint32_t i = 0; i < nodes; i++)
        hears[i] = nodes_all(nodes);
    for (uint32_t i = 0; i < injection->link_count; i++)
        hears[injection->links[i].to] &= ~node_bit(injection->links[i].from + 1);
}

static void assert_two_sides(const node_set *hears, uint32_t nodes, node_set side, uint32_t size)
{
    assert_int_equal(nodes_count(side), size);
    for (uint32_t i = 0; i < nodes; i++) {
        bool inside = side & node_bit(i + 1);
        assert_true(hears[i] == (inside ? side : nodes_all(nodes) & ~side));
    }
}

static void test_sides(void **state)
{
    (void)state;
    for (uint32_t nodes = 3; nodes <= 10; nodes++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct cluster_view view = healthy(nodes, 1);
            node_set hears[NODES_MAX];
            struct injection injection = started("halves", NULL, 0, &view, seed);
            hearing(&injection, nodes, hears);
            assert_two_sides(hears, nodes, injection.targets, nodes / 2);
            injection_release(&injection);
            injection = started("minority-third", NULL, 0, &view, seed);
            hearing(&injection, nodes, hears);
            assert_two_sides(hears, nodes, injection.targets, nodes / 3);
            injection_release(&injection);
            injection = started("halves", NULL, node_bit(1), &view, seed);
            assert_true(injection.targets & node_bit(1)); /* the named node is on the named side */
            injection_release(&injection);
        }
}

static void test_sides_differ_by_seed(void **state)
{
    (void)state;
    struct cluster_view view = healthy(5, 1);
    node_set seen = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct injection injection = started("minority-third", NULL, 0, &view, seed);
        seen |= injection.targets;
        injection_release(&injection);
    }
    assert_true(seen == nodes_all(5));
}

static void test_majorities_ring(void **state)
{
    (void)state;
    for (uint32_t nodes = 3; nodes <= 12; nodes++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct cluster_view view = healthy(nodes, 1);
            struct injection injection = started("majorities-ring", NULL, 0, &view, seed);
            node_set hears[NODES_MAX];
            hearing(&injection, nodes, hears);
            for (uint32_t i = 0; i < nodes; i++) {
                assert_int_equal(nodes_count(hears[i]), nodes / 2 + 1);
                assert_true(hears[i] & node_bit(i + 1));
                for (uint32_t j = 0; j < i; j++)
                    assert_true(hears[i] != hears[j]);
            }
            injection_release(&injection);
        }
}

static void test_bridge(void **state)
{
    (void)state;
    for (uint32_t nodes = 3; nodes <= 10; nodes++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct cluster_view view = healthy(nodes, 1);
            struct injection injection = started("bridge", NULL, 0, &view, seed);
            assert_true(injection.targets != node_bit(1)); /* a leader there cuts nothing of use */
            node_set hears[NODES_MAX];
            uint32_t see_all = 0;
            hearing(&injection, nodes, hears);
            for (uint32_t i = 0; i < nodes; i++) {
                see_all += hears[i] == nodes_all(nodes);
                assert_true(hears[i] & injection.targets);
                assert_in_range(nodes_count(hears[i]), nodes == 3 ? 2 : 1 + (nodes - 1) / 2, nodes);
            }
            assert_int_equal(see_all, 1);
            injection_release(&injection);
        }
}

static void test_one_way_is_one_way(void **state)
{
    (void)state;
    static const char *const parameters[] = {
        "links=node,direction=out",
        "links=node,direction=in",
        "links=one,direction=out",
        "links=one,direction=in",
    };
    static const char *const names[] = {"one-way", "one-way-data"};
    for (uint32_t nodes = 2; nodes <= 7; nodes++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct cluster_view view = healthy(nodes, (uint32_t)(seed % nodes) + 1);
            node_set chosen = node_bit((uint32_t)(seed % 2) + 1);
            struct injection injection =
                started(names[seed % 2], parameters[seed / 2 % 4], chosen, &view, seed);
            bool touched[NODES_MAX][NODES_MAX] = {{false}};
            for (uint32_t i = 0; i < injection.link_count; i++) {
                const struct link_change *link = &injection.links[i];
                touched[link->from][link->to] = true;
                assert_false(touched[link->to][link->from]);
                assert_true((node_bit(link->from + 1) | node_bit(link->to + 1)) & chosen);
                assert_true(seed % 2 ? link->impairment.cut_data : link->impairment.cut);
            }
            assert_int_equal(injection.link_count, seed / 2 % 4 < 2 ? nodes - 1 : 1);
            injection_release(&injection);
        }
}

static void test_single_link(void **state)
{
    (void)state;
    for (uint32_t nodes = 2; nodes <= 7; nodes++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct cluster_view view = healthy(nodes, seed % 2 ? 0 : 1);
            struct injection injection = started("single-link", NULL, 0, &view, seed);
            assert_int_equal(injection.link_count, 2);
            assert_int_equal(injection.links[0].from, injection.links[1].to);
            assert_int_equal(injection.links[0].to, injection.links[1].from);
            assert_int_equal(nodes_count(injection.targets), 2);
            injection_release(&injection);
        }
}

static void test_links_out_cover_half_of_links_both(void **state)
{
    (void)state;
    static const char *const names[] = {"loss",    "delay",   "jitter", "duplicate",
                                        "reorder", "corrupt", "rate"};
    struct cluster_view view = healthy(5, 3);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct injection both = started(names[i], "links=node,direction=both", 4, &view, 1);
        struct injection out = started(names[i], "links=node,direction=out", 4, &view, 1);
        struct injection in = started(names[i], "links=node,direction=in", 4, &view, 1);
        struct injection all = started(names[i], "links=all", 4, &view, 1);
        assert_int_equal(both.link_count, 8);
        assert_int_equal(out.link_count, 4);
        assert_int_equal(in.link_count, 4);
        assert_int_equal(all.link_count, 20);
        assert_false(impairment_is_clean(&both.links[0].impairment));
        injection_release(&both);
        injection_release(&out);
        injection_release(&in);
        injection_release(&all);
    }
}

/* ---- what must not start ---- */

static void refuses(const char *name, node_set chosen, const struct cluster_view *view,
                    const char *expected)
{
    const struct call call = {name, NULL, chosen, 1};
    struct injection injection = {0};
    const char *why = "";
    assert_false(start(&call, view, &injection, &why));
    assert_string_equal(why, expected);
    assert_null(injection.links);
}

static void test_refusals(void **state)
{
    (void)state;
    struct cluster_view view = healthy(3, 1);
    view.running = node_bit(1) | node_bit(2);
    view.paused = node_bit(2);
    refuses("kill", node_bit(3), &view, "the target is not running");
    refuses("pause", node_bit(3), &view, "the target is not running");
    refuses("pause", node_bit(2), &view, "the target is already paused");
    refuses("isolate-one", node_bit(3), &view, "no running nodes at both ends of a link");
    refuses("loss", node_bit(3), &view, "no running nodes at both ends of a link");
    refuses("single-link", node_bit(3), &view, "the target is not running");
    refuses("one-way", nodes_all(3), &view, "nobody is left on the other side");
    view.running = node_bit(2);
    refuses("single-link", node_bit(2), &view, "no other node is running");
    struct cluster_view alone = healthy(1, 1), two = healthy(2, 1);
    refuses("halves", 0, &alone, "needs at least 2 nodes");
    refuses("bridge", 0, &two, "needs at least 3 nodes");
    refuses("majorities-ring", 0, &two, "needs at least 3 nodes");
    refuses("minority-third", 0, &two, "needs at least 3 nodes");
}

static void test_a_paused_node_can_be_killed_and_cut(void **state)
{
    (void)state;
    struct cluster_view view = healthy(3, 1);
    view.paused = node_bit(1);
    struct injection injection = started("kill", NULL, node_bit(1), &view, 1);
    assert_int_equal(injection.act.action, ACTION_KILL);
    assert_true(injection.targets == node_bit(1));
    injection_release(&injection);
    injection = started("isolate-leader", NULL, node_bit(1), &view, 1);
    assert_int_equal(injection.link_count, 4);
    injection_release(&injection);
}

static void test_only_those_who_can_be_hit_are(void **state)
{
    (void)state;
    struct cluster_view view = healthy(4, 1);
    view.running &= ~node_bit(2);
    view.paused = node_bit(3);
    struct injection injection = started("kill", NULL, 0, &view, 1);
    assert_true(injection.targets == (node_bit(1) | node_bit(3) | node_bit(4)));
    injection_release(&injection);
    injection = started("pause", NULL, 0, &view, 1);
    assert_true(injection.targets == (node_bit(1) | node_bit(4)));
    injection_release(&injection);
}

/* ---- clocks ---- */

static void test_clocks_are_bent_as_asked(void **state)
{
    (void)state;
    static const struct {
        const char *fault, *parameters;
        struct clock_bend bend;
        uint64_t flap_ns;
    } rows[] = {
        {"clock-step", "step=2s", {2 * (int64_t)NS_PER_S, 1000000}, 0},
        {"clock-step", "step=2s,direction=back", {-2 * (int64_t)NS_PER_S, 1000000}, 0},
        {"clock-rate", "drift=100%", {0, 2000000}, 0},
        {"clock-rate", "drift=100%,direction=slow", {0, 500000}, 0},
        {"clock-strobe", "step=1s,period=100ms", {NS_PER_S, 1000000}, 50 * NS_PER_MS},
    };
    struct cluster_view view = healthy(5, 1);
    view.running &= ~node_bit(4);
    view.paused = node_bit(5);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct injection injection = started(rows[i].fault, rows[i].parameters, 0, &view, 1);
        assert_int_equal(injection.act.action, ACTION_CLOCK);
        assert_int_equal(injection.act.clock.step_ns, rows[i].bend.step_ns);
        assert_int_equal(injection.act.clock.rate_ppm, rows[i].bend.rate_ppm);
        assert_int_equal(injection.flap_ns, rows[i].flap_ns);
        assert_int_equal(injection.targets, 7); /* who is dead or stopped cannot tell the time */
        injection_release(&injection);
    }
}

static void test_clocks_that_cannot_be_bent(void **state)
{
    (void)state;
    const struct call call = {"clock-rate", NULL, 3, 1};
    struct cluster_view view = healthy(5, 1);
    struct injection injection = {0};
    const char *why = "";
    view.lacking[FACILITY_CLOCK_RATE] = node_bit(1);
    assert_true(start(&call, &view, &injection, &why));
    assert_int_equal(injection.targets, node_bit(2));
    view.lacking[FACILITY_CLOCK_RATE] = nodes_all(5);
    assert_false(start(&call, &view, &injection, &why));
    assert_non_null(strstr(why, "other kind of clock fault"));
    view.missing[FACILITY_CLOCK_RATE] = "there is no such clock";
    assert_false(start(&call, &view, &injection, &why));
    assert_string_equal(why, "there is no such clock");
}

static void test_pauses_by_the_freezer(void **state)
{
    (void)state;
    const struct call call = {"pause", "means=freezer", node_bit(2), 1};
    struct cluster_view view = healthy(5, 1);
    struct injection injection = {0};
    const char *why = "";
    assert_true(start(&call, &view, &injection, &why));
    assert_int_equal(injection.act.action, ACTION_FREEZE);
    assert_int_equal(
        started("pause", "means=freezer,point=before-send", node_bit(2), &view, 1).act.action,
        ACTION_HALT); /* at a point it stops itself */
    view.missing[FACILITY_FREEZER] = "no cgroup version 2 is mounted";
    assert_false(start(&call, &view, &injection, &why));
    assert_string_equal(why, "no cgroup version 2 is mounted");
    assert_int_equal(started("pause", NULL, node_bit(2), &view, 1).act.action, ACTION_PAUSE);
}

/* Who declares a bound is not asked for more by chance. */
static void test_drawn_drift_keeps_to_what_is_declared(void **state)
{
    (void)state;
    const struct fault_scale scale = {5, 300 * NS_PER_MS, 50000, TARGET_RANDOM, NULL, 1};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct option_values parameters = {0};
        struct random random;
        random_init(&random, seed, "plan", 0);
        find("clock-rate")->plan(&random, &scale, &parameters);
        assert_in_range(parameters.at[0], 10000, 50000);
    }
}

/* ---- processes ---- */

/* Whoever has something to decide, or to write, is the one that is stopped there. */
static void test_points_inside_a_node(void **state)
{
    (void)state;
    struct cluster_view view = healthy(5, 2);
    struct injection injection = started("pause", "point=before-write", 0, &view, 1);
    assert_int_equal(injection.act.action, ACTION_HALT);
    assert_int_equal(injection.targets, node_bit(2));
    injection_release(&injection);
    injection = started("kill-during-write", "point=after,write=3", 0, &view, 1);
    assert_int_equal(injection.act.action, ACTION_CRASH);
    assert_int_equal(injection.act.point, WRITE_AFTER);
    assert_int_equal(injection.act.write, 3);
    assert_int_equal(nodes_count(injection.targets), 1);
    assert_int_equal(injection.targets & node_bit(2), 0);
    assert_int_equal(injection.act.resigner, 2);
    injection_release(&injection);
    view.stands_alone = true;
    injection = started("kill-during-write", NULL, 0, &view, 1);
    assert_int_equal(injection.act.resigner, 0);
    injection_release(&injection);
    const struct call call = {"pause", "point=before-write", node_bit(3), 1};
    const char *why = "";
    assert_false(start(&call, &view, &injection, &why));
    assert_string_equal(why, "only a leader decides to write");
    injection = started("pause", "point=after-check", 0, &view, 1);
    assert_int_equal(injection.act.halt, HALT_AFTER_CHECK);
    assert_int_equal(injection.targets, node_bit(2));
    injection_release(&injection);
    injection = started("pause", "point=before-send", node_bit(3) | node_bit(4), &view, 1);
    assert_int_equal(injection.act.action, ACTION_HALT);
    assert_int_equal(injection.act.halt, HALT_BEFORE_SEND);
    assert_int_equal(injection.targets, node_bit(3) | node_bit(4));
    injection_release(&injection);
}

/* The service's own clock, where it is ours to bend. */
static void test_the_service_clock_is_set_wrong(void **state)
{
    (void)state;
    struct cluster_view view = healthy(3, 1);
    view.service = 4;
    view.service_running = true;
    struct injection injection = started("service-clock", "step=2s,direction=back", 0, &view, 1);
    assert_int_equal(injection.act.action, ACTION_CLOCK);
    assert_int_equal(injection.act.clock.step_ns, -2 * (int64_t)NS_PER_S);
    assert_int_equal(injection.targets, node_bit(4));
    injection_release(&injection);
    const struct call call = {"service-clock", NULL, 0, 1};
    const char *why = "";
    view.lacking[FACILITY_WALL_CLOCK] = node_bit(4);
    assert_false(start(&call, &view, &injection, &why));
    assert_string_equal(why, "a real service keeps its own clock");
    view.service_paused = true;
    view.lacking[FACILITY_WALL_CLOCK] = 0;
    assert_false(start(&call, &view, &injection, &why));
    assert_string_equal(why, "the service is not running");
}

/* There is one spare machine. */
static void test_one_twin_at_a_time(void **state)
{
    (void)state;
    struct cluster_view view = healthy(5, 2);
    view.running &= ~node_bit(4);
    struct injection injection =
        started("duplicate-id", "reach=apart", node_bit(3) | node_bit(4), &view, 1);
    assert_int_equal(injection.act.action, ACTION_TWIN);
    assert_true(injection.act.apart);
    assert_int_equal(injection.targets, node_bit(3));
    injection_release(&injection);
    const struct call call = {"duplicate-id", NULL, node_bit(1), 1};
    const char *why = "";
    view.twin = 3;
    assert_false(start(&call, &view, &injection, &why));
    assert_string_equal(why, "there is room for one twin");
}

/* ---- operators ---- */

/* Whoever is told to take over can: it runs, stands still for nobody, is no witness, is another. */
static void test_successors_can_lead(void **state)
{
    (void)state;
    struct cluster_view view = healthy(7, 2);
    view.witnesses = 2;
    view.running &= ~node_bit(1);
    view.paused = node_bit(4);
    node_set seen = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct injection injection = started("transfer", "successor=random", 0, &view, seed);
        assert_int_equal(injection.targets, node_bit(2));
        seen |= node_bit(injection.act.successor);
        injection_release(&injection);
        injection = started("force-leader", NULL, 0, &view, seed);
        assert_int_equal(nodes_count(injection.targets), 1);
        assert_int_equal(injection.targets & ~(node_bit(3) | node_bit(5)), 0);
        injection_release(&injection);
    }
    assert_int_equal(seen, node_bit(3) | node_bit(5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_pictures),
        cmocka_unit_test(test_link_faults_reach_the_service),
        cmocka_unit_test(test_sides),
        cmocka_unit_test(test_sides_differ_by_seed),
        cmocka_unit_test(test_majorities_ring),
        cmocka_unit_test(test_bridge),
        cmocka_unit_test(test_one_way_is_one_way),
        cmocka_unit_test(test_single_link),
        cmocka_unit_test(test_links_out_cover_half_of_links_both),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_a_paused_node_can_be_killed_and_cut),
        cmocka_unit_test(test_only_those_who_can_be_hit_are),
        cmocka_unit_test(test_clocks_are_bent_as_asked),
        cmocka_unit_test(test_clocks_that_cannot_be_bent),
        cmocka_unit_test(test_pauses_by_the_freezer),
        cmocka_unit_test(test_drawn_drift_keeps_to_what_is_declared),
        cmocka_unit_test(test_points_inside_a_node),
        cmocka_unit_test(test_the_service_clock_is_set_wrong),
        cmocka_unit_test(test_one_twin_at_a_time),
        cmocka_unit_test(test_successors_can_lead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
