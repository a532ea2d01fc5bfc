/* The checker knows every fault that the nemesis can do, by its name and group, and what it does to
 * whom: the two folders may not know of one another, so this is where they are held together. */
#include "tests/test.h"

#include <string.h>

#include "checker/fault_kinds.h"
#include "nemesis/fault.h"

static void test_registry(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; faults[i]; i++) {
        const struct fault_kind *kind = fault_kind_find(slice_of(faults[i]->name));
        if (!kind)
            fail_msg("checker/fault_kinds.c does not know %s", faults[i]->name);
        assert_string_equal(kind->group, faults[i]->group);
    }
}

/* Start each fault once and compare what it did with what the checker believes of its kind. */
static void test_effects(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; faults[i]; i++) {
        struct cluster_view view = {
            .nodes = 5, .leader = 1, .running = 31, .service = 6, .service_running = true};
        view.to = nodes_all(5);
        struct option_values parameters = {0};
        struct random random;
        struct injection injection = {0};
        const char *why = NULL;
        random_init(&random, 1, "effects", i);
        if (faults[i]->parameters)
            options_defaults(faults[i]->parameters, &parameters);
        /* Of the leader, or of another if it cannot be the leader. */
        assert_true(faults[i]->start(&view, node_bit(1), &parameters, &random, &injection, &why) ||
                    faults[i]->start(&view, node_bit(2), &parameters, &random, &injection, &why));
        enum fault_effect effect = fault_kind_find(slice_of(faults[i]->name))->effect;
        bool cuts = injection.link_count > 0 && injection.flap_ns == 0 &&
                    injection.act.action == ACTION_NONE;
        for (uint32_t link = 0; link < injection.link_count; link++)
            cuts = cuts && (injection.links[link].impairment.cut ||
                            injection.links[link].impairment.cut_data);
        const struct disk_trouble *disk = &injection.act.disk;
        bool stands = act_stops(injection.act.action) && injection.flap_ns == 0;
        bool fails = disk->full || disk->error_ppm;
        bool of_service = injection.targets & node_bit(view.service); /* no node of the model */
        enum fault_effect done = of_service                       ? EFFECT_DISTURB
                                 : act_ends(injection.act.action) ? EFFECT_KILL
                                 : stands                         ? EFFECT_PAUSE
                                 : cuts                           ? EFFECT_CUT
                                 : fails                          ? EFFECT_FAIL
                                                                  : EFFECT_DISTURB;
        if (effect != done)
            fail_msg("checker/fault_kinds.c is wrong about %s", faults[i]->name);
        injection_release(&injection);
    }
}

static void collect_node(void *context, uint32_t node)
{
    text_add(context, "%u ", node);
}

static void collect_link(void *context, uint32_t from, uint32_t to)
{
    char a[PROCESS_NAME_MAX], b[PROCESS_NAME_MAX];
    text_add(context, "%s>%s ", process_name(from, a), process_name(to, b));
}

static void test_targets(void **unused)
{
    struct text found = {0};
    struct event event = {.f = F_FAULT};
    (void)unused;
    event_set_text(&event, FIELD_TARGETS, slice_of("n1,,n4,client-1,nonsense,n12,"));
    fault_targets(&event, collect_node, &found);
    assert_string_equal(text_string(&found), "1 4 12 ");
    text_clear(&found);
    event_set_text(&event, FIELD_TARGETS,
                   slice_of("n1>n2,,n3,>,n4>,>n5,n2>resource,n1>n2>n3,n3>n1"));
    fault_links(&event, collect_link, &found);
    assert_string_equal(text_string(&found), "n1>n2 n2>resource n3>n1 ");
    text_release(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_effects),
        cmocka_unit_test(test_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
