#include "tests/test.h"

#include <string.h>

#include "nemesis/message.h"
#include "nodes/elector.h"

static void test_every_algorithm_is_complete(void **state)
{
    (void)state;
    for (uint32_t i = 0; algorithms[i]; i++) {
        const struct algorithm *algorithm = algorithms[i];
        assert_ptr_equal(algorithm_find(slice_of(algorithm->name)), algorithm);
        const char *const texts[] = {algorithm->summary, algorithm->reference, algorithm->promises,
                                     algorithm->broken_by};
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
            assert_true(texts[k] && texts[k][0]);
        for (int under = 0; under < UNDERS; under++)
            assert_true(algorithm->bears[under] && algorithm->bears[under][0]);
        assert_true(algorithm->traits && algorithm->state_size && algorithm->init &&
                    algorithm->step);
        assert_true(algorithm_kind_count(algorithm) > 0);
        uint32_t words = 0;
        while (algorithm->durable && algorithm->durable[words])
            words++;
        assert_true(words <= DURABLE_WORDS);
    }
}

/* Faults name messages without knowing algorithms: this is where the two lists are held together.
 */
static void test_message_faults_know_every_kind(void **state)
{
    (void)state;
    bool sent[64] = {true}; /* "any" */
    for (uint32_t i = 0; algorithms[i]; i++)
        for (uint32_t kind = 0; algorithms[i]->kinds[kind]; kind++) {
            uint32_t place = 1;
            while (message_kinds[place] &&
                   strcmp(message_kinds[place], algorithms[i]->kinds[kind]) != 0)
                place++;
            if (!message_kinds[place])
                fail_msg("nemesis/message.c does not know %s", algorithms[i]->kinds[kind]);
            sent[place] = true;
        }
    for (uint32_t place = 0; message_kinds[place]; place++)
        if (!sent[place])
            fail_msg("nobody sends %s", message_kinds[place]);
}

static void test_every_bug_says_what_catches_it(void **state)
{
    (void)state;
    for (uint32_t i = 0; algorithms[i]; i++)
        for (const struct bug *bug = algorithms[i]->bugs; bug && bug->name; bug++) {
            assert_true(bug->summary && bug->summary[0]);
            assert_true(bug->check && bug->check[0]);
            assert_true(bug->faults && bug->seeds > 0);
        }
}

static const char *refusal(const char *text)
{
    static struct error error;
    struct elector_config config = {.bug = 77}, before = config;
    const struct algorithm *algorithm = NULL;
    assert_true(algorithm_parse(text, &algorithm, &config, &error) < 0);
    assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
    assert_null(algorithm);
    assert_memory_equal(&config, &before, sizeof config);
    return error.text;
}

static void test_refusals_name_what_is_allowed(void **state)
{
    (void)state;
    assert_non_null(strstr(refusal("paxoss"), "unknown algorithm 'paxoss' (accepted: raft"));
    assert_non_null(strstr(refusal(""), "unknown algorithm ''"));
    assert_non_null(strstr(refusal("raft:size=3"), "unknown raft option 'size' (accepted: "));
    assert_non_null(strstr(refusal("raft:bug=none,"), "raft option list ends with a comma"));
    assert_non_null(strstr(refusal("raft:bug=x"), "raft option 'bug': 'x' is not one of none"));
}

static void test_a_bare_name_means_the_defaults(void **state)
{
    (void)state;
    struct error error;
    struct elector_config config = {0};
    const struct algorithm *algorithm = NULL;
    struct option_values defaults;
    assert_int_equal(algorithm_parse("raft", &algorithm, &config, &error), 0);
    options_defaults(algorithm->options, &defaults);
    assert_memory_equal(&config.options, &defaults, sizeof defaults);
    assert_int_equal(config.bug, 0);
    assert_int_equal(algorithm_parse("raft:bug=none", &algorithm, &config, &error), 0);
}

static void test_id_lists_of_a_step_stay_where_they_are(void **state)
{
    (void)state;
    struct output output = {0};
    for (int step = 0; step < 3; step++) {
        uint32_t *lists[40];
        output_reset(&output);
        for (uint32_t i = 0; i < 40; i++) {
            lists[i] = output_ids(&output, i * 7);
            for (uint32_t k = 0; k < i * 7; k++)
                lists[i][k] = i;
            output_send(&output, (struct message){.ids = lists[i], .id_count = i * 7});
        }
        for (uint32_t i = 0; i < 40; i++)
            for (uint32_t k = 0; k < i * 7; k++)
                assert_int_equal(output.messages[i].ids[k], i);
    }
    output_release(&output);
    output_release(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_algorithm_is_complete),
        cmocka_unit_test(test_message_faults_know_every_kind),
        cmocka_unit_test(test_every_bug_says_what_catches_it),
        cmocka_unit_test(test_refusals_name_what_is_allowed),
        cmocka_unit_test(test_a_bare_name_means_the_defaults),
        cmocka_unit_test(test_id_lists_of_a_step_stay_where_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
