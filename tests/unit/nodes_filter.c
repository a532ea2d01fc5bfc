/* Rules for election messages: which are met, what becomes of them, in what order. */
#include "nodes/filter.h"

#include <string.h>

#include "tests/test.h"

static const char *const kinds[] = {"ask", "grant", "beat", NULL};
enum { ASK, GRANT, BEAT };

struct fixture {
    struct filter filter;
    struct text log; /* "held 3 beat1; beat2; " outcome and fault, then what was delivered */
};

static void look(struct fixture *fixture)
{
    for (uint32_t i = 0; i < fixture->filter.passed_count; i++) {
        const struct filtered *filtered = &fixture->filter.passed[i];
        if (filtered->outcome)
            text_add(&fixture->log, "%s by %u; ", filtered->outcome, (unsigned)filtered->fault);
        if (filtered->delivered)
            text_add(&fixture->log, "%s %u of n%u; ", kinds[filtered->message.kind],
                     (unsigned)filtered->message.argument[0], filtered->message.source);
    }
}

/* `number` tells messages apart. */
static void arrive(struct fixture *fixture, uint32_t from, uint8_t kind, uint64_t term,
                   uint64_t number)
{
    const struct message message = {
        .source = from, .target = 9, .kind = kind, .term = term, .argument = {number}};
    filter_message(&fixture->filter, &message);
    look(fixture);
}

static void put(struct fixture *fixture, const char *text)
{
    struct filter_rule rule;
    assert_int_equal(filter_rule_parse(text, kinds, &rule, NULL), 0);
    filter_put(&fixture->filter, &rule);
    look(fixture);
}

static void take_out(struct fixture *fixture, uint64_t fault)
{
    filter_take_out(&fixture->filter, fault);
    look(fixture);
}

static void said(struct fixture *fixture, const char *expected)
{
    assert_string_equal(text_string(&fixture->log), expected);
    text_clear(&fixture->log);
}

static void end(struct fixture *fixture)
{
    filter_release(&fixture->filter);
    text_release(&fixture->log);
}

static void test_only_what_matches_in_everything_is_met(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    assert_true(filter_is_idle(&fixture.filter));
    put(&fixture, "7 drop 6 grant 4 0"); /* of n1 and n2 */
    assert_false(filter_is_idle(&fixture.filter));
    arrive(&fixture, 1, GRANT, 4, 1);
    said(&fixture, "dropped by 7; ");
    arrive(&fixture, 2, GRANT, 4, 2);
    said(&fixture, "dropped by 7; ");
    arrive(&fixture, 3, GRANT, 4, 3);
    arrive(&fixture, 0, GRANT, 4, 4);
    arrive(&fixture, 1, BEAT, 4, 5);
    arrive(&fixture, 1, GRANT, 5, 6);
    said(&fixture, "grant 3 of n3; grant 4 of n0; beat 5 of n1; grant 6 of n1; ");
    take_out(&fixture, 6); /* nobody's */
    arrive(&fixture, 1, GRANT, 4, 7);
    said(&fixture, "dropped by 7; ");
    take_out(&fixture, 7);
    arrive(&fixture, 1, GRANT, 4, 8);
    said(&fixture, "grant 8 of n1; ");
    assert_true(filter_is_idle(&fixture.filter));
    end(&fixture);
}

static void test_a_number_is_used_up_and_the_next_rule_has_its_turn(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    put(&fixture, "1 drop 3fe any 0 2");
    put(&fixture, "2 duplicate 3fe any 0 1");
    for (uint64_t number = 1; number <= 4; number++)
        arrive(&fixture, 1, ASK, 1, number);
    said(&fixture, "dropped by 1; dropped by 1; duplicated by 2; ask 3 of n1; ask 3 of n1; "
                   "ask 4 of n1; ");
    end(&fixture);
}

static void test_what_is_held_comes_in_order_when_its_fault_ends(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    put(&fixture, "1 hold 2 grant 0 0");
    put(&fixture, "2 hold 4 any 0 0");
    arrive(&fixture, 1, GRANT, 1, 1);
    arrive(&fixture, 2, BEAT, 1, 2);
    arrive(&fixture, 1, BEAT, 1, 3);
    arrive(&fixture, 1, GRANT, 2, 4);
    said(&fixture, "held by 1; held by 2; beat 3 of n1; held by 1; ");
    take_out(&fixture, 1);
    said(&fixture, "released by 1; grant 1 of n1; released by 1; grant 4 of n1; ");
    arrive(&fixture, 1, GRANT, 2, 5);
    said(&fixture, "grant 5 of n1; ");
    take_out(&fixture, 2);
    said(&fixture, "released by 2; beat 2 of n2; ");
    end(&fixture);
}

static void test_a_release_lets_go_what_it_names(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    put(&fixture, "1 hold 3ff any 0 0");
    arrive(&fixture, 1, GRANT, 1, 1);
    arrive(&fixture, 2, GRANT, 1, 2);
    arrive(&fixture, 1, GRANT, 1, 3);
    arrive(&fixture, 1, BEAT, 1, 4);
    said(&fixture, "held by 1; held by 1; held by 1; held by 1; ");
    put(&fixture, "2 release 2 grant 0 1");
    said(&fixture, "released by 2; grant 1 of n1; ");
    put(&fixture, "3 release 3ff grant 0 0");
    said(&fixture, "released by 3; grant 2 of n2; released by 3; grant 3 of n1; ");
    put(&fixture, "4 release 3ff ask 0 0");
    said(&fixture, "");
    arrive(&fixture, 1, GRANT, 1, 5); /* it is no rule of its own */
    said(&fixture, "held by 1; ");
    take_out(&fixture, 1);
    said(&fixture, "released by 1; beat 4 of n1; released by 1; grant 5 of n1; ");
    end(&fixture);
}

static void test_a_late_copy_comes_when_the_fault_ends(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    put(&fixture, "1 echo 2 beat 0 1");
    arrive(&fixture, 1, BEAT, 1, 1);
    arrive(&fixture, 1, BEAT, 2, 2);
    said(&fixture, "duplicated by 1; beat 1 of n1; beat 2 of n1; ");
    take_out(&fixture, 1);
    said(&fixture, "released by 1; beat 1 of n1; ");
    end(&fixture);
}

/* Pairs change places; what no other follows comes when the fault ends. */
static void test_the_next_of_the_sender_overtakes(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    put(&fixture, "1 reorder 6 any 0 0");
    arrive(&fixture, 1, ASK, 1, 1);
    arrive(&fixture, 3, ASK, 1, 2); /* somebody else's is not the next */
    said(&fixture, "held by 1; ask 2 of n3; ");
    arrive(&fixture, 1, ASK, 1, 3);
    said(&fixture, "ask 3 of n1; overtaken by 1; ask 1 of n1; ");
    arrive(&fixture, 1, ASK, 1, 4);
    arrive(&fixture, 2, ASK, 1, 5);
    said(&fixture, "held by 1; held by 1; ");
    take_out(&fixture, 1);
    said(&fixture, "released by 1; ask 4 of n1; released by 1; ask 5 of n2; ");
    end(&fixture);
}

/* Only what arrives overtakes. */
static void test_a_lost_message_overtakes_nothing(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    put(&fixture, "1 reorder 2 ask 0 1");
    put(&fixture, "2 drop 2 beat 0 1");
    arrive(&fixture, 1, ASK, 1, 1);
    arrive(&fixture, 1, BEAT, 1, 2);
    said(&fixture, "held by 1; dropped by 2; ");
    arrive(&fixture, 1, BEAT, 1, 3);
    said(&fixture, "beat 3 of n1; overtaken by 1; ask 1 of n1; ");
    end(&fixture);
}

static void test_the_end_of_a_process_loses_what_was_held(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    put(&fixture, "1 hold 2 any 0 2");
    arrive(&fixture, 1, ASK, 1, 1);
    filter_forget_kept(&fixture.filter);
    arrive(&fixture, 1, ASK, 1, 2); /* the rule stays, with what is left of its number */
    arrive(&fixture, 1, ASK, 1, 3);
    said(&fixture, "held by 1; held by 1; ask 3 of n1; ");
    take_out(&fixture, 1);
    said(&fixture, "released by 1; ask 2 of n1; ");
    end(&fixture);
}

/* The message that is held is a copy: its sender's buffer is long gone when it comes. */
static void test_lists_of_ids_are_kept_too(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    uint32_t ids[] = {3, 1, 2};
    struct message message = {.source = 1, .kind = ASK, .ids = ids, .id_count = 3};
    put(&fixture, "1 hold 2 any 0 0");
    filter_message(&fixture.filter, &message);
    filter_message(&fixture.filter, &message);
    memset(ids, 0, sizeof ids);
    filter_take_out(&fixture.filter, 1);
    assert_int_equal(fixture.filter.passed_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct message *passed = &fixture.filter.passed[i].message;
        assert_int_equal(passed->id_count, 3);
        assert_true(passed->ids[0] == 3 && passed->ids[1] == 1 && passed->ids[2] == 2);
    }
    end(&fixture);
}

static void test_rules_as_text(void **state)
{
    (void)state;
    static const char *const good[] = {
        "1 drop 2 any 0 0",
        "18446744073709551615 echo 7ffffffffffff grant 4611686018427387904 1000000",
        "3 reorder 0 beat 1 2",
    };
    static const char *const bad[] = {
        "",
        "1",
        "1 drop 2 any 0",
        "1 drop 2 any 0 0 0",
        "1 lose 2 any 0 0",
        "1 drop 2 vote 0 0",
        "1 drop 8000000000000 any 0 0",
        "x drop 2 any 0 0",
        "1 drop 2 any-of-a-great-many-kinds-of-messages 0 0",
    };
    struct filter_rule rule = {.fault = 77};
    struct text text = {0};
    struct error error = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_true(filter_rule_parse(bad[i], kinds, &rule, &error) < 0);
        assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
        assert_int_equal(rule.fault, 77);
    }
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(filter_rule_parse(good[i], kinds, &rule, &error), 0);
        text_clear(&text);
        filter_rule_format(&rule, kinds, &text);
        assert_string_equal(text_string(&text), good[i]);
    }
    text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_what_matches_in_everything_is_met),
        cmocka_unit_test(test_a_number_is_used_up_and_the_next_rule_has_its_turn),
        cmocka_unit_test(test_what_is_held_comes_in_order_when_its_fault_ends),
        cmocka_unit_test(test_a_release_lets_go_what_it_names),
        cmocka_unit_test(test_a_late_copy_comes_when_the_fault_ends),
        cmocka_unit_test(test_the_next_of_the_sender_overtakes),
        cmocka_unit_test(test_a_lost_message_overtakes_nothing),
        cmocka_unit_test(test_the_end_of_a_process_loses_what_was_held),
        cmocka_unit_test(test_lists_of_ids_are_kept_too),
        cmocka_unit_test(test_rules_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
