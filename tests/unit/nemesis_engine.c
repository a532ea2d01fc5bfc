/* The engine against a world that answers at once, late, badly or never: one fault and several,
 * targets that are not there, the heal. */
#include <stdlib.h>
#include <string.h>

#include "tests/fake_world.h"
#include "tests/test.h"

/* ---- one fault ---- */

static void test_kill_and_restart(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=100ms fault=kill on=leader for=300ms"));
    fake_run_to(fake, 99);
    fake_assert_asked(fake, "");
    fake_run_to(fake, 399);
    fake_assert_asked(fake, "kill n1; ");
    fake_assert_events(fake, "100ms fault 1 kill [installed] [n1] [on=n1] proof[n1 seen]\n");
    fake_run_to(fake, 400);
    fake_assert_asked(fake, "restart n1; ");
    fake_assert_events(fake, "400ms heal 1 kill [healed] proof[n1 seen] value=1\n");
    assert_true(engine_advance(fake->engine, fake->now_ns) == UINT64_MAX);
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

static void test_cut_and_heal(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=10ms fault=single-link on=n2+n4 for=50ms"));
    fake->frames = 1000;
    fake_run_to(fake, 20);
    fake->frames = 1312;
    fake_run_to(fake, 60);
    fake_assert_asked(fake, "links 4>2 cut 2>4 cut; links 2>4 4>2; ");
    fake_assert_events(fake,
                       "10ms fault 1 single-link [installed] [n4>n2,n2>n4] [on=n2+n4,cut] "
                       "proof[links seen]\n"
                       "60ms heal 1 single-link [healed] proof[dropped 312 frames] value=312\n");
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

static void test_parameters_show_the_strength(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=reorder on=n1 reorder=10% delay=30ms links=node "
                                       "direction=out for=1s",
                                       "at=5ms fault=flapping on=n2 period=100ms for=1s",
                                       "at=2s fault=halves on=n1+n2 for=1s"));
    fake_run_to(fake, 4000);
    assert_non_null(strstr(text_string(&fake->events),
                           "[on=n1,reorder=10%,delay=30ms,links=node,direction=out]"));
    assert_non_null(strstr(text_string(&fake->events), "[on=n2,cut,period=100ms]"));
    assert_non_null(strstr(text_string(&fake->events), "[on=n1+n2,cut]"));
    assert_non_null(strstr(text_string(&fake->events), "proof[reordered 0 frames] value=0"));
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

static void test_flapping(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=flapping on=n1 period=20ms for=45ms"));
    const char *on = "links 1>2 cut 1>3 cut 1>4 cut 1>5 cut 2>1 cut 3>1 cut 4>1 cut 5>1 cut; ";
    const char *off = "links 5>1 4>1 3>1 2>1 1>5 1>4 1>3 1>2; ";
    fake_run_to(fake, 9);
    fake_assert_asked(fake, on);
    fake_run_to(fake, 19);
    fake_assert_asked(fake, off);
    fake_run_to(fake, 29);
    assert_int_equal(strncmp(text_string(&fake->asked), "links 1>2 cut", 13), 0);
    text_clear(&fake->asked);
    fake_run_to(fake, 39);
    fake_run_to(fake, 44);
    text_clear(&fake->asked);
    fake_run_to(fake, 100);
    assert_int_equal(strncmp(text_string(&fake->asked), "links", 5), 0);
    assert_int_equal(fake->fault_events, 1);
    assert_int_equal(fake->heal_events, 1);
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* ---- overlaps ---- */

static void test_two_kills_of_one_node(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=kill on=n2 for=100ms", "at=50ms fault=kill on=n2 for=100ms",
              "at=50ms fault=kill on=n2+n3 for=100ms", "at=60ms fault=pause on=n2 for=10ms"));
    fake_run_to(fake, 50);
    fake_assert_asked(fake, "kill n2; kill n3; ");
    fake_run_to(fake, 1000);
    fake_assert_asked(fake, "restart n2; restart n3; ");
    assert_non_null(strstr(text_string(&fake->events),
                           "50ms fault 2 kill [skipped] [on=n2] [the target is not running]"));
    assert_non_null(strstr(text_string(&fake->events), "fault 3 kill [installed] [n3] [on=n3]"));
    assert_non_null(strstr(text_string(&fake->events), "fault 4 pause [skipped]"));
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

static void test_kill_while_paused(void **state)
{
    (void)state;
    struct fake *fake =
        fake_new(LINES("at=0 fault=pause on=n2 for=100ms", "at=50ms fault=kill on=n2 for=100ms"));
    fake_run_to(fake, 1000);
    fake_assert_asked(fake, "pause n2; kill n2; restart n2; "); /* and no resume of the dead */
    fake_assert_events(
        fake,
        "0ms fault 1 pause [installed] [n2] [on=n2,point=anywhere,means=signal] proof[n2 seen]\n"
        "50ms fault 2 kill [installed] [n2] [on=n2] proof[n2 seen]\n"
        "100ms heal 1 pause [healed] proof[nothing was left to undo] value=1\n"
        "150ms heal 2 kill [healed] proof[n2 seen] value=1\n");
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

static void test_pause_twice_and_pause_all(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES(
        "at=0 fault=pause on=n2 for=300ms", "at=50ms fault=pause on=n2 for=100ms",
        "at=60ms fault=pause on=all for=100ms", "at=70ms fault=pause on=n1+n2+n3+n4+n5 for=100ms"));
    fake_run_to(fake, 100);
    fake_assert_asked(fake, "pause n2; pause n1; pause n3; pause n4; pause n5; ");
    fake_run_to(fake, 1000);
    fake_assert_asked(fake, "resume n1; resume n3; resume n4; resume n5; resume n2; ");
    assert_non_null(strstr(text_string(&fake->events),
                           "fault 2 pause [skipped] [on=n2,point=anywhere,means=signal] "
                           "[the target is already paused]"));
    assert_non_null(strstr(text_string(&fake->events), "fault 4 pause [skipped]"));
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

static void test_cut_and_loss_on_one_link(void **state)
{
    (void)state;
    struct fake *fake =
        fake_new(LINES("at=0 fault=loss on=n1+n2 links=one loss=20% direction=both for=300ms",
                       "at=100ms fault=single-link on=n1+n2 for=100ms",
                       "at=120ms fault=single-link on=n1+n2 for=50ms"));
    fake_run_to(fake, 99);
    assert_non_null(strstr(text_string(&fake->asked), "loss=20%"));
    text_clear(&fake->asked);
    fake_run_to(fake, 199); /* the second cut neither adds nor, when it ends, takes anything */
    assert_non_null(strstr(text_string(&fake->asked), "1>2 cut,loss=20%"));
    assert_null(strstr(text_string(&fake->asked) + 10, "links"));
    text_clear(&fake->asked);
    assert_non_null(
        strstr(text_string(&fake->events), "proof[another fault does the same to these links]"));
    fake_run_to(fake, 200);
    assert_non_null(strstr(text_string(&fake->asked), "1>2 loss=20%"));
    assert_null(strstr(text_string(&fake->asked), "cut"));
    fake_run_to(fake, 1000);
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

static void test_end_comes_before_a_begin_at_the_same_time(void **state)
{
    (void)state;
    struct fake *fake =
        fake_new(LINES("at=0 fault=kill on=n2 for=100ms", "at=100ms fault=kill on=n2 for=100ms"));
    fake_run_to(fake, 1000);
    fake_assert_asked(fake, "kill n2; restart n2; kill n2; restart n2; ");
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* ---- targets that are not there ---- */

static void test_waits_for_a_leader(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=100ms fault=isolate-leader for=400ms"));
    fake->leader = 0;
    fake_run_to(fake, 200);
    fake_assert_asked(fake, "");
    fake->leader = 3;
    fake_run_to(fake, 250);
    assert_non_null(strstr(text_string(&fake->asked), "1>3 cut"));
    assert_non_null(strstr(text_string(&fake->events), "[on=n3,cut]"));
    fake_run_to(fake, 499);
    assert_int_equal(fake->heal_events, 0);
    fake_run_to(fake, 500); /* the end stays where it was planned */
    assert_int_equal(fake->heal_events, 1);
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

static void test_a_late_start_moves_the_end(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=100ms fault=isolate-leader for=400ms"));
    fake->leader = 0;
    fake_run_to(fake, 400);
    fake->leader = 3;
    fake_run_to(fake, 609);
    assert_int_equal(fake->heal_events, 0);
    fake_run_to(fake, 610); /* seen at 410, half of its duration */
    assert_int_equal(fake->heal_events, 1);
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

static void test_waits_until_the_heal(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=100ms fault=isolate-leader for=400ms"));
    fake->leader = 0;
    fake_run_to(fake, 1000);
    fake_assert_events(fake, "");
    fake_heal(fake);
    fake_assert_events(
        fake, "1000ms fault 1 isolate-leader [skipped] [on=leader,cut=hard] [the faults phase was "
              "over before it began: no leader is known]\n");
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

static void test_the_killed_leader_is_no_target(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=kill on=n1 for=900ms", "at=10ms fault=pause on=leader for=100ms"));
    fake->manner[DOING] = WHEN_TOLD;
    fake->stale = true;
    fake_run_to(fake, 500);
    fake_assert_asked(fake, "kill n1; ");
    fake_tell(fake);
    fake_heal(fake);
    assert_non_null(strstr(text_string(&fake->events), "fault 2 pause [skipped]"));
    fake_run_to(fake, 1000);
    fake_free(fake);
}

/* Loss on links that are cut would be no loss: a role waits for the cut to end, named nodes are
 * meant as they are. */
static void test_waits_for_links_that_are_cut(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=isolate-one on=n1 for=100ms",
                                       "at=10ms fault=loss on=leader for=200ms",
                                       "at=20ms fault=isolate-leader on=leader for=50ms",
                                       "at=30ms fault=isolate-one on=n1 for=200ms"));
    fake_run_to(fake, 229);
    const char *events = text_string(&fake->events);
    assert_non_null(strstr(events, "30ms fault 4 isolate-one [installed]"));
    assert_null(strstr(events, "fault 2 loss"));
    assert_null(strstr(events, "fault 3 isolate-leader"));
    fake_run_to(fake, 1000);
    events = text_string(&fake->events);
    assert_non_null(strstr(events, "230ms fault 2 loss [installed]"));
    assert_non_null(strstr(events, "330ms heal 2 loss"));
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

static void test_a_role_waits_for_somebody_to_hit(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=pause on=n1 for=100ms", "at=10ms fault=pause on=leader for=200ms"));
    fake_run_to(fake, 99);
    fake_assert_asked(fake, "pause n1; ");
    fake_run_to(fake, 209);
    fake_assert_asked(fake, "resume n1; pause n1; ");
    fake_run_to(fake, 1000);
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* ---- answers late, bad or never ---- */

static void test_an_answer_after_the_end(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=pause on=n2 for=100ms"));
    fake->manner[DOING] = WHEN_TOLD;
    fake_run_to(fake, 500);
    fake_assert_asked(fake, "pause n2; ");
    fake_assert_events(fake, "");
    fake_tell(fake);
    fake_run_to(fake, 500);
    fake_assert_asked(fake, "resume n2; ");
    fake_assert_events(
        fake,
        "500ms fault 1 pause [installed] [n2] [on=n2,point=anywhere,means=signal] proof[n2 seen]\n"
        "500ms heal 1 pause [healed] proof[n2 seen] value=1\n");
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

static void test_refused(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=kill on=n2+n3 for=100ms", "at=10ms fault=halves on=n1+n2 for=100ms"));
    fake->manner[DOING] = BADLY;
    fake_run_to(fake, 5);
    fake_assert_asked(fake, "kill n2; kill n3; "); /* what was refused is not undone */
    fake_assert_events(fake, "0ms fault 1 kill [failed] [on=n2+n3] [n2 refused; n3 refused]\n");
    fake->manner[LINKS] = BADLY;
    fake_run_to(fake, 20); /* links may be half done: they are cleaned */
    assert_non_null(strstr(text_string(&fake->asked), "1>3 cut"));
    fake_assert_events(fake,
                       "10ms fault 2 halves [failed] [n1>n3,n3>n1,n1>n4,n4>n1,n1>n5,n5>n1,n2>n3,"
                       "n3>n2,n2>n4,n4>n2,n2>n5,n5>n2] [on=n1+n2,cut] [links refused]\n");
    fake_run_to(fake, 1000);
    assert_int_equal(fake->heal_events, 0);
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

static void test_a_failed_undo_is_recorded(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=kill on=n2 for=100ms", "at=0 fault=single-link on=n3+n4 for=200ms"));
    fake_run_to(fake, 50);
    text_clear(&fake->events);
    fake->manner[UNDOING] = BADLY;
    fake->manner[LINKS] = BADLY;
    fake_run_to(fake, 1000);
    fake_assert_events(fake, "100ms heal 1 kill [failed] [n2 refused] value=1\n"
                             "200ms heal 2 single-link [failed] [links refused] value=0\n");
    assert_true(engine_quiet(fake->engine));
    fake_free(fake);
}

static void test_never_answered(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=pause on=n2 for=100ms", "at=0 fault=single-link on=n3+n4 for=100ms"));
    struct text pending = {0};
    fake->manner[DOING] = fake->manner[LINKS] = NEVER;
    fake_run_to(fake, 200);
    fake_heal(fake);
    assert_false(engine_quiet(fake->engine));
    engine_pending(fake->engine, &pending);
    assert_string_equal(text_string(&pending),
                        "pause n2 (pause, fault 1), links (single-link, fault 2)");
    fake_run_to(fake, 4999);
    assert_false(engine_quiet(fake->engine));
    text_clear(&fake->asked);
    fake->manner[LINKS] = AT_ONCE;
    fake_run_to(fake, 5000);
    assert_true(engine_quiet(fake->engine));
    /* It may have happened all the same, so it is undone. */
    fake_assert_asked(fake, "resume n2; links 3>4 4>3; ");
    fake_assert_events(
        fake,
        "5000ms fault 1 pause [failed] [on=n2,point=anywhere,means=signal] [n2 gave no answer]\n"
        "5000ms fault 2 single-link [failed] [n4>n3,n3>n4] [on=n3+n4,cut] "
        "[links gave no answer]\n");
    text_clear(&pending);
    engine_pending(fake->engine, &pending);
    assert_string_equal(text_string(&pending), "");
    text_release(&pending);
    fake_free(fake);
}

static void test_heal_is_never_answered(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=kill on=n2 for=100ms"));
    fake_run_to(fake, 50);
    fake->manner[UNDOING] = NEVER;
    fake_run_to(fake, 10000);
    assert_true(engine_quiet(fake->engine));
    assert_non_null(strstr(text_string(&fake->events), "heal 1 kill [failed] [n2 gave no answer]"));
    engine_done(fake->engine, 2, true, 0, 0, 0, slice_of("much too late"));
    engine_done(fake->engine, 999, true, 0, 0, 0, slice_of("whose?"));
    assert_int_equal(fake->heal_events, 1);
    fake_free(fake);
}

static void test_counters_that_fail_or_restart(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=single-link on=n3+n4 for=100ms",
                                       "at=200ms fault=single-link on=n3+n4 for=100ms"));
    fake->frames = 500;
    fake_run_to(fake, 50);
    fake->frames = 30; /* less than before: the helper that counts was replaced */
    fake_run_to(fake, 150);
    assert_non_null(
        strstr(text_string(&fake->events), "[healed] proof[dropped 30 frames] value=30"));
    fake->manner[COUNTERS] = BADLY;
    text_clear(&fake->events);
    fake_run_to(fake, 400);
    assert_non_null(strstr(text_string(&fake->events), "fault 2 single-link [installed]"));
    assert_non_null(strstr(text_string(&fake->events), "counters refused"));
    assert_non_null(strstr(text_string(&fake->events), "value=0"));
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* ---- the heal ---- */

static void test_heal_stops_everything(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES(
        "at=0 fault=kill on=n1", "at=1ms fault=pause on=n2 for=10s", "at=2ms fault=halves for=10s",
        "at=3ms fault=loss on=n3 for=10s", "at=4ms fault=flapping on=n4 for=10s period=10ms",
        "at=5ms fault=pause on=candidate for=10s", "at=50ms fault=kill on=n5 for=1s"));
    fake_run_to(fake, 40);
    struct text active = {0};
    engine_active(fake->engine, &active);
    assert_non_null(strstr(text_string(&active), "kill(n1) pause(n2) halves("));
    text_release(&active);
    fake_heal(fake);
    fake_heal(fake);
    fake_run_to(fake, 20000);
    fake_heal(fake);
    assert_int_equal(fake->heal_events, 5);
    assert_non_null(strstr(text_string(&fake->events),
                           "fault 6 pause [skipped] [on=candidate,point=anywhere,means=signal] "
                           "[the faults phase was over "
                           "before it began: no node is a candidate]"));
    assert_non_null(strstr(text_string(&fake->events), "fault 7 kill [skipped]"));
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

static void test_heal_with_late_answers(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=pause on=n2+n3 for=10s", "at=1ms fault=halves on=n1+n2 for=10s"));
    for (int i = 0; i < 4; i++)
        fake->manner[i] = WHEN_TOLD;
    fake_run_to(fake, 10);
    fake_heal(fake);
    assert_false(engine_quiet(fake->engine));
    for (int i = 0; i < 3; i++)
        fake_tell(fake);
    assert_int_equal(fake->heal_events, 2);
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill_and_restart),
        cmocka_unit_test(test_cut_and_heal),
        cmocka_unit_test(test_parameters_show_the_strength),
        cmocka_unit_test(test_flapping),
        cmocka_unit_test(test_two_kills_of_one_node),
        cmocka_unit_test(test_kill_while_paused),
        cmocka_unit_test(test_pause_twice_and_pause_all),
        cmocka_unit_test(test_cut_and_loss_on_one_link),
        cmocka_unit_test(test_end_comes_before_a_begin_at_the_same_time),
        cmocka_unit_test(test_waits_for_a_leader),
        cmocka_unit_test(test_a_late_start_moves_the_end),
        cmocka_unit_test(test_waits_for_links_that_are_cut),
        cmocka_unit_test(test_a_role_waits_for_somebody_to_hit),
        cmocka_unit_test(test_waits_until_the_heal),
        cmocka_unit_test(test_the_killed_leader_is_no_target),
        cmocka_unit_test(test_an_answer_after_the_end),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_a_failed_undo_is_recorded),
        cmocka_unit_test(test_never_answered),
        cmocka_unit_test(test_heal_is_never_answered),
        cmocka_unit_test(test_counters_that_fail_or_restart),
        cmocka_unit_test(test_heal_stops_everything),
        cmocka_unit_test(test_heal_with_late_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
