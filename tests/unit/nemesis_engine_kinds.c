/* What is special about single kinds of fault in the engine: processes that die otherwise than by a
 * kill, clocks, disks, operators, the coordination service. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake_world.h"
#include "tests/test.h"

/* ---- processes ---- */

static void test_a_crash_loop_kills_again_and_ends_alive(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=crash-loop on=n2 for=340ms period=200ms",
                                       "at=150ms fault=pause on=n2 for=10ms"));
    fake_run_to(fake, 500);
    assert_string_equal(text_string(&fake->asked),
                        "kill n2; restart n2; kill n2; restart n2; restart n2; ");
    assert_int_equal(fake->fault_events, 2);
    assert_non_null(strstr(text_string(&fake->events), "fault 2 pause [skipped]"));
    assert_non_null(strstr(text_string(&fake->events), "heal 1 crash-loop [healed]"));
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* A process that has not come up yet is not killed before it has. */
static void test_a_crash_loop_waits_for_its_process(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=crash-loop on=n2 for=800ms period=200ms"));
    fake_run_to(fake, 50);
    fake->manner[UNDOING] = WHEN_TOLD;
    fake_run_to(fake, 350);
    assert_string_equal(text_string(&fake->asked), "kill n2; restart n2; ");
    fake_tell(fake);
    fake_run_to(fake, 450);
    assert_string_equal(text_string(&fake->asked), "kill n2; restart n2; kill n2; ");
    fake->manner[UNDOING] = AT_ONCE;
    fake_run_to(fake, 1000);
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* A share of each period, until the fault is over or somebody ends the process. */
static void test_a_starved_process_runs_now_and_then(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=starve on=n2 for=250ms share=25% period=100ms",
              "at=300ms fault=starve on=n3 for=250ms share=50% period=100ms",
              "at=310ms fault=pause on=n3 for=10ms", "at=320ms fault=kill on=n3 for=10ms"));
    fake_run_to(fake, 74);
    assert_string_equal(text_string(&fake->asked), "pause n2; ");
    fake_run_to(fake, 99);
    assert_string_equal(text_string(&fake->asked), "pause n2; resume n2; ");
    fake_run_to(fake, 290);
    assert_string_equal(text_string(&fake->asked),
                        "pause n2; resume n2; pause n2; resume n2; pause n2; resume n2; ");
    text_clear(&fake->asked);
    fake_run_to(fake, 1000);
    assert_string_equal(text_string(&fake->asked), "pause n3; kill n3; restart n3; ");
    assert_non_null(strstr(text_string(&fake->events), "fault 3 pause [skipped]"));
    assert_non_null(strstr(text_string(&fake->events), "heal 2 starve [healed]"));
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* Whether by a signal or at a point of its own code: dead is dead, and undone by a restart. */
static void test_other_ways_to_die_and_to_stand_still(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES(
        "at=0 fault=term-stop on=n2 for=100ms", "at=10ms fault=kill-during-write on=n3 for=100ms",
        "at=20ms fault=pause on=leader point=before-write for=100ms",
        "at=30ms fault=kill on=n2 for=100ms", "at=40ms fault=kill on=n1 for=10ms"));
    fake_run_to(fake, 500);
    assert_string_equal(
        text_string(&fake->asked),
        "kill n2; kill n3; pause n1; kill n1; restart n1; restart n2; restart n3; ");
    assert_non_null(strstr(text_string(&fake->events), "fault 4 kill [skipped]"));
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* ---- clocks ---- */

static void test_clock_faults_add_up(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=clock-step on=n2 for=100ms step=5s",
                                       "at=10ms fault=clock-rate on=n2 for=50ms drift=50%",
                                       "at=20ms fault=clock-step on=n2 for=20ms step=1s "
                                       "direction=back"));
    fake_run_to(fake, 200);
    assert_string_equal(text_string(&fake->asked),
                        "n2 wall +5.000000 s, rate 1.000000; n2 wall +5.000000 s, rate 1.500000; "
                        "n2 wall +4.000000 s, rate 1.500000; n2 wall +5.000000 s, rate 1.500000; "
                        "n2 wall +5.000000 s, rate 1.000000; n2 wall +0.000000 s, rate 1.000000; ");
    assert_non_null(strstr(text_string(&fake->events), "heal 1 clock-step [healed]"));
    assert_non_null(strstr(text_string(&fake->events), "value=1"));
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

static void test_a_strobe_goes_both_ways(void **state)
{
    (void)state;
    struct fake *fake =
        fake_new(LINES("at=0 fault=clock-strobe on=n1 for=70ms step=1s period=40ms"));
    fake_run_to(fake, 200);
    assert_string_equal(text_string(&fake->asked),
                        "n1 wall +1.000000 s, rate 1.000000; n1 wall -1.000000 s, rate 1.000000; "
                        "n1 wall +1.000000 s, rate 1.000000; n1 wall -1.000000 s, rate 1.000000; "
                        "n1 wall +0.000000 s, rate 1.000000; ");
    assert_int_equal(fake->fault_events, 1); /* however often it jumped */
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* A clock that reads wrong is wrong: it is set right although the fault failed, and the machine's
 * clock is bent whether its process lives or not. */
static void test_a_clock_is_set_right_in_any_case(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=clock-step on=n2 for=1s",
                                       "at=100ms fault=clock-step on=n3 for=1s",
                                       "at=200ms fault=kill on=n3 for=100ms"));
    fake->manner[DOING] = BADLY;
    fake_run_to(fake, 50);
    assert_non_null(strstr(text_string(&fake->events), "fault 1 clock-step [failed]"));
    assert_true(fake_is_true(fake));
    fake->manner[DOING] = AT_ONCE;
    fake_run_to(fake, 400);
    assert_true(fake->bend[3].step_ns != 0);
    fake_run_to(fake, 2000);
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* What the world never has is not waited for. */
static void test_a_missing_facility_is_no_reason_to_wait(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=clock-step on=leader for=1s"));
    fake->missing = "no such library";
    fake_run_to(fake, 1);
    assert_non_null(strstr(text_string(&fake->events), "[skipped] [on=leader"));
    assert_non_null(strstr(text_string(&fake->events), "[no such library]"));
    fake_free(fake);
}

/* ---- disks ---- */

static void test_disk_troubles_add_up(void **state)
{
    (void)state;
    struct fake *fake =
        fake_new(LINES("at=0 fault=slow-fsync on=n2 for=100ms delay=50ms cut-leader=off",
                       "at=10ms fault=slow-fsync on=n2 for=20ms delay=20ms cut-leader=off",
                       "at=20ms fault=disk-full on=n2 for=50ms room=7 cut-leader=off",
                       "at=40ms fault=disk-full on=n2 for=10ms cut-leader=off",
                       "at=60ms fault=disk-stall on=n3 for=10ms cut-leader=off"));
    fake_run_to(fake, 200);
    assert_string_equal(text_string(&fake->asked),
                        "n2 disk fsync +50ms; n2 disk fsync +70ms; n2 disk fsync +70ms, room 7; "
                        "n2 disk fsync +50ms, room 7; n2 disk fsync +50ms, room 0; "
                        "n2 disk fsync +50ms, room 7; n3 disk stalled; n2 disk fsync +50ms; "
                        "n3 disk whole; n2 disk whole; ");
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* What the heal says is what the disk counted from the one answer to the other. */
static void test_disk_requests_are_counted(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=io-error on=n2 for=50ms cut-leader=off"));
    fake->disk_requests = 1000;
    fake_run_to(fake, 200);
    assert_non_null(strstr(text_string(&fake->events), "heal 1 io-error [healed]"));
    assert_non_null(strstr(text_string(&fake->events), "value=10"));
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* The leader is out of the way while the others have votes to keep, and is back afterwards. */
static void test_a_disk_fault_brings_an_election(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=disk-stall on=n2 for=50ms"));
    fake->leader = 4;
    fake_run_to(fake, 20);
    assert_true(fake->link[3][0].cut && fake->link[0][3].cut);
    assert_false(fake->link[0][1].cut);
    fake_run_to(fake, 200);
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* The process is owed its restart, as after a kill. */
static void test_power_comes_back(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=power-loss on=n2 for=50ms", "at=60ms fault=disk-wipe on=n3 for=50ms"));
    fake_run_to(fake, 200);
    assert_string_equal(text_string(&fake->asked), "kill n2; restart n2; kill n3; restart n3; ");
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* ---- operators ---- */

static void test_an_operators_word_is_said_once(void **state)
{
    (void)state;
    struct fake *fake =
        fake_new(LINES("at=0 fault=resign for=100ms", "at=10ms fault=force-leader on=n3 for=100ms",
                       "at=20ms fault=transfer on=leader successor=best for=100ms",
                       "at=30ms fault=resign on=n2 for=100ms"));
    fake_run_to(fake, 500);
    assert_string_equal(text_string(&fake->asked),
                        "n1 command 0 0; n3 command 2 0; n1 command 1 0; ");
    assert_non_null(strstr(text_string(&fake->events), "heal 2 force-leader [healed]"));
    assert_non_null(strstr(text_string(&fake->events), "nothing was left to undo"));
    assert_non_null(strstr(text_string(&fake->events), "[only a leader that runs can resign]"));
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* ---- the coordination service ---- */

/* Asked for by the id behind the nodes, recorded by its own name. */
static void test_the_service_is_one_more_process(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "at=100ms fault=service-kill for=200ms",
        "at=150ms fault=service-pause on=any for=100ms",
        "at=400ms fault=service-session-drop on=n2 for=10ms",
        "at=500ms fault=degraded-service for=100ms delay=70ms",
        NULL,
    };
    struct fake *fake = fake_new(lines);
    fake_add_service(fake);
    fake_run_to(fake, 1000);
    const char *asked = text_string(&fake->asked), *events = text_string(&fake->events);
    assert_non_null(strstr(asked, "kill n6; restart n6; "));
    assert_non_null(strstr(asked, "n2 is forgotten; n2 keeps; "));
    assert_non_null(strstr(asked, "links 1>6 delay=70ms 6>1 delay=70ms 2>6"));
    assert_non_null(strstr(events, "service-kill [installed] [coordinator] [on=any]"));
    assert_non_null(strstr(events, "service-session-drop [installed] [n2] [on=n2]"));
    assert_non_null(strstr(events, "[n1>coordinator,coordinator>n1,"));
    fake_free(fake);
}

/* ---- messages ---- */

static void test_each_receiver_is_asked_about_its_senders(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=message-drop from=leader to=n2+n3 kind=vote-reply count=1 for=100ms",
              "at=200ms fault=message-hold to=n2 for=100ms"));
    fake_run_to(fake, 150);
    fake_assert_asked(fake, "n2 messages of 0x1, by fault 1; n3 messages of 0x1, by fault 1; "
                            "n2 messages of 0x1, not fault 1; n3 messages of 0x1, not fault 1; ");
    fake_assert_events(
        fake, "0ms fault 1 message-drop [installed] [n1>n2,n1>n3] "
              "[from=n1,to=n2+n3,kind=vote-reply,term=0,count=1] proof[n2 seen; n3 seen]\n"
              "100ms heal 1 message-drop [healed] proof[n2 seen; n3 seen; dropped 2 messages] "
              "value=2\n");
    fake_run_to(fake, 400);
    fake_assert_asked(fake, "n2 messages of 0x1d, by fault 2; n2 messages of 0x1d, not fault 2; ");
    assert_non_null(
        strstr(text_string(&fake->events), "[n1>n2,n3>n2,n4>n2,n5>n2] [from=any,to=n2,"));
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* Among nodes that ask a service every message goes to it or comes from it. */
static void test_messages_of_a_service(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=message-drop from=n2 for=10ms",
                                       "at=20ms fault=message-drop to=n2 for=10ms",
                                       "at=40ms fault=message-drop from=n2 to=n3 for=10ms"));
    fake_add_service(fake);
    fake_run_to(fake, 100);
    fake_assert_asked(fake, "n6 messages of 0x2, by fault 1; n6 messages of 0x2, not fault 1; "
                            "n2 messages of 0x20, by fault 2; n2 messages of 0x20, not fault 2; ");
    assert_non_null(strstr(text_string(&fake->events), "[n2>coordinator] [from=n2,to=any,"));
    assert_non_null(strstr(text_string(&fake->events), "[coordinator>n2] [from=any,to=n2,"));
    assert_non_null(strstr(text_string(&fake->events),
                           "3 message-drop [skipped] [from=n2,to=n3,kind=any,term=0,count=0] "
                           "[nobody of the one side sends to anybody of the other]"));
    fake_free(fake);
}

/* Events of other faults, and those that only tell what became of a message later, prove nothing.
 */
static void test_only_its_own_messages_count(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=message-hold from=n1 to=n2 for=100ms"));
    struct event event = {.process = 2, .f = F_MESSAGE};
    fake_run_to(fake, 10);
    event_set(&event, FIELD_ID, 1);
    event_set_text(&event, FIELD_OUTCOME, slice_of("released"));
    (void)engine_event(fake->engine, &event);
    event_set(&event, FIELD_ID, 2);
    event_set_text(&event, FIELD_OUTCOME, slice_of("held"));
    (void)engine_event(fake->engine, &event);
    event_set(&event, FIELD_ID, 1);
    (void)engine_event(fake->engine, &event);
    fake_run_to(fake, 200);
    assert_non_null(strstr(text_string(&fake->events), "held 2 messages] value=2"));
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

/* Who is drawn to receive is not who sends; a role that nobody has is waited for on either side. */
static void test_sides_are_found(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        char line[96];
        (void)snprintf(line, sizeof line,
                       "at=0 fault=message-drop from=n1+n2+n3+n4 to=random for=10ms seed=%u",
                       (unsigned)seed);
        struct fake *fake = fake_new(LINES(line));
        fake_run_to(fake, 50);
        assert_non_null(strstr(text_string(&fake->events), "[n1>n5,n2>n5,n3>n5,n4>n5]"));
        fake_free(fake);
    }
    struct fake *fake = fake_new(LINES("at=0 fault=message-drop from=n2 to=leader for=400ms"));
    fake->leader = 0;
    fake_run_to(fake, 100);
    fake_assert_asked(fake, "");
    fake->leader = 4;
    fake_run_to(fake, 500);
    assert_non_null(strstr(text_string(&fake->events), "[n2>n4] [from=n2,to=n4,"));
    fake_assert_nothing_left(fake);
    fake_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_crash_loop_kills_again_and_ends_alive),
        cmocka_unit_test(test_a_crash_loop_waits_for_its_process),
        cmocka_unit_test(test_a_starved_process_runs_now_and_then),
        cmocka_unit_test(test_other_ways_to_die_and_to_stand_still),
        cmocka_unit_test(test_clock_faults_add_up),
        cmocka_unit_test(test_a_strobe_goes_both_ways),
        cmocka_unit_test(test_a_clock_is_set_right_in_any_case),
        cmocka_unit_test(test_a_missing_facility_is_no_reason_to_wait),
        cmocka_unit_test(test_disk_troubles_add_up),
        cmocka_unit_test(test_disk_requests_are_counted),
        cmocka_unit_test(test_a_disk_fault_brings_an_election),
        cmocka_unit_test(test_power_comes_back),
        cmocka_unit_test(test_an_operators_word_is_said_once),
        cmocka_unit_test(test_the_service_is_one_more_process),
        cmocka_unit_test(test_each_receiver_is_asked_about_its_senders),
        cmocka_unit_test(test_messages_of_a_service),
        cmocka_unit_test(test_only_its_own_messages_count),
        cmocka_unit_test(test_sides_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
