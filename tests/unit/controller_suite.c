/* Suites: which cells a matrix has and what they are called, what a mistake is told with, how they
 * are shared out, and what follows from counts. */
#include "tests/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "controller/suite_compare.h"
#include "controller/suite_run.h"

static void parse(const char *yaml, struct suite *out)
{
    struct error error;
    int rc = suite_parse("s.yaml", slice_of(yaml), out, &error);
    if (rc < 0)
        print_error("%s\n", error.text);
    assert_int_equal(rc, 0);
}

static const char *word_of(const struct suite_cell *cell, const char *key)
{
    for (uint32_t i = 0; i < cell->word_count; i++)
        if (strcmp(cell->words[i].key, key) == 0)
            return cell->words[i].text;
    return NULL;
}

static void test_a_matrix(void **state)
{
    (void)state;
    static const char *const names[] = {"m sim faults=kill", "m sim faults=pause,link",
                                        "m sim prevote=off faults=kill",
                                        "m sim prevote=off faults=pause,link"};
    struct suite suite;
    parse("name: x\n"
          "defaults: {time: 5s}\n"
          "cells:\n"
          "  - {world: [sim, real], name: m, algorithm: raft, options: ['', 'prevote=off'],\n"
          "     faults: [kill, 'pause,link'], seeds: {sim: 3..9, real: 2}, repeats: 3}\n",
          &suite);
    assert_int_equal(suite.count, 8);
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(suite.cells[i].name, names[i]);
        assert_false(suite.cells[i].real);
        assert_true(suite.cells[i + 4].real);
        assert_string_equal(word_of(&suite.cells[i], "time"), "5s");
    }
    assert_string_equal(word_of(&suite.cells[0], "algorithm"), "raft");
    assert_string_equal(word_of(&suite.cells[2], "algorithm"), "raft:prevote=off");
    assert_string_equal(word_of(&suite.cells[3], "faults"), "pause,link");
    assert_int_equal(suite.cells[0].first, 3);
    assert_int_equal(suite_cell_runs(&suite.cells[0]), 7);
    assert_int_equal(suite_cell_runs(&suite.cells[4]), 6);
    suite_release(&suite);
}

static void test_names(void **state)
{
    (void)state;
    struct suite suite;
    parse("name: x\ncells:\n"
          "  - {algorithm: [raft, paxos], options: ['', 'bug=none']}\n"
          "  - {scenario: [a, b], seeds: 5}\n"
          "  - {faults: kill, nodes: [3, 5]}\n",
          &suite);
    static const char *const names[] = {
        "raft", "raft:bug=none", "paxos",       "paxos:bug=none", "a",
        "b",    "raft nodes=3",  "raft nodes=5"};
    assert_int_equal(suite.count, 8);
    for (uint32_t i = 0; i < suite.count; i++)
        assert_string_equal(suite.cells[i].name, names[i]);
    suite_release(&suite);
}

/* What a scenario says is not said again by the defaults. */
static void test_defaults(void **state)
{
    (void)state;
    struct suite suite;
    parse("name: x\nbudget: 2m\nretries: 3\nkeep-every: 7\n"
          "defaults: {time: 5s, faults: kill, seeds: 4, expect: invalid, swarm: off}\n"
          "cells:\n"
          "  - {scenario: a}\n"
          "  - {faults: pause}\n"
          "  - {world: real, name: r}\n",
          &suite);
    assert_int_equal(suite.budget_ns, 120 * NS_PER_S);
    assert_int_equal(suite.retries, 3);
    assert_int_equal(suite.keep_every, 7);
    assert_int_equal(suite.cells[0].word_count, 1);
    assert_false(suite.cells[0].expect.given);
    assert_int_equal(suite.cells[0].last, 4);
    assert_string_equal(word_of(&suite.cells[1], "faults"), "pause");
    assert_true(suite.cells[1].expect.given);
    assert_string_equal(word_of(&suite.cells[1], "swarm"), "off");
    assert_null(word_of(&suite.cells[2], "swarm")); /* real runs have none */
    suite_release(&suite);
}

static void test_errors_name_line_and_key(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *says;
    } cases[] = {
        {"", "s.yaml:1: not a suite"},
        {"cells: []\n", "s.yaml:1: key 'name' is missing"},
        {"name: x\n", "s.yaml:1: key 'cells' is missing"},
        {"name: x\ncells: []\n", "s.yaml:2: cells must be a list of cells"},
        {"name: x\nseeds: 3\n", "s.yaml:2: unknown key 'seeds' (accepted: name, summary, budget"},
        {"name: x\ncells:\n - {faults: kill}\n - {fault: kill}\n",
         "s.yaml:4: unknown key 'fault' (accepted: name, world, scenario, algorithm"},
        {"name: x\ndefaults:\n  colour: red\ncells: [{faults: kill}]\n",
         "s.yaml:3: unknown key 'colour'"},
        {"name: x\nbudget: soon\n", "s.yaml:2: budget: 'soon' is not a duration"},
        {"name: x\ncells:\n - faults: kill\n   seeds: many\n", "s.yaml:4: seeds: "},
        {"name: x\ncells:\n - {faults: kill, seeds: 9..3}\n", "s.yaml:3: seeds: "},
        {"name: x\ncells:\n - {world: moon}\n",
         "s.yaml:3: world: 'moon' is unknown (accepted: sim, real)"},
        {"name: x\ncells:\n - {service: embedded}\n",
         "s.yaml:3: service: there is none in world sim"},
        {"name: x\ncells:\n - {expect: fine}\n", "s.yaml:3: expect: 'fine' is unknown"},
        {"name: x\ncells:\n - {expect: [valid, invalid]}\n",
         "s.yaml:3: must be a single value, not a list"},
        {"name: x\ncells:\n - {faults: []}\n", "s.yaml:3: a list must have values"},
        {"name: x\ncells:\n - {seeds: 5, at-least: 6}\n",
         "s.yaml:3: at-least: '6' must be between 1 and 5"},
        {"name: x\ncells:\n - {world: real, swarm: off}\n",
         "s.yaml:3: swarm: there is none in world real"},
        {"name: x\ncells:\n - {repeats: 2}\n", "s.yaml:3: repeats: there is none in world sim"},
        {"name: x\ncells:\n - {name: a}\n - {name: a}\n",
         "s.yaml:4: name: 'a' is also the cell's of line 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct suite suite;
        struct error error = {.text = "nothing"};
        int rc = suite_parse("s.yaml", slice_of(cases[i].yaml), &suite, &error);
        if (rc == 0 || strncmp(error.text, cases[i].says, strlen(cases[i].says)) != 0)
            print_error("%s: %s\n", cases[i].yaml, error.text);
        assert_int_equal(rc < 0, 1);
        assert_int_equal(error.kind, ERROR_USAGE);
        assert_memory_equal(error.text, cases[i].says, strlen(cases[i].says));
    }
}

/* What only the runs themselves understand. */
static void test_words_are_read_before_anything_runs(void **state)
{
    (void)state;
    static const struct {
        const char *cell, *says;
    } cases[] = {
        {"algorithm: rafft", "s.yaml:3: algorithm: unknown algorithm 'rafft'"},
        {"algorithm: raft, options: [bug=none-such]", "s.yaml:3: algorithm: "},
        {"faults: fire", "s.yaml:3: faults: "},
        {"time: 0s", "s.yaml:3: time: "},
        {"scenario: none", "s.yaml:3: scenario: unknown scenario 'none'"},
        {"set: {heartbeat: never}", "s.yaml:3: set: "},
        {"scenario: raft-bridge, faults: kill", "s.yaml:3: cell 'raft-bridge': --faults and"},
        {"nodes: 2, witnesses: 2", "s.yaml:3: cell 'raft': "},
        {"world: real, algorithm: lease, service: etcd4", "s.yaml:3: cell 'lease': "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct suite_state suite;
        struct error error = {.text = "nothing"};
        char yaml[200];
        (void)snprintf(yaml, sizeof yaml, "name: x\ncells:\n - {%s}\n", cases[i].cell);
        struct suite_order order = {.file = "s.yaml", .yaml = yaml, .shard = "1/1", .only = ""};
        int rc = suite_state_open(&order, &suite, &error);
        if (rc == 0 || strncmp(error.text, cases[i].says, strlen(cases[i].says)) != 0)
            print_error("%s: %s\n", yaml, error.text);
        assert_int_equal(rc < 0, 1);
        assert_memory_equal(error.text, cases[i].says, strlen(cases[i].says));
    }
}

static void test_shards(void **state)
{
    (void)state;
    static const char *const bad[] = {"5/4", "0/4", "1/0", "1", "", "/", "a/b", "1/2/3", "-1/2"};
    struct suite_shard shard;
    uint32_t seen[10] = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error error;
        assert_int_equal(suite_shard_parse(bad[i], &shard, &error) < 0, 1);
        assert_int_equal(error.kind, ERROR_USAGE);
    }
    for (uint32_t i = 1; i <= 3; i++) {
        char text[10];
        (void)snprintf(text, sizeof text, "%u/3", i);
        assert_int_equal(suite_shard_parse(text, &shard, NULL), 0);
        for (uint32_t cell = 0; cell < 10; cell++)
            seen[cell] += suite_in_shard(shard, cell);
    }
    for (uint32_t cell = 0; cell < 10; cell++)
        assert_int_equal(seen[cell], 1);
}

static void test_what_follows_from_counts(void **state)
{
    (void)state;
    static const struct {
        enum verdict expected;
        uint64_t at_least, runs, valid, invalid, unknown, vacuous, met;
        bool failure;
        enum suite_outcome outcome;
    } cases[] = {
        {VERDICT_VALID, 0, 10, 10, 0, 0, 0, 10, false, SUITE_PASSED},
        {VERDICT_VALID, 0, 10, 8, 0, 2, 2, 8, false, SUITE_PASSED},
        {VERDICT_VALID, 0, 10, 8, 0, 2, 1, 8, false, SUITE_UNDECIDED},
        {VERDICT_VALID, 0, 10, 0, 0, 10, 10, 0, false, SUITE_UNDECIDED},
        {VERDICT_VALID, 0, 10, 9, 1, 0, 0, 9, false, SUITE_FAILED},
        {VERDICT_VALID, 9, 10, 9, 1, 0, 0, 9, false, SUITE_PASSED},
        {VERDICT_VALID, 9, 10, 8, 1, 1, 0, 8, false, SUITE_UNDECIDED},
        {VERDICT_VALID, 9, 10, 8, 2, 0, 0, 8, false, SUITE_FAILED},
        {VERDICT_INVALID, 0, 10, 9, 1, 0, 0, 1, false, SUITE_PASSED},
        {VERDICT_INVALID, 0, 10, 9, 1, 0, 0, 0, false, SUITE_FAILED},
        {VERDICT_INVALID, 3, 10, 7, 3, 0, 0, 2, false, SUITE_FAILED},
        {VERDICT_INVALID, 3, 5, 3, 2, 0, 0, 2, false, SUITE_UNDECIDED}, /* left out */
        {VERDICT_VALID, 0, 5, 5, 0, 0, 0, 5, false, SUITE_PASSED},      /* left out */
        {VERDICT_VALID, 0, 9, 9, 0, 0, 0, 9, true, SUITE_BROKEN},
        {VERDICT_VALID, 0, 9, 8, 1, 0, 0, 8, true, SUITE_FAILED},
        {VERDICT_INVALID, 1, 9, 8, 1, 0, 0, 1, true, SUITE_PASSED},
        {VERDICT_VALID, 0, 0, 0, 0, 0, 0, 0, false, SUITE_NOT_RUN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct suite_cell cell = {.first = 1, .last = 10, .at_least = cases[i].at_least};
        struct suite_job job = {.cell = &cell, .expect = {true, cases[i].expected, NULL}};
        struct suite_tally tally = {.job = &job, .asked = 10};
        struct suite_record record = {.first = 1,
                                      .last = 10,
                                      .runs = cases[i].runs,
                                      .valid = cases[i].valid,
                                      .invalid = cases[i].invalid,
                                      .unknown = cases[i].unknown,
                                      .vacuous = cases[i].vacuous,
                                      .met = cases[i].met};
        if (cases[i].failure)
            (void)snprintf(record.failure, sizeof record.failure, "no memory");
        suite_tally_add(&tally, &record);
        if (suite_tally_outcome(&tally) != cases[i].outcome)
            print_error("case %zu\n", i);
        assert_int_equal(suite_tally_outcome(&tally), cases[i].outcome);
        suite_tally_release(&tally);
    }
}

static void test_the_worst_decides(void **state)
{
    (void)state;
    struct suite_cell cell = {.first = 1, .last = 1};
    struct suite_job job = {.cell = &cell, .expect = {true, VERDICT_VALID, NULL}};
    struct suite_tally passed =
                           {.job = &job, .asked = 1, .done = 1, .runs = 1, .valid = 1, .met = 1},
                       failed = {.job = &job, .asked = 1, .done = 1, .runs = 1, .invalid = 1},
                       broken = {.job = &job, .asked = 1, .done = 1, .broken = 1},
                       missing = {.job = &job, .asked = 1};
    struct suite_tally all[] = {passed, missing, broken, failed};
    static const enum exit_code codes[] = {EXIT_VALID, EXIT_UNKNOWN, EXIT_HARNESS, EXIT_INVALID};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(suite_exit_code(all, i + 1), codes[i]);
}

static void test_a_record_survives_its_line(void **state)
{
    (void)state;
    struct suite_record record = {.cell = 3,
                                  .first = 26,
                                  .last = 50,
                                  .repeat = 1,
                                  .runs = 24,
                                  .valid = 20,
                                  .invalid = 3,
                                  .unknown = 1,
                                  .vacuous = 1,
                                  .met = 20,
                                  .took_ns = UINT64_C(9000000000),
                                  .at_ns = 5,
                                  .failover_count = 2,
                                  .failovers_us = {7, 4000000000},
                                  .out_of_budget = true,
                                  .shown_count = 1,
                                  .failure = "a \"quoted\"\n line"};
    struct suite_record back;
    struct text line = {0}, again = {0};
    record.shown[0] = (struct suite_shown){.seed = 30,
                                           .verdict = VERDICT_INVALID,
                                           .check = "vote-once",
                                           .reason = "n1 | n2 <&>",
                                           .history = "histories/x"};
    suite_record_format(&record, &line);
    assert_null(strchr(text_string(&line), '\n'));
    assert_int_equal(suite_record_parse((struct slice){line.at, line.length}, &back), 0);
    suite_record_format(&back, &again);
    assert_string_equal(text_string(&again), text_string(&line));
    assert_int_equal(suite_record_parse((struct slice){line.at, line.length / 2}, &back), -EINVAL);
    text_release(&line);
    text_release(&again);
}

static void test_percentiles(void **state)
{
    (void)state;
    uint32_t samples[] = {50, 10, 40, 20, 30};
    struct suite_tally tally = {.failovers_us = samples, .failover_count = 5};
    suite_tally_settle(&tally);
    assert_int_equal(suite_tally_failover_us(&tally, 50), 30);
    assert_int_equal(suite_tally_failover_us(&tally, 90), 50);
    assert_int_equal(suite_tally_failover_us(&tally, 0), 10);
    tally.failover_count = 0;
    assert_int_equal(suite_tally_failover_us(&tally, 50), 0);
}

/* Values worked out by hand. */
static void test_more_than_chance(void **state)
{
    (void)state;
    static const uint32_t low[] = {1, 2, 3}, high[] = {4, 5, 6}, same[] = {7, 7, 7, 7};
    assert_int_equal((int)(1000 * suite_compare_shares(50, 100, 80, 100)), 4447);
    assert_int_equal((int)(1000 * suite_compare_shares(80, 100, 50, 100)), -4447);
    assert_int_equal((int)(1000 * suite_compare_shares(5, 5, 100, 100)), 0);
    assert_int_equal((int)(1000 * suite_compare_shares(0, 0, 100, 100)), 0);
    assert_int_equal((int)(1000 * suite_compare_samples(low, 3, high, 3)), 1963);
    assert_int_equal((int)(1000 * suite_compare_samples(high, 3, low, 3)), -1963);
    assert_int_equal((int)(1000 * suite_compare_samples(low, 3, low, 3)), 0);
    assert_int_equal((int)(1000 * suite_compare_samples(same, 4, same, 2)), 0);
    assert_int_equal((int)(1000 * suite_compare_samples(NULL, 0, low, 3)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_matrix),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_errors_name_line_and_key),
        cmocka_unit_test(test_words_are_read_before_anything_runs),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_what_follows_from_counts),
        cmocka_unit_test(test_the_worst_decides),
        cmocka_unit_test(test_a_record_survives_its_line),
        cmocka_unit_test(test_percentiles),
        cmocka_unit_test(test_more_than_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
