/* Schedules: what the planner promises, over many seeds; and their text, exact both ways. */
#include "nemesis/plan.h"

#include <string.h>

#include "tests/test.h"

#define SEEDS 10000

struct asked {
    const struct fault *kinds[FAULTS_MAX];
    struct plan_request request;
};

static void ask(struct asked *asked, const char *names, uint32_t nodes, uint64_t every_ns,
                uint64_t length_ns)
{
    struct error error;
    asked->request = (struct plan_request){.nodes = nodes,
                                           .kinds = asked->kinds,
                                           .every_ns = every_ns,
                                           .length_ns = length_ns,
                                           .election_timeout_ns = 300 * NS_PER_MS};
    assert_int_equal(faults_parse(names, asked->kinds, &asked->request.kind_count, &error), 0);
}

static void assert_within_phase(const struct plan_request *request, const struct schedule *schedule)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < schedule->count; i++) {
        const struct scheduled_fault *scheduled = &schedule->faults[i];
        assert_int_equal(scheduled->id, i + 1);
        assert_true(scheduled->at_ns >= last);
        assert_true(scheduled->duration_ns > 0);
        assert_true(scheduled->at_ns + scheduled->duration_ns <= request->length_ns);
        last = scheduled->at_ns;
    }
}

static uint32_t count_group(const struct schedule *schedule, const char *group, uint32_t limit)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < schedule->count && i < limit; i++)
        count += strcmp(schedule->faults[i].fault->group, group) == 0;
    return count;
}

/* Ten seconds, a fault every three: barely enough room for the four groups. */
static void test_every_group_appears(void **state)
{
    (void)state;
    static const char *const groups[] = {"kill", "pause", "partition", "link"};
    static const struct {
        uint64_t every_ns, length_ns;
    } phases[] = {
        {3 * NS_PER_S, 10 * NS_PER_S},
        {5 * NS_PER_S, 30 * NS_PER_S},
        {60 * NS_PER_S, 3 * NS_PER_S},
        {NS_PER_S, 700 * NS_PER_MS},
    };
    struct asked asked;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ask(&asked, "kill,pause,partition,link", 5, phases[seed % 4].every_ns,
            phases[seed % 4].length_ns);
        asked.request.seed = seed;
        struct schedule schedule = {0};
        plan_random(&asked.request, &schedule);
        assert_within_phase(&asked.request, &schedule);
        for (int i = 0; i < 4; i++)
            assert_true(count_group(&schedule, groups[i], UINT32_MAX) >= 1);
        schedule_release(&schedule);
    }
}

static void test_rounds(void **state)
{
    (void)state;
    struct asked asked;
    ask(&asked, "kill,pause,partition,link", 5, NS_PER_S, 60 * NS_PER_S);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct schedule schedule = {0};
        asked.request.seed = seed;
        plan_random(&asked.request, &schedule);
        assert_in_range(schedule.count, 55, 60);
        for (uint32_t round = 1; round * 4 <= schedule.count; round++) {
            assert_int_equal(count_group(&schedule, "kill", round * 4), round);
            assert_int_equal(count_group(&schedule, "pause", round * 4), round);
            assert_int_equal(count_group(&schedule, "partition", round * 4), round);
            assert_int_equal(count_group(&schedule, "link", round * 4), round);
        }
        schedule_release(&schedule);
    }
}

/* Members of a group take turns: in ten partitions each shape has come up once. */
static void test_members_rotate(void **state)
{
    (void)state;
    struct asked asked;
    ask(&asked, "partition", 5, NS_PER_S, 100 * NS_PER_S);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct schedule schedule = {0};
        asked.request.seed = seed;
        plan_random(&asked.request, &schedule);
        for (uint32_t i = 0; i < 10; i++)
            for (uint32_t j = 0; j < i; j++)
                assert_ptr_not_equal(schedule.faults[i].fault, schedule.faults[j].fault);
        schedule_release(&schedule);
    }
}

static void test_single_kinds_each_appear(void **state)
{
    (void)state;
    struct asked asked;
    ask(&asked, "halves,bridge,loss", 5, 3 * NS_PER_S, 10 * NS_PER_S);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct schedule schedule = {0};
        asked.request.seed = seed;
        plan_random(&asked.request, &schedule);
        for (uint32_t kind = 0; kind < asked.request.kind_count; kind++) {
            uint32_t i = 0;
            while (i < schedule.count && schedule.faults[i].fault != asked.kinds[kind])
                i++;
            assert_true(i < schedule.count);
        }
        schedule_release(&schedule);
    }
}

static void test_members_that_do_not_fit_give_way(void **state)
{
    (void)state;
    struct asked asked;
    for (uint32_t nodes = 1; nodes <= 4; nodes++) {
        struct schedule schedule = {0};
        ask(&asked, "all", nodes, NS_PER_S, 60 * NS_PER_S);
        plan_random(&asked.request, &schedule);
        for (uint32_t i = 0; i < schedule.count; i++) {
            const struct scheduled_fault *scheduled = &schedule.faults[i];
            assert_true(nodes == 1 || scheduled->fault->nodes_min <= nodes);
            assert_true(target_nodes_min(scheduled->target.role) <= nodes);
        }
        assert_true(count_group(&schedule, "partition", UINT32_MAX) > 5);
        schedule_release(&schedule);
    }
}

static void test_some_overlap_some_do_not(void **state)
{
    (void)state;
    struct asked asked;
    uint32_t overlapping = 0, apart = 0;
    ask(&asked, "all", 5, 3 * NS_PER_S, 60 * NS_PER_S);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct schedule schedule = {0};
        asked.request.seed = seed;
        plan_random(&asked.request, &schedule);
        for (uint32_t i = 1; i < schedule.count; i++) {
            const struct scheduled_fault *before = &schedule.faults[i - 1];
            bool overlaps = before->at_ns + before->duration_ns > schedule.faults[i].at_ns;
            overlapping += overlaps;
            apart += !overlaps;
        }
        schedule_release(&schedule);
    }
    assert_true(overlapping > apart / 4 && apart > overlapping / 4);
}

static void schedule_text(const struct schedule *schedule, struct text *out)
{
    text_clear(out);
    for (uint32_t i = 0; i < schedule->count; i++) {
        scheduled_fault_format(&schedule->faults[i], out);
        text_add(out, "\n");
    }
}

static void test_same_seed_same_plan_and_text_is_exact(void **state)
{
    (void)state;
    struct asked asked;
    struct text first = {0}, second = {0};
    uint32_t differ = 0;
    ask(&asked, "all", 5, 3 * NS_PER_S, 20 * NS_PER_S);
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct schedule a = {0}, b = {0}, parsed = {0};
        asked.request.seed = seed;
        plan_random(&asked.request, &a);
        plan_random(&asked.request, &b);
        differ += first.length && (schedule_text(&a, &second), strcmp(first.at, second.at) != 0);
        schedule_text(&a, &first);
        schedule_text(&b, &second);
        assert_string_equal(text_string(&first), text_string(&second));
        for (uint32_t i = 0; i < a.count; i++) {
            struct scheduled_fault scheduled;
            struct error error;
            text_clear(&second);
            scheduled_fault_format(&a.faults[i], &second);
            if (scheduled_fault_parse(text_string(&second), 5, &scheduled, &error) < 0)
                fail_msg("%s: %s", text_string(&second), error.text);
            schedule_add(&parsed, &scheduled);
        }
        schedule_text(&parsed, &second);
        assert_string_equal(text_string(&first), text_string(&second));
        for (uint32_t i = 0; i < a.count; i++) {
            assert_int_equal(a.faults[i].seed, parsed.faults[i].seed);
            assert_int_equal(a.faults[i].duration_ns, parsed.faults[i].duration_ns);
            assert_memory_equal(&a.faults[i].parameters, &parsed.faults[i].parameters,
                                sizeof(struct option_values));
        }
        schedule_release(&a);
        schedule_release(&b);
        schedule_release(&parsed);
    }
    assert_int_equal(differ, 499);
    text_release(&first);
    text_release(&second);
}

static void test_extremes(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {0, 1, 3, 1000, NS_PER_MS, 100 * NS_PER_MS, NS_PER_S};
    static const uint64_t everies[] = {0, 1, NS_PER_MS, 3600 * NS_PER_S, UINT64_MAX / 4};
    struct asked asked;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (size_t j = 0; j < sizeof everies / sizeof everies[0]; j++) {
            struct schedule schedule = {0};
            ask(&asked, "all", 5, everies[j], lengths[i]);
            plan_random(&asked.request, &schedule);
            assert_within_phase(&asked.request, &schedule);
            assert_true(schedule.count <= PLAN_FAULTS_MAX);
            assert_true(lengths[i] < 3 || schedule.count >= 4);
            schedule_release(&schedule);
        }
    struct schedule none = {0};
    ask(&asked, "none", 5, NS_PER_S, NS_PER_S);
    plan_random(&asked.request, &none);
    assert_int_equal(none.count, 0);
}

/* ---- text ---- */

static void test_words_in_any_order_and_defaults(void **state)
{
    (void)state;
    static const struct {
        const char *line, *canonical;
    } lines[] = {
        {"fault=kill at=1s", "at=1s fault=kill on=random"},
        {"  for=500ms   on=n4+n2 fault=pause at=1.5s ",
         "at=1500ms fault=pause on=n2+n4 for=500ms point=anywhere means=signal"},
        {"at=0 fault=halves", "at=0 fault=halves on=any cut=hard"},
        {"at=1ms fault=loss loss=0.2 on=leader",
         "at=1ms fault=loss on=leader loss=20% links=node direction=both"},
        {"at=2s fault=flapping on=follower:2 for=3s period=10ms seed=18446744073709551615",
         "at=2s fault=flapping on=follower:2 for=3s period=10ms cut=hard "
         "seed=18446744073709551615"},
        {"after=lead fault=kill", "at=0 after=lead fault=kill on=random"},
        {"at=1s fault=message-drop",
         "at=1s fault=message-drop from=any to=any kind=any term=0 count=0"},
        {"count=1 to=n1 kind=vote-reply from=follower:2 fault=message-duplicate copy=late at=1s",
         "at=1s fault=message-duplicate from=follower:2 to=n1 kind=vote-reply term=0 count=1 "
         "copy=late"},
        {"after=message:2@n3 fault=kill on=actor", "at=0 after=message:2@n3 fault=kill on=actor"},
        {"fault=pause on=actor after=step-down:3@n2+1500us at=2s for=1s",
         "at=2s after=step-down:3@n2+1500us fault=pause on=actor for=1s point=anywhere "
         "means=signal"},
        {"after=guarded-write:1000000@n5+24h fault=kill on=lowest",
         "at=0 after=guarded-write:1000000@n5+24h fault=kill on=lowest"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct scheduled_fault scheduled;
        struct error error = {0};
        struct text text = {0};
        if (scheduled_fault_parse(lines[i].line, 5, &scheduled, &error) < 0)
            fail_msg("%s: %s", lines[i].line, error.text);
        scheduled_fault_format(&scheduled, &text);
        assert_string_equal(text_string(&text), lines[i].canonical);
        text_release(&text);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *line, *mention;
    } refused[] = {
        {"", "needs fault="},
        {"at=1s", "needs fault="},
        {"fault=kill", "needs at="},
        {"after= fault=kill", "kill: after: unknown event '' (accepted: lead, step-down,"},
        {"after=send fault=kill", "unknown event 'send'"},
        {"after=lead:0 fault=kill", "'0' must be between 1 and 1000000"},
        {"after=lead: fault=kill", "whole number"},
        {"after=lead:2:3 fault=kill", "'2:3' is not a whole number"},
        {"after=lead@n6 fault=kill", "'n6' is not one of n1 to n5"},
        {"after=lead@n0 fault=kill", "'n0' is not one of n1 to n5"},
        {"after=lead@client-1 fault=kill", "'client-1' is not one of n1 to n5"},
        {"after=lead+soon fault=kill", "'soon' is not a duration"},
        {"after=lead+25h fault=kill", "'25h' is more than a day"},
        {"after=lead+1s@n2 fault=kill", "'1s@n2' is not a duration"},
        {"at=1s fault=kill on=actor", "on=actor needs after="},
        {"at=1s fault=message-drop to=actor", "on=actor needs after="},
        {"at=1s fault=message-drop on=n1",
         "unknown word 'on' (accepted: at, after, fault, from, to"},
        {"at=1s fault=kill from=n1", "unknown word 'from'"},
        {"at=1s fault=message-drop to=n6", "n1 to n5"},
        {"at=1s fault=message-drop kind=vote", "'vote' is not one of any, vote-request"},
        {"at=1s fault=killl", "unknown fault 'killl'"},
        {"at=1 fault=kill", "accepted"},
        {"at=1s fault=kill for=0", "above 0"},
        {"at=9000h fault=kill", "a year"},
        {"at=1s fault=kill on=n6", "n1 to n5"},
        {"at=1s fault=kill on=any", "does not choose"},
        {"at=1s fault=kill loss=20%", "accepted: at, after, fault, on, for, seed)"},
        {"at=1s fault=loss los=20%", "seed, loss, links, direction"},
        {"at=1s fault=loss loss=20%,links=one", "comma"},
        {"at=1s fault=loss loss=200%", "probability"},
        {"at=1s at=2s fault=kill", "twice"},
        {"at=1s fault=kill leader", "not NAME=VALUE"},
        {"at=1s fault=kill seed=-1", "whole number"},
        {"at=1s fault=kill seed=", "whole number"},
        {"=1s fault=kill at=1s", "unknown word ''"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct scheduled_fault scheduled = {.id = 77};
        struct error error = {0};
        assert_true(scheduled_fault_parse(refused[i].line, 5, &scheduled, &error) < 0);
        if (!strstr(error.text, refused[i].mention))
            fail_msg("'%s': %s", refused[i].line, error.text);
        assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
        assert_int_equal(scheduled.id, 77);
    }
}

static void test_added_out_of_order(void **state)
{
    (void)state;
    static const uint64_t at[] = {5, 1, 5, 3, 0};
    static const uint64_t seeds_in_order[] = {4, 1, 3, 0, 2};
    struct schedule schedule = {0};
    for (uint64_t i = 0; i < 5; i++) {
        struct scheduled_fault scheduled = {.at_ns = at[i], .seed = i};
        schedule_add(&schedule, &scheduled);
    }
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(schedule.faults[i].id, i + 1);
        assert_int_equal(schedule.faults[i].seed, seeds_in_order[i]);
    }
    schedule_release(&schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_group_appears),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_members_rotate),
        cmocka_unit_test(test_single_kinds_each_appear),
        cmocka_unit_test(test_members_that_do_not_fit_give_way),
        cmocka_unit_test(test_some_overlap_some_do_not),
        cmocka_unit_test(test_same_seed_same_plan_and_text_is_exact),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_words_in_any_order_and_defaults),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_added_out_of_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
